// Pass `factor`: common factors out of sums, Horner's scheme as its special case.
#include <algorithm>
#include <map>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::kernel {
namespace {

using algebra::Arena;
using algebra::Op;

/// Base and whole positive exponent of one factor of a term.
struct Factor {
  Expr base;
  std::int64_t exponent = 1;
};

Factor factor_of(Expr expr) {
  if (expr.is(Op::Pow) && expr.arg(1).is_number() && expr.arg(1)->number.exact &&
      expr.arg(1)->number.rational.den == 1 && expr.arg(1)->number.rational.num > 0) {
    return {expr.arg(0), expr.arg(1)->number.rational.num};
  }
  return {expr, 1};
}

std::vector<Expr> factors_of(Expr term) {
  if (term.is(Op::Mul)) return {term.args().begin(), term.args().end()};
  return {term};
}

struct Common {
  std::vector<std::size_t> terms;
  std::int64_t exponent = 0;
};

/// One sum: the base in most terms is taken out in its lowest power, and again.
Expr factor_sum(Arena& arena, std::vector<Expr> terms, dsl::Span span) {
  std::map<std::uint32_t, std::pair<Expr, Common>> bases;  // by node number: a fixed order
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (Expr part : factors_of(terms[i])) {
      const Factor f = factor_of(part);
      if (!f.base->per_site) continue;
      auto& [base, common] = bases[f.base->id];
      base = f.base;
      common.exponent = common.terms.empty() ? f.exponent : std::min(common.exponent, f.exponent);
      common.terms.push_back(i);
    }
  }
  const auto best = std::ranges::max_element(
      bases, {}, [](const auto& entry) { return entry.second.second.terms.size(); });
  if (best == bases.end() || best->second.second.terms.size() < 2) {
    return arena.make(Op::Add, terms, span);
  }
  const auto& [base, common] = best->second;
  const Expr taken = pow(base, static_cast<int>(common.exponent));
  std::vector<Expr> inside, rest;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (std::ranges::find(common.terms, i) != common.terms.end()) {
      inside.push_back(terms[i] / taken);
    } else {
      rest.push_back(terms[i]);
    }
  }
  const Expr product = taken * factor_sum(arena, inside, span);
  if (rest.empty()) return product;
  rest.push_back(product);
  return factor_sum(arena, rest, span);
}

}  // namespace

namespace {

Expr factored_node(Expr node) {
  if (!node.is(Op::Add) || node->fixed_order || !node->per_site) return node;
  return factor_sum(*node->arena, {node.args().begin(), node.args().end()}, node->span);
}

}  // namespace

Expr factored(Expr expr) { return algebra::rewrite(expr, factored_node); }

SiteLoop factor(SiteLoop loop, const FreshName&) {
  std::vector<Expr*> places;
  for (Store& value : loop.shared) places.push_back(&value.value);
  for (Store& store : loop.kernel.stores) places.push_back(&store.value);
  for (Reduction& reduction : loop.kernel.reductions) places.push_back(&reduction.value);
  std::vector<Expr> values;
  for (const Expr* place : places) values.push_back(*place);
  values = algebra::rewrite(values, factored_node);
  for (std::size_t i = 0; i < places.size(); ++i) *places[i] = values[i];
  return loop;
}

}  // namespace vphi::kernel
