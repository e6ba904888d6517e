// The sign of a clover term: the eigenvalue of D/(2 kappa) next to 0 on a uniform flux through the
// plane, one quantum through the whole of it, against an independent program. With csw = 1 the term
// removes the mass that the discretisation gives to the zero mode, with -1 it doubles it.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/physics/gauge/dense_determinant.hpp"

namespace vphi {
namespace {

using testing::C;
using testing::Dense;

std::string plane(int edge, int csw) {
  return "model plane\nlattice grid: " + std::to_string(edge) +
         "^2\ngauge U: U(1)\nfermion psi: spinor(2)\nparam csw = " + std::to_string(csw) +
         "\nC[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
         "loop(-nu, mu, nu, -mu)\nF[mu,nu] = (C[mu,nu] - conj(C[mu,nu]))/8\n"
         "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "D(psi) = psi - hop(psi)/4 - csw/4*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)\n"
         "action quarks = pseudofermion(D, solver = cg(1e-12), even_odd = off)\n"
         "sample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, scheme = "
         "leapfrog\n}\n"
         "init U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n";
}

/// Each plaquette turns by 2 pi/edge^2: U_x = exp(-i f y), and U_y = exp(i f edge x) in the last
/// row.
Dense flux(int s, int mu, int edge) {
  const double f = 2 * std::numbers::pi / edge / edge;
  const int x = s % edge, y = s / edge;
  Dense u(1);
  u(0, 0) = std::polar(1.0, mu == 0 ? -f * y : (y == edge - 1 ? f * edge * x : 0.0));
  return u;
}

/// M^-1 by Gauss and Jordan.
Dense inverse(Dense m) {
  Dense result = gauge::testing::one(m.n);
  for (int k = 0; k < m.n; ++k) {
    int pivot = k;
    for (int i = k; i < m.n; ++i)
      if (std::abs(m(i, k)) > std::abs(m(pivot, k))) pivot = i;
    for (int j = 0; pivot != k && j < m.n; ++j)
      std::swap(m(k, j), m(pivot, j)), std::swap(result(k, j), result(pivot, j));
    const C diagonal = m(k, k);
    for (int j = 0; j < m.n; ++j) m(k, j) /= diagonal, result(k, j) /= diagonal;
    for (int i = 0; i < m.n; ++i) {
      const C factor = m(i, k);
      if (i == k || factor == 0.0) continue;
      for (int j = 0; j < m.n; ++j)
        m(i, j) -= factor * m(k, j), result(i, j) -= factor * result(k, j);
    }
  }
  return result;
}

/// The eigenvalue of m next to 0: the largest one of its inverse, by powers.
C next_to_zero(const Dense& m) {
  const Dense back = inverse(m);
  std::vector<C> v;
  for (int i = 0; i < m.n; ++i) v.emplace_back(1 + i % 3, i % 5);
  C ratio;
  for (int round = 0; round < 400; ++round) {
    std::vector<C> w(v.size());
    C product = 0;
    double square = 0, size = 0;
    for (int i = 0; i < m.n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      for (int j = 0; j < m.n; ++j) w[k] += back(i, j) * v[static_cast<std::size_t>(j)];
      product += std::conj(v[k]) * w[k], square += std::norm(v[k]), size += std::norm(w[k]);
    }
    ratio = product / square;
    for (C& z : w) z /= std::sqrt(size);
    v = w;
  }
  return 1.0 / ratio;
}

TEST(Clover, EigenvaluesOnAUniformFlux) {
  struct Known {
    int edge, csw;
    double eigenvalue;
  };
  for (const Known& known : {Known{8, 0, 0.048509}, Known{8, 1, -0.000501}, Known{8, -1, 0.097519},
                             Known{16, 1, -0.000036}}) {
    SCOPED_TRACE(known.csw);
    const int sites = known.edge * known.edge;
    testing::FixedQuarks quarks(plane(known.edge, known.csw), 1, 2, sites, 1.0, 2);
    quarks.start_from([&](int s, int mu) { return flux(s, mu, known.edge); });
    EXPECT_NEAR(quarks.plaquette({known.edge, known.edge}), std::cos(2 * std::numbers::pi / sites),
                1e-14);
    std::vector<int> all;
    for (int s = 0; s < sites; ++s) all.push_back(s);
    const C eigenvalue = 2.0 * next_to_zero(testing::matrix_of(quarks, all, 2, sites));
    EXPECT_NEAR(eigenvalue.real(), known.eigenvalue, 6e-7);
    EXPECT_NEAR(eigenvalue.imag(), 0, 1e-9);
  }
}

}  // namespace
}  // namespace vphi
