// States of a fluid and their sources: sites that cannot be recovered, initial values from files,
// nested tables and tables with a symmetry, one quantity stored in another precision.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "embed/failing_term.hpp"
#include "runtime/io/field_file.hpp"
#include "runtime/io/results.hpp"
#include "tests/physics/fluids/relativistic.hpp"
#include "tests/physics/fluids/riemann.hpp"
#include "tests/physics_derive/derive_text.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;
using testing::last;
using testing::run_file;
using testing::run_text;
using testing::shipped;
using testing::Simulation;

/// So many steps, nothing else.
Simulation steps(std::int64_t n) {
  Simulation setup;
  setup.steps = n;
  return setup;
}

// ---- sites that cannot be recovered -------------------------------------------------------------

/// A force that does no work: M = 3 t where E stays 1, in the plane of x > 0 far from its edge.
std::string pushed(const std::string& start, const std::string& limit = "") {
  return fmt::format(R"(model pushed "M grows past E"
lattice box: 20 * 4, spacing = 0.05, boundary = outflow
primitive eps: real, v: vec(2)
p(eps) = eps/3
W = 1/sqrt(1 - norm2(v))
push = [3*(x > 0), 0]
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p) - push
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
recover {{
  u   = norm(M)/(E + p) if E > 0 else 0
  eps = E - norm(M)*u
  v   = M/(E + p) if E > 0 else 0
  solve u by fixed_point, tol = 1e-12, max = 40, start = 0
}}
{}
scheme shasta
evolve scheme, dt = 0.4*dx, until = t > 10
init {}
precision real = f64
every 10 steps: total(E) -> "pushed.h5"
)",
                     limit, start);
}

struct Broken {
  std::string code, message, hint, lines;
};

Broken broken(const std::string& text, const Simulation& setup = {}) {
  const Compilation compiled = testing::compile_text(text, setup);
  if (!compiled.program) throw std::logic_error("the model does not compile");
  try {
    runtime::RunOptions options;
    options.steps = setup.steps;
    runtime::run(*compiled.program, *testing::device(setup.device), options);
  } catch (const runtime::BrokenState& error) {
    return {error.code, error.what(), error.hint, embed::failing_term(error, compiled)};
  }
  return {};
}

TEST(Unrecovered, TheFirstSiteIsNamedWithItsConservedValues) {
  const Broken found = broken(pushed("eps = 1, v = 0"));
  EXPECT_EQ(found.code, "E0808") << found.message << found.lines;
  // 3 t > E = 1 after 17 steps of 0.02, or a step or two away from it at the edge of the force
  EXPECT_NE(found.message.find("step 1"), std::string::npos) << found.message;
  EXPECT_NE(found.message.find("plane y = 0"), std::string::npos) << found.message;
  EXPECT_NE(found.lines.find("first at site ("), std::string::npos) << found.lines;
  EXPECT_NE(found.lines.find("M[0] = "), std::string::npos) << found.lines;
  EXPECT_NE(found.lines.find(" E = "), std::string::npos) << found.lines;
  EXPECT_NE(found.lines.find("u = 1."), std::string::npos) << found.lines;
}

TEST(Unrecovered, ALimitKeepsTheRunGoing) {
  const std::string limit = "limit M = M*min(1, E*(1 - 1e-12)/norm(M)) if norm(M) > 0 else M";
  const Broken found = broken(pushed("eps = 1, v = 0", limit), steps(30));
  EXPECT_EQ(found.code, "") << found.message << found.lines;
}

/// The first cell of a vacuum is the fastest; the state is looked at where the run ends.
TEST(Unrecovered, MatterThatFillsAVacuumIsRecoveredFromTheFirstStepOn) {
  for (const char* model : {"hydro/bag_model", "hydro/slab"})
    for (int n = 1; n <= 3; ++n) EXPECT_NO_THROW(run_file(shipped(model), steps(n))) << model << n;
}

TEST(Unrecovered, AnInitialStateFasterThanLight) {
  const Broken found = broken(pushed("eps = 1, v = [1.5*(abs(x) < dx), 0]"));
  EXPECT_EQ(found.code, "E0808");
  EXPECT_NE(found.message.find("from the initial state"), std::string::npos) << found.message;
  EXPECT_NE(found.lines.find("first at site (9, 0), x = -0.025"), std::string::npos) << found.lines;
}

