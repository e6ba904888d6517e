// What one site costs, counted on the expressions.
#include <algorithm>
#include <set>
#include <unordered_set>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {
namespace {

using algebra::Op;

/// Additions of all points and one multiplication for each weight that is not 1.
int stencil_flops(const algebra::StencilData& stencil) {
  std::set<std::int64_t> weights;
  for (const std::int64_t w : stencil.weights) {
    if (w != 1 && w != 0) weights.insert(w);
  }
  return static_cast<int>(stencil.offsets.size()) - 1 + static_cast<int>(weights.size());
}

}  // namespace

Cost cost(const Kernel& kernel) {
  Cost cost;
  for (const ArrayParam& array : kernel.arrays) {
    const int words = (array.read ? 1 : 0) + (array.written ? 1 : 0);
    cost.loads += array.read;
    cost.stores += array.written;
    cost.bytes += words * (array.store == Precision::F32 ? 4 : 8);
  }
  std::unordered_set<const algebra::Node*> seen;
  const auto count = [&](Expr root) {
    algebra::visit(root, [&](Expr node) {
      if (!node->per_site || !seen.insert(node.get()).second) return;
      if (node.is(Op::Stencil)) {
        cost.flops += stencil_flops(node->arena->stencil_data(node->index));
        return;
      }
      const algebra::OpInfo& op = algebra::info(node.op());
      const int times =
          op.arity < 0 ? std::max<int>(1, static_cast<int>(node.args().size()) - 1) : 1;
      cost.flops += op.flops * times;
      cost.special += op.special;
    });
  };
  for (const Store& store : kernel.stores) count(store.value);
  for (const Reduction& reduction : kernel.reductions) {
    count(reduction.value);
    cost.flops += 1;
  }
  return cost;
}

}  // namespace vphi::kernel
