#include "compiler/physics/spinors/even_odd.hpp"

#include <algorithm>
#include <cstdlib>

#include "compiler/gauge/spin_bases.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Whether a term of R holds links. There is then no inverse in terms of the operator.
bool holds_links(const SpinorForm& local) {
  return std::ranges::any_of(local.terms,
                             [](const SpinorTerm& term) { return !term.path.word.empty(); });
}

class Halving {
 public:
  Halving(const Declared& d, const gauge::LinkOf& link, int colours)
      : d_(d), arena_(d.arena()), link_(link), colours_(colours) {}

  EvenOddSystem made(const PartedOperator& forward, const PartedOperator& backward) {
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
    reduced.back.image = at_odd(d_, reals(y), reals(apply(forward.inverse, link_, rest)));
    return reduced;
  }

  /// M y = b, or M M^+ y = b, with b = 0 at even sites.
  EvenOddSystem made_of_odd(const PartedOperator& op, const PartedOperator& other, bool square) {
    EvenOddSystem reduced;
    reduced.arrays = fresh();
    reduced.right = fresh();
    reduced.op = square ? schur_square(op, other, reduced.arrays, true) : schur(op, reduced.arrays);
    reduced.adjoint = square ? reduced.op : schur(other, reduced.arrays);
    reduced.source.parity = 1;
    reduced.source.image = reals(field(reduced.right));
    reduced.back.image = lift(square ? other : op, reduced.arrays.front());
    return reduced;
  }

  std::vector<Expr> lift(const PartedOperator& op, int first) const {
    const Value y = spinor_of_arrays(arena_, first, d_.spins, colours_);
    const Value even = negate(apply(op.inverse, link_, apply(op.hops, link_, y)));
    return at_odd(d_, reals(y), reals(even));
  }

  /// M M^+ y; `halves`: each stage at the sites of its parity alone.
  LinearMap schur_square(const PartedOperator& op, const PartedOperator& other,
                         const std::vector<int>& arrays, bool halves) {
    LinearMap map = schur(other, arrays);
    LinearMap::Stage between{fresh(), std::move(map.image), 1};
    LinearMap second = schur(op, between.arrays);
    map.stages.push_back(std::move(between));
    map.stages.push_back(std::move(second.stages.front()));
    map.image = std::move(second.image);
    if (halves) return map;
    map.parity = -1;
    for (LinearMap::Stage& stage : map.stages) stage.parity = -1;
    map.image = at_odd(d_, map.image);
    return map;
  }

 private:
  std::vector<int> fresh() {
    std::vector<int> arrays;
    for (int i = 0; i < 2 * d_.spins * colours_; ++i) arrays.push_back(d_.new_array());
    return arrays;
  }

  Value field(const std::vector<int>& arrays) const {
    return spinor_of_arrays(arena_, arrays.front(), d_.spins, colours_);
  }
  std::vector<Expr> reals(const Value& v) const { return real_parts(arena_, v, true); }

  /// R y - H R^-1 H y.
  LinearMap schur(const PartedOperator& parts, const std::vector<int>& arrays) {
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

  const Declared& d_;
  Arena& arena_;
  const gauge::LinkOf& link_;
  int colours_;
};

}  // namespace

