// Surfaces as outputs of models: freeze-out of Bjorken's and Gubser's flow against closed forms, a
// ball on a lattice against an independent code, runs that are cut in two, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>

#include "runtime/run/onlooker.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::compile_file;
using testing::compile_text;
using testing::Simulation;

/// Keeps the tables of a run, and may end it early.
class Surfaces : public runtime::Onlooker {
 public:
  explicit Surfaces(std::int64_t stop_at = -1) : stop_at_(stop_at) {}
  bool attending() const override { return true; }
  void scalars(std::span<const std::string>, const io::Moment&, std::span<const double>) override {}
  void table(const io::Table& table, const io::Moment& at) override {
    if (table.group() != "surfaces") return;
    columns = table.columns;
    rows.insert(rows.end(), table.values.begin(), table.values.end());
    for (const auto& [name, value] : table.numbers) numbers[name] = value;
    moments.push_back(at.step);
  }
  void checks(const std::vector<runtime::ExpectationResult>&) override {}
  runtime::Wish between(const runtime::Progress& now) override {
    return stop_at_ >= 0 && now.step >= stop_at_ ? runtime::Wish::Stop : runtime::Wish::GoOn;
  }

  /// The sum over all elements of f(row by column).
  template <class Function>
  double sum(const Function& f) const {
    long double all = 0;
    for (std::size_t at = 0; at < rows.size(); at += columns.size()) {
      std::map<std::string, double> row;
      for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = rows[at + i];
      all += f(row);
    }
    return static_cast<double>(all);
  }
  std::size_t elements() const { return rows.size() / columns.size(); }

  std::vector<std::string> columns;
  std::vector<double> rows;
  std::vector<std::int64_t> moments;
  std::map<std::string, double> numbers;

 private:
  std::int64_t stop_at_;
};

runtime::RunResult run(const Compilation& compiled, Surfaces& surfaces,
                       runtime::RunOptions options = {}) {
  options.onlooker = &surfaces;
  return runtime::run(*compiled.program, *testing::device("native"), options);
}

using SurfaceRow = std::map<std::string, double>;

TEST(SurfaceOutput, BjorkenFlowFreezesOutAtOneTime) {
  Surfaces surfaces;
  run(compile_text(R"(model line "Freeze-out at one time"
lattice line: 16, length = 3, boundary = periodic
metric scale(1, 1, t), energy = E
primitive eps: real, v: vec(1)
p(eps) = eps/3
conserve M = 4/3*eps*v:  div(M*v) + grad(p)
conserve E = eps:        div((E + p)*v)
recover {
  eps = E
  v   = M/(4/3*E)
}
scheme kt, speed = 1
evolve ssp_rk3, dt = 0.01, until = t > 3
init t = 1, eps = 1, v = 0
precision real = f64
every 4 steps: surface(eps, level = 2^(-4/3), carry = [2*eps, v], time = on) -> "fo.h5"
)",
                   {}),
      surfaces);
  EXPECT_EQ(surfaces.columns, (std::vector<std::string>{"t", "x", "n_t", "n_x", "2*eps", "v"}));
  EXPECT_EQ(surfaces.elements(), 16u);
  // eps = t^(-4/3); lines between t = 1.96, 2, 2.04 are off by dt^2 eps''/(8 eps')
  EXPECT_NEAR(surfaces.sum([](SurfaceRow& row) { return row["t"]; }), 16 * 2.0, 16 * 4e-4);
  EXPECT_NEAR(surfaces.sum([](SurfaceRow& row) { return row["n_t"]; }), 3, 1e-14);
  EXPECT_NEAR(surfaces.sum([](SurfaceRow& row) { return std::fabs(row["n_x"]); }), 0, 1e-14);
  EXPECT_NEAR(surfaces.sum([](SurfaceRow& row) { return row["2*eps"]; }),
              32 * std::pow(2, -4.0 / 3), 1e-12);
  EXPECT_EQ(surfaces.numbers["above"], 0);
  EXPECT_EQ(surfaces.numbers["edge"], 0);
}

// u.dSigma: the entropy at the start over that of a volume at T_f; when the centre freezes out, and
// the largest radius.
TEST(SurfaceOutput, GubserFlowKeepsItsEntropy) {
  Surfaces surfaces;
  const auto result = run(compile_file(testing::shipped("hydro/freeze_out"), {}), surfaces);
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  double centre = 0, innermost = 100, widest = 0;
  const double through = surfaces.sum([&](SurfaceRow& row) {
    const double radius = row["x"] + 12.5, v = row["v"];
    if (radius < innermost) innermost = radius, centre = row["t"];
    widest = std::max(widest, radius);
    return 2 * std::numbers::pi * radius * row["t"] * (row["n_t"] + v * row["n_x"]) /
           std::sqrt(1 - v * v);
  });
  EXPECT_NEAR(through, 7000.68906757, 1);
  EXPECT_NEAR(centre, 7.601354517, 0.01);
  EXPECT_NEAR(widest, 15.915218064, 0.05);
  EXPECT_EQ(surfaces.numbers["above"], 0);
}

const char* const kBall = R"(model ball "A ball of a field"
lattice box: 17^3, spacing = 0.25, boundary = BOUNDARY
field phi: real
phi' = lap(phi)
evolve euler, dt = 0.005, until = t > 0.028
init phi = exp(-((x - 0.03)^2 + (y - 0.07)^2 + (z - 0.11)^2)/2)
precision real = f64
)";

std::string ball(const std::string& boundary, const std::string& outputs) {
  std::string text = kBall;
  text.replace(text.find("BOUNDARY"), 8, boundary);
  return text + outputs;
}

