// Expressions in LaTeX (mathematics mode, no packages beyond amsmath).
#include "compiler/algebra/names.hpp"
#include "compiler/algebra/notation.hpp"
#include "compiler/algebra/ops.hpp"

namespace vphi::algebra {
namespace {

std::string braced(const std::string& text) { return '{' + text + '}'; }

/// Between two factors: a thin space between words, a dot between digits.
bool starts_with_digit(const std::string& text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

class Latex : public Notation {
 public:
  std::string digits(const std::string& number) const override {
    const std::size_t e = number.find('e');
    if (e == std::string::npos) return number;
    // 5e-06 is 5 10^{-6}
    const int exponent = std::stoi(number.substr(e + 1));
    std::string text = number.substr(0, e);
    text = text == "1" ? "" : text + " \\cdot ";
    text += "10^{";
    text += std::to_string(exponent);
    return text + '}';
  }
  std::string name(const std::string& symbol) const override { return latex_name(symbol); }
  std::string parentheses(const std::string& inner) const override {
    return "\\left(" + inner + "\\right)";
  }
  std::string minus(const std::string& term) const override { return '-' + term; }
  std::string sum(const std::vector<std::string>& terms,
                  const std::vector<bool>& minus) const override {
    std::string text;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (i > 0) text += minus[i] ? " - " : " + ";
      if (i == 0 && minus[i]) text += '-';
      text += terms[i];
    }
    return text;
  }
  std::string product(const std::vector<std::string>& factors) const override {
    std::string text;
    for (const std::string& f : factors) {
      if (!text.empty()) text += starts_with_digit(f) ? " \\cdot " : " ";
      text += f;
    }
    return text;
  }
  Piece fraction(const Piece& above, const Piece& below) const override {
    return {"\\frac" + braced(above.text) + braced(below.text), Binding::Product};
  }
  Piece power(const Piece& base, const Piece& exponent) const override {
    if (base.exponent_at > 0) {
      std::string text = base.text;
      text.insert(base.exponent_at, '^' + braced(exponent.text));
      return {text, Binding::Power};
    }
    const bool bare = base.binding == Binding::Atom && base.text.find('\'') == std::string::npos;
    std::string text = bare ? base.text : parentheses(base.text);
    text += '^';
    return {text + braced(exponent.text), Binding::Power};
  }
  Piece root(const Piece& inner) const override { return {"\\sqrt" + braced(inner.text)}; }

  Piece call(Op op, const std::vector<std::string>& args) const override {
    const std::string& x = args[0];
    if (op == Op::Abs) return {"\\left|" + x + "\\right|"};
    if (op == Op::Floor) return {"\\left\\lfloor " + x + " \\right\\rfloor"};
    if (op == Op::Exp) return {"e^" + braced(x), Binding::Power};
    if (op == Op::Mean) return {"\\left\\langle " + x + " \\right\\rangle"};
    if (op == Op::Total) return {"\\sum_{x} " + parentheses(x), Binding::Product};
    if (op == Op::Minimum) return {"\\min_{x} " + parentheses(x), Binding::Product};
    if (op == Op::Maximum) return {"\\max_{x} " + parentheses(x), Binding::Product};
    std::string inner;
    for (const std::string& arg : args) {
      if (!inner.empty()) inner += ", ";
      inner += arg;
    }
    const std::string_view function = row(op).latex;
    return {std::string(function) + parentheses(inner), Binding::Atom, function.size()};
  }
  std::string compare(Op op, const std::string& a, const std::string& b) const override {
    if (op == Op::Less) return a + " < " + b;
    if (op == Op::LessEqual) return a + " \\le " + b;
    if (op == Op::Equal) return a + " = " + b;
    if (op == Op::And) return a + " \\land " + b;
    if (op == Op::Or) return a + " \\lor " + b;
    return "\\lnot " + b;
  }
  Piece select(const Piece& condition, const Piece& value, const Piece& otherwise) const override {
    std::string text = "\\begin{cases} " + value.text + " & " + condition.text;
    text += " \\\\ " + otherwise.text;
    return {text + " & \\text{else} \\end{cases}"};
  }
  Piece stencil(const StencilData& data, const Piece& argument) const override {
    const std::string operand =
        argument.binding < Binding::Power ? parentheses(argument.text) : argument.text;
    if (data.dx_power == -2) return {"\\nabla^{2} " + operand, Binding::Product};
    return {"\\operatorname" + braced(latex_name(data.name)) + parentheses(argument.text)};
  }
  std::string neighbour(const std::string& field, const Offset& offset) const override {
    return field + "\\big|_{" + direction(offset) + '}';
  }
  std::string ellipsis() const override { return "\\dots"; }
  bool stacked() const override { return true; }
};

}  // namespace

std::string to_latex(Expr expr, const Names& names) { return lay_out(expr, names, Latex()).text; }

}  // namespace vphi::algebra
