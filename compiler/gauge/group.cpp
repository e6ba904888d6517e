#include "compiler/gauge/group.hpp"

#include <cassert>
#include <cmath>
#include <stdexcept>

#include "compiler/gauge/products.hpp"

namespace vphi::gauge {

using algebra::Op;

int LinkType::reals() const {
  switch (storage) {
    case Storage::Full:
      return 2 * group.n * group.n;
    case Storage::Rows:
      return 2 * group.n * (group.n - 1);
    case Storage::Quaternion:
      return 4;
    case Storage::Angle:
      return 1;
  }
  return 0;
}

bool LinkType::valid() const {
  const bool special = group.kind == Kind::SU;
  switch (storage) {
    case Storage::Full:
      return true;
    case Storage::Rows:
      return special && (group.n == 2 || group.n == 3);
    case Storage::Quaternion:
      return special && group.n == 2;
    case Storage::Angle:
      return !special;
  }
  return false;
}

LinkType default_storage(Group group) {
  if (group.kind == Kind::U1) return {group, Storage::Angle};
  return {group, group.n == 2 ? Storage::Quaternion : Storage::Full};
}

namespace {

/// The last row of a matrix of SU(2) or SU(3), of the others: conj(r0 x r1).
void rebuild_last_row(Matrix& u) {
  if (u.rows == 2) {
    u.at(1, 0) = negative(conjugate(u.at(0, 1)));
    u.at(1, 1) = conjugate(u.at(0, 0));
    return;
  }
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;
    u.at(2, j) =
        conjugate(plus_product(times(u.at(0, k), u.at(1, l)), negative(u.at(0, l)), u.at(1, k)));
  }
}

Matrix of_quaternion(Expr a0, Expr a1, Expr a2, Expr a3) {
  return {2, 2, {{a0, a3}, {a2, a1}, {negative(a2), a1}, {a0, negative(a3)}}};
}

void scale_row(Matrix& u, int row, Expr factor) {
  for (int j = 0; j < u.columns; ++j) u.at(row, j) = times(factor, u.at(row, j));
}

/// Row `row` divided by its length.
void normalise(Matrix& u, int row) {
  const Expr length2 = row_product(u, row, u, row).re;
  scale_row(u, row, over(number(length2, 1), root(length2)));
}

}  // namespace

Matrix load(const LinkType& type, std::span<const Expr> stored) {
  assert(static_cast<int>(stored.size()) == type.reals());
  Arena& arena = *stored[0]->arena;
  const int n = type.group.n;
  if (type.storage == Storage::Angle) return {1, 1, {phase(stored[0])}};
  if (type.storage == Storage::Quaternion)
    return of_quaternion(stored[0], stored[1], stored[2], stored[3]);
  Matrix u = zero(arena, n, n);
  for (std::size_t i = 0; 2 * i < stored.size(); ++i)
    u.parts[i] = {stored[2 * i], stored[2 * i + 1]};
  if (type.storage == Storage::Rows) rebuild_last_row(u);
  return u;
}

std::vector<Expr> store(const LinkType& type, const Matrix& u) {
  if (type.storage == Storage::Angle) return {apply(Op::Atan2, u.at(0, 0).im, u.at(0, 0).re)};
  if (type.storage == Storage::Quaternion)
    return {u.at(0, 0).re, u.at(0, 1).im, u.at(0, 1).re, u.at(0, 0).im};
  std::vector<Expr> stored;
  for (int i = 0; 2 * i < type.reals(); ++i) {
    const Complex& part = u.parts[static_cast<std::size_t>(i)];
    stored.push_back(part.re);
    stored.push_back(part.im);
  }
  return stored;
}

