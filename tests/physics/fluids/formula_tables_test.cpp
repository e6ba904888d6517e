// Equations of state by the inverse of a formula: the energy density of lattice QCD as the
// variable, against an independent inversion and against the same fluid with T as the variable.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;

/// A tube of matter, with lines for the primitive variables, their recovery and what is written.
std::string qcd_tube(const std::string& state, const std::string& recovery,
                     const std::string& written) {
  return R"(model tube "Matter of lattice QCD beside colder matter"
units fm
lattice line: 64, length = 12 [fm], boundary = outflow
energy(T) = T*d(hotqcd_p(T), T) - hotqcd_p(T)
temperature(e) = inverse(energy(z), e, z = 0.05 [GeV]..1 [GeV])
)" + state +
         R"(
W = 1/sqrt(1 - norm2(v))
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
recover {
)" + recovery +
         R"(
}
scheme kt, speed = 1, theta = 1.8
evolve heun, dt = 0.1*dx, until = t > 3 [fm]
init E = (6 [GeV/fm^3] if x < 0 else 1 [GeV/fm^3]), M = 0
precision real = f64
e_1 = 1 [GeV/fm^3]
)" + written +
         R"(
expect conserved(E, M) within 1e-12
)";
}

std::string of_energy(const std::string& written) {
  return qcd_tube("primitive eps: real, v: vec(1)\np(eps) = hotqcd_p(temperature(eps))",
                  "  u   = norm(M)/(E + p)\n  eps = E - norm(M)*u\n  v   = M/(E + p)\n"
                  "  solve u by fixed_point, tol = 1e-12, max = 40, start = 0",
                  written);
}

// viscous hydrodynamics' usual checks of HotQCD: T, p and c_s^2 at 1 GeV/fm^3, digits of an
// independent inversion
TEST(FormulaTables, TheInverseOfLatticeQcd) {
  const auto result =
      testing::run_text(of_energy("T_1 = temperature(e_1)/(1 [GeV])\n"
                                  "p_1 = hotqcd_p(temperature(e_1))/(1 [GeV/fm^3])\n"
                                  "c_1 = d(p(e_1), e_1)\n"
                                  "at end: T_1, p_1, c_1, total(E) -> \"tube.h5\""),
                        {});
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
  EXPECT_NEAR(last(result, "T_1"), 0.17973481, 5e-9);
  EXPECT_NEAR(last(result, "p_1"), 0.16298896, 5e-9);
  EXPECT_NEAR(last(result, "c_1"), 0.18502408, 1e-8);
}

// T as the variable needs no inverse: another recovery and other derivatives of the same physics.
TEST(FormulaTables, TheFluidIsThatOfTheTemperature) {
  const std::string written =
      "at end: total(x^2*E), total(x*M[0]), max(v[0]), middle = mean(p*(abs(x) < 2)) -> "
      "\"tube.h5\"";
  const auto energy = testing::run_text(of_energy(written), {});
  const auto temperature = testing::run_text(
      qcd_tube("primitive T: real, v: vec(1)\np = hotqcd_p(T)\neps = T*d(p, T) - p",
               "  T = T*((E - dot(M, v))/eps)^(1/4)\n  v = M/(E + p)\n"
               "  solve T by newton, tol = 1e-13, start = 0.25 [GeV], from = 1e-5 [GeV], "
               "to = 1000 [GeV]",
               written),
      {});
  EXPECT_GT(last(energy, "max(v[0])"), 0.2);
  for (const char* name : {"total(x^2*E)", "total(x*M[0])", "max(v[0])", "middle"}) {
    const double expected = last(temperature, name);
    EXPECT_NEAR(last(energy, name), expected, 2e-9 * std::abs(expected)) << name;
  }
}

// Cells of 0.19 fm on a device of OpenCL have the numbers of a processor.
TEST(FormulaTables, OpenClAgrees) {
  testing::Simulation setup;
  setup.device = "opencl";
  if (!testing::device(setup.device)) GTEST_SKIP() << "no such device here";
  const std::string text = of_energy("at end: total(x^2*E), max(v[0]) -> \"tube.h5\"");
  const auto one = testing::run_text(text, {}), other = testing::run_text(text, setup);
  for (const char* name : {"total(x^2*E)", "max(v[0])"})
    EXPECT_NEAR(last(other, name), last(one, name), 1e-11 * std::abs(last(one, name))) << name;
}

// Names of a formula are its own: parameters of functions, inner formulas with the same name, and
// fields keep their values.
TEST(FormulaTables, NamesOfAFormulaAreItsOwn) {
  struct Known {
    const char* expression;  ///< with phi = 1 and two = 2
    double value, within;
  };
  const std::vector<Known> known{
      {"integral(gauss(z, two), z = -20..20)", 2 * std::sqrt(std::acos(-1.0)), 1e-12},
      {"integral(z*integral(z^2, z = 0..1), z = 0..1)", 1.0 / 6, 1e-14},
      {"integral(z*integral(z^2, z = 0..z, points = 2), z = 0..1)", 1.0 / 15, 1e-14},
      {"integral(x*phi, x = 0..phi, points = 2)", 0.5, 1e-14},
      {"inverse(x^3 + x, 10*phi, x = 0..3)", 2, 1e-8},
      {"inverse(x^3 + x, 100*phi, x = 0..3)", 3, 1e-12},
      {"inverse(x^3 + x, 100*phi, x = 0..3, outside = -phi)", -1, 1e-12},
      {"inverse(inverse(x^2, x, x = 1..100), two, x = 1..9999)", 4, 1e-7},
      {"tabulate(sin(x)/x, two*phi, x = 0.1..4, tol = 1e-8)", std::sin(2.0) / 2, 1e-8},
      {"tabulate(min(x, 1.5)*abs(x - 0.7), two*phi, x = -1..3)", 1.95, 1e-9},
  };
  std::string lines, names;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::string name = "found_" + std::to_string(i);
    lines += name + " = mean(" + known[i].expression + " + 0*phi)\n";
    names += (i > 0 ? ", " : "") + name;
  }
  const auto result = testing::run_text(
      "model numbers \"what the compiler tabulates\"\nlattice line: 8, length = 1\n"
      "field phi: real\nphi' = 0*phi\nevolve euler, dt = 0.1, until = t > 0.1\n"
      "init phi = 1\nprecision real = f64\nparam two = 2\ngauss(z, w) = exp(-(z/w)^2)\n" +
          lines + "at end: " + names + " -> \"n.h5\"\n",
      {});
  for (std::size_t i = 0; i < known.size(); ++i)
    EXPECT_NEAR(last(result, "found_" + std::to_string(i)), known[i].value, known[i].within)
        << known[i].expression;
}

}  // namespace
}  // namespace vphi
