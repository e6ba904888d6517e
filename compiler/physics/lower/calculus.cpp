#include "compiler/physics/lower/calculus.hpp"

#include <map>
#include <numeric>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/simplify.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"

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
  if (!algebra::per_site(e)) return arena.integer(0);
  if (e.is(Op::Add)) {
    std::vector<Expr> terms;
    for (const Expr term : e.args()) terms.push_back(apply_stencil(arena, index, term));
    return arena.make(Op::Add, std::move(terms), e->span);
  }
  const Split split = split_uniform(e);
  if (!split.uniform.is_one()) return split.uniform * apply_stencil(arena, index, split.local);
  if (is_load(e) && e->offset.zero()) return arena.stencil(index, e, e->span);
  if (e.is(Op::Stencil)) {
    const int both =
        arena.add_stencil(compose(arena.stencil_data(index), arena.stencil_data(e->index)));
    return apply_stencil(arena, both, e.arg(0));
  }
  // Anything else: the weights are written out; the symbol `dx` stands for the spacing.
  return algebra::written_out(arena.stencil_data(index), e, arena.symbol("dx"));
}

Expr neighbour(Expr e, Offset offset) { return algebra::shift(e, offset); }

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
