#include "compiler/schedule/exchange.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using algebra::Op;

class Exchange {
 public:
  explicit Exchange(Plan& plan) : plan_(plan) {
    const program::Cut& cut = plan.program.cut;
    reach_ = reach_across(plan, cut.axis);
    if (cut.second.ranks > 1) beside_ = reach_across(plan, cut.axis - 1);
    for (const kernel::Kernel& kernel : plan.kernels) {
      std::set<int>& buffers = reads_.emplace_back();
      for (const auto& [buffer, depth] : reach_across(plan, kernel, cut.axis))
        buffers.insert(buffer);
      if (cut.second.ranks == 1) continue;
      for (const auto& [buffer, depth] : reach_across(plan, kernel, cut.axis - 1))
        buffers.insert(buffer);
    }
  }

  void operator()(std::vector<program::Launch>& list) {
    std::map<int, std::size_t> stale;  // buffer -> the launch that wrote it last
    const auto fill = [&](int buffer) {
      const auto at = stale.find(buffer);
      if (at == stale.end()) return;
      list[at->second].halos.push_back(
          {buffer, depth_in(reach_, buffer), depth_in(beside_, buffer)});
      stale.erase(at);
    };
    const auto fill_all = [&] {
      while (!stale.empty()) fill(stale.begin()->first);
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto number = static_cast<std::size_t>(list[i].kernel);
      for (const int buffer : reads_[number]) fill(buffer);
      for (const int buffer : written(list[i]))
        if (reach_.contains(buffer) || beside_.contains(buffer)) stale[buffer] = i;
      if (list[i].solve >= 0) fill_all();
    }
    fill_all();
  }

 private:
  static std::array<int, 2> depth_in(const Reach& reach, int buffer) {
    const auto found = reach.find(buffer);
    return found == reach.end() ? std::array<int, 2>{} : found->second;
  }

  /// Buffers whose present copy is another one after the launch.
  std::set<int> written(const program::Launch& launch) const {
    std::set<int> buffers(launch.swap.begin(), launch.swap.end());
    const auto number = static_cast<std::size_t>(launch.kernel);
    for (const kernel::ArrayParam& array : plan_.kernels[number].arrays)
      if (array.written && !array.next)
        buffers.insert(plan_.buffer_of[static_cast<std::size_t>(array.array)]);
    for (const int map : launch.maps) {
      const std::vector<int>& to = plan_.program.maps[static_cast<std::size_t>(map)].to;
      buffers.insert(to.begin(), to.end());
    }
    return buffers;
  }

  Plan& plan_;
  Reach reach_, beside_;              // across the cut axis, and a second one
  std::vector<std::set<int>> reads_;  // of neighbours, by kernel
};

/// Sums over pairs read all sites of the other side of a pair.
Reach reach_of_pairs(const Plan& plan, const kernel::Kernel& kernel) {
  Reach reach;
  for (const Expr leaf : algebra::reads(kernel.values()))
    if (leaf.is(Op::Load) && algebra::is_other(*leaf) && !algebra::is_pair_entry(*leaf))
      reach[plan.buffer_of[static_cast<std::size_t>(leaf->index)]] = plan.program.cut.deepest();
  return reach;
}

}  // namespace

Reach reach_across(const Plan& plan, const kernel::Kernel& kernel, int axis) {
  Reach reach;
  if (kernel.gathers) return reach;
  if (kernel::sums_pairs(kernel)) return reach_of_pairs(plan, kernel);
  const auto read = [&](int array, int d) {
    if (d == 0) return;
    auto& [below, above] = reach[plan.buffer_of[static_cast<std::size_t>(array)]];
    (d < 0 ? below : above) = std::max(d < 0 ? below : above, std::abs(d));
  };
  for (const Expr leaf : algebra::reads(kernel.values())) {
    if (leaf.is(Op::Load)) read(leaf->index, leaf->offset.d[axis]);
    if (!leaf.is(Op::Stencil)) continue;
    for (const algebra::Offset& offset : leaf->arena->stencil_data(leaf->index).offsets)
      read(leaf.arg(0)->index, offset.d[axis] + leaf.arg(0)->offset.d[axis]);
  }
  return reach;
}

Reach reach_across(const Plan& plan, int axis) {
  Reach all;
  for (const kernel::Kernel& kernel : plan.kernels) {
    for (const auto& [buffer, depth] : reach_across(plan, kernel, axis)) {
      auto& known = all[buffer];
      for (std::size_t side = 0; side < 2; ++side) known[side] = std::max(known[side], depth[side]);
    }
  }
  return all;
}

void exchange(Plan& plan) {
  Exchange in(plan);
  plan.program.each_list([&](std::vector<program::Launch>& list) { in(list); });
}

}  // namespace vphi::schedule
