// Pass `collect`: scalars in front, equal per-site parts once.
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/linear.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::kernel {

SiteLoop collect(SiteLoop loop, const FreshName&) {
  std::vector<Expr*> places;
  for (Store& value : loop.shared) places.push_back(&value.value);
  for (Store& store : loop.kernel.stores) places.push_back(&store.value);
  for (Reduction& reduction : loop.kernel.reductions) places.push_back(&reduction.value);
  LinearTerms linear_terms;
  for (Expr* place : places) *place = sum_of(*(*place)->arena, linear_terms(*place));
  return loop;
}

SiteLoop inlined(SiteLoop loop) {
  algebra::Substitution whole;
  for (const Store& value : loop.shared) {
    whole.add(value.value->arena->load(value.array), whole(value.value));
  }
  loop.shared.clear();
  for (Store& store : loop.kernel.stores) store.value = whole(store.value);
  for (Reduction& reduction : loop.kernel.reductions) reduction.value = whole(reduction.value);
  return loop;
}

}  // namespace vphi::kernel
