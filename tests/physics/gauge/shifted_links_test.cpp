// Links that move by H in boxes whose rows go on in other rows: waves of the momenta of such a box,
// and what is kept when everything is excited.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>
#include <string>

#include "tests/physics/gauge/first_moment.hpp"
#include "tests/physics/waves_of_boxes.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using std::numbers::pi;
using testing::largest;
using testing::last;
using testing::run_text;
using testing::Simulation;

// The curl of psi = A cos(p x + q y) on plaquettes is a wave without divergence: its plaquettes are
// K^2 psi cos(w t), K^2 = 4 sin^2(p/2) + 4 sin^2(q/2). The shift allows q 6 - p 5 = 2 pi n.
TEST(ShiftedLinks, WavesHaveTiedMomenta) {
  const double p = 2 * pi * 2 / 12, q = (-2 * pi + 5 * p) / 6;
  const double K = 2 * std::hypot(std::sin(p / 2), std::sin(q / 2)), dt = 0.05;
  const double omega = 2 / dt * std::asin(dt * K / 2);
  for (const bool matrices : {false, true}) {
    const std::string angle =
        "0.0001*(psi(0, -1) - psi(0, 0) if k == x else psi(0, 0) - psi(-1, 0))";
    const std::string text =
        "model oblique \"a wave of links\"\nlattice plane: 12*6, spacing = 1, boundary(y) = "
        "shifted(x = 5)\ngauge U: " +
        std::string(matrices ? "SU(2), E: su(2)" : "U(1), E: real") +
        "\nP[i,j] = loop(i, j, -i, -j)\nH = " +
        (matrices ? "total(sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j))"
                  : "total(sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j))") +
        "\np = 2*pi*2/12\nq = (5*p - 2*pi)/6\n"
        "psi(a, b) = cos(p*(index(x) + a) + q*(index(y) + b))\ninit E = 0, U[k] = " +
        (matrices ? "[[exp(0.5i*" + angle + "), 0], [0, exp(-0.5i*" + angle + ")]]"
                  : "exp(1i*" + angle + ")") +
        "\nprecision real = f64\nevolve leapfrog, dt = 0.05, until = t > 7.99\n"
        "every 8 steps: flux = 10^8*mean(" +
        (matrices ? "(2*im(P[x,y][0,0]))" : "im(P[x,y])") + "^2), max(abs(gauss)) -> \"w.h5\"\n";
    const auto result = run_text(text, {});
    const double size = std::pow(K, 4) / 2;
    double lowest = size;
    for (const auto& [t, value] : result.find("flux")->points) {
      EXPECT_NEAR(value, size * std::pow(std::cos(omega * t), 2), 1e-6 * size) << matrices << t;
      lowest = std::min(lowest, value);
    }
    EXPECT_LT(lowest, 0.1 * size) << "the wave stands still";
    EXPECT_LT(largest(result, "max(abs(gauss))"), 1e-15);
  }
}

TEST(ShiftedLinks, HotLinksKeepEnergyAndGaussLaw) {
  for (const auto& setup : testing::native_and_opencl()) {
    const auto result = run_text(R"(model slanted "hot links in a shifted box"
lattice plane: 5*4, spacing = 1, boundary(y) = shifted(x = 2)
gauge U: SU(2), E: su(2)
field phi, q: vec(2, complex)
P[i,j] = loop(i, j, -i, -j)
D[i] = U[i]*phi@i - phi
H = total(norm2(q) + sum(norm2(D[i]), i) + sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j))
init U ~ hot, E = 0, phi = [1, 0.2i], q = 0
precision real = f64
evolve yoshida4, dt = 0.02, until = t > 2
every 5 steps: max(abs(gauss)), drift = abs(H/first(H, t >= 0) - 1), moved = total(norm2(q)) -> "s.h5"
)",
                                 setup);
    EXPECT_LT(largest(result, "max(abs(gauss))"), 1e-12) << setup.device;
    EXPECT_LT(largest(result, "drift"), 1e-6) << setup.device;
    EXPECT_GT(last(result, "moved"), 1) << setup.device;
  }
}