/// A fluid in one dimension that starts anywhere, whose velocity is solved for.
std::string solved_fluid(const std::string& solve, const std::string& start,
                         const std::string& pressure = "eps/3 + eps^2/(100 + 10*eps)") {
  return fmt::format(R"(model limits "an equation that is not solved"
lattice line: 16, length = 1, boundary = outflow
primitive eps, v: real
p(eps) = {}
W2 = 1/(1 - v^2)
conserve M = (eps + p)*W2*v:     d(M*v, x) + d(p, x)
conserve E = (eps + p)*W2 - p:   d((E + p)*v, x)
recover {{
  u   = abs(M)/(E + p)
  eps = E - abs(M)*u
  v   = M/(E + p)
  solve u by {}
}}
scheme kt, speed = 1
evolve heun, dt = 0.2*dx, until = t > 0.1
init {}
precision real = f64
every 10 steps: total(E) -> "limits.h5"
)",
                     pressure, solve, start);
}

std::string what_limits(const std::string& solve, const std::string& start,
                        const std::string& pressure = "eps/3 + eps^2/(100 + 10*eps)") {
  return broken(solved_fluid(solve, start, pressure)).lines;
}

TEST(Unrecovered, WhatLimitsTheEquationIsSaid) {
  const auto says = [](const std::string& lines, const std::string& part) {
    EXPECT_NE(lines.find(part), std::string::npos) << lines;
  };
  // |M| > E: there is no such state
  for (const char* solve : {"newton, tol = 1e-10, max = 40, start = 0, from = 0, to = 1",
                            "bisection, tol = 1e-10, max = 100, from = 0, to = 1"}) {
    const std::string none = what_limits(solve, "E = 1, M = 2");
    says(none, "the equation of `u` is not solved: it is off by 1.95");
    says(none, "no value from its bound `from`, 0, to its bound `to`, 1, solves it");
  }
  says(what_limits("newton, tol = 1e-10, max = 40, start = 0, from = 0, to = 1", "E = 1, M = 2"),
       "in 40 iterations of Newton's method");
}

/// At v = 0.99 with a pressure of 0.94 eps an iteration leaves 0.95 of the error: after 40 the
/// residual is 3e-4 and eps is wrong by a third. Where they suffice eps is what it was.
TEST(Unrecovered, ASmallResidualOfASlowIterationIsNoSolution) {
  const char* pressure = "0.94*eps + 0.01*log(1 + eps)";
  const char* start = "eps = 1, v = 0.99";
  const auto solve = [](int most) {
    return fmt::format("fixed_point, tol = 1e-8, max = {}, start = 0", most);
  };
  const Broken found = broken(solved_fluid(solve(40), start, pressure));
  EXPECT_EQ(found.code, "E0808") << found.message;
  EXPECT_NE(found.lines.find("the equation of `u` is not solved"), std::string::npos)
      << found.lines;
  const auto right = run_text(
      solved_fluid(solve(400), start, pressure) + "every 10 steps: max(eps) -> \"e.h5\"\n", {});
  EXPECT_NEAR(right.find("max(eps)")->points.front().second, 1, 1e-6);
}

/// The same of a vector, whose components are found together.
TEST(Unrecovered, ASmallResidualOfASlowVectorIsNoSolution) {
  const Broken found = broken(R"(model slow "a velocity that is solved for"
lattice box: 4 * 4, length = 1, boundary = outflow
primitive eps: real, v: vec(2)
p(eps) = 0.94*eps + 0.01*log(1 + eps)
W2 = 1/(1 - norm2(v))
conserve M = (eps + p)*W2*v:     div(M*v) + grad(p)
conserve E = (eps + p)*W2 - p:   div((E + p)*v)
recover {
  eps = E - dot(M, v)
  v   = M/(E + p)
  solve v by fixed_point, tol = 1e-8, max = 40, start = 0
}
scheme kt, speed = 1
evolve heun, dt = 0.2*dx, until = t > 0.1
init eps = 1, v = [0.594, 0.792]
precision real = f64
every 10 steps: max(eps) -> "slow.h5"
)");
  EXPECT_EQ(found.code, "E0808") << found.message;
  EXPECT_NE(found.lines.find("the equation of `v` is not solved"), std::string::npos)
      << found.lines;
}

