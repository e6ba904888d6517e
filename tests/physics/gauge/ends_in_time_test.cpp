// Links that end at the box and move by H: waves between walls, whose frequencies on the lattice
// are known, Gauss's law where no field leaves, and `init gauss = 0` between such walls.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "runtime/device/cuda/nvrtc.hpp"
#include "tests/physics/gauge/first_moment.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using std::numbers::pi;
using testing::Begun;
using testing::first_moment;
using testing::largest;
using testing::last;
using testing::run_text;
using testing::Simulation;

// ---- waves --------------------------------------------------------------------------------------

/// A small wave of links along y across 12 sites of x: theta_y = 1e-4 shape(x) at rest.
std::string wave_between_walls(bool matrices, const std::string& ends, const std::string& shape) {
  const std::string angle = "0.0001*(k == 1)*" + shape;
  const std::string group = matrices ? "SU(2), E: su(2)" : "U(1), E: real";
  return "model cavity \"a wave between walls\"\nlattice plane: 12 * 4, spacing = 1\ngauge U: " +
         group + ", boundary(x) = " + ends + R"(
P[i,j] = loop(i, j, -i, -j)
H = )" +
         (matrices ? "total(sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j))"
                   : "total(sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))") +
         "\ninit E = 0, U[k] = " +
         (matrices ? "[[exp(0.5i*" + angle + "), 0], [0, exp(-0.5i*" + angle + ")]]"
                   : "exp(1i*" + angle + ")") +
         R"(
precision real = f64
evolve leapfrog, dt = 0.05, until = t > 9.99
every 10 steps: theta = 10000*max()" +
         (matrices ? "2*im(U[y][0,0])" : "im(U[y])") + R"(), max(abs(gauss)) -> "c.h5"
)";
}

// Open ends: no plaquette across, so that the first and the last site have one neighbour each
// (waves cos q(x + 1/2)). Ends that stay: the first and the last site are at rest (sin q x).
TEST(EndsInTime, WavesBetweenWallsHaveTheFrequenciesOfTheLattice) {
  struct Row {
    const char *ends, *shape;
    double q, top;  ///< wave number, largest value of the shape
  };
  const std::array rows{Row{"open", "cos(3*pi*(index(x) + 0.5)/12)", 3 * pi / 12, std::cos(pi / 8)},
                        Row{"fixed", "sin(2*pi*index(x)/11)", 2 * pi / 11, std::sin(6 * pi / 11)}};
  for (const Row& row : rows)
    for (const bool matrices : {false, true}) {
      const auto result = run_text(wave_between_walls(matrices, row.ends, row.shape), {});
      // sin(w dt/2) = dt/2 * 2 sin(q/2)
      const double dt = 0.05, omega = 2 / dt * std::asin(dt * std::sin(row.q / 2));
      double lowest = 1;
      for (const auto& [t, value] : result.find("theta")->points) {
        EXPECT_NEAR(value, std::fabs(row.top * std::cos(omega * t)), 1e-7)
            << row.ends << matrices << " " << t;
        lowest = std::min(lowest, value);
      }
      EXPECT_LT(lowest, 0.3) << "the wave stands still";
      EXPECT_LT(largest(result, "max(abs(gauss))"), 1e-15);
    }
}

// ---- Gauss's law --------------------------------------------------------------------------------

constexpr std::array<int, 2> kSheet{5, 4};

/// A charged field and links, everything drawn but the links, which are twisted.
std::string charged_sheet(const std::string& ends, int seed, const std::string& law) {
  return "model sheet \"charges between walls\"\nlattice plane: 5 * 4, spacing = 1\n"
         "field phi, q: complex\ngauge U: U(1), E: real, " +
         ends + R"(
P[i,j] = loop(i, j, -i, -j)
D[i] = U[i]*phi@i - phi
H = total(norm2(q) + sum(norm2(D[i]), i) + (norm2(phi) - 1)^2/2 + sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))
random seed = )" +
         std::to_string(seed) +
         R"(
init phi = 0.8 + 0.3i*sin(1 + index(x) - 2*index(y)), q ~ normal + 1i*normal, E ~ normal
init U[k] = exp(1i*sin(3*index(x) + index(y) + k)))" +
         law + R"(
precision real = f64
evolve vv4, dt = 0.02, until = t > 2.01
every 1 step: max(abs(gauss)), H -> "s.h5"
)";
}

/// The law made here: E_i(x) - E_i(x - i), 0 where a link is not there, and 2 im(conj(phi) q).
/// Largest in the rows of x from `first` to `last`.
double violation(const Begun& begun, std::array<bool, 2> open, int first, int last) {
  const auto at = [](const std::vector<double>& v, int x, int y) {
    return v[static_cast<std::size_t>(x + kSheet[0] * y)];
  };
  const auto& [width, height] = kSheet;
  double worst = 0;
  for (int y = 0; y < height; ++y)
    for (int x = first; x <= last; ++x) {
      const auto& a = begun.arrays;
      const double re = at(a.at("re(phi)"), x, y), im = at(a.at("im(phi)"), x, y);
      double sum = 2 * (re * at(a.at("im(q)"), x, y) - im * at(a.at("re(q)"), x, y));
      if (!open[0] || x + 1 < width) sum += at(a.at("E[0]"), x, y);
      if (!open[0] || x > 0) sum -= at(a.at("E[0]"), (x + width - 1) % width, y);
      if (!open[1] || y + 1 < height) sum += at(a.at("E[1]"), x, y);
      if (!open[1] || y > 0) sum -= at(a.at("E[1]"), x, (y + height - 1) % height);
      worst = std::max(worst, std::fabs(sum));
    }
  return worst;
}

