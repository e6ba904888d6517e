// Boxes whose rows go on in other rows, boundary(y) = shifted(x = s): waves with momenta that are
// tied to each other, sums and derived equations against explicit neighbours, chains against all
// states of a few sites, ranks, and kernels for GPUs.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "runtime/device/cuda/nvrtc.hpp"
#include "tests/physics/waves_of_boxes.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::largest;
using testing::last;
using testing::run_text;

constexpr double kFullTurn = 2 * std::numbers::pi;

// phi(x, y + 6) = phi(x + 5, y) allows k_y 6 - k_x 5 = 2 pi n.
TEST(ShiftedBox, WavesHaveTiedMomenta) {
  const double p = kFullTurn * 2 / 12, q = (kFullTurn * -1 + 5 * p) / 6;
  testing::expect_waves(
      "lattice plane: 12*6, spacing = 0.5, boundary(y) = shifted(x = 5)\nfield phi: complex\n", p,
      q);
}

/// 5*4*3 sites: beyond the end of z a row goes on 2 further along x, where turns change the sign,
/// and one back along y.
struct Sites {
  static constexpr int kX = 5, kY = 4, kZ = 3;
  static double number(int x, int y, int z) {
    double sign = 1;
    while (z >= kZ) z -= kZ, x += 2, y -= 1;
    while (z < 0) z += kZ, x -= 2, y += 1;
    while (x >= kX) x -= kX, sign = -sign;
    while (x < 0) x += kX, sign = -sign;
    y = ((y % kY) + kY) % kY;
    return sign * std::sin(1 + 0.7 * x + 1.9 * y * y + 0.4 * z * x);
  }
  template <class Term>
  static double sum(const Term& term) {
    double total = 0;
    for (int z = 0; z < kZ; ++z)
      for (int y = 0; y < kY; ++y)
        for (int x = 0; x < kX; ++x) total += term(x, y, z);
    return total;
  }
};

// Neighbours over both ends, with the sign of a third, and a site five rows along z away.
TEST(ShiftedBox, SumsAreThoseOfExplicitNeighbours) {
  const std::string text =
      "model sums\nlattice box: 5*4*3, spacing = 0.5, boundary(z) = shifted(x = 2, y = -1), "
      "boundary(x) = antiperiodic\nfield u: real\nu' = 0\n"
      "init u = sin(1 + 0.7*index(x) + 1.9*index(y)^2 + 0.4*index(z)*index(x))\n"
      "evolve rk4, dt = 1, until = t > 0.5\nat end: a = total(u*u@z), b = total(u*u@[2,1,-1]), "
      "c = total(u^3*u@[-1,3,5]), l = total(u^3*lap(u)), g = total(u^2*norm2(grad(u))), "
      "d = total(u@x*d(u, z)) -> \"s.h5\"\n";
  const auto u = Sites::number;
  const auto all = [](const auto& term) { return Sites::sum(term); };
  const std::array<std::array<int, 3>, 6> ways{
      {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}};
  const auto steps = [&](int power) {
    return all([&](int x, int y, int z) {
      double sum = 0;
      for (const auto& [i, j, k] : ways)
        sum += std::pow(u(x + i, y + j, z + k) - u(x, y, z), power) / 0.25;
      return sum * (power == 1 ? std::pow(u(x, y, z), 3) : std::pow(u(x, y, z), 2) / 2);
    });
  };
  for (const auto& setup : testing::native_and_opencl()) {
    const auto result = run_text(text, setup);
    const auto is = [&](const char* name, double value) {
      EXPECT_NEAR(last(result, name), value, 1e-12) << name << " " << setup.device;
    };
    is("a", all([&](int x, int y, int z) { return u(x, y, z) * u(x, y, z + 1); }));
    is("b", all([&](int x, int y, int z) { return u(x, y, z) * u(x + 2, y + 1, z - 1); }));
    is("c",
       all([&](int x, int y, int z) { return std::pow(u(x, y, z), 3) * u(x - 1, y + 3, z + 5); }));
    is("l", steps(1));
    is("g", steps(2));
    is("d", all([&](int x, int y, int z) {
         return u(x + 1, y, z) * (u(x, y, z + 1) - u(x, y, z - 1));
       }));
  }
}

