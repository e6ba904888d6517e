// Flows of links for tests: boxes of matrices in plain loops, where nothing of the compiler is
// used, and the model texts that are run beside them. Formulas are written as their sources have
// them; failures are those of the tests that include this.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "runtime/io/configurations/ildg.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi::testing::flow {

using Number = std::complex<double>;

// ---- plain loops: nothing of the compiler is used -----------------------------------------------

struct Matrix {
  int n = 0;
  std::vector<Number> parts;

  explicit Matrix(int size, double one = 0) : n(size), parts(static_cast<std::size_t>(n * n)) {
    for (int i = 0; i < n; ++i) at(i, i) = one;
  }
  Number& at(int i, int j) { return parts[static_cast<std::size_t>(i * n + j)]; }
  Number at(int i, int j) const { return parts[static_cast<std::size_t>(i * n + j)]; }
  Number trace() const {
    Number sum = 0;
    for (int i = 0; i < n; ++i) sum += at(i, i);
    return sum;
  }
};

inline Matrix operator+(Matrix a, const Matrix& b) {
  for (std::size_t i = 0; i < a.parts.size(); ++i) a.parts[i] += b.parts[i];
  return a;
}
inline Matrix operator*(Number c, Matrix a) {
  for (Number& part : a.parts) part *= c;
  return a;
}
inline Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix c(a.n);
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j)
      for (int k = 0; k < a.n; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}
inline Matrix adjoint(const Matrix& a) {
  Matrix b(a.n);
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j) b.at(i, j) = std::conj(a.at(j, i));
  return b;
}
/// The part in the algebra.
inline Matrix in_algebra(const Matrix& a) {
  Matrix h = 0.5 * (a + -1.0 * adjoint(a));
  if (a.n > 1) h = h + Matrix(a.n, 1) * ((-1.0 / a.n) * (h.trace() * Matrix(a.n, 1)));
  return h;
}
inline Matrix exponential(const Matrix& a) {
  Matrix sum(a.n, 1), term(a.n, 1);
  for (int k = 1; k < 40; ++k) {
    term = 1.0 / k * (term * a);
    sum = sum + term;
  }
  return sum;
}
/// exp of an element of the algebra with normal coordinates.
inline Matrix random_element(int n, double width, std::mt19937& random) {
  std::normal_distribution<double> normal;
  Matrix a(n);
  for (Number& part : a.parts) part = {width * normal(random), width * normal(random)};
  return exponential(n == 1 ? 0.5 * (a + -1.0 * adjoint(a)) : in_algebra(a));
}

struct Box {
  io::Extents extent{1, 1, 1, 1};
  int dims = 4, n = 3;
  bool zeuthen = false;
  std::vector<Matrix> links;  ///< [site][mu], x fastest

  using Site = std::array<std::int64_t, 4>;
  std::int64_t sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
  Site site(std::int64_t number) const {
    Site x{};
    for (std::size_t k = 0; k < 4; ++k) x[k] = number % extent[k], number /= extent[k];
    return x;
  }
  Site moved(Site x, int mu, int by) const {
    const auto k = static_cast<std::size_t>(mu);
    x[k] = ((x[k] + by) % extent[k] + extent[k]) % extent[k];
    return x;
  }
  std::size_t place(const Site& x, int mu) const {
    std::int64_t number = 0;
    for (std::size_t k = 4; k-- > 0;) number = number * extent[k] + x[k];
    return static_cast<std::size_t>(number * dims + mu);
  }
  const Matrix& link(const Site& x, int mu) const { return links[place(x, mu)]; }