std::string drawn_in_a_shift(const std::string& gauge, const std::string& h,
                             const std::string& field, int seed, const std::string& law) {
  return "model slanted \"drawn momenta in a shifted box\"\nlattice plane: 5*4, spacing = 1, "
         "boundary(y) = shifted(x = 2)\ngauge U: " +
         gauge + "\nfield phi, q: " + field +
         "\nP[i,j] = loop(i, j, -i, -j)\nD[i] = U[i]*phi@i - phi\nH = total(norm2(q) + "
         "sum(norm2(D[i]), i) + " +
         h + ")\nrandom seed = " + std::to_string(seed) + "\ninit U ~ hot, E ~ normal" + law +
         R"(, q ~ normal + 1i*normal
precision real = f64
evolve leapfrog, dt = 0.02, until = t > 1
every 5 steps: max(abs(gauss)), H -> "d.h5"
)";
}

// The law in this test's own numbering: below (x, 0) lies (x - 2, 3).
TEST(ShiftedLinks, ChargesAndFluxesBalanceAtEverySite) {
  const auto text = [](const std::string& law) {
    return drawn_in_a_shift("U(1), E: real", "sum(E[i]^2, i)/2 + sum(1 - re(P[i,j]), i < j)",
                            "complex", 1, ", phi = 0.5 + 0.1i*index(x)" + law);
  };
  const auto worst = [](const testing::Begun& begun) {
    const auto at = [&](const std::string& name, int x, int y) {
      if (y < 0) x -= 2, y += 4;
      return begun.arrays.at(name)[static_cast<std::size_t>((x + 10) % 5 + 5 * y)];
    };
    double most = 0;
    for (int x = 0; x < 5; ++x)
      for (int y = 0; y < 4; ++y) {
        const double flux =
            at("E[0]", x, y) - at("E[0]", x - 1, y) + at("E[1]", x, y) - at("E[1]", x, y - 1);
        const double charge =
            at("re(phi)", x, y) * at("im(q)", x, y) - at("im(phi)", x, y) * at("re(q)", x, y);
        most = std::max(most, std::fabs(flux + 2 * charge));
      }
    return most;
  };
  EXPECT_GT(worst(testing::first_moment(text(""))), 1);
  EXPECT_LT(worst(testing::first_moment(text(", gauss = 0"))), 1e-13);
}

TEST(ShiftedLinks, DrawnMomentaChangeAsLittleAsTheLawAllows) {
  const auto text = [](int seed, const std::string& law) {
    return drawn_in_a_shift("SU(2), E: su(2)",
                            "sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j)",
                            "vec(2, complex)", seed, ", phi = [1, 0.2i]" + law);
  };
  const testing::Begun before = testing::first_moment(text(1, "")),
                       after = testing::first_moment(text(1, ", gauss = 0")),
                       other = testing::first_moment(text(2, ", gauss = 0"));
  // K is 1 for E and 2 for the real and imaginary parts of q; links are the same in all three but
  // for the seed, so that of the other start only its own law holds
  const auto product = [](const testing::Begun& u, const testing::Begun& v,
                          const testing::Begun* w) {
    double sum = 0;
    for (const auto& [name, values] : u.arrays) {
      const bool electric = name.starts_with("E"), momentum = name.find("(q") != std::string::npos;
      for (std::size_t i = 0; (electric || momentum) && i < values.size(); ++i)
        sum += (momentum ? 2 : 1) * values[i] *
               (v.arrays.at(name)[i] - (w ? w->arrays.at(name)[i] : 0));
    }
    return sum;
  };
  const double size = product(before, before, nullptr);
  EXPECT_GT(product(after, after, nullptr), 0.3 * size);
  EXPECT_LT(product(after, after, nullptr), 0.9 * size);
  EXPECT_LT(std::fabs(product(after, after, &before)), 1e-12 * size);
  EXPECT_GT(std::fabs(product(other, after, &before)), 1e-3 * size) << "about other links";
  for (const auto& setup : testing::native_and_opencl())
    EXPECT_LT(largest(run_text(text(1, ", gauss = 0"), setup), "max(abs(gauss))"), 1e-12)
        << setup.device;
}

/// Modified Bessel function I_n(x).
double bessel_i(int n, double x) {
  double sum = 0, term = 1;
  n = std::abs(n);
  for (int k = 1; k <= n; ++k) term *= x / 2 / k;
  for (int k = 0; k < 40; ++k) {
    sum += term;
    term *= x * x / 4 / (k + 1) / (k + 1 + n);
  }
  return sum;
}

struct Sampler {
  const char* name;
  const char* text;
  const char* unit;
};

class ShiftedTorus : public ::testing::TestWithParam<Sampler> {};