/// Where the start is no state that the compiler tries, 101 iterations leave 0.3 % of eps: a note.
TEST(Unrecovered, WhatMissesItsToleranceIsNoted) {
  const auto notes = [](const char* tolerance) {
    return run_text(
               solved_fluid(fmt::format("fixed_point, tol = {}, max = 1000, start = 0", tolerance),
                            "eps = 1, v = 0.9 + 0.09*(x < 2)", "0.94*eps + 0.01*log(1 + eps)"),
               {})
        .notes;
  };
  const auto missed = [](const std::string& note) {
    return note.find("has not reached its `tol`") != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(notes("1e-8"), missed), 1);
  EXPECT_EQ(std::ranges::count_if(notes("1e-12"), missed), 0);
}

TEST(Unrecovered, OfAStartTheHintIsTheStart) {
  const Broken found = broken(pushed("E = 1, M = [2, 0]"));
  EXPECT_NE(found.hint.find("correct `init`"), std::string::npos) << found.hint;
  EXPECT_EQ(found.hint.find("smaller dt"), std::string::npos) << found.hint;
}

/// The iterations that a solution needs: u = g(u) at v = 0.1, whose error each multiplies by v^2
/// times the slope of the pressure, 0.0033 and more.
TEST(Unrecovered, IterationsThatAreNeededAreCounted) {
  const auto result = run_text(solved_fluid("fixed_point, tol = 1e-10, max = 100, start = 0",
                                            "eps = 1, v = (0.1 if x < 0 else 0)") +
                                   R"(now = max(iterations)
every 2 steps: now, least = min(iterations), gone = t -> "counted.h5"
at end: average = mean(now, over = time) -> "counted.h5"
)",
                               {});
  // changes of 0.1, 3e-4, 1e-6, 4e-9, and then less than 1e-10; none where nothing moves
  EXPECT_EQ(result.find("now")->points.front().second, 4);
  EXPECT_EQ(result.find("least")->points.front().second, 0);
  EXPECT_GE(last(result, "average"), 4);
  EXPECT_LE(last(result, "average"), 6);
}

// ---- states that a model is tried on ------------------------------------------------------------

/// A fluid in one dimension whose velocity is a number; the density of the energy times `wrong`.
std::string with_number_for_v(const std::string& square, const std::string& solve,
                              const std::string& wrong = "1") {
  return fmt::format(R"(model fast "v is a number"
lattice line: 64, length = 1, boundary = periodic
primitive eps, v: real
p(eps) = eps/3 + eps^2/(100 + 10*eps)
W2 = {}
conserve M = (eps + p)*W2*v:               d(M*v, x) + d(p, x)
conserve E = {}*((eps + p)*W2 - p):   d((E + p)*v, x)
recover {{
  u   = abs(M)/(E + p)
  eps = E - abs(M)*u
  v   = M/(E + p)
  solve u by {}
}}
scheme kt, speed = 1
evolve heun, dt = 0.2*dx, until = t > 0.1
init eps = 1 + 0.1*sin(2*pi*x), v = 0.1
every 10 steps: total(E) -> "fast.h5"
)",
                     square, wrong, solve);
}

std::vector<std::string> codes(const std::string& text) {
  std::vector<std::string> all;
  const auto derived = physics::test::derive_text(text);
  for (const auto& d : derived.diagnostics.all()) all.push_back(d.code);
  return all;
}

// W^2 without a root has a value beyond the speed of light too, where no state of the model lies.
TEST(TriedStates, AreOnTheStartsSideOfAPole) {
  const std::string rounds = "fixed_point, tol = 1e-10, max = 100, start = 0";
  const std::string bounded = "newton, tol = 1e-10, max = 40, start = 0, from = 0, to = 1";
  for (const char* square : {"1/(1 - v^2)", "1/((1 - v^2)^(1/2))^2", "1/sqrt(1 - v^2)^2"})
    for (const std::string& solve : {rounds, bounded})
      EXPECT_EQ(codes(with_number_for_v(square, solve)), std::vector<std::string>())
          << square << " " << solve;
}

TEST(TriedStates, AWrongModelIsFoundAllTheSame) {
  const auto found = codes(
      with_number_for_v("1/(1 - v^2)", "fixed_point, tol = 1e-10, max = 100, start = 0", "1.1"));
  EXPECT_NE(std::ranges::find(found, "E0794"), found.end());
}