TEST(SurfaceOutput, BallOfAFieldIsThatOfAnIndependentCode) {
  for (const char* boundary : {"neumann", "periodic"}) {
    Surfaces surfaces;
    run(compile_text(ball(boundary,
                          "every 100 steps: surface(phi, level = exp(-1/2), "
                          "carry = [x, grad(phi)]) -> \"b.h5\"\n"),
                     {}),
        surfaces);
    ASSERT_EQ(surfaces.columns,
              (std::vector<std::string>{"x", "y", "z", "n_x", "n_y", "n_z", "x", "grad(phi)[0]",
                                        "grad(phi)[1]", "grad(phi)[2]"}));
    EXPECT_EQ(surfaces.elements(), 306u);
    double area = 0;
    for (std::size_t at = 0; at < surfaces.rows.size(); at += 10) {
      const double* row = surfaces.rows.data() + at;
      area += std::hypot(row[3], row[4], row[5]);
      EXPECT_NEAR(row[0], row[6], 1e-14);                                 // x is linear
      EXPECT_LT(row[3] * row[7] + row[4] * row[8] + row[5] * row[9], 0);  // downhill
    }
    EXPECT_NEAR(area / (4 * std::numbers::pi) - 1, -1.971e-2, 1e-5);
  }
}

TEST(SurfaceOutput, ARunInTwoPartsHasTheSameSurface) {
  const std::string text = ball(
      "periodic", "every 2 steps: surface(phi, level = 0.5*max(phi), time = on) -> \"b.h5\"\n");
  const Compilation compiled = compile_text(text, {});
  Surfaces whole;
  run(compiled, whole);
  EXPECT_EQ(whole.moments, (std::vector<std::int64_t>{2, 4, 6}));
  EXPECT_EQ(whole.columns[0], "t");
  EXPECT_GT(whole.elements(), 100u);
  const testing::ScratchFolder scratch;
  runtime::RunOptions options;
  options.out = (scratch / "out").string();
  options.keep.on = true;
  options.keep.every_steps = 3;
  Surfaces first(3), second;
  const auto cut = run(compiled, first, options);
  ASSERT_TRUE(cut.interrupted);
  options.resume =
      runtime::find_checkpoint(std::filesystem::path(options.out), compiled.program->model).reader;
  run(compiled, second, options);
  EXPECT_EQ(second.moments.back(), 6);
  // what the first part wrote after its last full interval is written anew
  std::vector<double> joined;
  for (std::size_t i = 0; i < whole.rows.size(); ++i)
    if (i < whole.rows.size() - second.rows.size()) joined.push_back(whole.rows[i]);
  joined.insert(joined.end(), second.rows.begin(), second.rows.end());
  EXPECT_EQ(joined, whole.rows);
  EXPECT_FALSE(second.rows.empty());
}

TEST(SurfaceOutput, WhatItCannotDoIsRefused) {
  const auto message = [](const std::string& outputs) -> std::string {
    try {
      compile_text(ball("periodic", outputs), {});
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no message";
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  std::string text = message("every 2 steps: surface(phi) -> \"b.h5\"\n");
  EXPECT_TRUE(has(text, "E0737") && has(text, "level = ...")) << text;
  text = message("at end: surface(phi, level = 1, time = on) -> \"b.h5\"\n");
  EXPECT_TRUE(has(text, "E0737") && has(text, "no output before")) << text;
  text = message("every 2 steps: surface(phi, level = phi) -> \"b.h5\"\n");
  EXPECT_TRUE(has(text, "`level`")) << text;
  text = message("every 2 steps: surface(phi, phi^2, level = 1) -> \"b.h5\"\n");
  EXPECT_TRUE(has(text, "carry")) << text;
  text = message("every 2 steps: surface(phi, level = 1, carry = mean(phi)) -> \"b.h5\"\n");
  EXPECT_TRUE(has(text, "mean(phi)")) << text;
  text = message("every 2 steps: surface(phi, level = 1, carry = max(phi, 0)) -> \"b.h5\"\n");
  EXPECT_TRUE(has(text, "E0737") && has(text, "define it")) << text;
}

/// What the notes say of the surface of a bump that decays as exp(-t), high 1 at the start.
std::string surface_notes(const std::string& level, const std::string& until,
                          const std::string& start = "exp(-norm2([x, y])/4)") {
  const auto compiled = compile_text(
      "model decays \"a bump\"\nlattice plane: 24^2, length = 12, boundary = outflow\n"
      "field u: real\nu' = -u\nevolve rk4, dt = 0.05, until = t > " +
          until + "\ninit u = " + start +
          "\nprecision real = f64\nevery 2 steps: surface(u, level = " + level +
          ", time = on) -> \"s.h5\"\n",
      {});
  Surfaces surfaces;
  std::string all;
  for (const std::string& note : run(compiled, surfaces).notes) all += note + "\n";
  return all;
}

TEST(SurfaceOutput, TheRunSaysWhereOneIsEmptyOrNotClosed) {
  EXPECT_NE(surface_notes("1.5", "1").find("is empty: all values were below the level, 1.5"),
            std::string::npos);
  EXPECT_NE(surface_notes("0.1", "1").find("is not closed: "), std::string::npos);
  EXPECT_NE(surface_notes("0.1", "1").find("sites are above the level, 0.1, at the end"),
            std::string::npos);
  EXPECT_NE(surface_notes("0.1", "3", "exp(-x^2/4)").find("an open end of the box"),
            std::string::npos);
  EXPECT_EQ(surface_notes("0.1", "3").find("surface"), std::string::npos);
}

}  // namespace
}  // namespace vphi