// The equations that are derived belong to the sum that is shown, also where its coefficients
// depend on the place.
TEST(ShiftedBox, EnergyStays) {
  const std::string text =
      "model rotor\nlattice box: 6*5*4, spacing = 0.5, boundary(z) = shifted(x = 2, y = -1), "
      "boundary(x) = antiperiodic\nfield u, v: real\n"
      "field w, p: complex, boundary(y) = twisted(0.7)\n"
      "c = 1 + 0.3*cos(index(x)) + 0.1*sin(index(y)*index(z))\n"
      "H = total(c*norm2(grad(w)) + norm2(p) + c*(u@z - u)^2 + v^2/2 + norm2(w)^2 + "
      "re(conj(w@z)*w)*norm2(w)*c)\n"
      "init u ~ normal, v ~ normal, w ~ normal + 1i*normal, p ~ normal + 1i*normal\n"
      "evolve yoshida4, dt = 0.005, until = t > 1\n"
      "every 10 steps: E = H, drift = abs(H/first(H, t >= 0) - 1) -> \"r.h5\"\n";
  for (const auto& setup : testing::native_and_opencl()) {
    const auto result = run_text(text, setup);
    EXPECT_LT(largest(result, "drift"), 1e-6) << setup.device;
    EXPECT_GT(last(result, "E"), 100);
  }
}

/// The mean of a series without its first tenth.
double mean_of(const runtime::RunResult& result, const std::string& name) {
  double sum = 0, count = 0;
  for (const auto& series : result.series) {
    if (series.name != name) continue;
    for (std::size_t i = series.points.size() / 10; i < series.points.size(); ++i)
      sum += series.points[i].second, ++count;
  }
  EXPECT_GT(count, 1000) << name;
  return sum / count;
}

/// Means of s s@x and s s@y over all states of eight spins on 4*2 sites with the weight exp(-S).
/// A magnetic field of 0.1 keeps states apart in which no neighbours hold any spin.
std::array<double, 2> products_of_spins(double along, double across, int shift) {
  double x_mean = 0, y_mean = 0, weights = 0;
  for (int state = 0; state < 256; ++state) {
    const auto spin = [&](int x, int y) { return (state >> (x % 4 + 4 * y) & 1) * 2 - 1; };
    double x_sum = 0, y_sum = 0, up = 0;
    for (int x = 0; x < 4; ++x) {
      for (int y = 0; y < 2; ++y) x_sum += spin(x, y) * spin(x + 1, y), up += spin(x, y);
      y_sum += spin(x, 0) * spin(x, 1) + spin(x, 1) * spin(x + shift, 0);
    }
    const double weight = std::exp(along * x_sum + across * y_sum + 0.1 * up);
    weights += weight, x_mean += weight * x_sum / 8, y_mean += weight * y_sum / 8;
  }
  return {x_mean / weights, y_mean / weights};
}

// The two neighbours along y of a spin are the same one without the shift, and two with it.
TEST(ShiftedBox, ChainsDrawEveryStateWithItsWeight) {
  constexpr double kAlong = 0.3, kAcross = 0.25;
  const auto [along, across] = products_of_spins(kAlong, kAcross, 2);
  EXPECT_GT(std::abs(across - products_of_spins(kAlong, kAcross, 0)[1]), 0.05);
  for (const char* way : {"heatbath", "metropolis"}) {
    const std::string text = fmt::format(
        "model spins\nlattice plane: 4*2, spacing = 1, boundary(y) = shifted(x = 2)\n"
        "field s: int, values = [-1, 1]\naction S = -{}*s*s@x - {}*s*s@y - 0.1*s\n"
        "sample {}, sweeps = 50000\ninit s = 1\n"
        "every 4 sweeps: along = mean(s*s@x), across = mean(s*s@y) -> \"c.h5\"\n",
        kAlong, kAcross, way);
    for (const auto& setup : testing::native_and_opencl()) {
      const auto result = run_text(text, setup);
      EXPECT_NEAR(mean_of(result, "along"), along, 0.02) << way << " " << setup.device;
      EXPECT_NEAR(mean_of(result, "across"), across, 0.02) << way << " " << setup.device;
    }
  }
}

// A free field has <u u@y> = sum of cos(k_y)/(k^2 + m^2) over the waves of the box. One row along y
// is its own neighbour, two sites further along x.
TEST(ShiftedBox, ChainsOfFieldsDrawItsWaves) {
  for (const int rows : {4, 1}) {
    double square = 0, product = 0;
    for (int n = 0; n < 4; ++n)
      for (int m = 0; m < rows; ++m) {
        const double p = kFullTurn * n / 4, q = (kFullTurn * m + 2 * p) / rows;
        const double share =
            1 / (testing::second_order(p) + testing::second_order(q) + 1) / (4 * rows);
        square += share, product += share * std::cos(q);
      }
    const std::string model = fmt::format(
        "model chain\nlattice plane: 4*{}, spacing = 1, boundary(y) = shifted(x = 2)\n"
        "field u: real\naction S = norm2(grad(u))/2 + u^2/2\n",
        rows);
    const std::string output = ": square = mean(u^2), product = mean(u*u@y) -> \"c.h5\"\n";
    std::vector<std::string> ways{
        "sample hmc, trajectories = 10000, tau = 0.7 {\n  level S: steps = 6, scheme = omelyan2\n"
        "}\ninit u = 1\nevery 1 trajectory"};
    if (rows > 1) ways.push_back("sample heatbath, sweeps = 10000\ninit u = 1\nevery 1 sweep");
    for (const std::string& way : ways) {
      const auto result = run_text(model + way + output, {});
      EXPECT_NEAR(mean_of(result, "square"), square, 0.02 * square) << way;
      EXPECT_NEAR(mean_of(result, "product"), product, 0.02 * square) << way;
    }
  }
}

