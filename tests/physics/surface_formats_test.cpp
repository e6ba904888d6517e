// Freeze-out surfaces in the formats of other programs, read again by parsers of this test: places,
// normals, velocities and stresses that are known formulas of the coordinates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

constexpr double kGeVfm = 0.1973269804;

using Row = std::vector<double>;

std::vector<Row> rows_of_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Row row;
    for (double value = 0; words >> value;) row.push_back(value);
    rows.push_back(row);
  }
  return rows;
}

std::vector<Row> rows_of_doubles(const std::filesystem::path& path, std::size_t width) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  const std::string bytes = all.str();
  EXPECT_EQ(bytes.size() % (8 * width), 0u);
  std::vector<Row> rows;
  for (std::size_t at = 0; at + 8 * width <= bytes.size(); at += 8 * width) {
    Row row(width);
    std::memcpy(row.data(), &bytes[at], 8 * width);
    rows.push_back(row);
  }
  return rows;
}

/// A temperature that falls with time and distance. Velocities and stresses are linear in x and y,
/// which interpolation between sites keeps.
std::string cooling(int dims, const std::string& target) {
  const bool box = dims == 3;
  return fmt::format(
      R"(model cooling "A surface that is known"
units fm
lattice plane: {}, spacing = 0.25 [fm], boundary = outflow
metric scale(1, 1, t)
primitive a: real
conserve u = a: div(u*[0, 0{}])
recover {{
  a = u
}}
T = 2/t*exp(-(x^2 + 2*y^2{})/(8 [fm^2]))
v = [0.1*x, 0.05*y{}]
stress = [0.02 + 0.01*x, 0.003*y, {}-0.01 + 0.002*y{}]
scheme upwind, speed = 1
evolve heun, dt = 0.1*dx, until = t > 1.5
init t = 0.8 [fm], a = 1
precision real = f64
every 4 steps: surface(T, level = 1.1 [fm^-1], time = on) -> {}
every 4 steps: surface(T, level = 1.1 [fm^-1], carry = [v, stress], time = on) -> "all.h5"
)",
      box ? "24*24*24" : "32^2", box ? ", 0" : "", box ? " + z^2" : "", box ? ", 0.04*z" : "",
      box ? "0.001*x, " : "", box ? ", 0.004 + 0.001*y" : "", target);
}

void write(const std::filesystem::path& folder, int dims, const std::string& target) {
  testing::Simulation setup;
  setup.out = folder.string();
  testing::run_text(cooling(dims, target), setup);
}

using Tensor = std::array<std::array<double, 4>, 4>;

/// Lorentz scalar of two vectors, (+, -, -, -).
double product(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  return a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
}

/// pi^{mn} u_n = 0, pi^m_m = 0 and u^2 = 1.
void expect_orthogonal(const Tensor& pi, const std::array<double, 4>& u, double within) {
  EXPECT_NEAR(product(u, u), 1, within);
  for (const auto& row : pi) EXPECT_NEAR(product(row, u), 0, within);
  EXPECT_NEAR(pi[0][0] - pi[1][1] - pi[2][2] - pi[3][3], 0, within);
}

double temperature(double t, double x, double y, double z = 0) {
  return 2 / t * std::exp(-(x * x + 2 * y * y + z * z) / 8);
}

