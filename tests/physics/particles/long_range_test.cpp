// Long-range systems against closed forms and independent numbers (docs/formulas.md 6.5 to 6.7):
// caloric points and the quasi-stationary state of the mean-field model, growth rates of the ring
// and its limit of strong softening, virial and collapse in two dimensions, synchronisation under
// noise. Seeds are fixed; statistical bounds are in standard errors, and one of them is shown to
// fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;
using testing::Simulation;

const runtime::Series& series(const runtime::RunResult& r, const std::string& name) {
  const auto* found = r.find(name);
  if (!found) throw std::runtime_error("no series " + name);
  return *found;
}

// ---- mean-field model ---------------------------------------------------------------------------

/// M = I1(M/T)/I0(M/T), U = T/2 + (1 - M^2)/2, in contact with a bath of temperature T.
TEST(MeanField, CaloricCurve) {
  const auto r = run_text(
      "model caloric\nparam N = 4000\nsweep T = [0.097204992158, 0.386613453623, 0.435634728480]\n"
      "particles body: N\nvar theta[k]: angle\n"
      "theta[k]'' = sum(sin(theta[l] - theta[k]), l)/N - theta[k]' + sqrt(2*T)*noise[k]\n"
      "init theta = 0, theta' ~ sqrt(T)*normal\n"
      "evolve baoab, dt = 0.1, until = t > 250\n"
      "M2 = mean(cos(theta))^2 + mean(sin(theta))^2\n"
      "every 2500 steps, after = t > 50: M = mean(sqrt(M2), over = time), "
      "U = mean(mean(theta'^2)/2 + (1 - M2)/2, over = time) -> \"c.h5\"\n",
      {});
  const double m[] = {0.947209054094, 0.621782480955, 0.485422216714};
  const double u[] = {0.1, 0.5, 0.6};
  for (std::size_t i = 0; i < 3; ++i) {
    // finite N: of order 1/N, and larger near T = 1/2
    EXPECT_NEAR(series(r, "M").values[0][i], m[i], i == 2 ? 0.012 : 0.006) << "U = " << u[i];
    EXPECT_NEAR(series(r, "U").values[0][i], u[i], i == 2 ? 0.008 : 0.005) << "U = " << u[i];
  }
}

/// A water bag at U = 0.69 keeps T = 2 U - 1 = 0.38 and no magnetisation for a time that grows as
/// N^1.7; in equilibrium T is 0.4754 and M 0.3088. (Yamaguchi et al., Physica A 337 (2004) 36.)
TEST(MeanField, QuasiStationaryState) {
  const auto r = run_text(
      "model qss\nparam N = 10000\nparticles body: N\nvar theta[k]: angle, p[k]: real\n"
      "H = sum(p[k]^2/2, k) + sum(1 - cos(theta[k] - theta[l]), k, l)/(2*N)\n"
      "init theta ~ uniform(0, 2*pi), p ~ waterbag(sqrt(6*(0.69 - 0.5)))\n"
      "evolve yoshida4, dt = 0.2, until = t > 199.9\n"
      "M = sqrt(mean(cos(theta))^2 + mean(sin(theta))^2)\n"
      "every 1000 steps, after = t > 100: T = mean(2*kinetic/N, over = time), "
      "M = mean(M, over = time), H -> \"q.h5\"\nexpect drift(H) < 1e-6\n",
      {});
  const double energy = last(r, "H") / 10000;
  EXPECT_NEAR(energy, 0.69, 0.01) << "momenta were drawn";
  EXPECT_NEAR(last(r, "T"), 2 * energy - 1, 0.005);
  EXPECT_LT(last(r, "M"), 0.12);
  EXPECT_TRUE(r.all_expected());
}

// ---- ring ---------------------------------------------------------------------------------------

std::string ring(const std::string& eps, int mode, double end, const std::string& method) {
  const std::string m = std::to_string(mode);
  return "model ring\nparam N = 360, eps = " + eps + "\nparticles body: N, method = " + method +
         "\nvar theta[k]: angle, p[k]: real\n"
         "H = sum(p[k]^2/2, k) - 1/(2*sqrt(2)*N)*sum(1/sqrt(1 - cos(theta[k] - theta[l]) + eps), "
         "k, l)\n"
         "init theta[k] = 2*pi*k/N - 2e-6*sin(2*pi*" +
         m + "*k/N)/" + m + ", p = 0\nevolve yoshida4, dt = 0.05, until = t > " + exact(end) +
         "\nevery 1 steps: wave = mean(cos(" + m + "*theta)), mean(p) -> \"r.h5\"\n";
}

