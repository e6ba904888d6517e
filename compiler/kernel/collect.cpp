// Pass `collect`: scalars in front, equal per-site parts once.
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/linear.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::kernel {

Sweep collect(Sweep sweep, const FreshName&) {
  for (Store& value : sweep.shared) {
    value.value = sum_of(*value.value->arena, linear_terms(value.value));
  }
  for (Store& store : sweep.kernel.stores) {
    store.value = sum_of(*store.value->arena, linear_terms(store.value));
  }
  for (Reduction& reduction : sweep.kernel.reductions) {
    reduction.value = sum_of(*reduction.value->arena, linear_terms(reduction.value));
  }
  return sweep;
}

Sweep inlined(Sweep sweep) {
  algebra::Substitution whole;
  for (const Store& value : sweep.shared) {
    whole.add(value.value->arena->load(value.array), whole(value.value));
  }
  sweep.shared.clear();
  for (Store& store : sweep.kernel.stores) store.value = whole(store.value);
  for (Reduction& reduction : sweep.kernel.reductions) reduction.value = whole(reduction.value);
  return sweep;
}

}  // namespace vphi::kernel
