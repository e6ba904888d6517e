// Expressions in the language's own syntax.
#include "compiler/algebra/notation.hpp"
#include "compiler/algebra/ops.hpp"

namespace vphi::algebra {
namespace {

bool is_laplacian(const StencilData& s) { return s.dx_power == -2; }

class Text : public Notation {
 public:
  std::string digits(const std::string& number) const override { return number; }
  std::string name(const std::string& symbol) const override { return symbol; }
  std::string parentheses(const std::string& inner) const override { return '(' + inner + ')'; }
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
      if (!text.empty()) text += '*';
      text += f;
    }
    return text;
  }
  Piece fraction(const Piece& above, const Piece& below) const override {
    std::string text = above.binding < Binding::Product ? parentheses(above.text) : above.text;
    text += '/';
    text += below.binding <= Binding::Product ? parentheses(below.text) : below.text;
    return {text, Binding::Product};
  }
  Piece power(const Piece& base, const Piece& exponent) const override {
    std::string text = base.binding <= Binding::Power ? parentheses(base.text) : base.text;
    text += '^';
    const bool bare = exponent.binding >= Binding::Power ||
                      (exponent.binding == Binding::Minus && is_word(exponent.text));
    text += bare ? exponent.text : parentheses(exponent.text);
    return {text, Binding::Power};
  }
  Piece root(const Piece& inner) const override { return {"sqrt(" + inner.text + ")"}; }

  Piece call(Op op, const std::vector<std::string>& args) const override {
    std::string_view function = info(op).name;
    if (op == Op::Minimum) function = "min";
    if (op == Op::Maximum) function = "max";
    std::string text(function);
    text += '(';
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (i > 0) text += ", ";
      text += args[i];
    }
    return {text + ')'};
  }
  std::string compare(Op op, const std::string& a, const std::string& b) const override {
    if (op == Op::Less) return a + " < " + b;
    if (op == Op::LessEqual) return a + " <= " + b;
    if (op == Op::Equal) return a + " == " + b;
    if (op == Op::And) return a + " and " + b;
    if (op == Op::Or) return a + " or " + b;
    return "not " + b;
  }
  Piece select(const Piece& condition, const Piece& value, const Piece& otherwise) const override {
    const auto part = [&](const Piece& p) {
      return p.binding == Binding::Select ? parentheses(p.text) : p.text;
    };
    std::string text = part(value) + " if " + part(condition);
    text += " else " + part(otherwise);
    return {text, Binding::Select};
  }
  Piece stencil(const StencilData& data, const Piece& argument) const override {
    const std::string function = is_laplacian(data) || data.name.empty() ? "lap" : data.name;
    return {function + '(' + argument.text + ')'};
  }
  std::string neighbour(const std::string& field, const Offset& offset) const override {
    return field + '@' + direction(offset);
  }
  std::string ellipsis() const override { return "..."; }
  bool stacked() const override { return false; }

 private:
  /// "-12" but not "-2*x"
  static bool is_word(const std::string& text) {
    return text.find_first_of("+*/ (", 1) == std::string::npos;
  }
};

}  // namespace

std::string to_text(Expr expr, const Names& names) { return lay_out(expr, names, Text()).text; }

}  // namespace vphi::algebra