// Signals of light along both axes at once: the sum over the axes of |v_k| is sqrt(2) at most.
TEST(TriedStates, ARightSideTakesAllAxesAtOnce) {
  const auto plane = [](double dt) {
    return codes(fmt::format(R"(model plane
lattice box: 16^2, length = 1, boundary = periodic
primitive eps: real, v: vec(2)
p(eps) = eps/3
W = 1/sqrt(1 - norm2(v))
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
recover {{
  u   = norm(M)/(E + p)
  eps = E - norm(M)*u
  v   = M/(E + p)
  solve u by fixed_point, tol = 1e-10, max = 40, start = 0
}}
scheme kt, speed = 1
evolve heun, dt = {}*dx, until = t > 1
init eps = 1, v = 0
every 10 steps: total(E) -> "plane.h5"
)",
                             dt));
  };
  EXPECT_TRUE(plane(0.2).empty());
  const auto found = plane(0.4);  // 2*0.4 of the bound `speed = 1` along two axes
  EXPECT_NE(std::ranges::find(found, "E0312"), found.end());
}

// A field carried along every axis at once: with Heun's method the fastest mode is stable up to a
// sum of 1 over the axes, in one, two and three dimensions, and not up to 1 along each.
TEST(TriedStates, TheLimitOfARightSideIsThatOfTheSum) {
  const char* boxes[] = {"16", "8^2", "6^3"};
  const char* fluxes[] = {"d(u, x)", "d(u, x) + d(u, y)", "d(u, x) + d(u, y) + d(u, z)"};
  for (int dims = 1; dims <= 3; ++dims) {
    const auto range = [&](double sum) {
      try {
        const auto result =
            run_text(fmt::format("model carried\nlattice box: {}, length = 1, boundary = periodic\n"
                                 "primitive a: real\nconserve u = a: {}\nrecover {{\n  a = u\n}}\n"
                                 "scheme upwind, speed = 1, courant = 9\n"
                                 "evolve heun, dt = {}*dx, until = step >= 3000\n"
                                 "init a ~ uniform(0, 1)\nprecision real = f64\n"
                                 "at end: max(u), min(u) -> \"carried.h5\"\n",
                                 boxes[dims - 1], fluxes[dims - 1], testing::exact(sum / dims)),
                     {});
        return last(result, "max(u)") - last(result, "min(u)");
      } catch (const runtime::RunError&) {
        return std::numeric_limits<double>::infinity();
      }
    };
    EXPECT_LT(range(0.97), 0.01) << dims;
    EXPECT_GT(range(1.03), 10) << dims;
  }
}

// ---- initial values from files ------------------------------------------------------------------

class Files : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  /// A model beside the files.
  runtime::RunResult run(const std::string& text, Simulation setup = {}) const {
    write("model.vphi", text);
    setup.keep_state = true;
    return run_file(path("model.vphi"), setup);
  }

  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

std::string kept(int cells, const std::string& init, const std::string& lattice = "") {
  const std::string line = fmt::format("{}, length = 2, boundary = outflow", cells);
  return fmt::format(R"(model kept "a field that stays as it is"
lattice box: {}
field u: real
u' = 0*u
evolve heun, dt = 0.1*dx, until = t > 1e9
init u = {}
precision real = f64
every 1 step: mean(u) -> "kept.h5"
)",
                     lattice.empty() ? line : lattice, init);
}

TEST_F(Files, CellsOfTheLatticeAreTakenAsTheyAre) {
  std::string text;
  std::vector<double> values;
  for (int i = 0; i < 50; ++i) {
    values.push_back(std::sin(0.3 * i) + 1.0 / 3);
    text += testing::exact(values.back()) + "\n";
  }
  write("start.txt", text);
  const auto result = run(kept(50, "2*file(\"start.txt\")"), steps(1));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(result.state[0][i], 2 * values[i]);
}

TEST_F(Files, ResamplingKeepsTotalsAndMakesNoNewExtremes) {
  std::string text = "# x  other  value\n";
  double sum = 0;
  for (int i = 0; i < 40; ++i) {
    const double x = -1 + 2 * (i + 0.5) / 40, value = x < 0 ? 16 : std::exp(-x * x);
    sum += value * 0.05;
    text += fmt::format("{:.17g} 7 {:.17g}\n", x, value);
  }
  write("start.txt", text);
  for (const int cells : {16, 40, 70, 200}) {
    const auto result = run(kept(cells, "file(\"start.txt:3\")"), steps(1));
    double total = 0, least = 1e9, most = 0;
    for (const double v : result.state[0]) {
      total += v * 2 / cells, least = std::min(least, v), most = std::max(most, v);
    }
    EXPECT_NEAR(total / sum, 1, 1e-13) << cells;
    EXPECT_LE(most, 16 * (1 + 1e-14)) << cells;
    EXPECT_GE(least, 0.36) << cells;
  }
}

