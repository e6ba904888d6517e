// Starts from formulas: links of SU(n) as matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;
using testing::Simulation;

class Starts : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  /// A model beside the files, so many steps (-1: to its end); results go to `out`.
  runtime::RunResult run(const std::string& text, std::int64_t steps = -1,
                         const std::string& out = "") const {
    write("model.vphi", text);
    Simulation setup;
    setup.keep_state = true;
    setup.steps = steps;
    if (!out.empty()) setup.out = path(out);
    return testing::run_file(path("model.vphi"), setup);
  }
  /// What the compiler, or the run, says of it.
  std::string refused(const std::string& text) const {
    try {
      run(text, 0);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// ---- links by formulas --------------------------------------------------------------------------

std::string links(const std::string& group, const std::string& init,
                  const std::string& lattice = "8^2") {
  return fmt::format(R"(model links "links of a formula"
lattice grid: {}
gauge U: {}
P[mu,nu] = loop(mu, nu, -mu, -nu)
action S = sum(1 - re(tr(P[mu,nu])), mu < nu)
sample heatbath, sweeps = 1
init {}
precision real = f64
every 1 sweep: plaquette = mean(re(tr(P[mu,nu])), mu < nu) -> "links.h5"
)",
                     lattice, group, init);
}

double at_start(const runtime::RunResult& result) {
  return result.series[0].points.front().second;
}

TEST_F(Starts, AMatrixForEveryLink) {
  // all links alike commute: a plaquette is 1
  const auto same = run(links("SU(2)", "U = [[0.6, 0.8i], [0.8i, 0.6]]"), 0);
  EXPECT_NEAR(at_start(same), 2, 1e-15);
  const auto three = run(links("SU(3)", "U = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]", "4^3"), 0);
  EXPECT_NEAR(at_start(three), 3, 1e-14);
}

TEST_F(Starts, AMatrixForEachDirectionAndSite) {
  // U_x = exp(i f(y) sigma_3), U_y = 1: a plaquette turns by f(y) - f(y + 1)
  const auto along = run(links("SU(2)",
                               "U[k] = [[exp(1i*f), 0], [0, exp(-1i*f)]] if k == x else 1*I\n"
                               "f = 0.2*index(y)\nI = [[1, 0], [0, 1]]"),
                         0);
  EXPECT_NEAR(at_start(along), 2 * (7 * std::cos(0.2) + std::cos(1.4)) / 8, 1e-14);
  // not diagonal, and of all coordinates: in one direction alone there are no commutators
  const auto rotated = run(links("SU(3)",
                                 "U[k] = [[cos(f[k]), sin(f[k]), 0], [-sin(f[k]), cos(f[k]), "
                                 "0], [0, 0, 1]]\nf[k] = 0.1*index(x)*(k == y)",
                                 "6^2"),
                           0);
  EXPECT_NEAR(at_start(rotated), (5 * (1 + 2 * std::cos(0.1)) + 1 + 2 * std::cos(0.5)) / 6, 1e-14);
}

TEST_F(Starts, WhatIsNoLinkIsRefusedWithItsSite) {
  const std::string constant = refused(links("SU(2)", "U = [[1, 0.1], [0, 1]]"));
  EXPECT_TRUE(has(constant, "E0718") && has(constant, "off by 0.1")) << constant;
  const std::string determinant = refused(links("SU(2)", "U = [[1, 0], [0, -1]]"));
  EXPECT_TRUE(has(determinant, "off by 2")) << determinant;
  // right on one line of sites, and off by most at the other end of the box
  const std::string site =
      refused(links("SU(2)", "U = [[cos(f), sin(f)], [-sin(f), cos(f) + 0.01*index(x)]]\nf = "
                             "0.3*index(y)"));
  EXPECT_TRUE(has(site, "E0718") && has(site, "at site (7, ")) << site;
  EXPECT_TRUE(has(refused(links("SU(2)", "U = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]")), "mat(2,2)"));
  EXPECT_TRUE(has(refused(links("U(1)", "U = 1 + 0.1i*index(x)")), "at site (7, *)"));
  EXPECT_TRUE(has(refused(links("SU(2)", "U = [[1, 0], [0]]")), "E0201"));
}

}  // namespace
}  // namespace vphi
