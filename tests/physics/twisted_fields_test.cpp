// Complex fields that gain a phase exp(i theta) around the box: plane waves between those of the
// box, energies, charges and chains, and angles that are those of other boundaries.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>

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
using testing::second_order;

constexpr double kOneTurn = 2 * std::numbers::pi;

/// Wave number times dx of wave n on N sites.
double between(int n, double theta, int sites) { return (kOneTurn * n + theta) / sites; }

// The lattice's own k along two twisted axes, whose ends the wide stencil crosses.
TEST(TwistedFields, WavesLieBetweenThoseOfTheBox) {
  constexpr double theta = 0.7, other = -2;
  testing::expect_waves(fmt::format("lattice plane: 12*6, spacing = 0.5\nfield phi: complex, "
                                    "boundary(x) = twisted({}), boundary(y) = twisted({})\n",
                                    theta, other),
                        between(2, theta, 12), between(-1, other, 6));
}

std::string rotor(const std::string& boundary) {
  return "model rotor\nlattice plane: 6*5, spacing = 0.5\nfield phi, p: complex, " + boundary +
         "\nH = total(norm2(p) + norm2(grad(phi)) + norm2(phi)^2/2 + re(conj(phi@x)*phi)*norm2(phi)"
         "/10 + im(conj(phi@y)*phi)/10)\ninit phi ~ normal + 1i*normal, p ~ normal + 1i*normal\n"
         "evolve yoshida4, dt = 0.01, until = t > 2\nevery 10 steps: E = H, drift = "
         "abs(H/first(H, t >= 0) - 1), charge = mean(im(conj(phi)*p)), square = mean(norm2(phi)), "
         "moved = abs(mean(im(conj(phi)*p)) - first(mean(im(conj(phi)*p)), t >= 0)) -> \"r.h5\"\n";
}

// The equations that are derived belong to the sum that is shown: its energy stays to the order of
// the scheme, and the charge of the common phase to rounding.
TEST(TwistedFields, EnergyAndChargeStay) {
  for (const auto& setup : testing::native_and_opencl()) {
    const auto result =
        run_text(rotor("boundary(x) = twisted(0.7), boundary(y) = twisted(-2)"), setup);
    EXPECT_LT(largest(result, "drift"), 1e-6) << setup.device;
    EXPECT_LT(largest(result, "moved"), 1e-13) << setup.device;
    EXPECT_GT(std::abs(last(result, "charge")), 1e-3);
  }
}

// A wave at rest has the energy of its wave number and a current that nothing stops: a state of
// lowest energy with sin(theta/N) |phi|^2 through every link.
TEST(TwistedFields, ACurrentFlowsForEver) {
  constexpr double theta = 1.1;
  const double k = theta / 10;
  const double square = 1 - second_order(k);  // lap(phi) = (|phi|^2 - 1) phi
  const auto result = run_text(
      fmt::format("model current\nlattice ring: 10, spacing = 1\n"
                  "field phi: complex, boundary(x) = twisted({})\nphi'' = lap(phi) + phi - "
                  "norm2(phi)*phi\ninit phi = sqrt({})*exp(1i*{}*index(x)), phi' = 0\n"
                  "evolve leapfrog, dt = 0.1, until = t > 50\n"
                  "every 10 steps: low = min(im(conj(phi)*phi@x)), high = max(im(conj(phi)*phi@x)) "
                  "-> \"c.h5\"\n",
                  theta, exact(square), exact(k)),
      {});
  EXPECT_NEAR(last(result, "low"), square * std::sin(k), 1e-12);
  EXPECT_NEAR(last(result, "high"), square * std::sin(k), 1e-12);
}

// theta = 0 and whole turns are periodic and pi is antiperiodic, bit for bit; a swept angle has the
// numbers of one that is written.
TEST(TwistedFields, AnglesOfOtherBoundariesAreThese) {
  const auto energy = [](const std::string& boundary) {
    return last(run_text(rotor(boundary), {}), "E");
  };
  const double periodic = energy("boundary = periodic");
  const double anti = energy("boundary(x) = antiperiodic");
  EXPECT_NE(periodic, anti);
  EXPECT_EQ(energy("boundary = twisted(0)"), periodic);
  EXPECT_EQ(energy("boundary(y) = twisted(-4*pi)"), periodic);
  EXPECT_EQ(energy("boundary(x) = twisted(pi)"), anti);
  const auto square = [](const std::string& sweep, const std::string& angle) {
    return last(
        run_text("model swept\nlattice ring: 8, spacing = 1\n" + sweep +
                     "field phi: complex, boundary(x) = twisted(" + angle +
                     ")\nphi'' = lap(phi)\ninit phi = 1 + index(x)/4, phi' = 0\n"
                     "evolve leapfrog, dt = 0.1, until = t > 3\n"
                     "every 10 steps: square = " +
                     (sweep.empty() ? "mean(norm2(phi))" : "mean(mean(norm2(phi)), over = angle)") +
                     " -> \"s.h5\"\n",
                 {}),
        "square");
  };
  const double apart = (square("", "0") + square("", "pi") + square("", "0.4")) / 3;
  EXPECT_GT(std::abs(square("", "0") - square("", "0.4")), 1e-3);
  EXPECT_NEAR(square("sweep angle = [0, pi, 0.4]\n", "angle"), apart, 1e-12);
}