// A straight line stays one, also in the plane and with coordinates that are not the box's.
TEST_F(Files, StraightLinesStay) {
  std::string text;
  for (int j = 0; j < 21; ++j) {
    for (int i = 0; i < 31; ++i) {
      const double x = -1.5 + 0.1 * i, y = -1 + 0.1 * j;
      text += fmt::format("{:.17g} {:.17g} {:.17g}\n", x, y, 3 + x - 0.5 * y);
    }
  }
  write("plane.txt", text);
  const auto result =
      run(kept(0, "file(\"plane.txt:3\")", "24 * 18, spacing = 0.1, boundary = outflow"), steps(1));
  for (int j = 0; j < 18; ++j) {
    for (int i = 0; i < 24; ++i) {
      const double x = (i - 11.5) * 0.1, y = (j - 8.5) * 0.1;
      EXPECT_NEAR(result.state[0][static_cast<std::size_t>(j * 24 + i)], 3 + x - 0.5 * y, 1e-12);
    }
  }
}

TEST_F(Files, OneRunBeginsWhereAnotherEnded) {
  // a snapshot of the coarse run is what the fine one starts from
  std::ifstream in(shipped("hydro/sod"));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.replace(text.find("profile(eps, rho)"), 17, "snapshot(eps, rho)");
  Simulation coarse;
  coarse.lattice = "100";
  coarse.out = path("out");
  const auto first = run(text, coarse);
  ASSERT_FALSE(first.files.empty());
  if (!fs::exists(folder_ / "out" / "sod.h5")) GTEST_SKIP() << "this build writes no HDF5";
  const std::string set = fmt::format("/snapshots/snapshot(eps)/{:08}", first.steps);
  const auto field = io::read_field((folder_ / "out" / "sod.h5").string() + ":" + set, 1);
  ASSERT_EQ(field.values.size(), 100u);
  const auto next = run(kept(400, "file(\"out/sod.h5:" + set + "\")"), steps(1));
  double total = 0, before = 0;
  for (const double v : next.state[0]) total += v / 4;
  for (const double v : field.values) before += v;
  EXPECT_NEAR(total / before, 1, 1e-12);
}

TEST_F(Files, HolesAndTextAreMistakesWithTheirPlace) {
  write("hole.txt", "0 0 1\n0 1 2\n1 0 3\n");
  write("word.txt", "1\n2\nthree\n");
  EXPECT_THROW(io::read_field(path("hole.txt:3"), 2), io::ResultsError);
  EXPECT_THROW(io::read_field(path("word.txt"), 1), io::ResultsError);
  EXPECT_THROW(io::read_field(path("none.txt"), 1), io::ResultsError);
  try {
    run(kept(10, "file(\"word.txt\")"));
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("word.txt, line 3"), std::string::npos)
        << error.what();
  }
}

// ---- tables
// ---------------------------------------------------------------------------------------

std::string grid(double e_most, double n_most, int cells) {
  std::string text;
  for (int i = 0; i <= cells; ++i)
    for (int j = 0; j <= cells; ++j) {
      const double e = e_most * i / cells, n = n_most * j / cells;
      text +=
          fmt::format("{:.17g} {:.17g} {:.17g} {:.17g}\n", e, n, e / 3 + 0.02 * n * n, n * (1 + e));
    }
  return text;
}

/// Values of an expression at the sites of a line, where a is x.
std::vector<double> seen(const runtime::RunResult& result) { return result.state[0]; }

