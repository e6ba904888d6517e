// Free quarks as sums over momenta, and models of them.
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "tests/physics/gauge/explicit_dirac.hpp"
#include "tests/support/simulate.hpp"

namespace vphi::testing::dirac {

struct Free {
  std::array<int, 4> n{4, 4, 4, 4};
  double kappa = 0.15, mu = 0;
  bool antiperiodic = true;       ///< along t
  std::array<double, 4> twist{};  ///< psi(x + n) = exp(i twist) psi(x)
};

inline Spin sum_of(const Spin& a, const Spin& b, C weight = 1) {
  Spin c = a;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[i][j] += weight * b[i][j];
  return c;
}
inline Spin product(const Spin& a, const Spin& b) {
  Spin c{};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 4; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}
inline Spin conjugate(const Spin& a) {
  Spin c{};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[i][j] = std::conj(a[j][i]);
  return c;
}
inline Spin diagonal(C up, C down) {
  Spin c{};
  for (int i = 0; i < 4; ++i) c[i][i] = i < 2 ? up : down;
  return c;
}

inline std::array<double, 4> momentum(const Free& f, const std::array<int, 4>& k) {
  std::array<double, 4> p{};
  for (int a = 0; a < 4; ++a)
    p[a] = (2 * std::numbers::pi * (k[a] + (f.antiperiodic && a == 3 ? 0.5 : 0)) + f.twist[a]) /
           f.n[a];
  return p;
}

/// D(p) = 1 - 2 kappa sum cos p + 2i kappa mu gamma5 + 2i kappa sum gamma sin p; sign -1: the
/// numerator of its inverse.
inline Spin dirac_of(const Free& f, const std::array<double, 4>& p, double sign = 1) {
  double a = 1;
  for (const double one : p) a -= 2 * f.kappa * std::cos(one);
  const C twist = sign * 2.0 * kI * f.kappa * f.mu;
  Spin d = diagonal(a + twist, a - twist);
  for (int mu = 0; mu < 4; ++mu)
    d = sum_of(d, gamma(mu, false), sign * 2.0 * kI * f.kappa * std::sin(p[mu]));
  return d;
}

inline Spin inverse_of(const Free& f, const std::array<double, 4>& p) {
  double a = 1, rest = f.mu * f.mu;
  for (const double one : p) {
    a -= 2 * f.kappa * std::cos(one);
    rest += std::sin(one) * std::sin(one);
  }
  const double size = a * a + 4 * f.kappa * f.kappa * rest;
  return sum_of(Spin{}, dirac_of(f, p, -1), 1 / size);
}

/// S(x, 0), without the unit matrix of colour.
inline Spin propagator(const Free& f, const std::array<int, 4>& x) {
  Spin s{};
  std::array<int, 4> k{};
  double sites = 1;
  for (const int n : f.n) sites *= n;
  for (k[3] = 0; k[3] < f.n[3]; ++k[3])
    for (k[2] = 0; k[2] < f.n[2]; ++k[2])
      for (k[1] = 0; k[1] < f.n[1]; ++k[1])
        for (k[0] = 0; k[0] < f.n[0]; ++k[0]) {
          const auto p = momentum(f, k);
          double phase = 0;
          for (int a = 0; a < 4; ++a) phase += p[a] * x[a];
          s = sum_of(s, inverse_of(f, p), std::polar(1 / sites, phase));
        }
  return s;
}

/// 4 kappa^2/V3 sum over space and colour of tr(S S^+).
inline std::vector<double> free_pion(const Free& f) {
  std::vector<double> c(f.n[3]);
  const int space = f.n[0] * f.n[1] * f.n[2];
  std::array<int, 4> k{};
  for (k[2] = 0; k[2] < f.n[2]; ++k[2])
    for (k[1] = 0; k[1] < f.n[1]; ++k[1])
      for (k[0] = 0; k[0] < f.n[0]; ++k[0])
        for (int t = 0; t < f.n[3]; ++t) {
          Spin s{};  // of one spatial momentum at this t
          for (k[3] = 0; k[3] < f.n[3]; ++k[3]) {
            const auto p = momentum(f, k);
            s = sum_of(s, inverse_of(f, p), std::polar(1.0 / f.n[3], p[3] * t));
          }
          double size = 0;
          for (const auto& row : s)
            for (const C& z : row) size += std::norm(z);
          c[t] += 3 * 4 * f.kappa * f.kappa * size / space / space;
        }
  return c;
}

inline std::string quarks(const Free& f, const std::string& more) {
  std::string shape;
  for (const int n : f.n) shape += (shape.empty() ? "[" : ", ") + std::to_string(n);
  std::string twists;
  for (std::size_t a = 0; a < 4; ++a) {
    const bool turned = a == 3 && f.antiperiodic;
    const std::string axis = std::string(", boundary(") + "xyzt"[a] + ") = ";
    if (f.twist[a] != 0)
      twists += axis + "twisted(" + testing::exact(f.twist[a]) + (turned ? " + pi)" : ")");
    else if (turned)
      twists += axis + "antiperiodic";
  }
  return "model quark \"Wilson quarks\"\nparam kappa = " + testing::exact(f.kappa) +
         ", mu_q = " + testing::exact(f.mu) + "\nlattice grid: " + shape +
         "]\ngauge U: SU(3)\nfermion psi, phi: spinor" + twists +
         "\nhop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "D(psi) = psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)\n" +
         more;
}

inline const std::string kPoint =
    "point = index(x) == 0 and index(y) == 0 and index(z) == 0 and index(t) == 0\n";

/// Propagators from the origin and the pion on each time slice up to `last_t`: pion0, ...
inline std::string pions(const std::string& solver, int last_t) {
  std::string text = kPoint + "S[s,c] = solve(D, point*spinor(s, c), solver = " + solver +
                     ")\npion = 4*kappa^2*sum(norm2(S[s,c]), s, c)\n"
                     "plane(t0, u) = total(u*(index(t) == t0))\n"
                     "at end: n = iterations(S[3,2])";
  for (int t = 0; t <= last_t; ++t) {
    const std::string now = std::to_string(t);
    text += ", pion" + now + " = plane(" + now + ", pion)";
  }
  return text + " -> \"c.h5\"\n";
}

}  // namespace vphi::testing::dirac
