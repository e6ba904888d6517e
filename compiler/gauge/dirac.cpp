#include "compiler/gauge/dirac.hpp"

#include <algorithm>

#include "compiler/gauge/products.hpp"
#include "compiler/gauge/spin_bases.hpp"

namespace vphi::gauge {

namespace {

Complex scalar(Arena& arena, std::int64_t re) { return {arena.integer(re), arena.integer(0)}; }

/// Rows of spin: sum_s a_s psi_s.
std::vector<Complex> combined(std::span<const Gaussian> a, const Spinor& psi) {
  std::vector<Complex> row(static_cast<std::size_t>(psi.columns),
                           scalar(*psi.at(0, 0).re->arena, 0));
  for (std::size_t s = 0; s < a.size(); ++s) {
    if (a[s].zero()) continue;
    for (int c = 0; c < psi.columns; ++c) {
      Complex& sum = row[static_cast<std::size_t>(c)];
      sum = plus(sum, times(a[s], psi.at(static_cast<int>(s), c)));
    }
  }
  return row;
}

/// The link on the colours of each row.
Spinor coloured(const Matrix& link, const Spinor& psi) {
  if (link.parts.empty()) return psi;
  Spinor result{psi.rows, psi.columns, {}};
  for (int s = 0; s < psi.rows; ++s) {
    for (int a = 0; a < psi.columns; ++a) {
      Complex sum = times(link.at(a, 0), psi.at(s, 0));
      for (int b = 1; b < psi.columns; ++b) sum = plus_product(sum, link.at(a, b), psi.at(s, b));
      result.parts.push_back(sum);
    }
  }
  return result;
}

Spinor projected(const Factorised& f, const Spinor& psi) {
  Spinor half{f.rank, psi.columns, {}};
  for (const auto& row : f.project)
    for (const Complex& z : combined(row, psi)) half.parts.push_back(z);
  return half;
}

/// U of a step: forward the link of this site, back the adjoint of the neighbour's.
Matrix link_of(const Step& step, const LinkOf& link) {
  return step.back ? adjoint(link(step.axis, one_step(step))) : link(step.axis, {});
}

}  // namespace

namespace {

/// The matrix on the first n components of spin; a spinor may have fewer than four.
SpinMatrix on_first(const SpinMatrix& m, int n) {
  SpinMatrix result;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) result.at(i, j) = m.at(i, j);
  return result;
}

}  // namespace

DiracOperator twisted_wilson(const Gammas& gammas, int dims, Expr kappa, Expr twist) {
  Arena& arena = *kappa->arena;
  const Expr none = arena.integer(0);
  DiracOperator d;
  d.local.push_back({spin_identity(), scalar(arena, 1)});
  const Expr two_kappa_mu = times(times(arena.integer(2), kappa), twist);
  if (!two_kappa_mu.is_zero()) d.local.push_back({gamma5(), {none, two_kappa_mu}});
  for (int mu = 0; mu < dims; ++mu) {
    for (const bool back : {false, true}) {
      const Gaussian sign{back ? 1 : -1, 0};
      d.hops.push_back({{mu, back},
                        spin_identity() + sign * gammas[static_cast<std::size_t>(mu)],
                        {negative(kappa), none}});
    }
  }
  return d;
}

Spinor apply_spin(const SpinMatrix& spin, const Spinor& psi) {
  Spinor result{psi.rows, psi.columns, {}};
  for (int s = 0; s < psi.rows; ++s) {
    const std::array<Gaussian, 4> row{spin.at(s, 0), spin.at(s, 1), spin.at(s, 2), spin.at(s, 3)};
    for (const Complex& z : combined(row, psi)) result.parts.push_back(z);
  }
  return result;
}

Spinor apply_hop(const SpinMatrix& spin, const Matrix& link, const Spinor& psi,
                 std::optional<Complex> weight) {
  const auto weighted = [&](Spinor s) { return weight ? times(*weight, s) : s; };
  const auto f = factorised(on_first(spin, psi.rows));
  if (!f || f->rank == psi.rows) return apply_spin(spin, weighted(coloured(link, psi)));
  const Spinor half = weighted(coloured(link, projected(*f, psi)));
  Spinor result{psi.rows, psi.columns, {}};
  for (int s = 0; s < psi.rows; ++s)
    for (const Complex& z : combined(f->rebuild[static_cast<std::size_t>(s)], half))
      result.parts.push_back(z);
  return result;
}

