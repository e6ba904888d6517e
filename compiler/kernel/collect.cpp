// Pass `collect`: scalars in front, equal per-site parts once.
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/linear.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::kernel {

SiteLoop collect(SiteLoop loop, const FreshName&) {
  for (Store& value : loop.shared) {
    value.value = sum_of(*value.value->arena, linear_terms(value.value));
  }
  for (Store& store : loop.kernel.stores) {
    store.value = sum_of(*store.value->arena, linear_terms(store.value));
  }
  for (Reduction& reduction : loop.kernel.reductions) {
    reduction.value = sum_of(*reduction.value->arena, linear_terms(reduction.value));
  }
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
