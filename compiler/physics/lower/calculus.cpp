#include "compiler/physics/lower/calculus.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/simplify.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/turns.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;
using algebra::StencilData;

bool is_load(Expr e) { return e.is(Op::Load); }

Split split_uniform(Expr term) {
  Arena& arena = *term->arena;
  if (!algebra::per_site(term)) return {term, arena.integer(1)};
  if (!term.is(Op::Mul) || term->fixed_order) return {arena.integer(1), term};
  std::vector<Expr> uniform, local;
  for (const Expr factor : term.args()) {
    (algebra::per_site(factor) ? local : uniform).push_back(factor);
  }
  const auto product = [&](std::vector<Expr> factors) {
    if (factors.empty()) return arena.integer(1);
    if (factors.size() == 1) return factors[0];
    return arena.make(Op::Mul, std::move(factors), term->span);
  };
  return {product(std::move(uniform)), product(std::move(local))};
}

std::vector<Expr> flat_terms(Expr e) {
  std::vector<Expr> out;
  if (e->fixed_order) return {e};
  if (e.is(Op::Add)) {
    for (const Expr term : e.args()) {
      for (const Expr flat : flat_terms(term)) out.push_back(flat);
    }
    return out;
  }
  const Split split = split_uniform(e);
  if (!split.local.is(Op::Add) || split.local->fixed_order) return {e};
  for (const Expr term : flat_terms(split.local)) out.push_back(split.uniform * term);
  return out;
}

Expr distribute(Expr factor, Expr e) {
  if (!e.is(Op::Add) || e->fixed_order) return factor * e;
  std::vector<Expr> terms;
  for (const Expr term : e.args()) terms.push_back(factor * term);
  return e->arena->make(Op::Add, std::move(terms), e->span);
}

namespace {

/// The operator outer(inner(u)): offsets add, weights multiply.
StencilData compose(const StencilData& outer, const StencilData& inner) {
  std::map<std::array<int, 4>, std::int64_t> weights;
  for (std::size_t i = 0; i < outer.offsets.size(); ++i) {
    for (std::size_t j = 0; j < inner.offsets.size(); ++j) {
      const Offset o = algebra::sum_of(outer.offsets[i], inner.offsets[j]);
      weights[{o.d[0], o.d[1], o.d[2], o.d[3]}] += outer.weights[i] * inner.weights[j];
    }
  }
  StencilData result;
  result.name = outer.name + "_" + inner.name;
  result.dims = std::max(outer.dims, inner.dims);
  std::int64_t common = outer.denominator * inner.denominator;
  std::int64_t divisor = common;
  for (const auto& [o, w] : weights) divisor = std::gcd(divisor, w);
  for (const auto& [o, w] : weights) {
    if (w == 0) continue;
    Offset offset;
    for (int i = 0; i < 4; ++i) offset.d[i] = static_cast<std::int16_t>(o[i]);
    result.offsets.push_back(offset);
    result.weights.push_back(w / divisor);
  }
  result.denominator = common / divisor;
  result.dx_power = outer.dx_power + inner.dx_power;
  result.span = outer.span;
  return result;
}

}  // namespace

Expr apply_stencil(Arena& arena, int index, Expr e) {
  return apply_stencil(arena, index, e, neighbour);
}

Expr apply_stencil(Arena& arena, int index, Expr e, const algebra::Mover& move) {
  if (!algebra::per_site(e)) return arena.integer(0);
  if (e.is(Op::Add)) {
    std::vector<Expr> terms;
    for (const Expr term : e.args()) terms.push_back(apply_stencil(arena, index, term, move));
    return arena.make(Op::Add, std::move(terms), e->span);
  }
  const Split split = split_uniform(e);
  if (!split.uniform.is_one())
    return split.uniform * apply_stencil(arena, index, split.local, move);
  if (is_load(e) && e->offset.zero()) return arena.stencil(index, e, e->span);
  if (arena.stencil_data(index).spectral) return arena.stencil(index, e, e->span);
  if (e.is(Op::Stencil) && !arena.stencil_data(e->index).spectral) {
    const int both =
        arena.add_stencil(compose(arena.stencil_data(index), arena.stencil_data(e->index)));
    return apply_stencil(arena, both, e.arg(0), move);
  }
  // Anything else: the weights are written out; the symbol `dx` stands for the spacing.
  return algebra::written_out(arena.stencil_data(index), e, arena.symbol("dx"), move);
}

Expr neighbour(Expr e, Offset offset) { return algebra::shift(e, offset); }

namespace {

/// A leaf with a value of its own at each site: a field, a random number.
bool is_field(Expr node) { return node->per_site && node.args().empty() && !node.is(Op::Site); }

/// Moves expressions in a box of which some axes close on themselves.
class Around {
 public:
  Around(const Grid& grid, const std::array<bool, 4>& closed)
      : dims_(grid.dims), extent_(grid.extent), shift_(grid.shift), closed_(closed) {}

