// Minkowski functionals of the library: shapes whose numbers are known exactly on the lattice, and
// Gaussian random fields, whose means are known (Tomita, Prog. Theor. Phys. 76 (1986) 952).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using std::numbers::pi;
using testing::last;
using testing::run_text;

runtime::RunResult shape_of(const std::string& lattice, const std::string& inside,
                            const std::string& outputs) {
  return run_text("model shape \"a shape on a lattice\"\nlattice " + lattice +
                      ", spacing = 0.5\nfield phi: real\nphi'' = lap(phi)\nX = index(x)\n"
                      "Y = index(y)\n" +
                      (lattice.starts_with("box") ? "Z = index(z)\n" : "") +
                      "init phi = " + inside +
                      "\nin = phi > 1/2\nevolve leapfrog, dt = 0.1, until = step >= 1\n"
                      "precision real = f64\nevery 1 step: " +
                      outputs + " -> \"s.h5\"\n",
                  {});
}

double first(const runtime::RunResult& result, const std::string& name) {
  return result.find(name)->points.front().second;
}

const std::string kBall = "((X - 9)^2 + (Y - 8)^2 + (Z - 7)^2 < 5.5^2)";

// A ball of radius 5.5 sites meets 11 planes along each axis, in discs without holes, and as many
// lines as a disc has sites: its mean breadth is 11 sites exactly.
TEST(Shapes, ABallHasItsMeanBreadth) {
  const auto result = shape_of(
      "box: 20^3", kBall, "n = euler_number(in), a = surface_area(in), m = mean_curvature(in)");
  int disc = 0;
  for (int i = -5; i <= 5; ++i)
    for (int j = -5; j <= 5; ++j) disc += i * i + j * j < 5.5 * 5.5;
  EXPECT_EQ(first(result, "n"), 1);
  EXPECT_NEAR(first(result, "a"), 4 * 0.25 * disc, 1e-9);
  EXPECT_NEAR(first(result, "a"), 4 * pi * 2.75 * 2.75, 3);
  EXPECT_NEAR(first(result, "m"), 4 * pi * 2.75, 1e-9);
}

// Pieces less tunnels plus voids.
TEST(Shapes, EulerNumbersInThreeDimensions) {
  const std::string ring = "((sqrt((X - 9)^2 + (Y - 8)^2) - 5)^2 + (Z - 7)^2 < 2.3^2)";
  const std::string wide = "(sqrt((X - 9)^2 + (Y - 9)^2) - 5)^2 + (Z - 7)^2";
  const struct {
    const char* name;
    std::string inside;
    int number;
  } rows[] = {
      {"shell", "(" + kBall + " and (X - 9)^2 + (Y - 8)^2 + (Z - 7)^2 > 3^2)", 2},
      {"solid torus", ring, 0},
      {"hollow ring", "(" + wide + " < 3.3^2 and " + wide + " > 1.3^2)", 0},
      {"two balls and a ring",
       "(" + ring + " or (X - 9)^2 + (Y - 8)^2 + (Z - 16)^2 < 9 or X + Y + Z < 2)", 2},
      {"slab around the box", "(X > 3 and X < 9)", 0},
      {"outside of a ball", "(1 - " + kBall + ")", 1},
      {"two sites at a corner",
       "((X == 3 and Y == 3 and Z == 3) or (X == 4 and Y == 4 and Z == 4))", 2},
      {"two tunnels",
       "(abs(X - 9) < 9 and abs(Y - 9) < 5 and abs(Z - 9) < 2 and not (abs(abs(X - 9) - 4) < 2 and "
       "abs(Y - 9) < 2))",
       -1},
  };
  for (const auto& row : rows)
    EXPECT_EQ(first(shape_of("box: 20^3", row.inside, "n = euler_number(in)"), "n"), row.number)
        << row.name;
}

// A slab is met by lines across it alone, and by no plane in a piece that ends.
TEST(Shapes, ASlabHasNoCurvature) {
  const auto result = shape_of("box: 20 * 6 * 8", "(X > 3 and X < 9)",
                               "a = surface_area(in), m = mean_curvature(in)");
  EXPECT_NEAR(first(result, "a"), 4.0 / 3 * 0.25 * 48, 1e-9);  // 2/3 of it: one axis of three
  EXPECT_NEAR(first(result, "m"), 0, 1e-9);
}

TEST(Shapes, APlane) {
  const std::string disc = "((X - 9)^2 + (Y - 8)^2 < 6.5^2)";
  const auto round = shape_of("plane: 20^2", disc, "n = euler_number(in), p = perimeter(in)");
  EXPECT_EQ(first(round, "n"), 1);
  EXPECT_NEAR(first(round, "p"), 2 * pi * 3.25, 1e-9);
  const auto ring = shape_of("plane: 20^2", "(" + disc + " and (X - 9)^2 + (Y - 8)^2 > 2.5^2)",
                             "n = euler_number(in), p = perimeter(in)");
  EXPECT_EQ(first(ring, "n"), 0);
  EXPECT_NEAR(first(ring, "p"), 2 * pi * (3.25 + 1.25), 1e-9);
}