TEST_F(Files, NestedTablesTheFinestThatHoldsTheArguments) {
  write("fine.txt", grid(1, 1, 50));
  write("wide.txt", grid(10, 10, 20));
  const auto at = [&](double e, double n) {
    return seen(run(kept(3, fmt::format("table(\"fine.txt:3\", \"wide.txt:3\", {} + 0*x, {}, "
                                        "outside = 1000)",
                                        e, n)),
                    steps(1)))[1];
  };
  const auto exact = [](double e, double n) { return e / 3 + 0.02 * n * n; };
  // bilinear: wrong by 0.02 h^2/4 between the rows in n, h = 0.02 or 0.5
  EXPECT_NEAR(at(0.503, 0.51), exact(0.503, 0.51) + 0.02 * 1e-4, 1e-9);
  EXPECT_NEAR(at(5.03, 2.25), exact(5.03, 2.25) + 0.02 / 16, 1e-9);
  EXPECT_NEAR(at(0.5, 2.25), exact(0.5, 2.25) + 0.02 / 16, 1e-9);
  EXPECT_EQ(at(11, 1), 1000);
}

TEST_F(Files, TablesWithASymmetry) {
  write("both.txt", grid(2, 2, 40));
  const auto value = [&](const std::string& column, const std::string& option, double n) {
    return seen(run(kept(3, fmt::format("table(\"both.txt:{}\", 1 + 0*x, {}*(1 + 0*x), {} = "
                                        "{}*(1 + 0*x))",
                                        column, n, option, n)),
                    steps(1)))[1];
  };
  EXPECT_NEAR(value("3", "even", -1.5), 1.0 / 3 + 0.02 * 2.25, 1e-12);
  EXPECT_NEAR(value("4", "odd", -1.5), -3, 1e-12);
  EXPECT_NEAR(value("4", "odd", 1.5), 3, 1e-12);
}

TEST_F(Files, CubicsInTwoVariables) {
  const auto error = [&](int cells) {
    std::string text;
    for (int i = 0; i <= cells; ++i)
      for (int j = 0; j <= cells; ++j) {
        const double x = static_cast<double>(i) / cells, y = static_cast<double>(j) / cells;
        text += fmt::format("{:.17g} {:.17g} {:.17g}\n", x, y, std::exp(x + 2 * y));
      }
    write("smooth.txt", text);
    const auto result = run(kept(97,
                                 "table(\"smooth.txt:3\", 0.5 + 0.2*x, 0.4 + 0.1*x, order "
                                 "= 3)"),
                            steps(1));
    double worst = 0;
    for (int i = 0; i < 97; ++i) {
      const double x = -1 + 2 * (i + 0.5) / 97;
      worst = std::max(worst, std::abs(result.state[0][static_cast<std::size_t>(i)] -
                                       std::exp(0.5 + 0.2 * x + 2 * (0.4 + 0.1 * x))));
    }
    return worst;
  };
  // lines have order 2; slopes along both axes and no mixed one are between 2 and 3
  const double coarse = error(10), fine = error(40);
  EXPECT_GT(std::log2(coarse / fine) / 2, 2.2) << coarse << ' ' << fine;
}

// What fills up at one hundredth a step from 0.955 meets a bound of 1 at all 40 sites in each of
// the last 6 of 10 steps, whatever moves it on.
TEST(Fixes, AreCountedInStepsOfSchemesAndOfIntegrators) {
  for (const std::string scheme :
       {"scheme kt, speed = 1\nevolve heun", "scheme kt, speed = 1\nevolve rk4",
        "scheme shasta\nevolve scheme"}) {
    const auto result = run_text(R"(model filled "Filled to the brim"
lattice line: 40, length = 1, boundary = periodic
primitive a: real
v = [1]
conserve u = a: div(u*v) - 1
recover {
  a = u
}
limit u = min(u, 1)
)" + scheme + R"(, dt = 0.4*dx, until = t > 1
init a = 0.9525
precision real = f64
every 1 step: fixes, max(u) -> "filled.h5"
)",
                                 steps(10));
    EXPECT_EQ(last(result, "fixes"), scheme.ends_with("scheme") ? 440 : 240) << scheme;
    EXPECT_EQ(last(result, "max(u)"), 1) << scheme;
  }
}

// ---- memory
// -----------------------------------------------------------------------------------------