  Expr operator()(Expr e, Offset offset) const {
    std::array<bool, 4> turned{};
    for (std::size_t axis = 0; axis < 4; ++axis)
      turned[axis] = static_cast<int>(axis) < dims_ && closed_[axis] && offset.d[axis] != 0;
    for (std::size_t axis = 0; axis < 4; ++axis)
      for (std::size_t other = 0; turned[axis] && other < 4; ++other)
        turned[other] = turned[other] || shift_[axis][other] != 0;
    const Places found = places_of(e, turned);
    if (found.places.empty()) return neighbour(e, offset);
    // symbols stand for what the shift must not touch
    Arena& arena = *e->arena;
    std::unordered_map<const algebra::Node*, Expr> held, back;
    const auto hold = [&](Expr node, Expr later) {
      const Expr symbol = arena.symbol("held " + std::to_string(node->id));
      held.emplace(node.get(), symbol);
      back.emplace(symbol.get(), later);
    };
    for (const Expr reduction : found.reductions) hold(reduction, reduction);
    for (const Expr place : found.places) hold(place, moved(place, offset, turned));
    return algebra::substitute(neighbour(algebra::substitute(e, held), offset), back);
  }

 private:
  using Nodes = std::unordered_set<const algebra::Node*>;

  /// The largest parts of an expression that are numbers of the site and jump at an edge of an
  /// axis, and the reductions beside them.
  struct Places {
    std::vector<Expr> reductions, places;
  };

  Places places_of(Expr e, const std::array<bool, 4>& turned) const {
    Places found;
    if (!algebra::contains(e, [](Expr node) { return node.is(Op::Site); })) return found;
    Nodes of_fields, met;  // made of more than coordinates, numbers and uniform symbols
    algebra::visit(e, [&](Expr node) {
      if (algebra::reduces_sites(node.op()) || is_field(node) ||
          std::ranges::any_of(node.args(), [&](Expr arg) { return of_fields.contains(arg.get()); }))
        of_fields.insert(node.get());
    });
    collect(e, turned, of_fields, met, found);
    return found;
  }

  void collect(Expr e, const std::array<bool, 4>& turned, const Nodes& of_fields, Nodes& met,
               Places& found) const {
    if (!met.insert(e.get()).second) return;
    if (algebra::reduces_sites(e.op())) return found.reductions.push_back(e);
    if (!e->per_site || of_fields.contains(e.get())) {
      for (const Expr arg : e.args()) collect(arg, turned, of_fields, met, found);
      return;
    }
    if (!repeats(e, turned)) found.places.push_back(e);
  }

  static bool reads(Expr e, std::size_t axis) {
    return algebra::contains(
        e, [&](Expr node) { return node.is(Op::Site) && node->index == static_cast<int>(axis); });
  }

  /// Whether the number changes with what a turn around the axis changes.
  bool reads_box(Expr e, std::size_t axis) const {
    bool found = reads(e, axis);
    for (std::size_t other = 0; other < 4; ++other)
      found = found || (shift_[axis][other] != 0 && reads(e, other));
    return found;
  }

