// The Dirac operator of a twisted-mass quark by explicit sums, and arrays of a program as fields.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <vector>

namespace vphi::testing::dirac {

using C = std::complex<double>;
using Spin = std::array<std::array<C, 4>, 4>;
constexpr C kI{0, 1};

// ---- the matrices, as the literature prints them ------------------------------------------------

/// Rows of 1 - gamma_mu of the chiral basis (docs/formulas.md 3.1), gamma_t = -offdiag(1, 1).
inline Spin gamma(int mu, bool degrand_rossi) {
  const C i = kI;
  const Spin less[4] = {
      {{{1, 0, 0, i}, {0, 1, i, 0}, {0, -i, 1, 0}, {-i, 0, 0, 1}}},
      {{{1, 0, 0, 1}, {0, 1, -1, 0}, {0, -1, 1, 0}, {1, 0, 0, 1}}},
      {{{1, 0, i, 0}, {0, 1, 0, -i}, {-i, 0, 1, 0}, {0, i, 0, 1}}},
      {{{1, 0, 1, 0}, {0, 1, 0, 1}, {1, 0, 1, 0}, {0, 1, 0, 1}}},
  };
  Spin g{};
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) g[a][b] = (a == b ? 1.0 : 0.0) - less[mu][a][b];
  // the other basis: all but gamma_y with the other sign
  if (degrand_rossi && mu != 1)
    for (auto& row : g)
      for (C& z : row) z = -z;
  return g;
}

struct Box {
  std::array<int, 4> n{1, 1, 1, 1};
  int dims = 4;
  int colours = 3;
  int sites() const { return n[0] * n[1] * n[2] * n[3]; }
  int at(std::array<int, 4> x) const { return ((x[3] * n[2] + x[2]) * n[1] + x[1]) * n[0] + x[0]; }
  std::array<int, 4> place(int site) const {
    return {site % n[0], site / n[0] % n[1], site / n[0] / n[1] % n[2], site / n[0] / n[1] / n[2]};
  }
};

using Field = std::vector<C>;  ///< [site][spin][colour], links [site][axis][row][column]

struct Operator {
  Box box;
  double kappa = 0.15, mu = 0.1;
  bool degrand_rossi = false;
  bool antiperiodic = true;       ///< along the last axis
  std::array<double, 4> twist{};  ///< psi(x + n) = exp(i twist) psi(x)
};

inline C link(const Operator& d, const Field& u, int site, int axis, int a, int b) {
  const int n = d.box.colours;
  return u[((site * d.box.dims + axis) * n + a) * n + b];
}

/// psi + 2i kappa mu gamma5 psi - kappa sum over neighbours, index by index.
inline Field applied(const Operator& d, const Field& u, const Field& psi) {
  const int n = d.box.colours;
  Field result(psi.size());
  for (int site = 0; site < d.box.sites(); ++site) {
    for (int s = 0; s < 4; ++s) {
      for (int c = 0; c < n; ++c) {
        C sum =
            psi[(site * 4 + s) * n + c] * (1.0 + 2.0 * kI * d.kappa * d.mu * (s < 2 ? 1. : -1.));
        for (int mu = 0; mu < d.box.dims; ++mu) {
          const Spin g = gamma(mu, d.degrand_rossi);
          for (const int way : {1, -1}) {
            std::array<int, 4> y = d.box.place(site);
            y[mu] += way;
            C phase = 1;
            if (y[mu] < 0 || y[mu] >= d.box.n[mu]) {
              phase = std::polar(1.0, way * d.twist[mu]);
              if (d.antiperiodic && mu == d.box.dims - 1) phase = -phase;
              y[mu] = (y[mu] + d.box.n[mu]) % d.box.n[mu];
            }
            const int there = d.box.at(y);
            for (int r = 0; r < 4; ++r) {
              const C spin = (s == r ? 1.0 : 0.0) - double(way) * g[s][r];
              for (int b = 0; b < n; ++b) {
                const C w =
                    way > 0 ? link(d, u, site, mu, c, b) : std::conj(link(d, u, there, mu, b, c));
                sum -= d.kappa * phase * spin * w * psi[(there * 4 + r) * n + b];
              }
            }
          }
        }
        result[(site * 4 + s) * n + c] = sum;
      }
    }
  }
  return result;
}

// ---- a model and its arrays ---------------------------------------------------------------------

using Read = std::function<std::vector<double>(const std::string&)>;

inline Field spinors(const Box& box, const std::string& name, const Read& read) {
  Field f(static_cast<std::size_t>(box.sites() * 4 * box.colours));
  for (int s = 0; s < 4; ++s) {
    for (int c = 0; c < box.colours; ++c) {
      std::string component = name + "_" + std::to_string(s);
      if (box.colours > 1) component += "_" + std::to_string(c);
      const auto re = read(component + "_re"), im = read(component + "_im");
      for (int site = 0; site < box.sites(); ++site)
        f[static_cast<std::size_t>((site * 4 + s) * box.colours + c)] = {re[site], im[site]};
    }
  }
  return f;
}

inline Field links(const Box& box, const std::string& storage, const Read& read) {
  const int n = box.colours;
  Field f(static_cast<std::size_t>(box.sites() * box.dims * n * n));
  for (int axis = 0; axis < box.dims; ++axis) {
    std::vector<std::vector<double>> stored;
    const int reals = storage == "angle"        ? 1
                      : storage == "quaternion" ? 4
                      : storage == "rows"       ? 12
                                                : 18;
    for (int i = 0; i < reals; ++i) {
      stored.push_back(
          read("U_" + std::to_string(axis) + (reals > 1 ? "_" + std::to_string(i) : "")));
    }
    for (int site = 0; site < box.sites(); ++site) {
      C* m = &f[static_cast<std::size_t>((site * box.dims + axis) * n * n)];
      const auto a = [&](int i) { return stored[static_cast<std::size_t>(i)][site]; };
      if (storage == "angle") {
        m[0] = std::polar(1.0, a(0));
      } else if (storage == "quaternion") {
        m[0] = {a(0), a(3)}, m[1] = {a(2), a(1)}, m[2] = {-a(2), a(1)}, m[3] = {a(0), -a(3)};
      } else {
        for (int i = 0; i < (storage == "rows" ? 6 : 9); ++i) m[i] = {a(2 * i), a(2 * i + 1)};
        for (int i = 0; storage == "rows" && i < 3; ++i) {
          const int j = (i + 1) % 3, k = (i + 2) % 3;
          m[6 + i] = std::conj(m[j] * m[3 + k] - m[k] * m[3 + j]);
        }
      }
    }
  }
  return f;
}

inline double largest_difference(const Field& a, const Field& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// Largest difference of phi = D eta, as `drawn(eta)` makes it, from explicit sums: for each of
/// `components` of eta alone.
template <class Drawn>
double error_of_draws(const Operator& d, const Field& links, std::size_t components, Drawn drawn) {
  double most = 0;
  for (std::size_t k = 0; k < components; ++k) {
    Field eta(components);
    eta[k] = {1, 0.5};
    most = std::max(most, largest_difference(drawn(eta), applied(d, links, eta)));
  }
  return most;
}

}  // namespace vphi::testing::dirac
