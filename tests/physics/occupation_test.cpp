// Occupation numbers: growth by Floquet's exponent, and adiabatic invariance without resonance.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// t and the value in `column` of the first shell, of every output.
std::vector<std::pair<double, double>> first_shell(const std::string& text, std::size_t column) {
  const auto compiled = testing::compile_text(text, {});
  const testing::ScratchFolder folder;
  runtime::RunOptions options;
  options.out = folder.path().string();
  runtime::run(*compiled.program, *testing::device("native"), options);
  std::vector<std::pair<double, double>> out;
  std::ifstream in(folder / "n.occupations.csv");
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "name,step,t,k,n,omega,energy,modes");
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    std::vector<double> row;
    std::string cell;
    std::getline(cells, cell, ',');
    while (std::getline(cells, cell, ',')) row.push_back(std::stod(cell));
    if (out.empty() || row[1] > out.back().first) out.emplace_back(row[1], row[column]);
  }
  return out;
}

// chi at q = 1, kappa^2 = 0.2285: n grows as exp(2 mu x), mu = 0.14699 (docs/formulas.md 1.11)
TEST(Occupation, GrowsByFloquetsExponent) {
  const double dx = std::sqrt((2 - 2 * std::cos(2 * std::numbers::pi / 16)) / 0.2285);
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "param step = %.17g\n", dx);
  const auto n = first_shell(std::string("model floquet \"resonance\"\n") + numbers +
                                 R"(lattice box: 16^3, spacing = step, boundary = periodic
field phi, chi: real
laplacian = iso7
potential V = phi^4/4 + phi^2*chi^2/2
init phi = 1, phi' = 0, chi = 1e-30*cos(2*pi*index(x)/16), chi' = 0
evolve vv6, dt = 7.4162987092054877/64, until = t > 7.4162987092054877*24
every 64 steps: occupation(chi, k = effective) -> "n.csv"
)",
                             3);
  ASSERT_GE(n.size(), 24U);
  const double rate = std::log(n[23].second / n[12].second) / (n[23].first - n[12].first);
  EXPECT_NEAR(rate / (2 * 0.14699), 1, 0.01);
}

// A free mode whose mass changes slowly keeps its number: n = E/omega is an adiabatic invariant.
TEST(Occupation, IsAnAdiabaticInvariant) {
  const auto n = first_shell(R"(model slow "a mass that changes slowly"
lattice box: 16^3, length = 2*pi, boundary = periodic
field phi: real
laplacian = iso7
m = 1 + 0.5*sin(0.02*t)
potential V = m^2*phi^2/2
init phi = 1e-3*cos(index(x)*2*pi/16), phi' = 0
evolve vv6, dt = 0.05, until = t > 75
every 100 steps: occupation(phi, k = effective) -> "n.csv"
)",
                             3);
  ASSERT_GE(n.size(), 14U);
  // omega changes by 40 %; corrections are of order m'/omega^2 = 1 %
  for (const auto& [t, value] : n) EXPECT_NEAR(value / n[0].second, 1, 0.01) << t;
}

// Radiation era, no mass: a f obeys the equation of flat space in conformal time, so its n is
// constant. Without the Hubble term n swings by H/omega.
TEST(Occupation, WithTheHubbleTermAConformalFieldKeepsItsNumber) {
  const auto text = [](const std::string& option) {
    return R"(model conformal "no mass in the radiation era"
lattice box: 16^3, length = 2*pi, boundary = periodic
metric frw(a = t^(1/2))
field phi: real
laplacian = iso7
potential V = 0*phi
rescale s = -1
init t = 1, phi = 1e-3*cos(index(x)*2*pi/16), phi' = -1e-3*cos(index(x)*2*pi/16)/2
evolve vv6, dt = 0.05, until = t > 20
every 20 steps: occupation(phi, k = effective, mass = 0)" +
           option + R"() -> "n.csv"
)";
  };
  const auto with = first_shell(text(", hubble = on"), 3), without = first_shell(text(""), 3);
  ASSERT_GE(with.size(), 4U);
  double swing = 0;
  for (const auto& [t, n] : with) EXPECT_NEAR(n / with[0].second, 1, 1e-6) << t;
  for (const auto& [t, n] : without) swing = std::max(swing, std::abs(n / with[0].second - 1));
  EXPECT_GT(swing, 0.1);
}

}  // namespace
}  // namespace vphi