// A shift by the whole axis is none where it is periodic, bit for bit, and one of N + s is one of
// s.
TEST(ShiftedBox, WholeTurnsAreNone) {
  const auto value = [](const std::string& boundary) {
    return last(run_text("model turns\nlattice plane: 6*5, spacing = 0.5" + boundary +
                             "\nfield u: real\nu'' = lap(u) - u^3\n"
                             "init u = cos(index(x)^2 + index(y)), u' = 0\n"
                             "evolve leapfrog, dt = 0.1, until = t > 3\n"
                             "at end: square = mean(u^2*u@x*u@y) -> \"t.h5\"\n",
                         {}),
                "square");
  };
  EXPECT_NEAR(value(", boundary(y) = shifted(x = 6)"), value(""), 1e-15);
  EXPECT_NEAR(value(", boundary(y) = shifted(x = -12)"), value(""), 1e-15);
  EXPECT_EQ(value(", boundary(y) = shifted(x = 8)"), value(", boundary(y) = shifted(x = 2)"));
  EXPECT_EQ(value(", boundary = [periodic, shifted(x = -4)]"),
            value(", boundary(y) = shifted(x = 2)"));
  EXPECT_GT(std::abs(value(", boundary(y) = shifted(x = 2)") - value("")), 1e-4);
}

/// A plane of waves that is large enough for marches.
std::string box_of_waves(const std::string& shift) {
  return "model shifted\nlattice box: 16*8*12, spacing = 0.5, boundary(z) = shifted(" + shift +
         ")\nfield phi: real\nphi'' = lap(phi) - phi^3\ninit phi ~ normal, phi' = 0\n"
         "evolve leapfrog, dt = 0.05, until = t > 1\n"
         "every 5 steps: mean(phi^2), mean(norm2(grad(phi))) -> \"r.csv\"\n";
}

// The ends of a rank's planes are no ends of the box, along the axis that is shifted and along
// both.
TEST(ShiftedBox, RanksHaveTheBitsOfOneDevice) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "shifted.vphi").string();
  std::ofstream(path) << box_of_waves("x = 3, y = 1");
  for (const int beside : {1, 2}) {
    testing::CutSetup setup;
    setup.beside = beside;
    if (beside > 1) setup.lattice = "48 * 48 * 8";
    const auto result = testing::cut_and_compare(path, 2 * beside, setup);
    EXPECT_EQ(result.refused, "") << beside;
    EXPECT_EQ(result.differs, "") << beside;
  }
}

TEST(ShiftedBox, DevicesAgree) {
  const std::string text = box_of_waves("x = 7, y = -3");
  for (const char* precision : {"f64", "f32"}) {
    testing::Simulation native;
    native.lattice = "32 * 24 * 16", native.precision = precision;
    const double here = last(run_text(text, native), "mean(phi^2)");
    if (!testing::device("opencl")) continue;
    testing::Simulation opencl = native;
    opencl.device = "opencl";
    const double there = last(run_text(text, opencl), "mean(phi^2)");
    EXPECT_NEAR(there, here, std::string(precision) == "f64" ? 1e-13 : 1e-6) << precision;
  }
}

TEST(ShiftedBox, KernelsCompileForCuda) {
  if (runtime::nvrtc_version().empty()) GTEST_SKIP() << "no NVRTC";
  emit::TargetInfo cuda;
  cuda.target = program::Target::Cuda;
  cuda.is_cpu = false;
  const testing::ScratchFolder folder;
  const std::string path = (folder / "shifted.vphi").string();
  for (const std::string& text :
       {box_of_waves("x = 7, y = -3"),
        std::string("model spins\nlattice plane: 32*32, spacing = 1, boundary(y) = shifted(x = 6)\n"
                    "field s: int, values = [-1, 1]\naction S = -0.4*s*s@x - 0.4*s*s@y\n"
                    "sample metropolis, sweeps = 10\ninit s = 1\n"
                    "every 1 sweep: mean(s) -> \"c.h5\"\n")}) {
    std::ofstream(path) << text;
    const Compilation c = compile_model(path, {}, cuda);
    ASSERT_TRUE(c.program);
    for (const program::Kernel& kernel : c.program->kernels) {
      std::string log;
      EXPECT_NO_THROW(runtime::nvrtc_compile(kernel.source, "sm_90", &log)) << log;
    }
  }
}

}  // namespace
}  // namespace vphi