  /// Along steps +-(mu + 1) from x.
  Matrix along(Site x, const std::vector<int>& steps) const {
    Matrix product(n, 1);
    for (const int step : steps) {
      const int mu = std::abs(step) - 1;
      if (step < 0) x = moved(x, mu, -1);
      product = product * (step > 0 ? link(x, mu) : adjoint(link(x, mu)));
      if (step > 0) x = moved(x, mu, 1);
    }
    return product;
  }
  double mean_loop(bool rectangle) const {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t s = 0; s < sites(); ++s)
      for (int m = 1; m <= dims; ++m)
        for (int k = 1; k <= dims; ++k) {
          if (m == k || (!rectangle && m > k)) continue;
          const std::vector<int> steps =
              rectangle ? std::vector<int>{m, m, k, -m, -m, -k} : std::vector<int>{m, k, -m, -k};
          sum += along(site(s), steps).trace().real() / n;
          ++count;
        }
    return sum / static_cast<double>(count);
  }

  /// -TA(U V) of c0 times plaquettes and c1 times rectangles; for U(1) -Im(U V).
  Matrix rate(const Site& x, int m, double c0, double c1) const {
    Matrix v(n);
    const int mu = m + 1;
    const Site next = moved(x, m, 1);
    for (int k = 1; k <= dims; ++k) {
      if (k == mu) continue;
      for (const int nu : {k, -k}) {
        v = v + c0 * along(next, {nu, -mu, -nu});
        if (c1 == 0) continue;
        v = v + c1 * (along(next, {mu, nu, -mu, -mu, -nu}) + along(next, {nu, -mu, -mu, -nu, mu}) +
                      along(next, {nu, nu, -mu, -nu, -nu}));
      }
    }
    return -1.0 * in_algebra(link(x, m) * v);
  }

  std::vector<Matrix> rates(double c0, double c1) const {
    std::vector<Matrix> z;
    for (std::int64_t s = 0; s < sites(); ++s)
      for (int mu = 0; mu < dims; ++mu) z.push_back(rate(site(s), mu, c0, c1));
    return zeuthen ? carried(z) : z;
  }
  /// (1 + D*D/12) z, D the covariant difference along the link itself: Ramos and Sint, Eur. Phys.
  /// J. C 76 (2016) 15.
  std::vector<Matrix> carried(const std::vector<Matrix>& z) const {
    std::vector<Matrix> result;
    for (std::int64_t s = 0; s < sites(); ++s)
      for (int mu = 0; mu < dims; ++mu) {
        const Site x = site(s), next = moved(x, mu, 1), before = moved(x, mu, -1);
        const Matrix &u = link(x, mu), &v = link(before, mu), &own = z[place(x, mu)];
        result.push_back(own + 1.0 / 12 *
                                   (u * z[place(next, mu)] * adjoint(u) + -2.0 * own +
                                    adjoint(v) * z[place(before, mu)] * v));
      }
    return result;
  }
  void move(const std::vector<Matrix>& z) {
    for (std::size_t i = 0; i < links.size(); ++i) links[i] = exponential(z[i]) * links[i];
  }
  /// Luescher's W1, W2, V', as he writes them.
  void luescher(double e, double c0 = 1, double c1 = 0) {
    const auto sum = [&](double a, const std::vector<Matrix>& x, double b,
                         const std::vector<Matrix>& y) {
      std::vector<Matrix> z;
      for (std::size_t i = 0; i < x.size(); ++i) z.push_back(e * (a * x[i] + b * y[i]));
      return z;
    };
    const auto z0 = rates(c0, c1);
    move(sum(0.25, z0, 0, z0));
    const auto z1 = rates(c0, c1);
    move(sum(-17.0 / 36, z0, 8.0 / 9, z1));
    const auto z2 = rates(c0, c1);
    auto last = sum(17.0 / 36, z0, -8.0 / 9, z1);
    for (std::size_t i = 0; i < last.size(); ++i) last[i] = last[i] + 0.75 * e * z2[i];
    move(last);
  }

  Matrix clover(const Site& x, int m, int k) const {
    Matrix sum = along(x, {m, k, -m, -k}) + along(x, {k, -m, -k, m}) + along(x, {-m, -k, m, k}) +
                 along(x, {-k, m, k, -m});
    return in_algebra(0.25 * sum);
  }
  double energy() const {
    double sum = 0;
    for (std::int64_t s = 0; s < sites(); ++s)
      for (int m = 1; m <= dims; ++m)
        for (int k = m + 1; k <= dims; ++k) {
          const Matrix f = clover(site(s), m, k);
          sum -= (f * f).trace().real();
        }
    return sum / static_cast<double>(sites());
  }
  double charge() const {
    double sum = 0;
    for (std::int64_t s = 0; s < sites(); ++s) {
      const auto f = [&](int m, int k) { return clover(site(s), m, k); };
      sum += (f(1, 2) * f(3, 4)).trace().real() - (f(1, 3) * f(2, 4)).trace().real() +
             (f(1, 4) * f(2, 3)).trace().real();
    }
    return -sum / (4 * M_PI * M_PI);
  }

  void save(const std::filesystem::path& path) const {
    io::Configuration c = io::unit_configuration(n, extent);
    for (std::int64_t s = 0; s < sites(); ++s)
      for (int mu = 0; mu < dims; ++mu) {
        const Matrix& u = links[static_cast<std::size_t>(s * dims + mu)];
        std::ranges::copy(u.parts, c.link(s, mu).begin());
      }
    io::write_ildg(path, c, program::Precision::F64);
  }
};

