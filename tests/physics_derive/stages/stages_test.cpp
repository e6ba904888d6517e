// The result of each stage of `derive` for a few lines of a model; the rows are derived by hand.
#include <gtest/gtest.h>

#include <map>
#include <type_traits>
#include <vector>

#include "staged.hpp"

namespace vphi::physics::test {
namespace {

// A stage cannot be called before its input is there.
static_assert(std::is_invocable_v<decltype(read_theory), const Space&>);
static_assert(!std::is_invocable_v<decltype(read_theory), const Declared&>);
static_assert(!std::is_invocable_v<decltype(declare_fields), const Context&>);
static_assert(!std::is_invocable_v<decltype(derive_equations), const Space&>);
static_assert(!std::is_invocable_v<decltype(read_motion), const Theory&>);
static_assert(!std::is_invocable_v<decltype(to_program_units), const Equations&, ProgramUnits&>);
static_assert(!std::is_constructible_v<ProgramUnits, const Equations&>);
static_assert(!std::is_invocable_v<decltype(read_start), const Motion&, ProgramUnits&>);
static_assert(
    !std::is_invocable_v<decltype(read_outputs), const Program&, ProgramUnits&, const Motion&>);

std::string model(const std::string& body) { return "model m \"a test\"\n" + body; }

const std::string kBox = "lattice box: 8^3, length = 4, boundary = periodic\n";
const std::string kEnd = "evolve leapfrog, dt = 1/100, until = t > 1\n";

double number(Expr e) { return static_cast<double>(e->number.real); }

// ---- the setting --------------------------------------------------------------------------------

struct SettingRow {
  const char* text;
  int dims;
  std::vector<std::int64_t> extent;
  double dx;  // 0: no lattice
  double start_time;
};

TEST(Stages, Setting) {
  const SettingRow rows[] = {
      {"lattice box: 8^3, length = 4, boundary = periodic\n", 3, {8, 8, 8}, 0.5, 0},
      {"lattice box: 6 * 4, spacing = 1/4, boundary = periodic\n", 2, {6, 4}, 0.25, 0},
      {"param n = 16, L = 2\nlattice box: n, length = L, boundary = periodic\ninit t = 3/2\n",
       1,
       {16},
       0.125,
       1.5},
      {"particles body: 5\n", 1, {5}, 0, 0},
      {"var x: real\n", 1, {1}, 0, 0},
  };
  for (const SettingRow& row : rows) {
    Staged m(model(row.text));
    const Setting& s = m.setting();
    EXPECT_EQ(s.grid.dims, row.dims) << row.text;
    for (std::size_t k = 0; k < row.extent.size(); ++k)
      EXPECT_EQ(s.grid.extent[k], row.extent[k]) << row.text;
    EXPECT_EQ(s.grid.present, row.dx > 0) << row.text;
    if (row.dx > 0) {
      EXPECT_EQ(number(s.grid.dx), row.dx) << row.text;
    }
    EXPECT_EQ(s.start_time, row.start_time) << row.text;
  }
}

TEST(Stages, SettingOfASweep) {
  Staged m(model("sweep g = linspace(0, 1, 3), k = 1..4, one = [7]\n" + kBox));
  const Setting& s = m.setting();
  ASSERT_EQ(s.axes.size(), 2u);
  EXPECT_EQ(s.axes[0].values, (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(s.axes[1].values, (std::vector<double>{1, 2, 3, 4}));
  ASSERT_EQ(s.single_axes.size(), 1u);
  EXPECT_EQ(s.single_axes[0].values, (std::vector<double>{7}));
  EXPECT_EQ(s.instances(), 12);
}

// ---- what is declared ---------------------------------------------------------------------------

struct FieldRow {
  const char* line;
  int rows, columns;
  std::vector<int> cells, arrays;
};

TEST(Stages, DeclaredFieldsAndTheirArrays) {
  const FieldRow rows[] = {
      {"field u: real\n", 1, 1, {0}, {0}},
      {"field u: complex\n", 1, 1, {0}, {0, 1}},
      {"field u: vec(3)\n", 3, 1, {0, 1, 2}, {0, 1, 2}},
      {"field u: vec(2, complex)\n", 2, 1, {0, 1}, {0, 1, 2, 3}},
      // the lower triangle is the upper one: 00 01 02 11 12 22
      {"field u: sym(3)\n", 3, 3, {0, 1, 2, 1, 3, 4, 2, 4, 5}, {0, 1, 2, 3, 4, 5}},
      {"field other: complex\nfield u: real\n", 1, 1, {0}, {2}},
      {"gauge u: U(1)\n", 3, 1, {0, 1, 2}, {0, 1, 2}},
      // two of three rows of a 3 x 3 matrix, 12 numbers for each of three directions
      {"gauge u: SU(3), store = rows(2)\n", 3, 12, {}, {}},
  };
  for (const FieldRow& row : rows) {
    Staged m(model(kBox + row.line));
    const StateField* field = m.declared().field("u");
    ASSERT_TRUE(field) << row.line;
    EXPECT_EQ(field->rows, row.rows) << row.line;
    EXPECT_EQ(field->columns, row.columns) << row.line;
    if (row.cells.empty()) {
      EXPECT_EQ(field->arrays.size(), 36u) << row.line;
      continue;
    }
    EXPECT_EQ(field->cells, row.cells) << row.line;
    EXPECT_EQ(field->arrays, row.arrays) << row.line;
    EXPECT_EQ(field->order, 0) << row.line;  // nothing is known of equations
  }
}

// ---- theory and equations -----------------------------------------------------------------------

struct RateRow {
  const char* text;
  std::vector<int> orders;                   // of the fields
  std::map<std::string, std::string> rates;  // array -> rate in physical units
};

TEST(Stages, RatesInPhysicalUnits) {
  const RateRow rows[] = {
      {"field u: real\npotential V = u^4/4\n", {2}, {{"u'", "lap(u) - u^3"}}},
      // of a complex field d(V, conj(u)): V = 3 (re^2 + im^2)
      {"field u: complex\npotential V = 3*norm2(u)\n",
       {2},
       {{"u_0'", "lap(u_0) - 3*u_0"}, {"u_1'", "lap(u_1) - 3*u_1"}}},
      {"field u: real\npotential V = u^2/2\nu'' = derived - u'/2\n",
       {2},
       {{"u'", "lap(u) - u - u'/2"}}},
      {"field u: real\nu' = lap(u) + 2*u\n", {1}, {{"u", "2*u + lap(u)"}}},
      {"field q, p: real\nH = total(p^2/2 + q^4/4)\n", {1, 1}, {{"q", "p"}, {"p", "-q^3"}}},
      // `derived` is the field's own
      {"field u, w: real\npotential V = u^2/2 + 2*w^2\nu'' = derived - u'\nw'' = derived - w'\n",
       {2, 2},
       {{"u'", "lap(u) - u - u'"}, {"w'", "lap(w) - 4*w - w'"}}},
  };
  for (const RateRow& row : rows) {
    Staged m(model(kBox + row.text));
    const Equations& d = m.equations();
    std::vector<int> orders;
    for (const StateField& field : d.fields) orders.push_back(field.order);
    EXPECT_EQ(orders, row.orders) << row.text;
    std::map<std::string, std::string> rates;
    for (const auto& [array, rate] : d.rates) rates[m.array(array)] = m.text(rate);
    EXPECT_EQ(rates, row.rates) << row.text;
  }
}

TEST(Stages, WeightsOfMomentaInAnExpandingBox) {
  // phi'' = lap(phi)/a^2 - 3*H*phi' - ...: the momentum is a^3*phi'
  Staged m(model("units reduced_planck\n" + kBox +
                 "metric frw(a)\nfield u: real\npotential V = u^2/2\n"));
  const Equations& d = m.equations();
  EXPECT_EQ(d.background.metric, Metric::SelfConsistent);
  ASSERT_EQ(d.weights.size(), 1u);
  EXPECT_EQ(number(d.weights.begin()->second), 3);
}

// ---- motion and program -------------------------------------------------------------------------

TEST(Stages, MotionInProgramUnits) {
  Staged m(model(kBox + "field u: real\npotential V = u^2/2\nrescale A = 2, B = 4\n" + kEnd));
  const Motion& d = m.motion();
  EXPECT_EQ(number(d.rescaling.A), 2);
  EXPECT_EQ(number(d.rescaling.B), 4);
  EXPECT_DOUBLE_EQ(d.dt_physical, 0.01);
  EXPECT_DOUBLE_EQ(d.dt_program, 0.04);  // B*dt
  EXPECT_TRUE(std::holds_alternative<Evolution>(d.dynamics));
}

struct ProgramRow {
  const char* text;
  std::vector<std::string> names;
  std::vector<Role> roles;
  std::vector<std::string> rates;
};

TEST(Stages, ProgramVariables) {
  using enum Role;
  const ProgramRow rows[] = {
      // u'' = lap u - u; B = 2: x_program = 2 x, so lap = 4 lap_program, and pi' = lap - u/B^2
      {"field u: real\npotential V = u^2/2\nrescale B = 2\n",
       {"u", "pi_u"},
       {Coordinate, Momentum},
       {"u'", "lap(u) - u/4"}},
      {"field u: complex\nu' = 1i*u\n",
       {"u_re", "u_im"},
       {FirstOrder, FirstOrder},
       {"-u_1", "u_0"}},
      {"field q, p: real\nH = total(p^2/2 + q^2/2)\n",
       {"q", "p"},
       {Coordinate, Momentum},
       {"p", "-q"}},
  };
  for (const ProgramRow& row : rows) {
    Staged m(model(kBox + row.text + kEnd));
    std::vector<std::string> names, rates;
    std::vector<Role> roles;
    for (const Variable& v : m.program().variables) {
      names.push_back(v.name);
      roles.push_back(v.role);
      rates.push_back(m.text(v.rate));
    }
    EXPECT_EQ(names, row.names) << row.text;
    EXPECT_EQ(roles, row.roles) << row.text;
    EXPECT_EQ(rates, row.rates) << row.text;
  }
}

// ---- the start ----------------------------------------------------------------------------------

TEST(Stages, StartInProgramUnits) {
  // psi = A*u, pi = (A/B)*u'
  Staged m(model(kBox + "field u, w: real\npotential V = u^2/2 + w^2/2\nrescale A = 2, B = 4\n" +
                 "init u = 3, u' = 5, w = 2*u\n" + kEnd));
  std::map<std::string, std::string> start;
  for (const InitialValue& value : m.start().initial)
    start[m.array(value.array)] = m.text(value.value);
  const std::map<std::string, std::string> expected = {
      {"u", "6"}, {"u'", "5/2"}, {"w", "2*u"}, {"w'", "0"}};
  EXPECT_EQ(start, expected);
}

}  // namespace
}  // namespace vphi::physics::test
