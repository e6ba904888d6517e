// Tables: readers and their mistakes, interpolants against closed forms, derivatives, `file`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>

#include "compiler/physics/tables/tables.hpp"
#include "derive_text.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::physics::test {
namespace {

namespace fs = std::filesystem;

class Tables : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return name;
  }
  /// What the reader says about a text.
  std::string mistake(const std::string& text, std::size_t arguments = 1,
                      const std::string& column = "") {
    write("t.txt", text);
    try {
      read_table(folder_.string(), "t.txt" + column, arguments);
    } catch (const TableError& error) {
      return error.what();
    }
    return "nothing";
  }
  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

TEST_F(Tables, TextOfColumns) {
  write("t.txt", "# x y z\n0, 1, 10\n1\t3 20\n\n4 2 30 # last\n");
  const TableData y = read_table(folder_.string(), "t.txt", 1);
  EXPECT_EQ(y.axes[0], (std::vector<double>{0, 1, 4}));
  EXPECT_EQ(y.values, (std::vector<double>{1, 3, 2}));
  EXPECT_EQ(read_table(folder_.string(), "t.txt:3", 1).values, (std::vector<double>{10, 20, 30}));
  write("g.txt", "0 0 1\n0 2 2\n1 2 4\n1 0 3\n");  // rows in any order
  const TableData grid = read_table(folder_.string(), "g.txt", 2);
  EXPECT_EQ(grid.axes[1], (std::vector<double>{0, 2}));
  EXPECT_EQ(grid.values, (std::vector<double>{1, 2, 3, 4}));
}