Matrix reunitarised(const Group& group, const Matrix& m) {
  Matrix u = m;
  if (group.kind == Kind::U1) {
    normalise(u, 0);
    return u;
  }
  const bool rebuilt = group.n <= 3;
  for (int row = 0; row + rebuilt < group.n; ++row) {
    for (int before = 0; before < row; ++before) {
      const Complex along = row_product(u, before, u, row);
      for (int j = 0; j < u.columns; ++j)
        u.at(row, j) = minus(u.at(row, j), times(along, u.at(before, j)));
    }
    normalise(u, row);
  }
  if (rebuilt) {
    rebuild_last_row(u);
    return u;
  }
  const Complex phase = conjugate(determinant(u));  // of modulus 1
  for (int j = 0; j < u.columns; ++j) u.at(group.n - 1, j) = times(phase, u.at(group.n - 1, j));
  return u;
}

// ---- the algebra ------------------------------------------------------------------------------

namespace {

/// Visits the generators in their order: pair(a, p, q) for the two of a pair, diagonal(a, q).
template <class Pair, class Diagonal>
void each_generator(int n, Pair pair, Diagonal diagonal) {
  int a = 0;
  for (int q = 1; q < n; ++q) {
    for (int p = 0; p < q; ++p, a += 2) pair(a, p, q);
    diagonal(a++, q);
  }
}

/// 1/sqrt(2 q (q + 1)): the diagonal generator T is this times diag(1, ..., 1, -q, 0, ...).
long double diagonal_weight(int q) { return 1 / std::sqrt(2.0L * q * (q + 1)); }

}  // namespace

Matrix hermitian(const Group& group, std::span<const Expr> p) {
  assert(static_cast<int>(p.size()) == group.generators());
  Arena& arena = *p[0]->arena;
  if (group.kind == Kind::U1) return {1, 1, {{p[0], arena.integer(0)}}};
  const int n = group.n;
  const Expr half = arena.rational(1, 2);
  Matrix h = zero(arena, n, n);
  const auto at = [&](int a) { return p[static_cast<std::size_t>(a)]; };
  each_generator(
      n,
      [&](int a, int i, int j) {
        h.at(i, j) = {times(half, at(a)), negative(times(half, at(a + 1)))};
        h.at(j, i) = conjugate(h.at(i, j));
      },
      [&](int a, int q) {
        const Expr d = times(arena.real(diagonal_weight(q)), at(a));
        for (int i = 0; i < q; ++i) h.at(i, i).re = plus(h.at(i, i).re, d);
        h.at(q, q).re = minus(h.at(q, q).re, times(arena.integer(q), d));
      });
  return h;
}

Matrix algebra_element(const Group& group, std::span<const Expr> p) {
  Matrix a = hermitian(group, p);
  for (Complex& part : a.parts) part = times_i(part);
  return a;
}

std::vector<Expr> projection(const Group& group, const Matrix& w) {
  if (group.kind == Kind::U1) return {w.at(0, 0).im};
  Arena& arena = *w.at(0, 0).re->arena;
  const Expr half = arena.rational(1, 2);
  std::vector<Expr> result(static_cast<std::size_t>(group.generators()));
  const auto at = [&](int a) -> Expr& { return result[static_cast<std::size_t>(a)]; };
  Expr above = w.at(0, 0).im;  // of the diagonal, row by row
  each_generator(
      group.n,
      [&](int a, int p, int q) {
        // T has 1/2 at (p,q) and (q,p), or -i/2 and i/2
        at(a) = times(half, plus(w.at(p, q).im, w.at(q, p).im));
        at(a + 1) = times(half, minus(w.at(p, q).re, w.at(q, p).re));
      },
      [&](int a, int q) {
        const Expr last = w.at(q, q).im;
        at(a) = times(arena.real(diagonal_weight(q)), minus(above, times(arena.integer(q), last)));
        above = plus(above, last);
      });
  return result;
}

// ---- the exponential --------------------------------------------------------------------------

int exponential_terms(double unit, double size) {
  int n = 1;
  for (double term = size; term > unit && n < 60; term *= size / n) ++n;
  return n;
}