Spinor apply_local(const DiracOperator& d, const Spinor& psi) {
  Spinor sum = zero(*psi.at(0, 0).re->arena, psi.rows, psi.columns);
  for (const LocalTerm& term : d.local)
    sum = plus(sum, times(term.weight, apply_spin(term.spin, psi)));
  return sum;
}

Spinor apply_hops(const DiracOperator& d, const LinkOf& link, const SpinorOf& psi) {
  // hops of one weight are added first
  std::vector<std::pair<Complex, Spinor>> sums;
  for (const Hop& hop : d.hops) {
    const Spinor term = apply_hop(hop.spin, link_of(hop.step, link), psi(one_step(hop.step)));
    const auto found = std::ranges::find_if(
        sums, [&](const auto& entry) { return same_number(entry.first, hop.weight); });
    if (found == sums.end()) {
      sums.emplace_back(hop.weight, term);
    } else {
      found->second = plus(found->second, term);
    }
  }
  Spinor total;
  for (const auto& [weight, sum] : sums) {
    const Spinor term = times(weight, sum);
    total = total.parts.empty() ? term : plus(total, term);
  }
  return total;
}

Spinor apply(const DiracOperator& d, const LinkOf& link, const SpinorOf& psi) {
  return plus(apply_local(d, psi({})), apply_hops(d, link, psi));
}

DiracOperator adjoint(const DiracOperator& d) {
  DiracOperator result;
  for (const LocalTerm& term : d.local)
    result.local.push_back({adjoint(term.spin), conjugate(term.weight)});
  for (const Hop& hop : d.hops)
    result.hops.push_back(
        {{hop.step.axis, !hop.step.back}, adjoint(hop.spin), conjugate(hop.weight)});
  return result;
}

DiracOperator between_gamma5(const DiracOperator& d) {
  const SpinMatrix g5 = gamma5();
  DiracOperator result = d;
  for (LocalTerm& term : result.local) term.spin = g5 * term.spin * g5;
  for (Hop& hop : result.hops) hop.spin = g5 * hop.spin * g5;
  return result;
}

bool same(const DiracOperator& a, const DiracOperator& b) {
  // equal weights: terms with -spin and -weight are not looked for
  const auto has_local = [](const DiracOperator& d, const LocalTerm& t) {
    return std::ranges::any_of(d.local, [&](const LocalTerm& u) {
      return u.spin == t.spin && same_number(u.weight, t.weight);
    });
  };
  const auto has_hop = [](const DiracOperator& d, const Hop& t) {
    return std::ranges::any_of(d.hops, [&](const Hop& u) {
      return u.step == t.step && u.spin == t.spin && same_number(u.weight, t.weight);
    });
  };
  return a.local.size() == b.local.size() && a.hops.size() == b.hops.size() &&
         std::ranges::all_of(a.local, [&](const LocalTerm& t) { return has_local(b, t); }) &&
         std::ranges::all_of(a.hops, [&](const Hop& t) { return has_hop(b, t); });
}

namespace {

Gaussian trace(const SpinMatrix& m) { return m.at(0, 0) + m.at(1, 1) + m.at(2, 2) + m.at(3, 3); }

}  // namespace

std::optional<std::vector<LocalTerm>> local_inverse(const DiracOperator& d) {
  return local_inverse(d, gamma5());
}

std::optional<std::pair<Complex, Complex>> local_numbers(const DiracOperator& d,
                                                         const SpinMatrix& g5) {
  if (d.local.empty()) return std::nullopt;
  Arena& arena = *d.local[0].weight.re->arena;
  Complex a = scalar(arena, 0), b = scalar(arena, 0);
  for (const LocalTerm& term : d.local) {
    // 4 s = tr(s) + tr(gamma5 s) gamma5
    const Gaussian one = trace(term.spin), five = trace(g5 * term.spin);
    if (!(Gaussian{4, 0} * term.spin == one * spin_identity() + five * g5)) return std::nullopt;
    const auto quarter = [&](Gaussian four) {
      if (const auto whole = quotient(four, {4, 0})) return times(*whole, term.weight);
      return times(arena.rational(1, 4), times(four, term.weight));
    };
    if (!one.zero()) a = plus(a, quarter(one));
    if (!five.zero()) b = plus(b, quarter(five));
  }
  return std::pair(a, b);
}