// Functions of a set with indices, in functions of a set, that have the same name for it.
TEST(Shapes, OwnFunctionsWithIndices) {
  const auto result = shape_of("box: 20^3", kBall + R"(
along(s)[i] = s*s@i
square(s)[i,j] = along(s)[i]*along(s)[i]@j
cube(s)[i,j,k] = square(s)[i,j]*square(s)[i,j]@k
rest(s) = sum(square(s)[i,j], i < j) - sum(cube(s)[i,j,k], i < j, j < k)
own(s) = total(s - sum(along(s)[i], i) + rest(s))
edges(s) = total(along(s)[x]))",
                               "n = own(in), e = edges(in), f = total(in) - edges(in)");
  EXPECT_EQ(first(result, "n"), 1);
  EXPECT_GT(first(result, "e"), 500);
  EXPECT_EQ(first(result, "f"), 97);  // lines along x that meet the ball
}

// ---- Gaussian random fields ---------------------------------------------------------------------

/// Mean over chains and its standard error.
std::array<double, 2> over_chains(const runtime::RunResult& result, const std::string& name) {
  const auto& values = result.find(name)->values.front();
  double sum = 0, squares = 0;
  for (const double v : values) sum += v, squares += v * v;
  const double n = static_cast<double>(values.size()), mean = sum / n;
  return {mean, std::sqrt((squares / n - mean * mean) / (n - 1))};
}

/// Variance of a field with the power exp(-k^2 R^2) (4 pi R^2)^(d/2) in a periodic box, and of its
/// derivative along an axis: sums over its waves but the constant one.
std::array<double, 2> variances(int dims, int n, double R) {
  const double step = 2 * pi / n, volume = std::pow(n, dims);
  double field = 0, slope = 0;
  for (int i = -n / 2; i < n / 2; ++i)
    for (int j = -n / 2; j < n / 2; ++j)
      for (int k = dims == 3 ? -n / 2 : 0; k < (dims == 3 ? n / 2 : 1); ++k) {
        if (i == 0 && j == 0 && k == 0) continue;
        const double k2 = step * step * (i * i + j * j + k * k);
        const double power = std::pow(4 * pi * R * R, dims / 2.0) * std::exp(-k2 * R * R) / volume;
        field += power, slope += step * step * i * i * power;
      }
  return {field, slope};
}

runtime::RunResult random_field(int dims, int n, double R, double level, int chains) {
  const std::string r = std::to_string(R), c = " (phi > " + std::to_string(level) + ")";
  return run_text(
      "model random \"a Gaussian random field\"\nsweep chain = 1.." + std::to_string(chains) +
          "\nlattice " + (dims == 3 ? "box: " : "plane: ") + std::to_string(n) + "^" +
          std::to_string(dims) + ", spacing = 1\nfield phi: real\nphi'' = lap(phi)\ninit phi ~ " +
          "spectrum((4*pi*" + r + "^2)^(" + std::to_string(dims) + "/2)*exp(-k^2*" + r +
          "^2)), phi' = 0\nevolve leapfrog, dt = 0.1, until = step >= 1\nprecision real = f64\n" +
          "in =" + c + "\nevery 1 step: v = mean(in), n = euler_number(in)/volume, " +
          (dims == 3 ? "a = surface_area(in)/volume, m = mean_curvature(in)/volume"
                     : "a = perimeter(in)/volume") +
          " -> \"r.h5\"\n",
      {});
}

/// Within five standard errors, and 2 % of the largest value for the lattice's own deviation.
void expect_density(const runtime::RunResult& result, const std::string& name, double exact,
                    double largest) {
  const auto [mean, error] = over_chains(result, name);
  EXPECT_NEAR(mean, exact, 5 * error + 0.02 * largest) << name;
  EXPECT_LT(error, 0.03 * largest) << name;
}

TEST(Shapes, GaussianFieldsFollowTomitasFormula) {
  const double R = 3;
  const auto [field, slope] = variances(3, 48, R);
  const double mu = std::sqrt(slope / field);
  for (const double level : {-1.2, 0.0, 0.6}) {
    SCOPED_TRACE(level);
    const auto result = random_field(3, 48, R, level, 64);
    const double nu = level / std::sqrt(field), weight = std::exp(-nu * nu / 2);
    expect_density(result, "v", std::erfc(nu / std::sqrt(2.0)) / 2, 1);
    expect_density(result, "a", 2 * mu / pi * weight, 2 * mu / pi);
    expect_density(result, "m", mu * mu / std::sqrt(2 * pi) * nu * weight,
                   mu * mu / std::sqrt(2 * pi));
    expect_density(result, "n", std::pow(mu, 3) / (4 * pi * pi) * (nu * nu - 1) * weight,
                   std::pow(mu, 3) / (4 * pi * pi));
  }
}

TEST(Shapes, GaussianFieldsOfAPlane) {
  const double R = 3.5;
  const auto [field, slope] = variances(2, 128, R);
  const double mu = std::sqrt(slope / field);
  for (const double level : {-1.0, 0.0, 1.0}) {
    SCOPED_TRACE(level);
    const auto result = random_field(2, 128, R, level, 64);
    const double nu = level / std::sqrt(field), weight = std::exp(-nu * nu / 2);
    expect_density(result, "v", std::erfc(nu / std::sqrt(2.0)) / 2, 1);
    expect_density(result, "a", mu / 2 * weight, mu / 2);
    expect_density(result, "n", mu * mu * std::pow(2 * pi, -1.5) * nu * weight,
                   mu * mu * std::pow(2 * pi, -1.5));
  }
}

}  // namespace
}  // namespace vphi