inline Box random_box(int n, std::vector<std::int64_t> extent, double width, unsigned seed) {
  std::mt19937 random(seed);
  Box box;
  box.n = n;
  box.dims = static_cast<int>(extent.size());
  std::ranges::copy(extent, box.extent.begin());
  for (std::int64_t i = 0; i < box.sites() * box.dims; ++i)
    box.links.push_back(random_element(n, width, random));
  return box;
}

// ---- models -------------------------------------------------------------------------------------

struct Model {
  std::string gauge = "SU(3)", lattice = "4^4";
  int n = 3;
  std::string start = "init U ~ hot";
  std::string flow = "U' = -d(S, U)";
  std::string scheme = "luscher3";
  double dt = 0.025, c1 = 0;
  int steps = 20;
  bool clover = true;
  std::string more = {};

  std::string text() const {
    std::string t = "model flow \"links\"\nparam n = " + std::to_string(n) +
                    ", c1 = " + testing::exact(c1) + "\nlattice grid: " + lattice +
                    "\ngauge U: " + gauge + "\n" + start +
                    "\nP[mu,nu] = loop(mu, nu, -mu, -nu)\nR[mu,nu] = loop(2*mu, nu, -2*mu, -nu)\n" +
                    "g = " + (n == 1 ? "1" : "2") + "\n" +
                    "S = g*((1 - 8*c1)*sum(n - re(tr(P[mu,nu])), mu < nu) + " +
                    "c1*sum(n - re(tr(R[mu,nu])), mu != nu))\n" + flow + "\nevolve " + scheme +
                    ", dt = " + testing::exact(dt) + ", until = step >= " + std::to_string(steps) +
                    "\nplaquette = mean(re(tr(P[mu,nu]))/n, mu < nu)\nevery 1 step: plaquette";
    if (n == 1) {
      for (std::size_t at; (at = t.find("re(tr(")) != std::string::npos;) {
        t.replace(at, 6, "re((");
      }
    }
    if (clover) t += ", mean(E), Q";
    t += " -> \"flow.csv\"\n" + more;
    if (!clover) return t;
    return t +
           "C[mu,nu] = P[mu,nu] + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu)"
           " + loop(-nu, mu, nu, -mu)\n"
           "F[mu,nu] = (C[mu,nu] - adj(C[mu,nu]))/8\n"
           "E = sum(re(tr(F[mu,nu])^2)/n - re(tr(F[mu,nu]*F[mu,nu])), mu < nu)\n"
           "q = tr(F[x,y]*F[z,t]) - tr(F[x,z]*F[y,t]) + tr(F[x,t]*F[y,z])\n"
           "q1 = tr(F[x,y])*tr(F[z,t]) - tr(F[x,z])*tr(F[y,t]) + tr(F[x,t])*tr(F[y,z])\n"
           "Q = -total(re(q - q1/n))/(4*pi^2)\n";
  }
};

inline double last(const Model& model, const std::string& name) {
  return testing::last(testing::run_text(model.text(), {}), name);
}

inline std::string from_file(const std::filesystem::path& path) {
  return "init U = file(\"" + path.string() + "\")";
}

inline bool native() { return testing::device("native") != nullptr; }

/// Each step of both, on boxes whose extents are odd or 2.
inline void expect_as_written(Box box, Model model, double within) {
  const testing::ScratchFolder scratch;
  box.save(scratch / "start.ildg");
  model.start = from_file(scratch / "start.ildg");
  const runtime::RunResult result = testing::run_text(model.text(), {});
  for (int step = 0; step < model.steps; ++step) box.luescher(model.dt, 1 - 8 * model.c1, model.c1);
  EXPECT_NEAR(testing::last(result, "plaquette"), box.mean_loop(false), within) << model.gauge;
  if (!model.clover) return;
  EXPECT_NEAR(testing::last(result, "mean(E)"), box.energy(), 10 * within) << model.gauge;
  EXPECT_NEAR(testing::last(result, "Q"), box.charge(), 10 * within) << model.gauge;
}

}  // namespace vphi::testing::flow