std::optional<std::vector<LocalTerm>> local_inverse(const DiracOperator& d, const SpinMatrix& g5) {
  const auto numbers = local_numbers(d, g5);
  if (!numbers) return std::nullopt;
  const auto& [a, b] = *numbers;
  Arena& arena = *a.re->arena;
  // of the numbers that are usual, a real and b imaginary, the divisor is real
  const Complex divisor = minus(times(a, a), times(b, b));
  const Complex inverse = times(over(arena.integer(1), norm2(divisor)), conjugate(divisor));
  const Complex real{over(arena.integer(1), divisor.re), arena.integer(0)};
  const Complex factor = divisor.im.is_zero() ? real : inverse;
  std::vector<LocalTerm> result{{spin_identity(), times(factor, a)}};
  if (!(b.re.is_zero() && b.im.is_zero())) result.push_back({g5, negative(times(factor, b))});
  return result;
}

namespace {

/// sum_s a_s(i) conj(b_s(j)), a matrix of colour.
Matrix outer(const Spinor& a, const Spinor& b) {
  Matrix result{a.columns, a.columns, {}};
  for (int i = 0; i < a.columns; ++i) {
    for (int j = 0; j < a.columns; ++j) {
      Complex sum = times(a.at(0, i), conjugate(b.at(0, j)));
      for (int s = 1; s < a.rows; ++s) sum = plus_product(sum, a.at(s, i), conjugate(b.at(s, j)));
      result.parts.push_back(sum);
    }
  }
  return result;
}

/// The rows P there and R^+ here of spin = R P; without factors 1 and spin^+.
std::pair<Spinor, Spinor> halves(const SpinMatrix& spin, const Spinor& there, const Spinor& here) {
  const auto f = factorised(on_first(spin, here.rows));
  if (!f || f->rank == here.rows) return {there, apply_spin(adjoint(spin), here)};
  Spinor other{f->rank, here.columns, {}};
  for (int r = 0; r < f->rank; ++r) {
    std::array<Gaussian, 4> column;
    for (std::size_t s = 0; s < 4; ++s) {
      const Gaussian g = f->rebuild[s][static_cast<std::size_t>(r)];
      column[s] = {g.re, -g.im};
    }
    for (const Complex& z : combined(column, here)) other.parts.push_back(z);
  }
  return {projected(*f, there), std::move(other)};
}

}  // namespace

Matrix colour_outer(const SpinMatrix& spin, const Spinor& there, const Spinor& here) {
  const auto [half, other] = halves(spin, there, here);
  return outer(half, other);
}

// Forward from this site: Re <Y(x), w S A U X(x+mu)> = Re tr(A w (U P X(x+mu)) (R^+ Y(x))^+), S = R
// P. Back to this site: Re <Y(x+mu), w S U^+ A^+ X(x)>, whose conjugate is Re tr(A conj(w) (U P'
// Y(x+mu)) (R'^+ X(x))^+) with S^+ = R' P'.
Matrix force_of(const DiracOperator& d, int axis, const LinkOf& link, const SpinorOf& x,
                const SpinorOf& y) {
  Matrix total;
  const Offset next = one_step({axis, false});
  const auto add = [&](const SpinMatrix& spin, const Complex& weight, const Spinor& there,
                       const Spinor& here) {
    const auto [half, other] = halves(spin, there, here);
    const Matrix term = times(weight, outer(coloured(link(axis, {}), half), other));
    total = total.parts.empty() ? term : plus(total, term);
  };
  for (const Hop& hop : d.hops) {
    if (hop.step.axis != axis) continue;
    if (hop.step.back) {
      add(adjoint(hop.spin), conjugate(hop.weight), y(next), x({}));
    } else {
      add(hop.spin, hop.weight, x(next), y({}));
    }
  }
  return total;
}

}  // namespace vphi::gauge