/// As NEOS and MUSIC hold them: first density and first energy; steps of both and their numbers; a
/// row for each energy.
TEST_F(Tables, AnEvenGridBehindTwoLines) {
  write("n.dat", "0.5 2.0\n0.25 1.0 2 1\n1 2 3\n4 5 6\n");
  const TableData grid = read_table(folder_.string(), "n.dat", 2);
  EXPECT_EQ(grid.axes[0], (std::vector<double>{2, 3}));
  EXPECT_EQ(grid.axes[1], (std::vector<double>{0.5, 0.75, 1}));
  EXPECT_EQ(grid.values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  const auto says = [&](const char* text, const char* part) {
    const std::string said = mistake(text, 2);
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  says("0 2\n1 1 2 1\n1 2 3\n", "1 rows of values, and 2 in line 2");
  says("0 2\n1 1 2 1\n1 2 3\n4 5\n", "line 4: 2 numbers, and 3 of the grid");
  says("0 2\n1 1 2.5 1\n1 2 3\n4 5 6\n", "not 2.5 of 1");
  says("0 2\n0 1 2 1\n1 2 3\n4 5 6\n", "not 2 of 0");
  says("0 2\n1 1 2 1\n1 2 3\n4 5 6\n7 8 9\n", "3 rows of values, and 2 in line 2");
  says("1e20 2\n1 1 2 1\n1 2 3\n4 5 6\n", "entry 2 of argument 2, 1e+20, does not lie above");
  EXPECT_NE(mistake("0 2\n1 1 2 1\n1 2 3\n4 5 6\n", 2, ":3").find("leave `:3` out"),
            std::string::npos);
  says("0 2\n1 1 2 1\n1 2 3\n4 nan 6\n", "line 4: nan");
}

TEST_F(Tables, MistakesNameTheLine) {
  EXPECT_NE(mistake("0 1\n1 2\n2\n").find("t.txt, line 3: 1 numbers, and 2"), std::string::npos);
  EXPECT_NE(mistake("0 1\n1 nan\n").find("line 2: nan is not a finite"), std::string::npos);
  EXPECT_NE(mistake("0 1\n1 2x\n").find("line 2: `2x` is not a number"), std::string::npos);
  EXPECT_NE(mistake("0 1\n# c\n2 2\n1 3\n").find("line 4: 1 does not lie above 2"),
            std::string::npos);
  EXPECT_NE(mistake("0 1\n0 2\n").find("line 2: 0 does not lie above 0"), std::string::npos);
  EXPECT_NE(mistake("0 1\n").find("two values at least"), std::string::npos);
  EXPECT_NE(mistake("\n").find("no numbers"), std::string::npos);
  EXPECT_NE(mistake("0 1\n1 2\n", 1, ":4").find("2 columns"), std::string::npos);
  EXPECT_NE(mistake("0 0 1\n0 1 2\n1 0 3\n", 2).find("no row for the arguments 1, 1"),
            std::string::npos);
  EXPECT_NE(mistake("0 0 1\n0 1 2\n0 0 3\n1 1 1\n1 0 1\n", 2)
                .find("line 3: these arguments stand in"
                      " t.txt, line 1"),
            std::string::npos);
  EXPECT_THROW(read_table(folder_.string(), "none.txt", 1), TableError);
}

/// Which message a mistake is part of: what is wrong with one row has its fix there.
TEST_F(Tables, MistakesOfTheFileAreNotThoseOfARow) {
  const auto kind = [&](const std::string& text, const std::string& column = "") {
    write("t.txt", text);
    try {
      read_table(folder_.string(), "t.txt" + column, 1);
    } catch (const TableError& error) {
      return error.kind;
    }
    return TableError::Kind::Shape;
  };
  EXPECT_EQ(kind("0 1\n1 2x\n"), TableError::Kind::Row);
  EXPECT_EQ(kind("# no\n"), TableError::Kind::File);
  EXPECT_EQ(kind("0 1\n1 2\n", ":4"), TableError::Kind::File);
  EXPECT_EQ(kind("0 1\n1 2\n", ":1"), TableError::Kind::File);
}

/// As editors and spreadsheets write them.
TEST_F(Tables, NumbersOfOtherPrograms) {
  write("t.txt",
        "\xef\xbb\xbf"
        "0, 1e-400\r\n+1, -1E-330\r\n2; 3\r\n");
  const TableData table = read_table(folder_.string(), "t.txt", 1);
  EXPECT_EQ(table.axes[0], (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(table.values, (std::vector<double>{0, 0, 3}));
  EXPECT_NE(mistake("0 1\n1 1e400\n").find("line 2: 1e400 is not a finite"), std::string::npos);
  EXPECT_NE(mistake("0 0,5\n1 1,5\n").find("line 1: both commas and blanks"), std::string::npos);
  EXPECT_NE(mistake("0 1\n1 1.0D+00\n").find("`1.0D+00` is not a number"), std::string::npos);
  const std::string wide{'\xff', '\xfe', '0', '\0', ' ', '\0', '1', '\0'};
  EXPECT_NE(mistake(wide).find("line 1: no text"), std::string::npos);
  EXPECT_EQ(mistake("0,1\n1,2\n"), "nothing");
  EXPECT_EQ(mistake("0 , 1\n1 ,2\n"), "nothing");
}

/// Tables one behind the other, as those of NEOS, have no room between them.
TEST_F(Tables, SeveralTablesHaveNoGap) {
  const auto grid = [](double first, double last) {
    TableData table;
    table.axes = {{first, last}, {0, 1}};
    table.values = {0, 0, 0, 0};
    return table;
  };
  EXPECT_FALSE(gap_between({grid(0, 0.1 + 0.2), grid(0.3, 5), grid(4, 6)}));
  EXPECT_FALSE(gap_between({grid(4, 6), grid(0, 5)}));
  const auto gap = gap_between({grid(0, 1), grid(5, 6), grid(2, 5)});
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->axis, 0u);
  EXPECT_EQ(gap->first, 1);
  EXPECT_EQ(gap->last, 2);
}

double at(Expr e, double x, double y = 0) {
  return algebra::evaluate(e,
                           {[&](const algebra::Node& node) { return node.name == "y" ? y : x; }});
}

TEST_F(Tables, HowFarAnArgumentIsBeyondAllTables) {
  Arena arena;
  const auto grid = [](double first, double last, double wide) {
    TableData table;
    table.axes = {{first, last}, {0, wide}};
    table.values = {0, 0, 0, 0};
    return table;
  };
  const Expr beyond =
      beyond_all(arena, {grid(0, 1, 1), grid(1, 10, 4)}, {arena.symbol("x"), arena.symbol("y")});
  EXPECT_LE(at(beyond, 0.5, 0.5), 0);
  EXPECT_LE(at(beyond, 5, 3), 0);
  EXPECT_LE(at(beyond, 1, 0), 0);
  EXPECT_NEAR(at(beyond, 0.5, 3), 0.05, 1e-15);  // half a unit of ten to the second table
  EXPECT_NEAR(at(beyond, 12, 3), 0.2, 1e-15);
  EXPECT_NEAR(at(beyond, 5, 5), 0.25, 1e-15);
}

TableData sampled(const std::vector<double>& x, double (*f)(double)) {
  TableData t;
  t.axes = {x};
  for (const double v : x) t.values.push_back(f(v));
  return t;
}

std::vector<double> range(double a, double b, int n, double bend = 0) {
  std::vector<double> x;
  for (int i = 0; i <= n; ++i) {
    const double s = static_cast<double>(i) / n;
    x.push_back(a + (b - a) * (s + bend * s * (1 - s)));
  }
  return x;
}

// Order three or better between the arguments, the derivative with it; equal and unequal spacing.
TEST_F(Tables, CubicAndItsDerivative) {
  algebra::Arena arena;
  const Expr x = arena.symbol("x");
  for (const double bend : {0.0, 0.4}) {
    double worst[2] = {}, worst_slope[2] = {};
    for (int fine = 0; fine < 2; ++fine) {
      const auto table =
          sampled(range(0, 3, fine ? 64 : 32, bend), [](double v) { return std::exp(v); });
      const Expr f = interpolated(arena, table, {x}, 3, {{}});
      const Expr slope = algebra::derivative(f, x);
      for (double v = 0.31; v < 2.7; v += 0.0137) {
        worst[fine] = std::max(worst[fine], std::abs(at(f, v) - std::exp(v)));
        worst_slope[fine] = std::max(worst_slope[fine], std::abs(at(slope, v) - std::exp(v)));
      }
    }
    EXPECT_LT(worst[1], bend == 0 ? 3e-5 : 3e-4);
    EXPECT_LT(worst[1], worst[0] / 6);
    EXPECT_LT(worst_slope[1], worst_slope[0] / 3);
  }
}

TEST_F(Tables, EntriesAreMetAndTheCubicIsMonotone) {
  algebra::Arena arena;
  const Expr x = arena.symbol("x");
  TableData steep;  // a step, after Fritsch and Carlson
  steep.axes = {{0, 1, 2.5, 3, 5, 6, 6.5}};
  steep.values = {0, 0, 0.1, 5, 5.2, 5.2, 9};
  for (const int order : {1, 3}) {
    const Expr f = interpolated(arena, steep, {x}, order, {{}});
    for (std::size_t i = 0; i < steep.values.size(); ++i)
      EXPECT_NEAR(at(f, steep.axes[0][i]), steep.values[i], 1e-13);
    double before = -1e-14;
    for (double v = 0; v <= 6.5; v += 0.01) {
      EXPECT_GE(at(f, v), before - 1e-13) << v;
      before = at(f, v);
    }
    EXPECT_EQ(at(f, -3), 0);  // clamped
    EXPECT_NEAR(at(f, 100), 9, 1e-13);
  }
}

TEST_F(Tables, OutsideAndPeriod) {
  algebra::Arena arena;
  const Expr x = arena.symbol("x");
  const double turn = 2 * std::acos(-1.0);
  const auto wave = sampled(range(0, turn, 64), [](double v) { return std::sin(v); });
  const Expr round = interpolated(arena, wave, {x}, 3, {{Outside::Kind::Periodic, {}}});
  for (double v = -20; v < 20; v += 0.37) EXPECT_NEAR(at(round, v), std::sin(v), 2e-3);
  const Expr other =
      interpolated(arena, wave, {x}, 3, {{Outside::Kind::Value, arena.integer(7) * x}});
  EXPECT_EQ(at(other, -1), -7);
  EXPECT_NEAR(at(other, 1), std::sin(1.0), 1e-4);
  EXPECT_EQ(at(algebra::derivative(other, x), 10), 7);
}

TEST_F(Tables, BilinearIsExactForProducts) {
  algebra::Arena arena;
  const Expr x = arena.symbol("x"), y = arena.symbol("y");
  TableData t;
  t.axes = {{0, 1, 3, 4}, {-1, 0, 1, 2, 3}};
  for (const double a : t.axes[0])
    for (const double b : t.axes[1]) t.values.push_back((2 + 3 * a) * (1 - b));
  const Expr f = interpolated(arena, t, {x, y}, 1, {{}, {}});
  for (double a = 0.1; a < 4; a += 0.33)
    for (double b = -0.9; b < 3; b += 0.27) {
      EXPECT_NEAR(at(f, a, b), (2 + 3 * a) * (1 - b), 1e-12);
      EXPECT_NEAR(at(algebra::derivative(f, y), a, b), -(2 + 3 * a), 1e-12);
    }
}

std::string with_potential(const std::string& v, const std::string& folder) {
  (void)folder;
  return "model m \"a table\"\nlattice box: 16, length = 1\nfield phi: real\npotential V = " + v +
         "\ninit phi = 1, phi' = 0\nevolve leapfrog, dt = 0.01, until = t > 1\n"
         "every 10 steps: mean(phi) -> \"m.h5\"\n";
}

/// Linear between the samples, by hand.
double between(const TableData& t, double x) {
  const auto& a = t.axes[0];
  std::size_t i = 0;
  while (i + 2 < a.size() && a[i + 1] < x) ++i;
  return t.values[i] + (x - a[i]) / (a[i + 1] - a[i]) * (t.values[i + 1] - t.values[i]);
}

bool chooses(Expr e) {
  return algebra::contains(e, [](Expr node) { return node.is(algebra::Op::Select); });
}

// Equally spaced, and what lies outside of the same form: pieces in the argument itself, no choice.
TEST_F(Tables, LinesInTheArgumentItself) {
  algebra::Arena arena;
  const Expr x = arena.symbol("x"), y = arena.symbol("y");
  const auto table = sampled(range(0.3, 7.9, 40), [](double v) { return v * v + 1; });
  const Expr line = arena.integer(5) - arena.integer(2) * x;
  const Expr f = interpolated(arena, table, {x}, 1, {{Outside::Kind::Value, line}});
  EXPECT_FALSE(chooses(f));
  for (double v = 0.3; v < 7.9; v += 0.0173) EXPECT_NEAR(at(f, v), between(table, v), 1e-13) << v;
  for (const double v : {0.3, 7.9}) EXPECT_NEAR(at(f, v), v * v + 1, 1e-13);  // ends are inside
  for (const double v : {-1e9, -3.0, 0.0, 0.2999999, 7.9000001, 1e9}) {
    EXPECT_NEAR(at(f, v), 5 - 2 * v, 1e-15 * std::abs(v)) << v;
    EXPECT_EQ(at(algebra::derivative(f, x), v), -2);
  }
  const Expr clamped = interpolated(arena, table, {x}, 1, {{}});
  EXPECT_NEAR(at(clamped, -4), 1.09, 1e-15);
  EXPECT_NEAR(at(clamped, 1e6), 7.9 * 7.9 + 1, 1e-13);
  // another function of x, and one of something else: a choice
  const Expr square = interpolated(arena, table, {x}, 1, {{Outside::Kind::Value, x * x}});
  EXPECT_TRUE(chooses(square));
  EXPECT_EQ(at(square, 9), 81);
  EXPECT_TRUE(chooses(interpolated(arena, table, {x}, 1, {{Outside::Kind::Value, y}})));
  // small differences far from 0 would lose digits: the distance from the start of the piece stays
  const auto far = sampled(range(1000, 1001, 10), [](double v) { return std::sin(40 * v); });
  const Expr fine = interpolated(arena, far, {x}, 1, {{Outside::Kind::Value, line}});
  EXPECT_TRUE(chooses(fine));
  for (double v = 1000; v < 1001; v += 0.0137) EXPECT_NEAR(at(fine, v), between(far, v), 1e-12);
}

TEST_F(Tables, PlanesInTheArgumentsThemselves) {
  algebra::Arena arena;
  const Expr x = arena.symbol("x"), y = arena.symbol("y");
  const auto function = [](double a, double b) { return 2 + a * a + b * (1 + a) + 0.3 * b * b; };
  TableData t;
  t.axes = {range(0, 3, 12), range(-1, 1, 8)};
  for (const double a : t.axes[0])
    for (const double b : t.axes[1]) t.values.push_back(function(a, b));
  const Expr outer = arena.rational(1, 3) * x - x * y + y;
  const Expr f = interpolated(arena, t, {x, y}, 1,
                              {{Outside::Kind::Value, outer}, {Outside::Kind::Value, outer}});
  const Expr clamped = interpolated(arena, t, {x, y}, 1, {{}, {}});
  EXPECT_FALSE(chooses(f) || chooses(clamped));
  // along either axis of a cell it is linear between the corners
  const auto planes = [&](double a, double b) {
    const double s = std::min(std::floor(a / 0.25), 11.0),
                 u = std::min(std::floor((b + 1) / 0.25), 7.0);
    const double a0 = 0.25 * s, b0 = 0.25 * u - 1, p = (a - a0) / 0.25, q = (b - b0) / 0.25;
    return (1 - q) * ((1 - p) * function(a0, b0) + p * function(a0 + 0.25, b0)) +
           q * ((1 - p) * function(a0, b0 + 0.25) + p * function(a0 + 0.25, b0 + 0.25));
  };
  for (double a = -1; a <= 4; a += 0.0625) {
    for (double b = -2; b <= 2; b += 0.03125) {
      const bool inside = a >= 0 && a <= 3 && b >= -1 && b <= 1;
      const double p = std::clamp(a, 0.0, 3.0), q = std::clamp(b, -1.0, 1.0);
      EXPECT_NEAR(at(f, a, b), inside ? planes(a, b) : a / 3 - a * b + b, 1e-13) << a << ' ' << b;
      EXPECT_NEAR(at(clamped, a, b), planes(p, q), 1e-13) << a << ' ' << b;
    }
  }
}

TEST_F(Tables, ForceOfATabulatedPotential) {
  std::ofstream out(folder_ / "v.txt");
  out.precision(17);
  for (int i = 0; i <= 400; ++i)
    out << -2 + 0.01 * i << ' ' << std::pow(-2 + 0.01 * i, 4) / 4 << '\n';
  out.close();
  const std::string name = (folder_ / "model.vphi").string();
  const Derived d = derive_text(with_potential("table(\"v.txt\", phi)", {}), {}, name);
  ASSERT_TRUE(d.system) << d.messages();
  EXPECT_EQ(d.diagnostics.all().size(), 0U) << d.messages();
  SmallLattice box(*d.system, 16);
  const Expr rate = algebra::rewrite(variable(*d.system, "pi_phi").rate, [](Expr node) {
    return node.is(Op::Stencil) ? node->arena->integer(0) : node;
  });
  for (int i = 0; i < 16; ++i) {
    const double phi = box.at(variable(*d.system, "phi").array, i);
    EXPECT_NEAR(box.value(rate, i), -std::pow(phi, 3), 2e-3);
  }
  const Derived lines =
      derive_text(with_potential("table(\"v.txt\", phi, order = 1)", {}), {}, name);
  ASSERT_TRUE(lines.system);
  EXPECT_NE(lines.messages().find("W0781"), std::string::npos) << lines.messages();
  const Derived missing = derive_text(with_potential("table(\"w.txt\", phi)", {}), {}, name);
  EXPECT_FALSE(missing.system);
  EXPECT_NE(missing.messages().find("E0781"), std::string::npos);
  write("bad.txt", "0 1\n1 2\n1 3\n");
  EXPECT_NE(derive_text(with_potential("table(\"bad.txt\", phi)", {}), {}, name)
                .messages()
                .find("bad.txt, line 3"),
            std::string::npos);
}

TEST_F(Tables, NumbersOfAFile) {
  write("m.txt", "1 2 3\n4 5 6\n");
  const Derived d = derive_text(
      "model m \"file\"\nlattice box: 16, length = 1\nfield phi: real\n"
      "k = file(\"m.txt\")[1, 2]\npotential V = k*phi^2/2\ninit phi = 1, phi' = 0\n"
      "evolve leapfrog, dt = 0.01, until = t > 1\nevery 10 steps: k -> \"m.h5\"\n",
      {}, (folder_ / "model.vphi").string());
  ASSERT_TRUE(d.system) << d.messages();
  EXPECT_EQ(observable(*d.system, "k")->number.real, 6);
}

// ---- which derivative the projector of gravitational waves is made of -------------------------

Derived waves(const std::string& definition, const std::string& source) {
  return derive_text(
      "model w \"waves\"\nlattice box: 8^3, spacing = 0.5\n"
      "field phi: real, u: sym(3)\npotential V = phi^2/2\n" +
      definition + "u'' = lap(u) + 2*" + source +
      "\ninit phi = 1, phi' = 0, u = 0, u' = 0\n"
      "evolve leapfrog, dt = 0.01, until = t > 1\n"
      "every 10 steps: mean(norm2(transverse_traceless(u'))) -> \"w.h5\"\n");
}

/// symbol of the derivative along `axis` at theta
std::complex<double> symbol(const Derived& d, int axis, std::array<double, 3> theta) {
  const program::Symbol& s = d.system->projections.at(0).derivative.at(axis);
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < s.offsets.size(); ++i) {
    double phase = 0;
    for (int a = 0; a < 3; ++a) phase += theta[a] * s.offsets[i][a];
    sum += s.weights[i] * std::exp(std::complex<double>(0, phase));
  }
  return sum;
}

TEST(Projector, IsFoundInTheSource) {
  const std::array<double, 3> theta{0.7, -1.1, 2.3};
  const auto ratios = [&](const Derived& d, auto expected) {
    ASSERT_TRUE(d.system) << d.messages();
    const auto scale = symbol(d, 0, theta) / expected(theta[0]);
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_LT(std::abs(symbol(d, axis, theta) - scale * expected(theta[axis])), 1e-12) << axis;
    EXPECT_NEAR(std::abs(scale.imag()), 0, 1e-12);
  };
  using C = std::complex<double>;
  ratios(waves("", "outer(grad(phi), grad(phi))"), [](double t) { return C(0, std::sin(t)); });
  ratios(waves("D = [(phi@x - phi)/dx, (phi@y - phi)/dx, (phi@z - phi)/dx]\n", "outer(D, D)"),
         [](double t) { return std::exp(C(0, t)) - 1.0; });
  ratios(waves("D = [8*(phi@x - phi@-x) - (phi@(2,0,0) - phi@(-2,0,0)), "
               "8*(phi@y - phi@-y) - (phi@(0,2,0) - phi@(0,-2,0)), "
               "8*(phi@z - phi@-z) - (phi@(0,0,2) - phi@(0,0,-2))]\n",
               "outer(D, D)/(12*dx)^2"),
         [](double t) { return C(0, 8 * std::sin(t) - std::sin(2 * t)); });
  const Derived odd =
      waves("D = [phi@x - phi@-x, phi@y - phi, phi@z - phi@-z]\n", "phi*outer(D, D)");
  EXPECT_FALSE(odd.system);
  EXPECT_NE(odd.messages().find("E0780"), std::string::npos) << odd.messages();
}

}  // namespace
}  // namespace vphi::physics::test
