// Numerical references for expressions: dense complex matrices, implemented without the code under
// test, and the values of expressions at given leaves.
#pragma once

#include <cmath>
#include <complex>
#include <random>
#include <unordered_map>
#include <vector>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/matrix.hpp"

namespace vphi::gauge::testing {

using C = std::complex<double>;

struct Dense {
  int n = 0;
  std::vector<C> v;
  explicit Dense(int size = 0) : n(size), v(static_cast<std::size_t>(size * size)) {}
  C& operator()(int i, int j) { return v[static_cast<std::size_t>(i * n + j)]; }
  C operator()(int i, int j) const { return v[static_cast<std::size_t>(i * n + j)]; }
};

inline Dense one(int n) {
  Dense m(n);
  for (int i = 0; i < n; ++i) m(i, i) = 1;
  return m;
}
inline Dense operator*(const Dense& a, const Dense& b) {
  Dense c(a.n);
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j)
      for (int k = 0; k < a.n; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}
inline Dense operator+(Dense a, const Dense& b) {
  for (std::size_t i = 0; i < a.v.size(); ++i) a.v[i] += b.v[i];
  return a;
}
inline Dense operator*(C f, Dense a) {
  for (C& x : a.v) x *= f;
  return a;
}
inline Dense dagger(const Dense& a) {
  Dense c(a.n);
  for (int i = 0; i < a.n; ++i)
    for (int j = 0; j < a.n; ++j) c(i, j) = std::conj(a(j, i));
  return c;
}
inline C trace(const Dense& a) {
  C sum = 0;
  for (int i = 0; i < a.n; ++i) sum += a(i, i);
  return sum;
}
inline double distance(const Dense& a, const Dense& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.v.size(); ++i) most = std::max(most, std::abs(a.v[i] - b.v[i]));
  return most;
}
/// Gaussian elimination.
inline C determinant(Dense a) {
  C result = 1;
  for (int k = 0; k < a.n; ++k) {
    int pivot = k;
    for (int i = k; i < a.n; ++i)
      if (std::abs(a(i, k)) > std::abs(a(pivot, k))) pivot = i;
    if (pivot != k) result = -result;
    for (int j = 0; j < a.n; ++j) std::swap(a(k, j), a(pivot, j));
    result *= a(k, k);
    for (int i = k + 1; i < a.n; ++i) {
      const C f = a(i, k) / a(k, k);
      for (int j = k; j < a.n; ++j) a(i, j) -= f * a(k, j);
    }
  }
  return result;
}
/// exp(a) by 16 steps of a Taylor series.
inline Dense exponential(const Dense& a) {
  const Dense small = C(1.0 / 16) * a;
  Dense term = one(a.n), sum = term;
  for (int k = 1; k < 22; ++k) {
    term = C(1.0 / k) * (term * small);
    sum = sum + term;
  }
  for (int i = 0; i < 4; ++i) sum = sum * sum;
  return sum;
}

/// Symbols with values.
class Numbers {
 public:
  explicit Numbers(Arena& arena, unsigned seed = 1) : arena_(arena), random_(seed) {}

  Expr value(double x) {
    const Expr symbol = arena_.symbol("x" + std::to_string(count_++));
    values_[symbol.get()] = x;
    return symbol;
  }
  double normal() { return std::normal_distribution<double>()(random_); }
  double uniform() { return std::uniform_real_distribution<double>()(random_); }
  void set(Expr leaf, double x) { values_[leaf.get()] = x; }

  double of(Expr e) const {
    return algebra::evaluate(e, {[this](const algebra::Node& leaf) { return values_.at(&leaf); }});
  }
  std::vector<double> of(const std::vector<Expr>& list) const {
    std::vector<double> result;
    for (Expr e : list) result.push_back(of(e));
    return result;
  }
  C of(Complex z) const { return {of(z.re), of(z.im)}; }
  Dense of(const Matrix& m) const {
    Dense d(m.rows);
    for (std::size_t i = 0; i < m.parts.size(); ++i) d.v[i] = of(m.parts[i]);
    return d;
  }
  Matrix matrix(const Dense& d) {
    Matrix m{d.n, d.n, {}};
    for (const C& x : d.v) m.parts.push_back({value(x.real()), value(x.imag())});
    return m;
  }
  Dense any(int n) {
    Dense d(n);
    for (C& x : d.v) x = {normal(), normal()};
    return d;
  }
  /// exp of a random antihermitian matrix, traceless for n > 1: in the group to round-off.
  Dense element(int n, double size = 1) {
    Dense a = any(n);
    a = C(size / 2) * (a + C(-1) * dagger(a));
    if (n > 1) a = a + (-trace(a) / static_cast<double>(n)) * one(n);
    return exponential(a);
  }

 private:
  Arena& arena_;
  std::mt19937_64 random_;
  std::unordered_map<const algebra::Node*, double> values_;
  int count_ = 0;
};

/// Expressions as a list of operations, for repeated evaluation.
class Tape {
 public:
  explicit Tape(const std::vector<Expr>& roots) {
    std::unordered_map<const algebra::Node*, int> place;
    for (Expr root : roots) {
      algebra::visit(root, [&](Expr e) {
        if (!place.emplace(e.get(), static_cast<int>(nodes_.size())).second) return;
        Operation o{e.op(), static_cast<int>(args_.size()), static_cast<int>(e.args().size())};
        for (Expr arg : e.args()) args_.push_back(place.at(arg.get()));
        if (e.args().empty()) leaves_[e.get()] = static_cast<int>(nodes_.size());
        nodes_.push_back(o);
        values_.push_back(e.is_number() ? static_cast<double>(e->number.real) : 0);
      });
      roots_.push_back(place.at(root.get()));
    }
  }
  void set(Expr leaf, double x) {
    const auto found = leaves_.find(leaf.get());
    if (found != leaves_.end()) values_[static_cast<std::size_t>(found->second)] = x;
  }
  void run() {
    double x[8];
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Operation& o = nodes_[i];
      if (o.count == 0) continue;
      for (int k = 0; k < o.count; ++k)
        x[k] = values_[static_cast<std::size_t>(args_[static_cast<std::size_t>(o.first + k)])];
      switch (o.op) {
        case algebra::Op::Add:
          values_[i] = x[0] + x[1];
          break;
        case algebra::Op::Sub:
          values_[i] = x[0] - x[1];
          break;
        case algebra::Op::Mul:
          values_[i] = x[0] * x[1];
          break;
        default:
          values_[i] = algebra::row(o.op).value(x, o.count);
      }
    }
  }
  double operator[](std::size_t root) const {
    return values_[static_cast<std::size_t>(roots_[root])];
  }

 private:
  struct Operation {
    algebra::Op op;
    int first, count;
  };
  std::vector<Operation> nodes_;
  std::vector<int> args_, roots_;
  std::vector<double> values_;
  std::unordered_map<const algebra::Node*, int> leaves_;
};

/// Arithmetic operations on distinct values below some expressions.
inline int operations(const std::vector<Expr>& roots) {
  int count = 0;
  std::unordered_map<const algebra::Node*, bool> seen;
  for (Expr root : roots) {
    algebra::visit(root, [&](Expr e) {
      if (!seen.emplace(e.get(), true).second || e.args().empty() || e.is(algebra::Op::Neg)) return;
      ++count;
    });
  }
  return count;
}

inline std::vector<Expr> parts(const Matrix& m) {
  std::vector<Expr> result;
  for (const Complex& z : m.parts) {
    result.push_back(z.re);
    result.push_back(z.im);
  }
  return result;
}

}  // namespace vphi::gauge::testing
