#include "compiler/schedule/live_values.hpp"

#include <algorithm>

namespace vphi::schedule {

using algebra::Expr;
using algebra::Node;
using algebra::Op;

// Of f32 238 spill nothing and 285 spill 348 bytes a site; addresses and what is read ahead take
// the rest. Of f64 195 spill 8 and 223 spill 1676: each takes two registers, and the compiler reads
// later than counted (tools/gpu_registers, sm_90, kernels of a round).
int numbers_that_fit(physics::Precision precision, int registers) {
  constexpr int kFit32 = 239, kFit64 = 200, kOfRegisters = 255;
  return (precision == physics::Precision::F64 ? kFit64 : kFit32) * registers / kOfRegisters;
}

LiveValues::LiveValues(const std::vector<Expr>& values, const std::set<int>& own) {
  std::set<const Node*> seen;
  std::vector<Expr> open = values, order;
  while (!open.empty()) {
    const Expr node = open.back();
    open.pop_back();
    if (node.is_number() || node.is(Op::Symbol) || !seen.insert(node.get()).second) continue;
    order.push_back(node);
    for (const Expr arg : node.args()) open.push_back(arg);
  }
  std::ranges::sort(order, {}, [](Expr e) { return e->id; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Expr node = order[i];
    bool of_unknown = node.is(Op::Load) && own.contains(node->index);
    for (const Expr arg : node.args()) {
      const auto known = lives_.find(arg.get());
      if (known == lives_.end()) continue;
      if (arg.is(Op::Load) && known->second.last == 0) known->second.first = i;
      known->second.last = i;
      of_unknown = of_unknown || known->second.own;
    }
    lives_[node.get()] = {i, 0, of_unknown};
  }
  for (const Expr value : values)
    if (const auto known = lives_.find(value.get()); known != lives_.end())
      known->second.last = order.size();
  count_ = order.size();
}

int LiveValues::most(int columns) const {
  std::vector<int> change(count_ + 2);
  for (const auto& [node, life] : lives_) {
    const int numbers = life.own ? columns : 1;
    change[life.first] += numbers;
    change[std::max(life.first, life.last) + 1] -= numbers;
  }
  int now = 0, most = 0;
  for (const int c : change) most = std::max(most, now += c);
  return most;
}

}  // namespace vphi::schedule