/// A cold ring: a wave of mode k grows as cosh(gamma_k t).
TEST(Ring, GrowthRates) {
  struct Case {
    const char* eps;
    int mode;
    double rate;
  };
  const Case cases[] = {
      {"1", 1, 0.267031766},    {"1", 2, 0.2397871418},    {"1", 3, 0.1700955097},
      {"0.1", 1, 0.5581658125}, {"0.1", 2, 0.7832155507},  {"0.1", 3, 0.8641784137},
      {"0.01", 1, 0.807662258}, {"0.01", 2, 1.3426570645}, {"0.01", 3, 1.7413213483}};
  for (const Case& c : cases) {
    const auto r = run_text(ring(c.eps, c.mode, 4, "auto"), {});
    const auto& points = series(r, "wave").points;
    const auto [t, end] = points.back();
    EXPECT_NEAR(end / points.front().second / std::cosh(c.rate * t), 1, 1e-3)
        << "eps = " << c.eps << ", mode " << c.mode;
    EXPECT_NEAR(last(r, "mean(p)"), 0, 1e-15) << "total momentum";
  }
}

/// 2 sqrt(2) eps^(3/2) times the ring's force tends to that of the mean-field model, by 1/eps.
TEST(Ring, StrongSofteningIsTheMeanField) {
  const auto momenta = [](const std::string& energy) {
    Simulation setup;
    setup.keep_state = true;
    setup.steps = 1;
    return run_text(
               "model limit\nparam N = 200\nparticles body: N\n"
               "var theta[k]: angle, p[k]: real\nH = sum(p[k]^2/2, k) " +
                   energy +
                   "\ninit theta[k] = 2*pi*k/N - 0.8*sin(2*pi*k/N), p = 0\n"
                   "evolve leapfrog, dt = 1e-4, until = t > 1\n"
                   "every 1 steps: H -> \"l.h5\"\n",
               setup)
        .state[1];
  };
  const auto limit = momenta("+ sum(1 - cos(theta[k] - theta[l]), k, l)/(2*N)");
  const auto distance = [&](const std::string& eps) {
    const auto p = momenta("- " + eps + "^(3/2)/N*sum(1/sqrt(1 - cos(theta[k] - theta[l]) + " +
                           eps + "), k, l)");
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      worst = std::max(worst, std::abs(p[i] - limit[i]));
      largest = std::max(largest, std::abs(limit[i]));
    }
    return worst / largest;
  };
  // expanded: F = sin(d)*(1 - (3/2)*(1 - cos(d))/eps + ...), so 3/eps at most
  EXPECT_LT(distance("100"), 3e-2 * 1.1);
  EXPECT_NEAR(distance("100") / distance("1000"), 10, 1);
  EXPECT_NEAR(distance("1000") / distance("10000"), 10, 0.2);
}

// ---- two dimensions
// -------------------------------------------------------------------------------

const std::string kPlane =
    "\nparticles body: N\nvar x[k]: vec(2), p[k]: vec(2)\n"
    "H = sum(norm2(p[k])/2, k) + g/(2*N)*sum(log(norm2(x[k] - x[l])), k != l)\n";

/// sum r.F = -g (N - 1) for every configuration: from rest mean(x^2) falls by g (N-1)/N dt^2.
TEST(Gravity2d, VirialOfAnyConfiguration) {
  Simulation setup;
  setup.steps = 1;
  const auto r = run_text("model virial\nparam N = 50, g = 0.7" + kPlane +
                              "init x ~ ball(1), p = 0\nevolve leapfrog, dt = 1e-5, until = t > 1\n"
                              "every 1 steps: mean(norm2(x)), mean(norm2(p)) -> \"v.h5\"\n",
                          setup);
  const auto& points = series(r, "mean(norm2(x))").points;
  const double fall = (points.back().second - points.front().second) / 1e-10;
  EXPECT_NEAR(fall, -0.7 * 49 / 50, 1e-4);
}