// U(1) in two dimensions: sums over the charges of the faces, sum_n I_n^V. W is closed because of
// the shift, and W with its neighbour encloses four plaquettes.
TEST_P(ShiftedTorus, HasItsLoops) {
  const auto result = run_text(std::string(R"(model slanted "links in a shifted box"
lattice plane: 6*4, boundary(y) = shifted(x = 2)
gauge U: U(1)
P[i,j] = loop(i, j, -i, -j)
W = path(y, y, y, y, -x, -x)
action S = 1.5*sum(1 - re(P[i,j]), i < j)
init U ~ hot
sample )") + GetParam().text + "\nevery 1 " +
                                   GetParam().unit + ", after = " + GetParam().unit +
                                   " > 50: plaquette = mean(re(P[x,y])), "
                                   "winding = mean(re(W*conj(W@x))) -> \"l.csv\"\n",
                               {});
  double z = 0, plaquette = 0, winding = 0;
  for (int n = -20; n <= 20; ++n) {
    const double one = bessel_i(n, 1.5);
    z += std::pow(one, 24);
    plaquette += std::pow(one, 23) * (bessel_i(n - 1, 1.5) + bessel_i(n + 1, 1.5)) / 2;
    winding += std::pow(one, 20) * std::pow(bessel_i(n + 1, 1.5), 4);
  }
  const std::map<std::string, double> exact{{"plaquette", plaquette / z}, {"winding", winding / z}};
  int found = 0;
  for (const auto& series : result.chain) {
    const auto known = exact.find(series.name);
    if (known == exact.end()) continue;
    ++found;
    EXPECT_NEAR(series.average.mean, known->second, 4 * series.average.error) << series.name;
    EXPECT_LT(series.average.error, 0.006) << series.name;
  }
  EXPECT_EQ(found, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Samplers, ShiftedTorus,
    ::testing::Values(
        Sampler{"hmc",
                "hmc, trajectories = 4000, tau = 1 {\n  level S: steps = 8, scheme = omelyan2\n}",
                "trajectory"},
        Sampler{"heatbath", "heatbath, sweeps = 4000, overrelax = 1", "sweep"},
        Sampler{"metropolis", "metropolis, width = 1.2, sweeps = 6000", "sweep"}),
    [](const auto& test) { return std::string(test.param.name); });

// A wave without divergence decays with K^2, K that of a momentum which the shift allows.
TEST(ShiftedLinks, FlowsDampWavesOfTiedMomenta) {
  const double p = 2 * pi * 2 / 12, q = (-2 * pi + 5 * p) / 6;
  const double k2 = 4 * std::pow(std::sin(p / 2), 2) + 4 * std::pow(std::sin(q / 2), 2);
  const auto result = run_text(R"(model oblique "a wave of links that flows away"
lattice plane: 12*6, spacing = 1, boundary(y) = shifted(x = 5)
gauge U: U(1)
P[i,j] = loop(i, j, -i, -j)
S = sum(1 - re(P[i,j]), i < j)
U' = -d(S, U)
p = 2*pi*2/12
q = (5*p - 2*pi)/6
psi(a, b) = cos(p*(index(x) + a) + q*(index(y) + b))
init U[k] = exp(0.0001i*(psi(0, -1) - psi(0, 0) if k == x else psi(0, 0) - psi(-1, 0)))
precision real = f64
evolve luscher3, dt = 0.01, until = step == 100
at end: flux = 10^8*mean(im(P[x,y])^2) -> "w.h5"
)",
                               {});
  const double exact = k2 * k2 / 2 * std::exp(-2 * k2);
  EXPECT_NEAR(last(result, "flux") / exact, 1, 1e-6);
}

TEST(ShiftedLinks, OpenLoopsAreRefused) {
  const std::string text =
      "model slanted \"what counts on straight ends\"\nlattice plane: 6*4, boundary(y) = shifted(x "
      "= 2)\ngauge U: U(1)\nP[i,j] = loop(i, j, -i, -j)\naction S = sum(1 - re(P[i,j]), i < j)\n";
  const std::string loops = testing::refusal_of_text(
      text +
      "sample hmc, trajectories = 10, tau = 1 {\n  level S: steps = 8, scheme = omelyan2\n}\ninit "
      "U ~ hot\nevery 1 trajectory: polyakov -> \"h.h5\"\n");
  EXPECT_NE(loops.find("`polyakov` in a box with a shifted end"), std::string::npos) << loops;
}

}  // namespace
}  // namespace vphi
