#include "compiler/schedule/integrator/brownian.hpp"

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/draw.hpp"
#include "compiler/kernel/rebuild.hpp"

namespace vphi::schedule {

using algebra::Expr;
using algebra::Op;
using kernel::Kernel;

namespace {

template <class See>
void values(Kernel& kernel, const See& see) {
  for (kernel::Store& store : kernel.stores) see(store.value);
  for (kernel::Reduction& reduction : kernel.reductions) see(reduction.value);
}

}  // namespace

bool sum_draws(Plan& plan) {
  bool gaussian = true;
  for (Kernel& k : plan.kernels)
    values(k, [&](Expr& value) {
      gaussian =
          gaussian && !algebra::contains(value, [](Expr node) { return node.is(Op::Uniform); });
    });
  if (!gaussian) return false;
  for (Kernel& k : plan.kernels) {
    if (k.random.draws == 0) continue;
    // The words of a step hold those of two finer ones, in their order.
    const auto words = static_cast<int>(kernel::words_per_step(k.random));
    k.random.finer *= 2;
    kernel::Rebuilder rebuild([&](Expr node) -> Expr {
      if (!node.is(Op::Normal)) return {};
      algebra::Arena& arena = *node->arena;
      const Expr later = arena.random(Op::Normal, node->index + words, node->offset, node->span);
      const Expr half = arena.make(Op::Pow, {arena.integer(2), arena.rational(-1, 2)});
      const Expr root = half.is_number() ? half : arena.real(0.70710678118654752440084436210485L);
      return arena.raw(Op::Mul, {root, arena.raw(Op::Add, {node, later})}, node->span);
    });
    values(k, [&](Expr& value) { value = rebuild(value); });
    k.random.draws += words;
  }
  return true;
}

}  // namespace vphi::schedule
