#include "compiler/gauge/projected.hpp"

#include <array>
#include <cassert>
#include <numbers>

namespace vphi::gauge {

using algebra::Op;

namespace {

Expr half(Expr a) { return times(a->arena->rational(1, 2), a); }

/// H^(-1/2) of H = M^+ M for two rows: with s = det(H)^(1/2), H^(1/2) = (H + s)/(tr(H) + 2
/// s)^(1/2).
Matrix inverse_root_of_two(const Matrix& h) {
  const Expr trace_of_h = trace(h).re;
  const Expr s = root(determinant(h).re);
  const Expr t = root(plus(trace_of_h, plus(s, s)));
  const Expr scale = over(number(s, 1), times(s, t));
  const Matrix one = identity(*s->arena, 2);
  return times(scale, minus(times(plus(trace_of_h, s), one), h));
}

/// The eigenvalues of a hermitian matrix of three rows: tr/3 + 2 p^(1/2) cos(phi + 2 pi k/3).
std::array<Expr, 3> eigenvalues(const Matrix& h) {
  Arena& arena = *h.parts[0].re->arena;
  const Expr mean = times(arena.rational(1, 3), trace(h).re);
  const Matrix rest = minus(h, times(mean, identity(arena, 3)));
  const Expr p = times(arena.rational(1, 6), trace_of_product(rest, rest).re);
  const Expr q = half(determinant(rest).re);
  const Expr zero = arena.integer(0);
  const Expr beside = root(apply(Op::Max, minus(times(p, square(p)), square(q)), zero));
  const Expr phi = times(arena.rational(1, 3), apply(Op::Atan2, beside, q));
  const Expr size = times(arena.integer(2), root(apply(Op::Max, p, zero)));
  std::array<Expr, 3> g;
  for (int k = 0; k < 3; ++k) {
    const Expr turn = arena.real(2 * std::numbers::pi_v<long double> * k / 3);
    g[static_cast<std::size_t>(k)] = plus(mean, times(size, apply(Op::Cos, plus(phi, turn))));
  }
  return g;
}

/// H^(-1/2) for three rows, without a difference of eigenvalues: Hasenfratz, Hoffmann, Schaefer,
/// JHEP 05 (2007) 029, (A.7).
Matrix inverse_root_of_three(const Matrix& h) {
  Arena& arena = *h.parts[0].re->arena;
  std::array<Expr, 3> r = eigenvalues(h);
  for (Expr& g : r) g = root(apply(Op::Max, g, arena.integer(0)));
  const Expr u = plus(plus(r[0], r[1]), r[2]);
  const Expr v = plus(times(r[0], plus(r[1], r[2])), times(r[1], r[2]));
  const Expr w = times(times(r[0], r[1]), r[2]);
  const Expr scale = over(arena.integer(1), times(w, minus(times(u, v), w)));
  const Expr f0 = times(scale, minus(times(u, square(v)), times(w, plus(square(u), v))));
  const Expr f1 =
      times(scale, minus(minus(times(arena.integer(2), times(u, v)), w), times(u, square(u))));
  const Expr f2 = times(scale, u);
  return plus(plus(times(f0, identity(arena, 3)), times(f1, h)), times(f2, times(h, h)));
}

/// One step of Newton's iteration for the unitary factor, which removes the rounding of the roots.
Matrix improved(const Matrix& w) {
  Arena& arena = *w.parts[0].re->arena;
  const Matrix rest = minus(times(arena.integer(3), identity(arena, w.rows)), times(adjoint(w), w));
  return times(arena.rational(1, 2), times(w, rest));
}

/// The inverse of a hermitian matrix of three rows, by cofactors.
Matrix inverse_of_three(const Matrix& h) {
  Matrix cofactors = zero(*h.parts[0].re->arena, 3, 3);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
      cofactors.at(i, j) = minus(times(h.at(a, c), h.at(b, d)), times(h.at(a, d), h.at(b, c)));
    }
  }
  Expr size = times(h.at(0, 0), cofactors.at(0, 0)).re;
  for (int j = 1; j < 3; ++j) size = plus(size, times(h.at(0, j), cofactors.at(j, 0)).re);
  return times(over(number(size, 1), size), cofactors);
}

/// Z with Z H + H Z = C, H hermitian and positive, C + C^+ = 0. With p the characteristic
/// polynomial of H, q(x, y) = (p(x) - p(-y))/(x + y) has the value -p(-y)/(x + y) at eigenvalues:
/// Z = -q(H from the left, H from the right)(C) p(-H)^-1.
Matrix solved_sylvester(const Matrix& h, const Matrix& c) {
  Arena& arena = *h.parts[0].re->arena;
  const Expr one = arena.integer(1), two = arena.integer(2);
  const Expr t = trace(h).re;
  if (h.rows == 1) return times(over(one, times(two, t)), c);
  const Matrix left = times(h, c);
  const Matrix commutator = plus(left, adjoint(left));  // C H = -(H C)^+
  if (h.rows == 2) {
    const Expr scale = over(one, times(two, times(t, determinant(h).re)));
    const Matrix rest = minus(times(t, identity(arena, 2)), h);  // det(H) H^-1
    return times(scale, times(minus(times(t, c), commutator), rest));
  }
  const Matrix square_of_h = times(h, h), second = times(h, left);
  const Expr minors = half(minus(square(t), trace(square_of_h).re));
  const Matrix q = plus(minus(minus(second, adjoint(second)), times(left, h)),
                        minus(times(minors, c), times(t, commutator)));
  const Matrix divisor = plus(times(t, square_of_h), times(determinant(h).re, identity(arena, 3)));
  return times(half(one), times(q, inverse_of_three(divisor)));
}

}  // namespace

bool has_projection(const Group& group) { return group.n <= 3; }

Matrix projected(const Group& group, const Matrix& m) {
  assert(has_projection(group) && m.rows == group.n);
  if (group.kind == Kind::U1) {
    const Expr size = root(norm2(m.at(0, 0)));
    return times(over(number(size, 1), size), m);
  }
  const Matrix h = times(adjoint(m), m);
  const Matrix w =
      improved(times(m, group.n == 2 ? inverse_root_of_two(h) : inverse_root_of_three(h)));
  const Complex d = determinant(w);
  const Expr turn =
      times(m.parts[0].re->arena->rational(-1, group.n), apply(Op::Atan2, d.im, d.re));
  return times(phase(turn), w);
}

Matrix carried_projection(const Group& group, const Matrix& m, const Matrix& v,
                          std::span<const Expr> f) {
  assert(has_projection(group) && m.rows == group.n);
  const Matrix back = adjoint(v), turned = times(back, m);  // exp(i a) H
  const Complex sum = trace(turned);
  const Complex turn = times(over(number(sum.re, 1), root(norm2(sum))), conjugate(sum));
  const Matrix rest = times(turn, turned);
  const Matrix h = times(half(number(sum.re, 1)), plus(rest, adjoint(rest)));
  const Matrix c = times(times(back, algebra_element(group, f)), v);
  // sum_a f_a v_a is -c tr(F dV V^-1), c = 1/tr(T_a T_a)
  const Expr scale = number(sum.re, group.kind == Kind::U1 ? -2 : -4);
  return times(times(scale, turn), times(solved_sylvester(h, c), back));
}

}  // namespace vphi::gauge
