// Expressions in MathML Core (presentation), as browsers show it.
#include "compiler/algebra/names.hpp"
#include "compiler/algebra/notation.hpp"
#include "compiler/algebra/ops.hpp"

namespace vphi::algebra {
namespace {

std::string element(const char* tag, const std::string& inner) {
  std::string text = "<";
  text += tag;
  text += '>';
  text += inner;
  text += "</";
  text += tag;
  return text + '>';
}
std::string mo(const std::string& text) { return element("mo", text); }
std::string row_of(const std::string& inner) { return element("mrow", inner); }

const std::string kTimes = "<mo>&#x2062;</mo>";  // invisible times
const std::string kApply = "<mo>&#x2061;</mo>";  // function application

class MathML : public Notation {
 public:
  std::string digits(const std::string& number) const override {
    const std::size_t e = number.find('e');
    if (e == std::string::npos) return element("mn", number);
    const int exponent = std::stoi(number.substr(e + 1));
    const std::string sign = exponent < 0 ? mo("−") : "";
    const std::string up = row_of(sign + element("mn", std::to_string(std::abs(exponent))));
    const std::string power = element("msup", element("mn", "10") + up);
    if (number.substr(0, e) == "1") return power;
    return row_of(element("mn", number.substr(0, e)) + mo("·") + power);
  }
  std::string name(const std::string& symbol) const override { return mathml_name(symbol); }
  std::string parentheses(const std::string& inner) const override {
    return row_of(mo("(") + inner + mo(")"));
  }
  std::string minus(const std::string& term) const override { return row_of(mo("−") + term); }
  std::string sum(const std::vector<std::string>& terms,
                  const std::vector<bool>& minus) const override {
    std::string text;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (minus[i]) text += mo("−");
      if (i > 0 && !minus[i]) text += mo("+");
      text += terms[i];
    }
    return row_of(text);
  }
  std::string product(const std::vector<std::string>& factors) const override {
    std::string text;
    for (const std::string& f : factors) {
      const bool number = f.starts_with("<mn>") || f.starts_with("<mrow><mn>");
      if (!text.empty()) text += number ? mo("·") : kTimes;
      text += f;
    }
    return row_of(text);
  }
  Piece fraction(const Piece& above, const Piece& below) const override {
    return {element("mfrac", row_of(above.text) + row_of(below.text)), Binding::Product};
  }
  Piece power(const Piece& base, const Piece& exponent) const override {
    const bool bare = base.binding == Binding::Atom;
    const std::string foot = bare ? row_of(base.text) : parentheses(base.text);
    return {element("msup", foot + row_of(exponent.text)), Binding::Power};
  }
  Piece root(const Piece& inner) const override { return {element("msqrt", inner.text)}; }

  Piece call(Op op, const std::vector<std::string>& args) const override {
    const std::string& x = args[0];
    if (op == Op::Abs) return {row_of(mo("|") + x + mo("|"))};
    if (op == Op::Floor) return {row_of(mo("⌊") + x + mo("⌋"))};
    if (op == Op::Exp) return {element("msup", element("mi", "e") + row_of(x)), Binding::Power};
    if (op == Op::Mean) return {row_of(mo("⟨") + x + mo("⟩"))};
    if (op == Op::Total) return over_sites("∑", x);
    if (op == Op::Minimum) return over_sites("min", x);
    if (op == Op::Maximum) return over_sites("max", x);
    std::string inner;
    for (const std::string& arg : args) {
      if (!inner.empty()) inner += mo(",");
      inner += arg;
    }
    return {row_of(element("mi", std::string(row(op).mathml)) + kApply + parentheses(inner))};
  }
  std::string compare(Op op, const std::string& a, const std::string& b) const override {
    if (op == Op::Less) return row_of(a + mo("&lt;") + b);
    if (op == Op::LessEqual) return row_of(a + mo("≤") + b);
    if (op == Op::Equal) return row_of(a + mo("=") + b);
    if (op == Op::And) return row_of(a + mo("∧") + b);
    if (op == Op::Or) return row_of(a + mo("∨") + b);
    return row_of(mo("¬") + b);
  }
  Piece select(const Piece& condition, const Piece& value, const Piece& otherwise) const override {
    const auto line = [](const std::string& left, const std::string& right) {
      return element("mtr", element("mtd", left) + element("mtd", right));
    };
    const std::string table =
        line(value.text, condition.text) + line(otherwise.text, element("mtext", "else"));
    return {row_of(mo("{") + element("mtable", table))};
  }
  Piece stencil(const StencilData& data, const Piece& argument) const override {
    const std::string operand =
        argument.binding < Binding::Power ? parentheses(argument.text) : argument.text;
    if (data.dx_power == -2) {
      const std::string nabla = element("msup", mo("∇") + element("mn", "2"));
      return {row_of(nabla + operand), Binding::Product};
    }
    return {row_of(mathml_name(data.name) + kApply + parentheses(argument.text))};
  }
  std::string neighbour(const std::string& field, const Offset& offset) const override {
    return element("msub", field + element("mtext", direction(offset)));
  }
  std::string ellipsis() const override { return mo("…"); }
  bool stacked() const override { return true; }

 private:
  Piece over_sites(const char* what, const std::string& x) const {
    return {row_of(element("munder", mo(what) + element("mi", "x")) + parentheses(x)),
            Binding::Product};
  }
};

}  // namespace

std::string to_mathml_row(Expr expr, const Names& names) {
  return row_of(lay_out(expr, names, MathML()).text);
}

std::string to_mathml(Expr expr, const Names& names) {
  return "<math xmlns=\"http://www.w3.org/1998/Math/MathML\">" + to_mathml_row(expr, names) +
         "</math>";
}

}  // namespace vphi::algebra