namespace {

/// cos(r) + i sin(r) h/r with h = p.sigma/2, r = |p|/2; sin(r)/r is 1 to every bit where r is held
/// away from 0.
Matrix exponential_su2(std::span<const Expr> p) {
  Arena& arena = *p[0]->arena;
  const Expr half = arena.rational(1, 2);
  std::vector<Expr> h;
  for (Expr x : p) h.push_back(times(half, x));
  const Expr r2 = plus(plus(square(h[0]), square(h[1])), square(h[2]));
  const Expr r = root(apply(Op::Max, r2, arena.real(1e-30L)));
  const Expr ratio = over(apply(Op::Sin, r), r);
  return of_quaternion(apply(Op::Cos, r), times(ratio, h[0]), times(ratio, h[1]),
                       times(ratio, h[2]));
}

/// Re tr(a b) of two hermitian matrices: half of it is the upper triangle.
Expr hermitian_trace(const Matrix& a, const Matrix& b) {
  Expr diagonal = times(a.at(0, 0).re, b.at(0, 0).re), upper;
  for (int i = 1; i < a.rows; ++i) diagonal = plus(diagonal, times(a.at(i, i).re, b.at(i, i).re));
  for (int i = 0; i < a.rows; ++i) {
    for (int j = i + 1; j < a.rows; ++j) {
      const Expr term =
          plus(times(a.at(i, j).re, b.at(i, j).re), times(a.at(i, j).im, b.at(i, j).im));
      upper = upper ? plus(upper, term) : term;
    }
  }
  return plus(diagonal, times(number(upper, 2), upper));
}

/// a b, known to be hermitian: the lower triangle is that of the upper one.
Matrix hermitian_product(const Matrix& a, const Matrix& b) {
  const int n = a.rows;
  Matrix c = zero(*a.at(0, 0).re->arena, n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = i; j < n; ++j) {
      Complex sum = times(a.at(i, 0), b.at(0, j));
      for (int k = 1; k < n; ++k) sum = plus_product(sum, a.at(i, k), b.at(k, j));
      if (i == j) sum.im = number(sum.re, 0);
      c.at(i, j) = sum;
      if (i != j) c.at(j, i) = conjugate(sum);
    }
  }
  return c;
}

/// H^N = s_0 + s_1 H + ... + s_(N-1) H^(N-1), from tr H^k (Newton's identities):
/// e_0 = 1, e_k = (1/k) sum_(i=1..k) (-1)^(i-1) e_(k-i) tr H^i, s_(N-k) = (-1)^(k-1) e_k.
std::vector<Expr> characteristic(int n, const std::vector<Expr>& traces) {
  Arena& arena = *traces[2]->arena;
  std::vector<Expr> e{arena.integer(1), arena.integer(0)}, s(static_cast<std::size_t>(n));
  for (int k = 2; k <= n; ++k) {
    Expr sum = arena.integer(0);
    for (int i = 2; i <= k; ++i) {  // tr H is 0
      const Expr term =
          times(e[static_cast<std::size_t>(k - i)], traces[static_cast<std::size_t>(i)]);
      sum = i % 2 == 1 ? plus(sum, term) : minus(sum, term);
    }
    e.push_back(times(arena.rational(1, k), sum));
  }
  for (int k = 1; k <= n; ++k) {
    const Expr value = e[static_cast<std::size_t>(k)];
    s[static_cast<std::size_t>(n - k)] = k % 2 == 1 ? value : negative(value);
  }
  return s;
}

long double inverse_factorial(int n) {
  long double value = 1;
  for (int k = 2; k <= n; ++k) value /= k;
  return value;
}

}  // namespace