TEST(SurfaceFormats, MusicHasPowersOfFm) {
  const testing::ScratchFolder folder;
  write(folder.path(), 2,
        "music(\"gold\", T = T, eps = 3*T^4, p = T^4, v = v, pi = stress, Pi = -0.01*T)");
  const auto rows = rows_of_text(folder / "gold.music");
  ASSERT_GT(rows.size(), 200u);
  double through = 0;
  for (const Row& r : rows) {
    ASSERT_EQ(r.size(), 29u);
    const double t = r[0], x = r[1], y = r[2];
    EXPECT_NEAR(temperature(t, x, y), 1.1, 0.02);
    EXPECT_EQ(r[3], 0);
    EXPECT_EQ(r[7], 0);
    // from hot to cold: along minus the gradient (-T/t, -x T/4, -y T/2)
    const double along = r[4] * (1 / t) + r[5] * x / 4 + r[6] * y / 2;
    const double size = std::hypot(r[4], r[5], r[6]);
    EXPECT_NEAR(along / (size * std::hypot(1 / t, x / 4, y / 2)), 1, 0.02);
    const double gamma = 1 / std::sqrt(1 - 0.01 * x * x - 0.0025 * y * y);
    EXPECT_NEAR(r[8], gamma, 1e-9);
    EXPECT_NEAR(r[9], gamma * 0.1 * x, 1e-9);
    EXPECT_NEAR(r[10], gamma * 0.05 * y, 1e-9);
    EXPECT_NEAR(r[13] / 1.1, 1, 0.02);
    EXPECT_NEAR(r[12] / (3 * std::pow(1.1, 4)), 1, 0.15);
    EXPECT_NEAR(r[17] / ((r[12] + std::pow(1.1, 4)) / r[13]), 1, 0.05);
    EXPECT_NEAR(r[28] / (-0.011), 1, 0.02);
    Tensor pi{};
    std::size_t at = 18;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = i; k < 4; ++k) pi[i][k] = pi[k][i] = r[at++];
    EXPECT_NEAR(pi[1][1], 0.02 + 0.01 * x, 1e-9);
    EXPECT_NEAR(pi[1][2], 0.003 * y, 1e-9);
    EXPECT_NEAR(pi[2][2], -0.01 + 0.002 * y, 1e-9);
    expect_orthogonal(pi, {r[8], r[9], r[10], r[11]}, 1e-9);
    through += r[4];
  }
  // the sum of n_t is the area of the surface's shadow: the ellipse at the start, which the surface
  // closes. x^2 + 2 y^2 = 8 ln(2/(1.1 t)) has the area 8 pi ln(2/(1.1 t))/sqrt(2).
  const double area = 8 * M_PI * std::log(2 / (1.1 * 0.8)) / std::sqrt(2.0);
  const double end =
      8 * M_PI * std::max(0.0, std::log(2 / (1.1 * rows.back()[0]))) / std::sqrt(2.0);
  EXPECT_NEAR((std::abs(through) + end) / area, 1, 0.05);
}

TEST(SurfaceFormats, VhlleIsInTheLaboratory) {
  const testing::ScratchFolder folder;
  write(folder.path(), 3, "vhlle(\"gold\", T = T, v = v, pi = stress, mu = 0.5*T)");
  const auto rows = rows_of_text(folder / "gold.vhlle");
  ASSERT_GT(rows.size(), 500u);
  for (const Row& r : rows) {
    ASSERT_EQ(r.size(), 27u);
    const double t = r[0], x = r[1], y = r[2], eta = r[3];
    EXPECT_NEAR(temperature(t, x, y, eta), 1.1, 0.04);
    EXPECT_NEAR(r[12] / (1.1 * kGeVfm), 1, 0.04);
    EXPECT_NEAR(r[13] / r[12], 0.5, 1e-9);
    // the velocity of the frame, boosted by hand
    const double v3 = 0.04 * eta;
    const double gamma = 1 / std::sqrt(1 - 0.01 * x * x - 0.0025 * y * y - v3 * v3);
    const std::array<double, 4> u{r[8], r[9], r[10], r[11]};
    EXPECT_NEAR(u[0], gamma * (std::cosh(eta) + v3 * std::sinh(eta)), 1e-8);
    EXPECT_NEAR(u[3], gamma * (std::sinh(eta) + v3 * std::cosh(eta)), 1e-8);
    Tensor pi{};
    std::size_t at = 16;
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t i = 0; i <= k; ++i) pi[i][k] = pi[k][i] = r[at++] / kGeVfm;
    expect_orthogonal(pi, u, 1e-8);
    EXPECT_NEAR(pi[1][1], 0.02 + 0.01 * x, 1e-8);
    EXPECT_NEAR(pi[2][2], -0.01 + 0.002 * y, 1e-8);
    // the element along minus the gradient of T in t, z: dtau = cosh dt - sinh dz and so on
    const std::array<double, 4> slope{std::cosh(eta) / t - std::sinh(eta) / t * eta / 4, x / 4,
                                      y / 2, -std::sinh(eta) / t + std::cosh(eta) / t * eta / 4};
    double along = 0, sizes[2] = {};
    for (std::size_t i = 0; i < 4; ++i) {
      along += slope[i] * r[4 + i];
      sizes[0] += slope[i] * slope[i], sizes[1] += r[4 + i] * r[4 + i];
    }
    EXPECT_NEAR(along / std::sqrt(sizes[0] * sizes[1]), 1, 0.03);
  }
}