  /// Whether the number is the same one box further along each of the axes, at some thousand sites.
  bool repeats(Expr e, const std::array<bool, 4>& turned) const {
    constexpr std::int64_t kMostSites = 4096;
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < 4; ++axis)
      if (turned[axis] && reads_box(e, axis)) axes.push_back(axis);
    if (axes.empty()) return true;
    std::int64_t sites = 1;
    for (int axis = 0; axis < dims_; ++axis) sites *= extent_[static_cast<std::size_t>(axis)];
    const auto value_at = [&](const std::array<std::int64_t, 4>& place) {
      return algebra::evaluate(
          e, {[&](const algebra::Node& node) {
            if (node.op == Op::Site)
              return static_cast<double>(place[static_cast<std::size_t>(node.index)]);
            return 0.37 + 0.01 * static_cast<double>(node.name.size());
          }});
    };
    try {
      const std::int64_t step = std::max<std::int64_t>(1, sites / kMostSites) | 1;
      for (std::int64_t site = 0; site < sites; site += step) {
        std::array<std::int64_t, 4> place{};
        std::int64_t rest = site;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(dims_); ++axis)
          place[axis] = rest % extent_[axis], rest /= extent_[axis];
        const double here = value_at(place);
        for (const std::size_t axis : axes) {
          for (const int sign : {-1, 1}) {
            std::array<std::int64_t, 4> beyond = place;
            beyond[axis] += sign * extent_[axis];
            for (std::size_t other = 0; other < 4; ++other)
              beyond[other] -= sign * shift_[axis][other];
            if (!(std::fabs(value_at(beyond) - here) <= 1e-9 * (1 + std::fabs(here)))) return false;
          }
        }
      }
    } catch (const std::invalid_argument&) {  // a table, whose values are not known here
      return false;
    }
    return true;
  }

  Expr moved(Expr e, Offset offset, const std::array<bool, 4>& turned) const {
    Arena& arena = *e->arena;
    std::unordered_map<const algebra::Node*, Expr> sites;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const Expr site = arena.site(static_cast<int>(axis));
      const Expr there = turned[axis] ? place(site, axis, offset, offset.d[axis], 0)
                                      : site + arena.integer(offset.d[axis]);
      if (there != site) sites.emplace(site.get(), there);
    }
    return algebra::substitute(e, sites);
  }

  /// The coordinate `steps` further along the axis, and as far as shifted ends of the axes from
  /// `next` on move it, which the offset crosses.
  Expr place(Expr site, std::size_t axis, Offset offset, std::int64_t steps,
             std::size_t next) const {
    Arena& arena = *site->arena;
    for (; next < 4; ++next) {
      const std::int64_t shift = shift_[next][axis], n = extent_[next];
      if (shift == 0 || offset.d[next] == 0) continue;
      const auto [times, rest] = turns_of(offset.d[next], n);
      const Expr before = place(site, axis, offset, steps + times * shift, next + 1);
      if (rest == 0) return before;
      const Expr beyond = place(site, axis, offset, steps + (times + 1) * shift, next + 1);
      const Expr end = arena.integer(n - rest), across = arena.site(static_cast<int>(next));
      return arena.make(Op::Select, {arena.make(Op::Less, {across, end}), before, beyond});
    }
    const std::int64_t n = extent_[axis], rest = turns_of(steps, n).rest;
    if (rest == 0) return site;
    const Expr inside = arena.make(Op::Less, {site, arena.integer(n - rest)});
    return arena.make(Op::Select,
                      {inside, site + arena.integer(rest), site + arena.integer(rest - n)});
  }

  int dims_;
  std::array<std::int64_t, 4> extent_;
  std::array<std::array<std::int64_t, 4>, 4> shift_;  ///< Walls::shift
  std::array<bool, 4> closed_;
};

bool closes(const Walls& walls, std::size_t axis) {
  return walls.boundary[axis] == Boundary::Periodic ||
         walls.boundary[axis] == Boundary::Antiperiodic;
}

}  // namespace

algebra::Mover around(const Grid& grid) {
  std::array<bool, 4> closed{};
  for (std::size_t axis = 0; axis < 4; ++axis) closed[axis] = grid.present && closes(grid, axis);
  return Around(grid, closed);
}

algebra::Mover around(const Declared& d) {
  std::array<bool, 4> closed{};
  for (std::size_t axis = 0; axis < 4; ++axis)
    closed[axis] = d.grid.present && closes(d.grid, axis) &&
                   std::ranges::all_of(d.fields, [&](const StateField& f) {
                     return f.link || closes(f.walls, axis);  // ends of links are told by the site
                   });
  return Around(d.grid, closed);
}

Expr rewrite_reductions(Expr e, const std::function<Expr(Op, Expr)>& change) {
  return algebra::rewrite(e, [&](Expr node) {
    return algebra::reduces_sites(node.op()) ? change(node.op(), node.arg(0)) : node;
  });
}

Expr reduce_linear(Arena& arena, Op op, Expr e, std::int64_t sites) {
  const bool linear = op == Op::Mean || op == Op::Total;
  const Expr count = op == Op::Total ? arena.integer(sites) : arena.integer(1);
  if (!algebra::per_site(e)) return linear ? count * e : e;
  if (!linear) return arena.make(op, {e}, e->span);

  // Terms by uniform factor without its number, in order of appearance.
  std::vector<Expr> factors;
  std::vector<std::vector<Expr>> groups;
  const auto place = [&](Expr term) {
    const Split split = split_uniform(term);
    const algebra::Scaled scaled = algebra::scaled(split.uniform);
    const Expr number = arena.number(scaled.coefficient), factor = scaled.rest;
    std::size_t i = 0;
    while (i < factors.size() && !(factors[i] == factor)) ++i;
    if (i == factors.size()) factors.push_back(factor), groups.emplace_back();
    groups[i].push_back(number * split.local);
  };
  for (const Expr term : flat_terms(e)) place(term);

  std::vector<Expr> results;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    // The number in front of the first term comes out.
    const Expr sum = arena.make(Op::Add, groups[i]);
    if (!algebra::per_site(sum)) {
      results.push_back(factors[i] * sum * count);
      continue;
    }
    Expr first = sum;
    if (sum.is(Op::Add)) first = sum.arg(sum.arg(0).is_number() ? 1 : 0);
    const Expr number = arena.number(algebra::scaled(first).coefficient);
    const Expr scaled = number.is_one() ? sum : distribute(arena.integer(1) / number, sum);
    results.push_back(factors[i] * number * arena.make(op, {scaled}, e->span));
  }
  return arena.make(Op::Add, std::move(results), e->span);
}

}  // namespace vphi::physics