// Arithmetic in f64, one quantity in memory of half the size: it alone is rounded. The two programs
// differ in conversions, so a compiler that makes multiply-adds across expressions may make others
// in the equations of the rest: then these are the same to rounding. Where it makes none they are
// the same bits, whatever the compiler.
TEST(Memory, OneQuantityInSinglePrecision) {
  for (const char* device : {"native", "opencl", "cuda"}) {
    for (const bool contract : {true, false}) {
      if (!testing::device(device)) continue;
      SCOPED_TRACE(std::string(device) + (contract ? "" : ", no multiply-adds"));
      std::ifstream in(shipped("hydro/sod"));
      std::string text((std::istreambuf_iterator<char>(in)), {});
      Simulation setup;
      setup.device = device;
      setup.lattice = "100";
      setup.keep_state = true;
      setup.contract = contract;
      const auto exact = run_text(text, setup);
      text.replace(text.find("real = f64"), 10, "real = f64, N = f32");
      text.replace(text.find("conserved(E, N, M) within 1e-12"), 31, "conserved(N) within 1e-5");
      const auto mixed = run_text(text, setup);
      double of_N = 0;
      for (std::size_t i = 0; i < 100; ++i) {
        for (const std::size_t other : {1u, 2u}) {
          const double a = mixed.state[other][i], b = exact.state[other][i];
          if (contract)
            EXPECT_NEAR(a, b, 1e-11) << i;  // of numbers around 1
          else
            EXPECT_EQ(a, b) << i;
        }
        of_N = std::max(of_N, std::abs(mixed.state[0][i] - exact.state[0][i]));
      }
      EXPECT_GT(of_N, 1e-9);
      EXPECT_LT(of_N, 1e-4);
    }
  }
}

/// Matter of one velocity, gamma, in a periodic box; the largest relative errors of eps and rho.
std::string fast(double gamma, const std::string& eps, const std::string& precision) {
  return fmt::format(R"(model fast "Fast matter"
lattice line: 400, length = 1, boundary = periodic
{3}scheme shasta
evolve scheme, dt = 0.4*dx, until = t > 100
wave = sin(2*pi*x)
init eps = {1}, rho = 2 + wave, v = [sqrt(1 - 1/{0}^2)]
precision {2}
every 100 steps: max(abs(eps/({1}) - 1)), max(abs(rho/(2 + wave) - 1)) -> "fast.h5"
)",
                     gamma, eps, precision,
                     relativistic_matter(1, "p(eps, rho) = eps/3",
                                         "fixed_point, tol = 1e-12, max = 60, start = 0"));
}

struct FastErrors {
  double eps = 0, rho = 0;
};
FastErrors fast_errors(double gamma, const std::string& eps, const std::string& precision,
                       std::int64_t count) {
  const auto result = run_text(fast(gamma, eps, precision), steps(count));
  return {result.series[0].points.back().second, result.series[1].points.back().second};
}

// E and M carry the velocity: where they are kept in f32 the energy density is known to some
// 5e-7 gamma^2, whatever the arithmetic. The rows are the largest errors that an independent code
// has met.
TEST(Memory, FastMatterWantsEnergyAndMomentumInDouble) {
  const std::string states = "1 + 0.5*wave";
  const std::pair<double, double> rows[] = {
      {2, 1.5e-6}, {10, 6e-5}, {30, 5e-4}, {100, 5e-3}, {300, 4.4e-2}};
  for (const auto& [gamma, expected] : rows) {
    SCOPED_TRACE(gamma);
    for (const char* precision :
         {"real = f32", "real = f64, store = f32", "real = f64, N = f64, E = f32, M = f32"}) {
      const double error = fast_errors(gamma, states, precision, 0).eps;
      EXPECT_GT(error, expected / 2) << precision;
      EXPECT_LT(error, expected * 2) << precision;
    }
    const FastErrors small = fast_errors(gamma, states, "real = f64, N = f32", 0);
    EXPECT_LT(small.eps, 1e-14 * gamma * gamma);
    EXPECT_GT(small.rho, 3e-8);  // rounded once
    EXPECT_LT(small.rho, 0x1p-24 * 1.01);
    const FastErrors all = fast_errors(gamma, states, "real = f64", 0);
    EXPECT_LT(std::max(all.eps, all.rho), 1e-14 * gamma * gamma);
  }
}

// Matter of one pressure and velocity carries its density along: 200 steps at gamma = 50.
TEST(Memory, FastMatterKeepsItsPressureWhereEnergyAndMomentumAreInDouble) {
  const auto error = [](const std::string& precision) {
    return fast_errors(50, "1", precision, 200).eps;
  };
  EXPECT_LT(error("real = f64, N = f32"), 1e-10);
  EXPECT_LT(error("real = f64"), 1e-10);
  EXPECT_GT(error("real = f32"), 1e-4);
  EXPECT_GT(error("real = f64, store = f32"), 1e-4);
}

}  // namespace
}  // namespace vphi