Value spinor_of_arrays(Arena& arena, int first, int spins, int colours, dsl::Span span) {
  Value v{spins, colours, {}};
  v.spinor = true;
  for (int i = 0; i < spins * colours; ++i) {
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

const dsl::Expr* even_odd_option(const Declared& d, const dsl::Expr& call) {
  for (const dsl::NamedArgument& named : call.named) {
    if (named.name != "even_odd") continue;
    if (named.value->text != "on" && named.value->text != "off")
      d.fail(errors::option_value(named.value->span, "even_odd", "on or off"));
    return named.value.get();
  }
  return nullptr;
}

std::optional<PartedOperator> parted(const Declared& d, const SpinorForm& form, std::string* why) {
  const auto refused = [&](const char* reason) -> std::optional<PartedOperator> {
    if (why) *why = reason;
    return std::nullopt;
  };
  const Grid& grid = d.grid;
  PartedOperator parts;
  gauge::DiracOperator local;
  for (const SpinorTerm& term : form.terms) {
    if (term.at.zero()) {
      local.local.push_back({term.spin, term.weight});
      parts.local.terms.push_back(term);
      continue;
    }
    int distance = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      distance += std::abs(term.at.d[axis]);
      if (term.at.d[axis] != 0 && grid.extent[axis] % 2 != 0)
        return refused("the box has an odd extent along one of its hops");
    }
    if (distance % 2 == 0) return refused("a term leads to sites of the same parity");
    parts.hops.terms.push_back(term);
  }
  if (parts.hops.terms.empty()) return refused("no term leads to another site");
  if (holds_links(parts.local)) return parts;
  const auto inverse = gauge::local_inverse(local, gauge::gamma5_of(d.gammas));
  if (!inverse) return refused("what stands at the site is not a + b gamma5 with an inverse");
  for (const gauge::LocalTerm& term : *inverse)
    parts.inverse.terms.push_back({term.spin, term.weight, {}, {}});
  return parts;
}

Expr log_of_local(const Declared& d, const PartedOperator& op, int colours) {
  Arena& arena = d.arena();
  gauge::DiracOperator local;
  for (const SpinorTerm& term : op.local.terms) local.local.push_back({term.spin, term.weight});
  const auto [a, b] = gauge::local_numbers(local, gauge::gamma5_of(d.gammas)).value();
  const auto log_of = [&](const gauge::Complex& z) {  // twice log|z|
    return arena.make(Op::Log, {gauge::norm2(z)});
  };
  const std::int64_t rows = std::int64_t{d.spins} * colours;
  if (b.re.is_zero() && b.im.is_zero()) return arena.rational(rows, 2) * log_of(a);
  // gamma5 is 1 for half of the spins, and -1 for the others
  return arena.rational(rows, 4) * (log_of(gauge::plus(a, b)) + log_of(gauge::minus(a, b)));
}

std::vector<Expr> at_odd(const Declared& d, const std::vector<Expr>& odd,
                         const std::vector<Expr>& even) {
  Arena& arena = d.arena();
  Expr sum = arena.integer(0);
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    if (d.grid.extent[static_cast<std::size_t>(axis)] % 2 == 0) sum = sum + arena.site(axis);
  }
  const Expr whole_pairs = arena.make(Op::Floor, {sum / arena.integer(2)});
  const Expr is_odd =
      arena.make(Op::Less, {arena.rational(1, 2), sum - arena.integer(2) * whole_pairs});
  std::vector<Expr> result;
  for (std::size_t i = 0; i < odd.size(); ++i)
    result.push_back(
        arena.make(Op::Select, {is_odd, odd[i], even.empty() ? arena.integer(0) : even[i]}));
  return result;
}

std::vector<Expr> lifted(const Declared& d, const PartedOperator& op, const gauge::LinkOf& link,
                         int colours, int first) {
  return Halving(d, link, colours).lift(op, first);
}

EvenOddSystem odd_system(const Declared& d, const PartedOperator& op, const PartedOperator& adjoint,
                         const gauge::LinkOf& link, int colours) {
  return Halving(d, link, colours).made_of_odd(op, adjoint, false);
}

EvenOddSystem odd_square_system(const Declared& d, const PartedOperator& op,
                                const PartedOperator& adjoint, const gauge::LinkOf& link,
                                int colours) {
  return Halving(d, link, colours).made_of_odd(op, adjoint, true);
}

LinearMap odd_square(const Declared& d, const PartedOperator& op, const PartedOperator& adjoint,
                     const gauge::LinkOf& link, int colours, int first) {
  std::vector<int> arrays;
  for (int i = 0; i < 2 * d.spins * colours; ++i) arrays.push_back(first + i);
  return Halving(d, link, colours).schur_square(op, adjoint, arrays, false);
}

EvenOddSystem even_odd_system(const Declared& d, const PartedOperator& op,
                              const PartedOperator& adjoint, const gauge::LinkOf& link,
                              int colours) {
  return Halving(d, link, colours).made(op, adjoint);
}

}  // namespace vphi::physics
