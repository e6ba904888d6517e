// The grammar as tables: text -> tree with every bracket written (docs/rules.md rules 1 to 13).
#include <gtest/gtest.h>

#include "dsl/syntax/lexer.hpp"
#include "tree_text.hpp"

namespace vphi::dsl {
namespace {

using test::source;
using test::tree;

struct Row {
  const char* text;
  const char* expected;
};

std::string parse_one(const std::string& text) {
  Diagnostics diagnostics;
  const auto from = source(text);
  const ExprPtr value = parse_expression(from, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.all()[0].code;
  return tree(*value);
}

std::string parse_line(const std::string& text) {
  Diagnostics diagnostics;
  const auto from = source(text);
  const ModelText model = parse(from, diagnostics);
  if (diagnostics.has_errors()) return render_text(diagnostics, {from.get()});
  std::string out;
  for (const Line& line : model.lines) out += (out.empty() ? "" : "\n") + tree(line);
  return out;
}

// ---- tokens -----------------------------------------------------------------------------------

std::string kinds(const std::string& text) {
  Diagnostics diagnostics;
  const auto from = source(text);
  std::string out;
  for (const Token& token : tokenize(*from, diagnostics).tokens) {
    if (token.kind == Token::Kind::End) break;
    out += out.empty() ? "" : " ";
    if (token.first) out += "|";
    if (token.kind == Token::Kind::Word) out += "w:";
    if (token.kind == Token::Kind::Number) out += token.imaginary ? "i:" : "n:";
    if (token.kind == Token::Kind::Bad) out += "bad:";
    out += from->at(token.span);
  }
  return out;
}

TEST(Lexer, Tokens) {
  const Row rows[] = {
      {"x'' = -2*y", "|w:x ' ' = - n:2 * w:y"},
      {"1..10", "|n:1 .. n:10"},
      {"1.5..2", "|n:1.5 .. n:2"},
      {"1e-12 2E+3 4e5i", "|n:1e-12 n:2E+3 i:4e5i"},
      {"2i 2index 3.5i", "|i:2i n:2 w:index i:3.5i"},
      {"2e x", "|n:2 w:e w:x"},
      {"a<=b>=c==d!=e<f>g", "|w:a <= w:b >= w:c == w:d != w:e < w:f > w:g"},
      {"u@-k -> \"f.h5\"", "|w:u @ - w:k -> \"f.h5\""},
      {"a # b\nc ## d", "|w:a |w:c"},
      {"a\r\nb\rc", "|w:a |w:b |w:c"},
      {"frw.H^2", "|w:frw.H ^ n:2"},
      {"\xCF\x86\xE2\x82\x80' = 1", "|w:\xCF\x86\xE2\x82\x80 ' = n:1"},
      {"\xEF\xBB\xBFmodel a", "|w:model w:a"},
      {"a \xE2\x88\x92 b", "|w:a \xE2\x88\x92 w:b"},
      {"1. .5 3", "|bad:1. bad:.5 n:3"},
      {"a ** b", "|w:a bad:** w:b"},
      {"_x1 x_2", "|w:_x1 w:x_2"},
      {"\"# no comment\" x", "|\"# no comment\" w:x"},
  };
  for (const Row& row : rows) EXPECT_EQ(kinds(row.text), row.expected) << row.text;
}

// ---- expressions ------------------------------------------------------------------------------

TEST(Expression, Precedence) {
  const Row rows[] = {
      {"a + b*c", "(a + (b * c))"},
      {"a - b - c", "((a - b) - c)"},
      {"a/b*c", "((a / b) * c)"},
      {"a^b^c", "(a ^ (b ^ c))"},
      {"-x^2", "(-(x ^ 2))"},
      {"2^-10", "(2 ^ (-10))"},
      {"2^-x^2", "(2 ^ (-(x ^ 2)))"},
      {"(-x)^2", "((-x) ^ 2)"},
      {"a*-b", "(a * (-b))"},
      {"--x", "(-(-x))"},
      {"-a + b", "((-a) + b)"},
      {"-a*b", "((-a) * b)"},
      {"x'^2", "(x' ^ 2)"},
      {"u'@k", "(u'@k)"},
      {"u@k'", "(u@k)'"},
      {"u@k@k", "((u@k)@k)"},
      {"u@-k - u", "((u@(-k)) - u)"},
      {"u@(1,0,-1)", "(u@[1, 0, (-1)])"},
      {"u@[1]", "(u@[1])"},
      {"psi@mu*2", "((psi@mu) * 2)"},
      {"adj(U[mu]@-mu)", "adj((U[mu]@(-mu)))"},
      {"(U - s/2)@k", "((U - (s / 2))@k)"},
      {"Q[k]'^2", "(Q[k]' ^ 2)"},
      {"x''", "x''"},
      {"P[mu,nu]", "P[mu,nu]"},
      {"U[-mu]", "U[(-mu)]"},
      {"file(\"f:set\")[i,j]", "file(\"f:set\")[i,j]"},
      {"1..n - 1", "(1..(n - 1))"},
      {"a < b + 1", "(a < (b + 1))"},
      {"a..b == c", "((a..b) == c)"},
      {"not a < b and c or d", "(((not (a < b)) and c) or d)"},
      {"not not a", "(not (not a))"},
      {"a if c else b if d else e", "(a if c else (b if d else e))"},
      {"a + 1 if x < 2 [fm] and y > 0 else -b",
       "((a + 1) if ((x < (2 [fm])) and (y > 0)) else (-b))"},
      {"2i*x", "(2i * x)"},
      {"5 [GeV]^2", "((5 [GeV]) ^ 2)"},
      {"3[fm ^ -3]", "(3 [fm^-3])"},
      {"24^3 * 48", "((24 ^ 3) * 48)"},
      {"10*[1, 2]", "(10 * [1, 2])"},
      {"[0, 0, B0]", "[0, 0, B0]"},
      {"f()", "f()"},
      {"directions(+,-)", "directions(+, -)"},
      {"sum(sin(x[j] - x[i]), j)", "sum(sin((x[j] - x[i])), j)"},
      {"mean(x, over = [path, time])", "mean(x, over = [path, time])"},
      {"pseudofermion(D, mu_q = 10*mu_q, solver = cg(1e-12))",
       "pseudofermion(D, mu_q = (10 * mu_q), solver = cg(1e-12))"},
      {"leapfrog(x' = V(v), v' = F(x))", "leapfrog(x' = V(v), v' = F(x))"},
      {"\xCF\x86*\xCF\x80", "(phi * pi)"},
      {"\xE2\x88\x82(V, \xCF\x87)", "d(V, chi)"},
      {"frw.H^2", "(frw.H ^ 2)"},
      {"if + else", "(if + else)"},
      {"not + 1", "(not + 1)"},
      {"((x))", "x"},
      {"a\n  + b", "(a + b)"},
      {"f(a,\nb)", "f(a, b)"},
  };
  for (const Row& row : rows) EXPECT_EQ(parse_one(row.text), row.expected) << row.text;
}

TEST(Expression, Mistakes) {
  const Row rows[] = {
      {"", "E0523"},        {"2 x", "E0521"},       {"2(x)", "E0521"},    {"x y", "E0522"},
      {"a +", "E0523"},     {"a < b < c", "E0527"}, {"a if b", "E0529"},  {"u@2", "E0530"},
      {"2'", "E0531"},      {"(a*b)'", "E0531"},    {"x[]", "E0532"},     {"()", "E0532"},
      {"5 [1,2]", "E0533"}, {"f(2 = 3)", "E0534"},  {"(a", "E0510"},      {"a)", "E0511"},
      {"(a]", "E0512"},     {"a = b", "E0528"},     {"(a = b)", "E0528"}, {"a ? b", "E0503"},
      {"a ** b", "E0504"},  {"1.", "E0508"},        {"\"a", "E0506"},     {"a, b", "E0524"},
      {"f(a,)", "E0523"},   {"{", "E0523"},         {"+x", "E0523"},
  };
  for (const Row& row : rows) EXPECT_EQ(parse_one(row.text), row.expected) << row.text;
}

// What to_text prints is read back as the same tree.
TEST(Expression, TextRoundTrip) {
  const char* texts[] = {
      "a - (b - c)",
      "a/(b*c)",
      "(a*b)/c",
      "(a^b)^c",
      "-(a + b)",
      "(-x)^2",
      "2^-10",
      "(a + b)@k",
      "not (a and b)",
      "(a < b)*c",
      "(a if b else c) + 1",
      "(a..b)..c",
      "f((a if b else c))",
      "[1, (2 if x else 3)]",
      "5 [fm^2]*x",
      "-(-x)",
      "(not a) == b",
      "(u@k)'",
      "x[i,j]''",
      "scheme(U' = a, speed, theta = 1.8)",
      "(a or b) and c",
      "((a) + (b))",
  };
  for (const char* text : texts) {
    Diagnostics diagnostics;
    const ExprPtr first = parse_expression(source(text), diagnostics);
    ASSERT_TRUE(first) << text;
    const std::string printed = to_text(*first);
    const ExprPtr second = parse_expression(source(printed), diagnostics);
    ASSERT_TRUE(second) << printed;
    EXPECT_EQ(tree(*first), tree(*second)) << text << " -> " << printed;
    EXPECT_EQ(printed, to_text(*second));
  }
}

// Without the memory of written brackets, the printer puts those that the tree needs.
TEST(Expression, BracketsFromTheTreeAlone) {
  const auto leaf = [](const char* name) {
    auto e = std::make_shared<Expr>();
    e->kind = ExprKind::Name;
    e->text = name;
    return e;
  };
  const auto make = [](ExprKind kind, const char* text, std::vector<ExprPtr> args) {
    auto e = std::make_shared<Expr>();
    e->kind = kind;
    e->text = text;
    e->args = std::move(args);
    return e;
  };
  const ExprPtr a = leaf("a"), b = leaf("b"), c = leaf("c");
  const auto difference = make(ExprKind::Binary, "-", {b, c});
  EXPECT_EQ(to_text(*make(ExprKind::Binary, "-", {a, difference})), "a - (b - c)");
  EXPECT_EQ(to_text(*make(ExprKind::Binary, "-", {difference, a})), "b - c - a");
  EXPECT_EQ(to_text(*make(ExprKind::Binary, "^", {difference, a})), "(b - c)^a");
  EXPECT_EQ(to_text(*make(ExprKind::Unary, "-", {difference})), "-(b - c)");
  EXPECT_EQ(to_text(*make(ExprKind::Prime, "", {a})), "a");
  EXPECT_EQ(to_text(*make(ExprKind::Shift, "", {difference, a})), "(b - c)@a");
}

TEST(Expression, Spans) {
  Diagnostics diagnostics;
  const auto from = source("  a + f(b, c)*x'  ");
  const ExprPtr sum = parse_expression(from, diagnostics);
  ASSERT_TRUE(sum);
  EXPECT_EQ(from->at(sum->span), "a + f(b, c)*x'");
  EXPECT_EQ(from->at(sum->args[1]->span), "f(b, c)*x'");
  EXPECT_EQ(from->at(sum->args[1]->args[0]->span), "f(b, c)");
  EXPECT_EQ(from->at(sum->args[1]->args[1]->span), "x'");
}

// ---- lines ------------------------------------------------------------------------------------

TEST(Line, Kinds) {
  const Row rows[] = {
      {"c0 = 1 - 8*c1", "definition c0 = (1 - (8 * c1))"},
      {"p(eps, rho) = eps/3", "definition p(eps,rho) = (eps / 3)"},
      {"P[mu,nu] = loop(mu, nu, -mu, -nu)", "definition P[mu,nu] = loop(mu, nu, (-mu), (-nu))"},
      {"w[i] ~ cauchy(0, 1)", "definition w[i] ~ cauchy(0, 1)"},
      {"x'' = -x", "equation x'' = (-x)"},
      {"x[i]' = noise[i]", "equation x[i]' = noise[i]"},
      {"param = 3", "definition param = 3"},
      {"by = within", "definition by = within"},
      {"metric  frw(a = t^(1/2))", "metric | frw(a = (t ^ (1 / 2)))"},
      {"param beta = 3.9, kappa = 0.16", "param | beta = 3.9 , kappa = 0.16"},
      {"field phi, chi: real", "field | phi , chi : real"},
      {"var theta[k]: angle, p[k]: real", "var | theta[k] : angle , p[k] : real"},
      {"fermion psi: spinor, boundary(t) = antiperiodic",
       "fermion | psi : spinor , boundary(t) = antiperiodic"},
      {"lattice grid: 24^3 * 48, parity = even_odd",
       "lattice | grid : ((24 ^ 3) * 48) , parity = even_odd"},
      {"conserve E = (e + p)*W^2 - p: div((E + p)*v)",
       "conserve | E = (((e + p) * (W ^ 2)) - p) : div(((E + p) * v))"},
      {"solve u by fixed_point, tol = 1e-7", "solve | u by fixed_point , tol = 1e-7"},
      {"expect mean(exp(-deltaH)) == 1 within 3*sigma",
       "expect | (mean(exp((-deltaH))) == 1) within (3 * sigma)"},
      {"plot mean(x') against a", "plot | mean(x') against a"},
      {"every 512 steps: a, H -> \"f.h5\"", "every | 512 #steps : a , H -> \"f.h5\""},
      {"every 10 trajectories: U -> ildg(\"conf\")",
       "every | 10 #trajectories : U -> ildg(\"conf\")"},
      {"every 100 steps, after = t > 3: m", "every | 100 #steps , after = (t > 3) : m"},
      {"at end: folds", "at end | : folds"},
      {"at end: histogram(x, bins = 2) -> \"f\"", "at end | : histogram(x, bins = 2) -> \"f\""},
      {"init x ~ uniform(0, 1), x' ~ 2", "init | x ~ uniform(0, 1) , x' ~ 2"},
      {"split  [xyz, xzy]", "split | [xyz, xzy]"},
      {"rescale A = 1, B = m where no_friction", "rescale | A = 1 , B = m where no_friction"},
      {"scheme shasta, mask = 1, half_step = on", "scheme | shasta , mask = 1 , half_step = on"},
      {"scheme kt(U' = -d(F(U), k), speed, theta = 1.8)",
       "scheme | kt(speed, U' = (-d(F(U), k)), theta = 1.8)"},
      {"integrator y4 = compose(leapfrog, w1, w0, w1) where w1 = 1/2, w0 = 1 - 2*w1",
       "integrator | y4 = compose(leapfrog, w1, w0, w1) where w1 = (1 / 2), "
       "w0 = (1 - (2 * w1))"},
      {"stencil s(u) = u/dx^2", "stencil | s(u) = (u / (dx ^ 2))"},
      {"sample hmc, tau = 1 {\n level S: steps = 6\n}",
       "sample | hmc , tau = 1 { level | S : steps = 6 }"},
      {"recover {\n u = 1\n solve u by newton\n}",
       "recover | { definition u = 1; solve | u by newton }"},
      {"recover { u = 1 }", "recover | { definition u = 1 }"},
      {"recover\n{\n}", "recover | {  }"},
      {"integrator a(x' = f) {\n x = x\n} where w = 2",
       "integrator | a(x' = f) { definition x = x } where w = 2"},
      {"precision real = f32, sum = kahan", "precision | real = f32 , sum = kahan"},
      {"limit E = E if E > 1e-10 else 0", "limit | E = (E if (E > 1e-10) else 0)"},
      {"random philox, fresh = [a]", "random | philox , fresh = [a]"},
      {"model a \"A title\"", "model | a \"A title\""},
  };
  for (const Row& row : rows) EXPECT_EQ(parse_line(row.text), row.expected) << row.text;
}

TEST(Line, Continuation) {
  const Row rows[] = {
      {"a = b\n + c", "definition a = (b + c)"},
      {"a = b +\nc", "definition a = (b + c)"},
      {"a =\nb", "definition a = b"},
      {"a = f(b,\nc)\nd = e", "definition a = f(b, c)\ndefinition d = e"},
      {"field a,\n b: real", "field | a , b : real"},
      {"every 5 steps:\n a\n -> \"f\"", "every | 5 #steps : a -> \"f\""},
      {"a = b if c else\nd", "definition a = (b if c else d)"},
      {"a = (b # one\n + c) # two\nd = 1", "definition a = (b + c)\ndefinition d = 1"},
      {"a = sum(x,\n\n# comment\n\n i < j)", "definition a = sum(x, (i < j))"},
      {"a = b\r\nc = d\r\n", "definition a = b\ndefinition c = d"},
  };
  for (const Row& row : rows) EXPECT_EQ(parse_line(row.text), row.expected) << row.text;
}

TEST(Line, OneMistakeOneMessageAndTheRestIsRead) {
  Diagnostics diagnostics;
  const ModelText model =
      parse(source("a = 2 x\nb = (1 + \nfield u: real\nc = 3\nd = 4 4\n"), diagnostics);
  EXPECT_EQ(diagnostics.errors(), 3);
  ASSERT_EQ(model.lines.size(), 2u);
  EXPECT_EQ(tree(model.lines[0]), "field | u : real");
  EXPECT_EQ(tree(model.lines[1]), "definition c = 3");
}

TEST(Model, NameAndTitle) {
  Diagnostics diagnostics;
  const ModelText model = parse(source("model a \"T\"\nparam m = 1\n"), diagnostics);
  EXPECT_EQ(model.name, "a");
  EXPECT_EQ(model.title, "T");
}

TEST(Comments, AreKeptWithTheirLines) {
  Diagnostics diagnostics;
  const std::string text =
      "# file\n\n\n## the mass\n# note\nparam m = 1  # kg\nparam g = 2  ## coupling\n"
      "recover {  # body\n  # inside\n  u = 1\n  # last\n}  # after\n# end\n";
  const ModelText model = parse(source(text), diagnostics);
  ASSERT_EQ(model.lines.size(), 3u);
  EXPECT_EQ(model.lines[0].documentation, "the mass");
  EXPECT_FALSE(model.lines[0].documentation_beside);
  EXPECT_EQ(model.lines[0].comments_above, (std::vector<std::string>{"# file", "", "# note"}));
  EXPECT_EQ(model.lines[0].comment_beside, "# kg");
  EXPECT_EQ(model.lines[1].documentation, "coupling");
  EXPECT_TRUE(model.lines[1].documentation_beside);
  EXPECT_EQ(model.lines[2].comment_beside, "# body");
  EXPECT_EQ(model.lines[2].clause.comments_at_end, (std::vector<std::string>{"# last"}));
  EXPECT_EQ(model.lines[2].clause.comment_after, "# after");
  EXPECT_EQ(model.comments_at_end, (std::vector<std::string>{"# end"}));
}

// ---- spelling ---------------------------------------------------------------------------------

TEST(Spelling, OneNameTwoSpellings) {
  const Row rows[] = {
      {"\xCF\x86", "phi"},
      {"\xCF\x87", "chi"},
      {"\xCF\x80", "pi"},
      {"\xE2\x88\x82", "d"},
      {"\xCF\x86\xE2\x82\x80", "phi0"},
      {"\xCE\xBC_q", "mu_q"},
      {"plain", "plain"},
      {"\xCF\x95", "phi"},
      {"\xC3\xA9", "u00E9"},
  };
  for (const Row& row : rows) EXPECT_EQ(canonical(row.text), row.expected);
  EXPECT_EQ(unicode_spelling("phi0"),
            "\xCF\x86"
            "0");
  EXPECT_EQ(unicode_spelling("mu_q"), "\xCE\xBC_q");
  EXPECT_EQ(unicode_spelling("dphi0"), "dphi0");
  EXPECT_EQ(unicode_spelling("__x_"), "__x_");
  for (const char* name : {"alpha", "Gamma2", "phi_chi", "lambda", "x", "hbar", "a__b"}) {
    EXPECT_EQ(canonical(unicode_spelling(name)), name);
  }
}

}  // namespace
}  // namespace vphi::dsl
