// Printed forms, as a physicist writes them; MathML must be well-formed.
#include <gtest/gtest.h>

#include <vector>

#include "compiler/algebra/names.hpp"
#include "compiler/algebra/transform.hpp"
#include "tests/algebra/reader.hpp"
#include "tests/algebra/trees.hpp"

namespace vphi::algebra {
namespace {

using testing::read;

std::string field_names(const Node& n) {
  static constexpr const char* names[] = {"phi", "chi", "psi"};
  return n.op == Op::Load ? names[n.index] : "";
}
const Names kNames{field_names};

void add_laplacian(Arena& arena) {
  arena.add_stencil({"lap", 1, {{{-1}}, {{0}}, {{1}}}, {1, -2, 1}, 1, -2, {}});
}

struct Row {
  const char *expression, *text, *latex;
};

constexpr Row kRows[] = {
    {"0", "0", "0"},
    {"x - 1", "x - 1", "x - 1"},
    {"1 + x", "1 + x", "1 + x"},
    {"-x", "-x", "-x"},
    {"-x - y", "-x - y", "-x - y"},
    {"0*x + 0*y + y - x", "y - x", "y - x"},
    {"x/2", "x/2", "\\frac{x}{2}"},
    {"-x/2", "-x/2", "-\\frac{x}{2}"},
    {"3*x/2", "3*x/2", "\\frac{3 x}{2}"},
    {"1/x", "1/x", "\\frac{1}{x}"},
    {"-1/x^2", "-1/x^2", "-\\frac{1}{x^{2}}"},
    {"m^2*u^2/2 + g^2*u^2*v^2/2", "m^2*phi^2/2 + g^2*phi^2*chi^2/2",
     "\\frac{m^{2} \\phi^{2}}{2} + \\frac{g^{2} \\phi^{2} \\chi^{2}}{2}"},
    {"lambda*(u^2 - f^2)^2/4", "lambda*(phi^2 - f^2)^2/4",
     "\\frac{1}{4} \\lambda \\left(\\phi^{2} - f^{2}\\right)^{2}"},
    {"lap(u)/a^2 - 3*H*w - m^2*u", "lap(phi)/a^2 - 3*H*psi - m^2*phi",
     "\\frac{\\nabla^{2} \\phi}{a^{2}} - 3 H \\psi - m^{2} \\phi"},
    {"x/(y*z)", "x/(y*z)", "\\frac{x}{y z}"},
    {"x/(y + z)", "x/(y + z)", "\\frac{x}{y + z}"},
    {"(x + y)*z", "z*(x + y)", "z \\left(x + y\\right)"},
    {"-(x + y)*z", "-z*(x + y)", "-z \\left(x + y\\right)"},
    {"sqrt(x)", "sqrt(x)", "\\sqrt{x}"},
    {"1/sqrt(x)", "1/sqrt(x)", "\\frac{1}{\\sqrt{x}}"},
    {"x^(2/3)", "x^(2/3)", "x^{\\frac{2}{3}}"},
    {"x^(a + 1)", "x^(1 + a)", "x^{1 + a}"},
    {"(x^a)*y^z", "x^a*y^z", "x^{a} y^{z}"},
    {"(2*x)^y", "(2*x)^y", "\\left(2 x\\right)^{y}"},
    {"exp(-x)", "exp(-x)", "e^{-x}"},
    {"sin(2*x)^2", "sin(2*x)^2", "\\sin^{2}\\left(2 x\\right)"},
    {"abs(x)", "abs(x)", "\\left|x\\right|"},
    {"max(x, y)", "max(x, y)", "\\max\\left(x, y\\right)"},
    {"mean(u^2)", "mean(phi^2)", "\\left\\langle \\phi^{2} \\right\\rangle"},
    {"u[1] - 2*u + u[-1]", "phi@x - 2*phi + phi@-x",
     "\\phi\\big|_{x} - 2 \\phi + \\phi\\big|_{-x}"},
    {"u[1,0,-1]", "phi@(1,0,-1)", "\\phi\\big|_{(1,0,-1)}"},
    {"select(x < y, x, -y)", "x if x < y else -y",
     "\\begin{cases} x & x < y \\\\ -y & \\text{else} \\end{cases}"},
    {"2*select(x < y, x, y)", "2*(x if x < y else y)",
     "2 \\begin{cases} x & x < y \\\\ y & \\text{else} \\end{cases}"},
    {"x*(y < z)", "x*(y < z)", "x \\left(y < z\\right)"},
    {"and(x < y, y <= z)", "x < y and y <= z", "x < y \\land y \\le z"},
    {"0.1*x", "0.1*x", "0.1 x"},
    {"0.000005*x", "5e-06*x", "5 \\cdot 10^{-6} x"},
    {"x/1024", "2^-10*x", "2^{-10} x"},
    {"sqrt(2)*x", "sqrt(2)*x", "\\sqrt{2} x"},
    {"2*3.14159265358979323846*x", "2*pi*x", "2 \\pi x"},
    {"omega_0*t", "omega_0*t", "\\omega_{0} t"},
    {"dphi0 + H0", "dphi0 + H0", "\\mathrm{dphi}_{0} + H_{0}"},
};

TEST(Print, Table) {
  for (const Row& row : kRows) {
    Arena arena;
    add_laplacian(arena);
    const Expr e = read(arena, row.expression);
    EXPECT_EQ(to_text(e, kNames), row.text);
    EXPECT_EQ(to_latex(e, kNames), row.latex) << row.expression;
  }
}

TEST(Print, TextReadsBackAsTheSameExpression) {
  Arena arena;
  testing::Trees trees(arena, 12);
  int same = 0;
  for (int i = 0; i < 3000; ++i) {
    const Expr e = trees.tree(4);
    const auto no_select = [](Expr f) { return f.is(Op::Select); };
    const auto inexact = [](Expr f) {
      return f.is_number() && (!f->number.exact || f->number.rational.den > 1000);
    };
    const auto pole = [](Expr f) { return f.is(Op::Pow) && f.arg(0).is_zero(); };
    if (contains(e, no_select) || contains(e, inexact) || contains(e, pole)) continue;
    ASSERT_EQ(read(arena, to_text(e)), e) << to_text(e);
    ++same;
  }
  EXPECT_GT(same, 1000);
}

/// Tags open and close in order, and nothing but known entities has an ampersand.
std::string fault_of(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size(); ++at) {
    if (xml[at] == '&') {
      const std::string rest = xml.substr(at, 8);
      const bool known = rest.starts_with("&lt;") || rest.starts_with("&gt;") ||
                         rest.starts_with("&amp;") || rest.starts_with("&#x206");
      if (!known) return "ampersand: " + rest;
    }
    if (xml[at] != '<') continue;
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return "open tag";
    std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "closes " + tag;
      open.pop_back();
    } else {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end;
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

TEST(Print, MathMLIsWellFormed) {
  for (const Row& row : kRows) {
    Arena arena;
    add_laplacian(arena);
    const std::string xml = to_mathml(read(arena, row.expression), kNames);
    EXPECT_EQ(fault_of(xml), "") << xml;
    EXPECT_TRUE(xml.starts_with("<math xmlns="));
  }
  Arena arena;
  testing::Trees trees(arena, 77);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(fault_of(to_mathml(trees.tree(5))), "");
}

TEST(Print, MathMLOfThePotential) {
  Arena arena;
  EXPECT_EQ(to_mathml(read(arena, "m^2*u/2"), kNames),
            "<math xmlns=\"http://www.w3.org/1998/Math/MathML\"><mrow><mfrac><mrow><mrow><msup>"
            "<mrow><mi>m</mi></mrow><mrow><mn>2</mn></mrow></msup><mo>&#x2062;</mo><mi>φ</mi>"
            "</mrow></mrow><mrow><mn>2</mn></mrow></mfrac></mrow></math>");
}

TEST(Print, NamesAreTypeset) {
  struct Name {
    const char *name, *latex, *mathml;
  };
  constexpr Name rows[] = {
      {"a", "a", "<mi>a</mi>"},
      {"phi", "\\phi", "<mi>φ</mi>"},
      {"χ", "\\chi", "<mi>χ</mi>"},
      {"phi'", "\\phi'", "<msup><mi>φ</mi><mo>′</mo></msup>"},
      {"phi0", "\\phi_{0}", "<msub><mi>φ</mi><mn>0</mn></msub>"},
      {"pi_phi", "\\pi_{\\phi}", "<msub><mi>π</mi><mi>φ</mi></msub>"},
      {"rho_r", "\\rho_{r}", "<msub><mi>ρ</mi><mi>r</mi></msub>"},
      {"mass", "\\mathrm{mass}", "<mi>mass</mi>"},
      {"re(phi)", "\\operatorname{re}\\phi", "<mrow><mi>re</mi><mo>&#x2061;</mo><mi>φ</mi></mrow>"},
      {"x_y_z", "x_{\\mathrm{y\\_z}}", "<msub><mi>x</mi><mi>y_z</mi></msub>"},
      {"a<b", "\\mathrm{a<b}", "<mi>a&lt;b</mi>"},
  };
  for (const Name& row : rows) {
    EXPECT_EQ(latex_name(row.name), row.latex);
    EXPECT_EQ(mathml_name(row.name), row.mathml);
  }
}

TEST(Print, LongOnesAreCutShort) {
  Arena arena;
  const Expr x = arena.symbol("x");
  Expr e = x;
  for (int i = 0; i < 60; ++i) e = arena.make(Op::Sin, {e}) * arena.make(Op::Cos, {e});
  EXPECT_LT(to_text(e).size(), 400000U);
  EXPECT_LT(to_latex(e).size(), 1000000U);
}

}  // namespace
}  // namespace vphi::algebra