Matrix exponential(const Group& group, std::span<const Expr> p, int terms) {
  if (group.kind == Kind::U1) return {1, 1, {phase(p[0])}};
  if (group.n == 2) return exponential_su2(p);
  const int n = group.n;
  Arena& arena = *p[0]->arena;
  std::vector<Matrix> powers{identity(arena, n), hermitian(group, p)};
  for (int k = 2; k < n; ++k) powers.push_back(hermitian_product(powers.back(), powers[1]));
  std::vector<Expr> traces(static_cast<std::size_t>(n + 1));
  for (int k = 2; k <= n; ++k) {
    const int half = k / 2;
    traces[static_cast<std::size_t>(k)] = hermitian_trace(
        powers[static_cast<std::size_t>(k - half)], powers[static_cast<std::size_t>(half)]);
  }
  const std::vector<Expr> s = characteristic(n, traces);
  // exp(iH) = sum_j q_j H^j, by Horner's scheme: q <- 1/k! + i H q
  const Expr none = arena.integer(0);
  std::vector<Complex> q(static_cast<std::size_t>(n), {none, none});
  q[0].re = arena.real(inverse_factorial(terms));
  for (int k = terms - 1; k >= 0; --k) {
    const Complex top = times_i(q.back());
    for (std::size_t j = q.size(); j-- > 0;) {
      const Complex below =
          j > 0 ? times_i(q[j - 1]) : Complex{arena.real(inverse_factorial(k)), none};
      q[j] = plus(below, times(s[j], top));
    }
  }
  Matrix result = zero(arena, n, n);
  for (int k = 0; k < n; ++k) {
    const Matrix term = times(q[static_cast<std::size_t>(k)], powers[static_cast<std::size_t>(k)]);
    result = k == 0 ? term : plus(result, term);
  }
  return result;
}

// ---- its derivative
// -------------------------------------------------------------------------------

