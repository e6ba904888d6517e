// Tables and time-dependent couplings in whole runs: against the formula they tabulate, on every
// device of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "compiler/compile.hpp"
#include "runtime/device/code_cache.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// A file of x, f(x); its path.
std::string tabulated(const testing::ScratchFolder& folder, const std::string& name, double from,
                      double to, int n, double bend, double (*f)(double)) {
  const std::string file = folder / name;
  std::ofstream out(file);
  out.precision(17);
  for (int i = 0; i <= n; ++i) {
    const double s = static_cast<double>(i) / n;
    const double x = i == n ? to : from + (to - from) * (s + bend * s * (1 - s));
    out << x << ' ' << f(x) << '\n';
  }
  return file;
}

std::string model(const std::string& m, const std::string& v) {
  return "model t \"tables\"\nlattice box: 32, length = 10\nfield phi: real\n"
         "laplacian = star2\n"
         "m = " +
         m + "\npotential V = " + v +
         "\ninit phi = cos(2*pi*index(x)/32), phi' = 0\n"
         "evolve yoshida4, dt = 0.02, until = t > 10\n"
         "every 50 steps: mean(phi^2), m -> \"t.h5\"\n";
}

double compare(const runtime::RunResult& a, const runtime::RunResult& b, const std::string& name) {
  const auto *x = a.find(name), *y = b.find(name);
  double worst = 0;
  for (std::size_t i = 0; i < x->points.size(); ++i)
    worst = std::max(worst, std::abs(x->points[i].second - y->points[i].second));
  return worst;
}

// A coupling that depends on time: the slot of a step, from a formula.
TEST(TimeDependent, MassOscillatorAgainstAnIndependentIntegration) {
  const auto result = testing::run_text(model("1 + 0.1*sin(t)", "m^2*phi^2/2"), {});
  // one mode: phi = c(t) cos(kx), c'' = -(k_eff^2 + m(t)^2) c, by Runge-Kutta with a small step
  const double dx = 10.0 / 32, k2 = (2 - 2 * std::cos(2 * std::acos(-1.0) / 32)) / (dx * dx);
  const auto force = [&](double t, double c) {
    return -(k2 + std::pow(1 + 0.1 * std::sin(t), 2)) * c;
  };
  double c = 1, v = 0, t = 0;
  const double h = 1e-3;
  for (const auto& [at, value] : result.find("mean(phi^2)")->points) {
    while (t < at - h / 2) {
      const double k1 = v, l1 = force(t, c), k2s = v + h / 2 * l1,
                   l2 = force(t + h / 2, c + h / 2 * k1), k3 = v + h / 2 * l2,
                   l3 = force(t + h / 2, c + h / 2 * k2s), k4 = v + h * l3,
                   l4 = force(t + h, c + h * k3);
      c += h / 6 * (k1 + 2 * k2s + 2 * k3 + k4), v += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4), t += h;
    }
    EXPECT_NEAR(value, c * c / 2, 1e-6) << at;
  }
}

class OnDevices : public ::testing::TestWithParam<const char*> {};

TEST_P(OnDevices, TablesAgreeWithTheirFormulas) {
  if (!testing::device(GetParam())) GTEST_SKIP() << "no such device here";
  const testing::ScratchFolder folder;
  testing::Simulation setup;
  setup.device = GetParam();
  const std::string m = tabulated(folder, "m.txt", 0, 12, 600, 0,
                                  [](double t) { return 1 + 0.5 * std::sin(0.7 * t); });
  const std::string v =
      tabulated(folder, "v.txt", -2, 2, 2000, 0.3, [](double x) { return 1 - std::cos(x); });
  const auto formula = testing::run_text(model("1 + 0.5*sin(0.7*t)", "m*(1 - cos(phi))"), setup);
  std::optional<runtime::RunResult> tabled;
  try {
    tabled =
        testing::run_text(model("table(\"" + m + "\", t)", "m*table(\"" + v + "\", phi)"), setup);
  } catch (const runtime::LimitError& limit) {
    GTEST_SKIP() << limit.what();
  }
  const runtime::RunResult& table = *tabled;
  EXPECT_LT(compare(formula, table, "m"), 1e-5);
  EXPECT_LT(compare(formula, table, "mean(phi^2)"), 1e-4);
  EXPECT_GT(compare(formula, table, "mean(phi^2)"), 0);
}