TEST(SurfaceFormats, OsuIsBinaryAndVhlleAgrees) {
  const testing::ScratchFolder first, second;
  write(first.path(), 2, "osu(\"gold\", v = v, pi = stress, Pi = 0.01*x)");
  write(second.path(), 2, "vhlle(\"gold\", T = T, v = v, pi = stress, Pi = 0.01*x)");
  const auto osu = rows_of_doubles(first / "gold.osu", 16);
  const auto vhlle = rows_of_text(second / "gold.vhlle");
  ASSERT_GT(osu.size(), 200u);
  ASSERT_EQ(osu.size(), vhlle.size());
  for (std::size_t i = 0; i < osu.size(); ++i) {
    const Row &o = osu[i], &h = vhlle[i];
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(o[k], h[k], 1e-9);
      EXPECT_NEAR(o[0] * o[3 + k], h[4 + k], 1e-9);
    }
    EXPECT_NEAR(o[6], 0.1 * o[1], 1e-9);
    EXPECT_NEAR(o[7], 0.05 * o[2], 1e-9);
    EXPECT_NEAR(o[11], (0.02 + 0.01 * o[1]) * kGeVfm, 1e-9);
    EXPECT_NEAR(o[12], 0.003 * o[2] * kGeVfm, 1e-9);
    EXPECT_NEAR(o[13], (-0.01 + 0.002 * o[2]) * kGeVfm, 1e-9);
    EXPECT_NEAR(o[8] - o[11] - o[13] - o[14], 0, 1e-12);
    EXPECT_NEAR(o[9], o[11] * o[6] + o[12] * o[7], 1e-12);
    EXPECT_NEAR(o[15], 0.01 * o[1] * kGeVfm, 1e-9);
    EXPECT_NEAR(h[26], o[15], 1e-9);
  }
}

std::string refusal(const std::string& target, const std::string& from = "",
                    const std::string& to = "") {
  std::string text = cooling(2, target);
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  try {
    testing::compile_text(text, {});
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(SurfaceFormats, WhatDoesNotFitIsRefused) {
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  };
  says(refusal("smash(\"gold\", T = T)"), "vhlle and osu");
  says(refusal("music(\"gold\", T = T, v = v)"), "`eps` is not given");
  says(refusal("osu(\"gold\", T = T, v = v)"), "no place for `T`");
  says(refusal("vhlle(\"gold\", T = T, v = [v[0]])"), "`v` has 2 components");
  says(refusal("vhlle(\"gold\", T = T, v = v, pi = v)"), "[xx, xy, yy]");
  says(refusal("vhlle(\"gold\", T = T, v = v)", "scale(1, 1, t)", "scale(1, 1, 1)"),
       "the coordinates are others");
  says(refusal("vhlle(\"gold\", T = T, v = v)", "time = on) -> vhlle",
               "carry = v, time = on) -> vhlle"),
       "carries columns of its own");
  says(refusal("vhlle(\"gold\", T = T, v = v)", "every 4 steps: surface",
               "every 4 steps: mean(a), surface"),
       "other outputs");
}

}  // namespace
}  // namespace vphi