// Exponential steps take the stencil in the remainder, with order 2, and what stays at the site
// exactly: a wave decays with the lattice's own rate, and a field without neighbours as exp(-t).
TEST(TwistedFields, ExponentialStepsHaveTheirOrder) {
  constexpr double theta = 0.7;
  const double k2 = second_order(between(1, theta, 12)) / 0.25;
  const auto error = [&](const std::string& rate, const std::string& exact_rate, double dt) {
    return last(run_text(fmt::format("model decay\nlattice ring: 12, spacing = 0.5\n"
                                     "field phi: complex, boundary(x) = twisted({})\n"
                                     "wave = exp(1i*{}*index(x))\nphi' = {}\ninit phi = wave\n"
                                     "evolve etd2, dt = {}, until = t > 0.99\n"
                                     "at end: error = max(abs(phi - wave*exp({}*t))) -> \"d.h5\"\n",
                                     theta, exact(between(1, theta, 12)), rate, dt, exact_rate),
                         {}),
                "error");
  };
  const auto off = [&](double dt) {
    return error("(0.3 - 1i)*lap(phi) - 0.5*phi",
                 fmt::format("(-0.3*{0} + 1i*{0} - 0.5)", exact(k2)), dt);
  };
  EXPECT_GT(off(0.02), 1e-6);
  EXPECT_NEAR(std::log2(off(0.02) / off(0.01)), 2, 0.1);
  EXPECT_NEAR(std::log2(off(0.01) / off(0.005)), 2, 0.1);
  EXPECT_LT(error("-(1 + 2i)*phi", "(-1 - 2i)", 0.1), 1e-13);
}

// The weight exp(-S) of a free field is known wave by wave: <|phi|^2> is the mean of 1/(k^2 + m^2).
// One site along y is its own neighbour, with the phase.
TEST(TwistedFields, ChainsDrawTheWavesBetween) {
  double mean = 0;
  for (int n = 0; n < 4; ++n)
    mean += 1 / (second_order(between(n, 0.7, 4)) + second_order(2) + 1) / 4;
  const std::string model =
      "model chain\nlattice plane: 4*1, spacing = 1\nfield phi: complex, boundary(x) = "
      "twisted(0.7), boundary(y) = twisted(-2)\naction S = norm2(grad(phi)) + norm2(phi)\n";
  const std::string rest = "init phi = 1\nevery 1 ";
  const std::string output = ": square = mean(norm2(phi)) -> \"c.h5\"\n";
  for (const std::string& sampled :
       {"sample heatbath, sweeps = 20000\n" + rest + "sweep" + output,
        "sample metropolis, sweeps = 40000, width = 0.6\n" + rest + "sweep" + output,
        "sample hmc, trajectories = 20000, tau = 0.5 {\n  level S: steps = 6, scheme = "
        "omelyan2\n}\n" +
            rest + "trajectory" + output}) {
    const auto result = run_text(model + sampled, {});
    double sum = 0, count = 0;
    for (const auto& series : result.series) {
      if (series.name != "square") continue;
      for (std::size_t i = 500; i < series.points.size(); ++i)
        sum += series.points[i].second, ++count;
    }
    ASSERT_GT(count, 1000) << sampled;
    EXPECT_NEAR(sum / count, mean, 0.02 * mean) << sampled;
  }
}

// The ends of a rank's planes are no ends of the box, along one axis and along two.
TEST(TwistedFields, RanksHaveTheBitsOfOneDevice) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "twisted.vphi").string();
  std::ofstream(path) << "model twisted\nlattice box: 16*8*12, spacing = 0.5\n"
                         "field phi: complex, boundary(x) = twisted(0.7), boundary(z) = "
                         "twisted(-2)\nphi'' = lap(phi) - norm2(phi)*phi\n"
                         "init phi ~ normal + 1i*normal, phi' = 0\n"
                         "evolve leapfrog, dt = 0.05, until = t > 1\n"
                         "every 5 steps: mean(norm2(phi)), mean(norm2(grad(phi))) -> \"r.csv\"\n";
  for (const int beside : {1, 2}) {
    testing::CutSetup setup;
    setup.beside = beside;
    if (beside > 1) setup.lattice = "48 * 48 * 8";
    const auto result = testing::cut_and_compare(path, 2 * beside, setup);
    EXPECT_EQ(result.refused, "") << beside;
    EXPECT_EQ(result.differs, "") << beside;
  }
}

}  // namespace
}  // namespace vphi