// The end behind the last place of a table is beyond any float, and yet a number: a constant that
// every OpenCL compiler takes.
TEST(TablesInF32, HoldFiniteNumbers) {
  const testing::ScratchFolder folder;
  const std::string v =
      tabulated(folder, "v.txt", -2, 2, 20, 0.3, [](double x) { return 1 - std::cos(x); });
  const std::string path = folder / "model.vphi";
  std::ofstream(path) << model("1", "table(\"" + v + "\", phi, order = 1)")
                      << "every 50 steps: max(table(\"" + v + "\", phi, order = 1)) -> \"v.h5\"\n"
                      << "precision real = f32\n";
  emit::TargetInfo target;
  target.target = program::Target::OpenCL;
  target.is_cpu = false;
  const Compilation c = compile_model(path, {}, target);
  ASSERT_TRUE(c.program);
  int tables = 0;
  for (const program::Kernel& kernel : c.program->kernels) {
    for (auto at = kernel.source.find("_values["); at != std::string::npos;
         at = kernel.source.find("_values[", at + 1)) {
      const auto open = kernel.source.find("= {", at), line = kernel.source.find('\n', at);
      if (open == std::string::npos || open > line) continue;
      const std::string values = kernel.source.substr(open, kernel.source.find("};", open) - open);
      EXPECT_EQ(values.find("INFINITY"), std::string::npos) << kernel.name << values;
      ++tables;
    }
  }
  EXPECT_GT(tables, 0);
}

// Arguments that are the first and the last of a table, to the bit, take what the table says there
// and not what lies outside: every interpolation, both precisions, axes that begin at 0 or far off.
TEST_P(OnDevices, EndsOfATableAreInside) {
  if (!testing::device(GetParam())) GTEST_SKIP() << "no such device here";
  struct Ends {
    double first, last;
    int pieces;
  };
  const double kOutside = 1e4;
  std::vector<Ends> all{{0.3, 7.9, 40}};
  if (std::string(GetParam()) == "native") {
    all.insert(all.end(), {{0, 3, 10}, {-6.1, 2.7, 129}, {100.1, 103.3, 7}, {0, 0.7, 3000}});
  }
  for (const Ends& e : all) {
    const testing::ScratchFolder folder;
    const auto f = [](double x) { return 2000 + x; };
    const std::string even = tabulated(folder, "even.txt", e.first, e.last, e.pieces, 0, f);
    const std::string bent = tabulated(folder, "bent.txt", e.first, e.last, e.pieces, 0.3, f);
    std::ofstream plane(folder / "plane.txt");
    plane.precision(17);
    const int rows = std::min(e.pieces, 10);
    for (int i = 0; i <= rows; ++i) {
      for (int j = 0; j <= rows; ++j) {
        const auto at = [&](int k) {
          return k == rows ? e.last : e.first + (e.last - e.first) * k / rows;
        };
        const double a = at(i), b = at(j);
        plane << a << ' ' << b << ' ' << 2000 + a + b << '\n';
      }
    }
    plane.close();
    std::string text =
        "model t \"ends\"\nlattice box: 64, length = 10\nfield phi, chi: real\n"
        "potential V = phi*chi\nn = index(x)\nlow = " +
        testing::exact(e.first) + "\nhigh = " + testing::exact(e.last) +
        "\ninit phi = (low if n < 32 else high), phi' = 0\n"
        "init chi = (low if n - 2*floor(n/2) < 1 else high), chi' = 0\n"
        "evolve leapfrog, dt = 0.01, until = t > 1\nevery 1 step: ";
    int count = 0;
    for (const std::string order : {"1", "3"}) {
      for (const std::string outside : {"10000", "10000 + 0*phi^2 + floor(phi/1e6)"}) {
        for (const std::string& file : {even, bent}) {
          text += "max(table(\"" + file + "\", phi, order = " + order + ", outside = " + outside +
                  ")) -> \"a" + std::to_string(count++) + ".h5\"\nevery 1 step: ";
        }
        text += "max(table(\"" + (folder / "plane.txt").string() +
                ":3\", phi, chi, order = " + order + ", outside = " + outside + ")) -> \"a" +
                std::to_string(count++) + ".h5\"\nevery 1 step: ";
      }
      text += "max(table(\"" + even + "\", \"" + bent + "\", phi, order = " + order +
              ", outside = 10000)) -> \"a" + std::to_string(count++) + ".h5\"\nevery 1 step: ";
    }
    text += "max(phi) -> \"b.h5\"\n";
    for (const char* precision : {"f32", "f64"}) {
      testing::Simulation setup;
      setup.device = GetParam();
      setup.precision = precision;
      setup.steps = 0;
      const auto result = testing::run_text(text, setup);
      int seen = 0;
      for (const auto& series : result.series) {
        if (series.name.find("table") == std::string::npos) continue;
        ++seen;
        EXPECT_LT(series.points.front().second, kOutside / 2) << precision << ' ' << series.name;
        EXPECT_GT(series.points.front().second, 2000 + e.last - 0.01) << series.name;
      }
      EXPECT_EQ(seen, count) << precision;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OnDevices, ::testing::Values("native", "opencl"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace vphi