/// Seven bodies on a circle turn with <p^2> = g (N - 1)/N: a stationary state.
TEST(Gravity2d, PolygonTurns) {
  const auto r = run_text("model polygon\nparam N = 7, g = 0.7" + kPlane +
                              "s = sqrt(g*(N - 1)/N)\n"
                              "init x[k] = [cos(2*pi*k/N), sin(2*pi*k/N)]\n"
                              "init p[k] = [-s*sin(2*pi*k/N), s*cos(2*pi*k/N)]\n"
                              "evolve srkn6b, dt = 0.05, until = t > 8\n"
                              "every 1 steps: mean(norm2(x)), mean(norm2(p)) -> \"p.h5\"\n",
                          {});
  for (const auto& [t, value] : series(r, "mean(norm2(p))").points) {
    EXPECT_NEAR(value, 0.7 * 6 / 7, 1e-6) << t;
  }
  EXPECT_NEAR(last(r, "mean(norm2(x))"), 1, 1e-6);
}

/// A cold homogeneous disk: R = R0 exp(-y^2), erf(y) = 2 sqrt(g) t/(sqrt(pi) R0)... with the
/// inverse error function y of 2 sqrt(g) t/(sqrt(pi) R0).
TEST(Gravity2d, CollapseOfAColdDisk) {
  const auto r = run_text("model collapse\nparam N = 1000, g = 1/2" + kPlane +
                              "init x[k] = sqrt((k + 1/2)/N)*[cos(2.399963229728653*k), "
                              "sin(2.399963229728653*k)], p = 0\n"
                              "evolve leapfrog, dt = 0.01, until = t > 0.795\n"
                              "precision store = f64, pair = f32, sum = f64\n"
                              "every 1 steps: mean(norm2(x)) -> \"d.h5\"\n",
                          {});
  const auto& points = series(r, "mean(norm2(x))").points;
  const double t = 0.8, target = 2 * std::sqrt(0.5) * t / std::sqrt(M_PI);
  double y = 0.5;
  for (int i = 0; i < 60; ++i) {
    y -= (std::erf(y) - target) / (2 / std::sqrt(M_PI) * std::exp(-y * y));
  }
  const double ratio = std::sqrt(points.back().second / points.front().second);
  EXPECT_NEAR(ratio / std::exp(-y * y), 1, 2e-3);
}

// ---- synchronisation
// ------------------------------------------------------------------------------

/// Order parameters and their standard errors over four paths, K = 4 and temperature T, the noise
/// too strong by `bias`.
struct Synchronised {
  double r, r_error, second, second_error;
};
Synchronised synchronised(double bias) {
  const auto run = run_text(
      "model kuramoto\nparam K = 4, T = 1, N = 2048\nsweep path = 1..8\nparticles osc: N\n"
      "var x[i]: angle\n"
      "x[i]' = K/N*sum(sin(x[j] - x[i]), j) + sqrt(2*T*" +
          exact(bias) +
          ")*noise[i]\n"
          "init x ~ uniform(0, 2)\nevolve srk2, dt = 0.02, until = t > 14\n"
          "r = abs(mean(exp(1i*x)))\nr2 = abs(mean(exp(2i*x)))\n"
          "every 700 steps, after = t > 4: first = mean(r, over = [path, time]), "
          "second = mean(r2, over = [path, time]) -> \"k.h5\"\n",
      {});
  const auto& a = series(run, "first");
  const auto& b = series(run, "second");
  return {a.values[0][0], a.errors[0][0], b.values[0][0], b.errors[0][0]};
}

/// T = 1: r = I1(z)/I0(z) with z = K r, and the density exp(z cos x)/(2 pi I0(z)) of the phases has
/// the second moment I2(z)/I0(z) = 1 - 2 r/z. Finite N adds about 1/N to each.
TEST(Kuramoto, OrderParameterAndDensity) {
  const double r = 0.831462024754, second = 1 - 2.0 / 4;
  const Synchronised s = synchronised(1);
  EXPECT_LT(s.r_error, 2e-3);
  EXPECT_NEAR(s.r, r, 4 * s.r_error + 1.0 / 2048) << s.r_error;
  EXPECT_NEAR(s.second, second, 4 * s.second_error + 2.0 / 2048) << s.second_error;
}

/// The same test fails where it should: noise stronger by 3 % is seen.
TEST(Kuramoto, ThreePercentOfNoiseAreSeen) {
  const Synchronised s = synchronised(1.03);
  EXPECT_GT(std::abs(s.r - 0.831462024754), 4 * s.r_error + 1.0 / 2048);
  EXPECT_LT(s.r, 0.831462024754);
}

}  // namespace
}  // namespace vphi
