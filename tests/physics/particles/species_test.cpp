// Several species in one Hamiltonian: masses, charges and couplings of their own, external fields,
// three dimensions. References are closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;
using testing::Simulation;

/// Two bodies of masses 3 and 1 at distance 1: they turn about their centre in
/// 2 pi sqrt(d^3/(m1 + m2)), and after one period are where they were.
TEST(Species, TwoMassesTurnAboutTheirCentre) {
  const double period = 2 * M_PI / std::sqrt(4.0);
  const auto r = run_text(
      "model binary\nparticles heavy: 1\nparticles light: 1\nvar x[k]: vec(3), p[k]: vec(3)\n"
      "m[k] = 3*heavy[k] + light[k]\n"
      "H = sum(norm2(p[k])/(2*m[k]), k) - sum(m[k]*m[l]/norm(x[k] - x[l]), k < l)\n"
      "init x[k] = [0.75*light[k] - 0.25*heavy[k], 0, 0]\n"
      "init p[k] = [0, 1.5*(light[k] - heavy[k])*0.6, 1.5*(light[k] - heavy[k])*0.8]\n"
      "evolve srkn6b, dt = " +
          exact(period / 100) + ", until = t > " + exact(period * 0.9999) +
          "\nevery 1 steps: X = sum(light[k]*x[k], k), Y = sum(heavy[k]*x[k], k), "
          "P = sum(p[k], k), E = sum(light[k]*norm2(p[k])/2, k) -> \"b.h5\"\n"
          "expect drift(H) < 1e-7\n",
      {});
  EXPECT_TRUE(r.all_expected());
  EXPECT_NEAR(last(r, "X[0]"), 0.75, 1e-6);
  EXPECT_NEAR(last(r, "X[1]"), 0, 1e-5);
  EXPECT_NEAR(last(r, "X[2]"), 0, 1e-5);
  EXPECT_NEAR(last(r, "Y[0]"), -0.25, 1e-6);
  EXPECT_NEAR(last(r, "P[1]"), 0, 1e-14);
  EXPECT_NEAR(last(r, "E"), 1.5 * 1.5 / 2, 1e-6);
}

/// Names of species are the formula that one would write by hand.
TEST(Species, AreTheFormulaOfTheirNumbers) {
  const std::string rest =
      "var x[k]: vec(2), p[k]: vec(2)\n"
      "H = sum(norm2(p[k])/2, k) - sum(q[k]*q[l]*log(norm2(x[k] - x[l]) + 0.01)/100, k < l) + "
      "sum(norm2(x[k])/2, k)\n"
      "init x ~ ball(1), p = 0\nevolve leapfrog, dt = 0.01, until = t > 1\n"
      "every 10 steps: H, mean(norm2(x)), sum(q[k]*norm2(x[k]), k) -> \"s.h5\"\n";
  const auto named = run_text(
      "model s\nparticles ion: 20\nparticles electron: 30\nq[k] = ion[k] - electron[k]\n" + rest,
      {});
  const auto numbers =
      run_text("model s\nparticles all: 50\nq[k] = 1 if k < 20 else -1\n" + rest, {});
  for (const char* name : {"H", "mean(norm2(x))", "sum(q[k]*norm2(x[k]), k)"}) {
    const auto *a = named.find(name), *b = numbers.find(name);
    ASSERT_TRUE(a != nullptr && b != nullptr);
    for (std::size_t i = 0; i < a->points.size(); ++i) {
      EXPECT_NEAR(a->points[i].second / b->points[i].second, 1, 1e-12) << name << ' ' << i;
    }
  }
}

/// Couplings between species that separate cost O(N), and are the sum over pairs.
TEST(Species, MeanFieldsOfTwoKinds) {
  const auto run = [](const std::string& method) {
    return run_text(
        "model two\nparticles a: 40\nparticles b: 25, method = " + method +
            "\nvar theta[k]: angle, p[k]: real\nJ[k,l] = a[k]*a[l] + 0.5*(a[k]*b[l] + b[k]*a[l]) "
            "- b[k]*b[l]\n"
            "H = sum(p[k]^2/(2*(a[k] + 2*b[k])), k) + sum(J[k,l]*(1 - cos(theta[k] - theta[l])), "
            "k, l)/100\n"
            "init theta ~ uniform(0, 2*pi), p ~ normal(0, 1)\n"
            "evolve yoshida4, dt = 0.1, until = t > 5\n"
            "every 5 steps: H, A = sum(a[k]*cos(theta[k]), k), B = sum(b[k]*cos(theta[k]), k), "
            "sum(p[k], k) -> \"t.h5\"\nexpect drift(H) < 1e-3\n",
        {});
  };
  const auto fast = run("auto"), slow = run("pairs");
  for (const char* name : {"H", "A", "B"})
    EXPECT_NEAR(last(fast, name) / last(slow, name), 1, 1e-11) << name;
  const auto& momentum = fast.find("sum(p[k], k)")->points;
  EXPECT_NEAR(momentum.back().second, momentum.front().second, 1e-12);
  EXPECT_TRUE(fast.all_expected());
}

/// In a harmonic trap the centre of all bodies swings with the trap's frequency, whatever acts
/// between them (Kohn, Phys. Rev. 123 (1961) 1242); a second species with another charge in a
/// uniform field is displaced by q E/w^2.
TEST(Species, TrapAndUniformField) {
  const auto r = run_text(
      "model trap\nparam w = 0.7, E = 0.3\nparticles one: 30\nparticles other: 20\n"
      "var x[k]: vec(3), p[k]: vec(3)\nq[k] = one[k] - 2*other[k]\nfield_of[k] = -E*q[k]\n"
      "H = sum(norm2(p[k])/2 + w^2*norm2(x[k])/2, k) + sum(field_of[k]*x[k][0], k) "
      "+ sum(q[k]*q[l]/sqrt(norm2(x[k] - x[l]) + 0.1), k < l)/50\n"
      "init x ~ ball(1), p = 0\nevolve srkn6b, dt = 0.02, until = t > 8.99\n"
      "every 1 steps: X = mean(x) -> \"t.h5\"\nexpect drift(H) < 1e-8\n",
      {});
  EXPECT_TRUE(r.all_expected());
  const double mean_charge = (30.0 - 2 * 20) / 50, w = 0.7;
  for (int axis = 0; axis < 3; ++axis) {
    const auto& points = r.find("X[" + std::to_string(axis) + "]")->points;
    const double centre = axis == 0 ? 0.3 * mean_charge / (w * w) : 0;
    const double start = points.front().second - centre;
    for (const auto& [t, x] : points) ASSERT_NEAR(x, centre + start * std::cos(w * t), 1e-6) << t;
  }
}

}  // namespace
}  // namespace vphi
