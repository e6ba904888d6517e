// Pass `collect`: scalars in front, equal per-site parts once.
#include "compiler/kernel/linear.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::kernel {

Sweep collect(Sweep sweep, const FreshName&) {
  for (Store& store : sweep.kernel.stores) {
    store.value = sum_of(*store.value->arena, linear_terms(store.value));
  }
  for (Reduction& reduction : sweep.kernel.reductions) {
    reduction.value = sum_of(*reduction.value->arena, linear_terms(reduction.value));
  }
  return sweep;
}

}  // namespace vphi::kernel
