#include "compiler/physics/spinors/even_odd.hpp"

#include <cstdlib>

#include "compiler/gauge/spin_bases.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

struct Parts {
  SpinorForm local, inverse, hops;
};

bool at_site(const SpinorTerm& term) { return term.at.zero() && term.path.word.empty(); }

/// R, R^-1 and H.
std::optional<Parts> parts_of(const Declared& d, const SpinorForm& form) {
  const Grid& grid = d.grid;
  Parts parts;
  gauge::DiracOperator local;
  for (const SpinorTerm& term : form.terms) {
    if (at_site(term)) {
      local.local.push_back({term.spin, term.weight});
      parts.local.terms.push_back(term);
      continue;
    }
    int distance = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      distance += std::abs(term.at.d[axis]);
      if (term.at.d[axis] != 0 && grid.extent[axis] % 2 != 0) return std::nullopt;
    }
    if (distance % 2 == 0) return std::nullopt;
    parts.hops.terms.push_back(term);
  }
  if (parts.hops.terms.empty()) return std::nullopt;
  const auto inverse = gauge::local_inverse(local, gauge::gamma5_of(d.gammas));
  if (!inverse) return std::nullopt;
  for (const gauge::LocalTerm& term : *inverse)
    parts.inverse.terms.push_back({term.spin, term.weight, {}, {}});
  return parts;
}

class Halving {
 public:
  Halving(const Declared& d, const gauge::LinkOf& link, int colours)
      : d_(d), arena_(d.arena()), link_(link), colours_(colours) {}

  EvenOddSystem made(const Parts& forward, const Parts& backward) {
    EvenOddSystem reduced;
    reduced.arrays = fresh();
    reduced.right = fresh();
    reduced.op = schur(forward, reduced.arrays);
    reduced.adjoint = schur(backward, reduced.arrays);
    const Value y = field(reduced.arrays), b = field(reduced.right);
    LinearMap::Stage even{fresh(), reals(apply(forward.inverse, link_, b)), 0};
    reduced.source.parity = 1;
    reduced.source.image = reals(subtract(b, apply(forward.hops, link_, field(even.arrays))));
    reduced.source.stages.push_back(std::move(even));
    const Value rest = subtract(b, apply(forward.hops, link_, y));
    reduced.back.image = at_odd(reals(y), reals(apply(forward.inverse, link_, rest)));
    return reduced;
  }

 private:
  std::vector<int> fresh() {
    std::vector<int> arrays;
    for (int i = 0; i < 8 * colours_; ++i) arrays.push_back(d_.new_array());
    return arrays;
  }

  Value field(const std::vector<int>& arrays) const {
    return spinor_of_arrays(arena_, arrays.front(), colours_);
  }
  std::vector<Expr> reals(const Value& v) const { return real_parts(arena_, v, true); }

  /// R y - H R^-1 H y.
  LinearMap schur(const Parts& parts, const std::vector<int>& arrays) {
    const Value y = field(arrays);
    LinearMap map;
    LinearMap::Stage even{fresh(), reals(apply(parts.inverse, link_, apply(parts.hops, link_, y))),
                          0};
    const Value hops = apply(parts.hops, link_, field(even.arrays));  // y is wanted behind them
    map.image = reals(subtract(apply(parts.local, link_, y), hops));
    map.parity = 1;
    map.stages.push_back(std::move(even));
    return map;
  }

  /// One at odd sites, the other at even ones.
  std::vector<Expr> at_odd(const std::vector<Expr>& odd, const std::vector<Expr>& even) const {
    Expr sum = arena_.integer(0);
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      if (d_.grid.extent[static_cast<std::size_t>(axis)] % 2 == 0) sum = sum + arena_.site(axis);
    }
    const Expr whole_pairs = arena_.make(Op::Floor, {sum / arena_.integer(2)});
    const Expr is_odd =
        arena_.make(Op::Less, {arena_.rational(1, 2), sum - arena_.integer(2) * whole_pairs});
    std::vector<Expr> result;
    for (std::size_t i = 0; i < odd.size(); ++i) {
      result.push_back(arena_.make(Op::Select, {is_odd, odd[i], even[i]}));
    }
    return result;
  }

  const Declared& d_;
  Arena& arena_;
  const gauge::LinkOf& link_;
  int colours_;
};

}  // namespace

Value spinor_of_arrays(Arena& arena, int first, int colours, dsl::Span span) {
  Value v{4, colours, {}};
  v.spinor = true;
  for (int i = 0; i < 4 * colours; ++i) {
    v.parts.push_back(
        {arena.load(first + 2 * i, {}, span), arena.load(first + 2 * i + 1, {}, span)});
  }
  return v;
}

std::vector<Expr> real_parts(Arena& arena, const Value& v, bool complex) {
  std::vector<Expr> parts;
  for (const Component& c : v.parts) {
    parts.push_back(c.re);
    if (complex) parts.push_back(c.im ? c.im : arena.integer(0));
  }
  return parts;
}

std::optional<EvenOddSystem> even_odd_system(const Declared& d, const SpinorForm& form,
                                             const gauge::LinkOf& link, int colours) {
  const auto forward = parts_of(d, form);
  const auto backward = parts_of(d, adjoint(form));
  if (!forward || !backward) return std::nullopt;
  return Halving(d, link, colours).made(*forward, *backward);
}

}  // namespace vphi::physics