namespace {

/// A Q - Q A of antihermitian matrices: Q A is the adjoint of A Q.
Matrix commutator(const Matrix& a, const Matrix& q) {
  const Matrix product = times(a, q);
  return minus(product, adjoint(product));
}

/// The coordinates of an element of the algebra.
std::vector<Expr> coordinates(const Group& group, const Matrix& a) {
  std::vector<Expr> p = projection(group, a);
  for (Expr& part : p) part = times(number(part, 2), part);
  return p;
}

std::int64_t binomial(int n, int k) {
  std::int64_t value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

/// e_1 ... e_m of the squares of the differences between the eigenvalues of h_a T_a, by Newton's
/// identities from their power sums, and these from tr H^k.
std::vector<Expr> squares_of_differences(const Group& group, std::span<const Expr> h, int m) {
  const int n = group.n;
  Arena& arena = *h[0]->arena;
  std::vector<Matrix> powers{identity(arena, n), hermitian(group, h)};
  for (int k = 2; k < n; ++k) powers.push_back(hermitian_product(powers.back(), powers[1]));
  std::vector<Expr> traces{arena.integer(n), arena.integer(0)};
  for (int k = 2; k <= n; ++k)
    traces.push_back(hermitian_trace(powers[static_cast<std::size_t>(k - k / 2)],
                                     powers[static_cast<std::size_t>(k / 2)]));
  const std::vector<Expr> s = characteristic(n, traces);
  const auto at = [](const std::vector<Expr>& v, int k) { return v[static_cast<std::size_t>(k)]; };
  for (int k = n + 1; k <= 2 * m; ++k) {
    Expr sum = arena.integer(0);
    for (int j = 0; j < n; ++j) sum = plus(sum, times(at(s, j), at(traces, k - n + j)));
    traces.push_back(sum);
  }
  std::vector<Expr> sums{arena.integer(m)}, e{arena.integer(1)};
  for (int k = 1; k <= m; ++k) {
    Expr sum = arena.integer(0);
    for (int i = 0; i <= 2 * k; ++i) {
      const std::int64_t count = binomial(2 * k, i);
      sum = plus(sum, times(arena.integer(i % 2 == 0 ? count : -count),
                            times(at(traces, i), at(traces, 2 * k - i))));
    }
    sums.push_back(times(arena.rational(1, 2), sum));
  }
  for (int k = 1; k <= m; ++k) {
    Expr sum = arena.integer(0);
    for (int i = 1; i <= k; ++i) {
      const Expr term = times(at(e, k - i), at(sums, i));
      sum = i % 2 == 1 ? plus(sum, term) : minus(sum, term);
    }
    e.push_back(times(arena.rational(1, k), sum));
  }
  return e;
}

/// sum_k y^k/(2k + first)! up to `terms` terms, modulo the polynomial of y whose roots are minus
/// the numbers with the elementary symmetric functions e: its coefficients.
std::vector<Expr> reduced_series(const std::vector<Expr>& e, int first, int terms) {
  const std::size_t m = e.size() - 1;
  Arena& arena = *e[1]->arena;
  std::vector<Expr> q(m, arena.integer(0));
  for (int k = terms - 1; k >= 0; --k) {
    const Expr top = q.back();
    for (std::size_t j = m; j-- > 0;) {
      const Expr below = j > 0 ? q[j - 1] : arena.real(inverse_factorial(2 * k + first));
      q[j] = minus(below, times(e[m - j], top));
    }
  }
  return q;
}

/// sum_k (-ad_A)^k/(k+1)! F.
Matrix transposed_slope(const Group& group, std::span<const Expr> p, const Matrix& a,
                        const Matrix& f, int terms) {
  Arena& arena = *p[0]->arena;
  const int m = group.n * (group.n - 1) / 2;
  Matrix z = f;
  if (2 * m >= terms) {  // Horner's scheme: F - ad/2 (F - ad/3 (F - ...))
    for (int k = terms; k >= 2; --k) z = minus(f, times(arena.rational(1, k), commutator(a, z)));
    return z;
  }
  // even powers are 1 + y (1/3! + y/5! + ...), odd ones -ad (1/2! + y/4! + ...), y = ad^2
  const std::vector<Expr> e = squares_of_differences(group, p, m);
  const std::vector<Expr> even = reduced_series(e, 3, terms / 2),
                          odd = reduced_series(e, 2, terms / 2);
  Matrix power = f;
  for (std::size_t k = 0; k < odd.size(); ++k) {
    power = commutator(a, power);
    z = minus(z, times(odd[k], power));
    power = commutator(a, power);
    z = plus(z, times(even[k], power));
  }
  return z;
}

}  // namespace

CarriedSlope carried_slope(const Group& group, std::span<const Expr> p, std::span<const Expr> f,
                           int terms) {
  if (group.kind == Kind::U1) return {{f[0]}, {f[0]}};
  const Matrix a = algebra_element(group, p), whole = algebra_element(group, f);
  const Matrix z = transposed_slope(group, p, a, whole, terms);
  // exp(-ad) = 1 - ad sum_k (-ad)^k/(k+1)!
  return {coordinates(group, z), coordinates(group, minus(whole, commutator(a, z)))};
}

// ---- random elements --------------------------------------------------------------------------

int haar_draws(const Group& group) {
  if (group.kind == Kind::U1) return 2;
  if (group.n == 2) return 4;
  return group.n == 3 ? 12 : 2 * group.n * group.n;
}

Matrix haar(const Group& group, std::span<const Expr> normals) {
  assert(static_cast<int>(normals.size()) == haar_draws(group));
  Arena& arena = *normals[0]->arena;
  if (group.kind == Kind::SU && group.n == 2) {
    Expr length2 = square(normals[0]);
    for (std::size_t i = 1; i < 4; ++i) length2 = plus(length2, square(normals[i]));
    const Expr scale = over(arena.integer(1), root(length2));
    return of_quaternion(times(scale, normals[0]), times(scale, normals[1]),
                         times(scale, normals[2]), times(scale, normals[3]));
  }
  Matrix m = zero(arena, group.n, group.n);
  for (std::size_t i = 0; 2 * i < normals.size(); ++i)
    m.parts[i] = {normals[2 * i], normals[2 * i + 1]};
  return reunitarised(group, m);
}

Matrix near_identity(const Group& group, std::span<const Expr> normals, Expr width, int terms) {
  std::vector<Expr> p;
  for (Expr x : normals) p.push_back(times(width, x));
  return exponential(group, p, terms);
}

}  // namespace vphi::gauge