/// sum of u (v - w) with the kinetic energy's weights: 2 for q, 1 for E.
double weighted(const Begun& u, const Begun& v, const Begun* w) {
  double sum = 0;
  for (const char* name : {"re(q)", "im(q)", "E[0]", "E[1]"})
    for (std::size_t i = 0; i < 20; ++i)
      sum += (name[0] == 'E' ? 1 : 2) * u.arrays.at(name)[i] *
             (v.arrays.at(name)[i] - (w ? w->arrays.at(name)[i] : 0));
  return sum;
}

TEST(EndsInTime, TheStartObeysTheLawBetweenWallsAndTheRunKeepsIt) {
  struct Row {
    const char* ends;
    std::array<bool, 2> open;
    int first, last;  ///< rows with a law
  };
  for (const Row& row :
       {Row{"boundary(x) = open", {true, false}, 0, 4}, Row{"boundary = open", {true, true}, 0, 4},
        Row{"boundary(x) = fixed", {true, false}, 1, 3}}) {
    SCOPED_TRACE(row.ends);
    const auto start = [&](int seed, const char* law) {
      return first_moment(charged_sheet(row.ends, seed, law));
    };
    const Begun drawn = start(1, ""), own = start(1, ", gauss = 0"),
                other = start(2, ", gauss = 0");
    EXPECT_GT(violation(drawn, row.open, row.first, row.last), 1);
    EXPECT_LT(violation(own, row.open, row.first, row.last), 1e-13);
    // of all that obey the law it is the nearest one
    const double size = weighted(drawn, drawn, nullptr);
    EXPECT_LT(weighted(own, own, nullptr), 0.95 * size);
    EXPECT_LT(std::fabs(weighted(own, own, &drawn)), 1e-12 * size);
    EXPECT_LT(std::fabs(weighted(other, own, &drawn)), 1e-12 * size);
    for (int y = 0; y < kSheet[1]; ++y)
      EXPECT_EQ(own.arrays.at("E[0]")[static_cast<std::size_t>(4 + 5 * y)], 0.0);
    // along the run; energy oscillates with the step's error of order 4
    const auto result = run_text(charged_sheet(row.ends, 1, ", gauss = 0"), {});
    EXPECT_LT(largest(result, "max(abs(gauss))"), 1e-12);
    const auto& h = result.find("H")->points;
    EXPECT_NEAR(h.back().second / h.front().second, 1, 1e-5);
    EXPECT_GT(h.back().second, 1);
  }
}

/// A doublet of SU(2) between ends along two axes, links and momenta drawn.
std::string doublet_between_ends(const std::string& ends) {
  return "model doublet \"charges of SU(2) between walls\"\nlattice plane: 3 * 4, spacing = 1\n"
         "field phi, q: vec(2, complex)\ngauge U: SU(2), E: su(2), " +
         ends + R"(
P[i,j] = loop(i, j, -i, -j)
D[i] = U[i]*phi@i - phi
H = total(norm2(q) + sum(norm2(D[i]), i) + sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j))
init phi = [0.7, 0.3 + 0.2i*sin(index(y))], q ~ normal + 1i*normal, U ~ hot, E ~ normal, gauss = 0
precision real = f64
evolve leapfrog, dt = 0.02, until = t > 1.01
every 1 step: max(abs(gauss)), total(norm2(q)) -> "d.h5"
)";
}

TEST(EndsInTime, MatricesKeepTheLaw) {
  const auto result = run_text(doublet_between_ends("boundary = open"), {});
  EXPECT_LT(largest(result, "max(abs(gauss))"), 3e-13);
  EXPECT_GT(last(result, "total(norm2(q))"), 1);
}

TEST(EndsInTime, MatricesKeepTheLawOnOpenCL) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  const std::string text = doublet_between_ends("boundary(x) = open, boundary(y) = fixed");
  const double q = last(run_text(text, {}), "total(norm2(q))");
  Simulation setup;
  setup.device = "opencl";
  const auto opencl = run_text(text, setup);
  EXPECT_LT(largest(opencl, "max(abs(gauss))"), 3e-13);
  EXPECT_NEAR(last(opencl, "total(norm2(q))"), q, 1e-10 * q);
}

TEST(EndsInTime, HaveTheBitsOfOneDeviceOnRanks) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "ends.vphi").string();
  std::ofstream(path) << R"(model ends "walls across the cut and along it"
lattice box: 4 * 2 * 8, spacing = 1
gauge U: U(1), E: real, boundary(x) = open, boundary(z) = fixed
P[i,j] = loop(i, j, -i, -j)
H = total(sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))
init U[k] = exp(1i*sin(3*index(x) + index(y)*k - 2*index(z))), E ~ normal, gauss = 0
precision real = f64
evolve leapfrog, dt = 0.05, until = t > 0.5
every 2 steps: max(abs(gauss)), H -> "e.h5"
)";
  const auto result = testing::cut_and_compare(path, 2, {});
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

TEST(EndsInTime, KernelsCompileForCuda) {
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  const testing::ScratchFolder folder;
  const std::string path = (folder / "ends.vphi").string();
  std::string slanted = wave_between_walls(false, "open", "1");
  slanted.replace(slanted.find(", boundary(x) = open"), 20, "");
  slanted.replace(slanted.find("spacing = 1"), 11, "spacing = 1, boundary(y) = shifted(x = 5)");
  for (const std::string& text : {doublet_between_ends("boundary = fixed"), slanted}) {
    std::ofstream(path) << text;
    const Compilation c = compile_model(path, {}, cuda);
    ASSERT_TRUE(c.program) << text;
    for (const program::Kernel& kernel : c.program->kernels) {
      std::string log;
      EXPECT_NO_THROW(runtime::nvrtc_compile(kernel.source, "sm_90", &log)) << log;
    }
  }
}

}  // namespace
}  // namespace vphi
