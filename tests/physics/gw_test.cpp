// Gravitational waves from a scalar source (docs/formulas.md 1.8), against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>

#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

std::string model(const std::string& phi, const std::string& output) {
  return "model waves \"tensor waves from a scalar\"\n"
         "lattice box: 16^3, length = 2*pi\n"
         "field phi: real, u: sym(3)\n"
         "laplacian = iso7\n"
         "potential V = phi^2/2\n"
         "u'' = lap(u) + 2*outer(grad(phi), grad(phi))\n"
         "h = transverse_traceless(u')\n"
         "init phi = " +
         phi +
         ", phi' = 0, u = 0, u' = 0\n"
         "evolve yoshida4, dt = 0.02, until = t > 2\n" +
         output;
}

// phi = A (cos x + cos y) cos(Omega t): the source has one transverse part,
//   u_xy = S(t) sin(x) sin(y),  S'' = -K^2 S + 2 A^2 k^2 cos^2(Omega t),
// k the symbol of grad and K, Omega those of the Laplacian. For a plane wave along n in the plane,
// e_x e_y + e_y e_x is n n - m m, of which (z z - m m)/2 is left: <h'^2> = S'^2/8.
TEST(GravitationalWaves, CrossedWavesAgainstTheClosedForm) {
  const auto result = testing::run_text(
      model("0.3*(cos(x) + cos(y))", "every 10 steps: t, mean(norm2(h)) -> \"gw.h5\"\n"), {});
  const double dx = 2 * std::numbers::pi / 16, k = std::sin(dx) / dx;
  const double one = (2 - 2 * std::cos(dx)) / (dx * dx), omega = std::sqrt(one + 1),
               big = std::sqrt(2 * one);
  const double strength = 0.09 * k * k;
  const auto* h2 = result.find("mean(norm2(h))");
  ASSERT_TRUE(h2);
  for (const auto& [t, value] : h2->points) {
    const double rate =
        strength * (std::sin(big * t) / big +
                    (-2 * omega * std::sin(2 * omega * t) + big * std::sin(big * t)) /
                        (big * big - 4 * omega * omega));
    EXPECT_NEAR(value, rate * rate / 8, 1e-7) << t;
  }
  double largest = 0;
  for (const auto& [t, value] : h2->points) largest = std::max(largest, value);
  EXPECT_GT(largest, 1e-5) << "nothing but rounding was compared";
}

// A source along one axis has no transverse part, however large u is.
TEST(GravitationalWaves, OneAxisDoesNotRadiate) {
  const auto result =
      testing::run_text(model("cos(2*x) + 0.5*sin(x)",
                              "every 50 steps: mean(norm2(h)), mean(norm2(u')) -> \"gw.h5\"\n"),
                        {});
  EXPECT_GT(testing::last(result, "mean(norm2(u'))"), 1e-2);
  EXPECT_LT(testing::last(result, "mean(norm2(h))"), 1e-28);
}

/// Rows of the CSV file `name` of a run, without its header and first column.
std::vector<std::vector<double>> rows(const std::filesystem::path& path) {
  std::vector<std::vector<double>> out;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    // a name may hold a comma and stands in quotes then
    std::istringstream cells(line.substr(line.find(',', line.rfind('"') + 1) + 1));
    out.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) out.back().push_back(std::stod(cell));
  }
  return out;
}

// The spectrum of the projected tensor holds its energy, mode by mode positive.
TEST(GravitationalWaves, SpectrumAddsUpToTheMean) {
  const auto compiled = testing::compile_text(
      model("0.3*(cos(x) + cos(y)) + 0.1*sin(x + z)*cos(2*y)",
            "every 100 steps: mean(norm2(h)), spectrum(h, type = 1) -> \"gw.csv\"\n"),
      {});
  const testing::ScratchFolder folder;
  runtime::RunOptions options;
  options.out = folder.path().string();
  const auto result = runtime::run(*compiled.program, *testing::device("native"), options);
  const auto* mean = result.find("mean(norm2(h))");
  ASSERT_TRUE(mean);
  double sum = 0;
  for (const auto& row : rows(folder / "gw.spectra.csv")) {
    if (row[0] != 100) continue;
    EXPECT_GE(row[3], 0);
    sum += row[4] / row[2];  // Delta dlog k, dlog k = k_IR/k with k_IR = 1
  }
  for (const auto& [t, value] : mean->points)
    if (std::abs(t - 2) < 1e-9) {
      EXPECT_NEAR(sum, value, 1e-10 * value);
    }
  EXPECT_GT(sum, 1e-5);
}

// The shipped model: the tensor does not gravitate, so the constraint holds as it does without it.
TEST(GravitationalWaves, ShippedModelKeepsTheConstraint) {
  testing::Simulation setup;
  setup.lattice = "16^3";
  setup.steps = 512;
  const auto result = testing::run_file(testing::shipped("cosmology/gw"), setup);
  EXPECT_TRUE(result.all_expected());
  EXPECT_GT(testing::last(result, "mean(rho_gw)/mean(rho)"), 0);
}

}  // namespace
}  // namespace vphi
