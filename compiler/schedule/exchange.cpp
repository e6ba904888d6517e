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

void deepen(std::array<int, 2>& known, const std::array<int, 2>& depth) {
  for (std::size_t side = 0; side < 2; ++side) known[side] = std::max(known[side], depth[side]);
}

/// How deep the ghosts of a buffer must be filled, across the cut axis and a second one.
struct Depth {
  std::array<int, 2> planes{}, lines{};
  void deepen(const Depth& other) {
    schedule::deepen(planes, other.planes), schedule::deepen(lines, other.lines);
  }
  bool none() const { return *this == Depth{}; }
  bool operator==(const Depth&) const = default;
};
using Depths = std::map<int, Depth>;  ///< by buffer; one that is missing needs nothing

void deepen(Depths& known, const Depths& more) {
  for (const auto& [buffer, depth] : more) known[buffer].deepen(depth);
}

/// What launches need of the ghosts that others fill.
class Exchange {
 public:
  explicit Exchange(Plan& plan) : plan_(plan) {
    const program::Cut& cut = plan.program.cut;
    for (const kernel::Kernel& kernel : plan.kernels) {
      Depths& reads = reads_.emplace_back();
      for (const auto& [buffer, depth] : reach_across(plan, kernel, cut.axis))
        reads[buffer].planes = depth;
      if (cut.second.ranks > 1)
        for (const auto& [buffer, depth] : reach_across(plan, kernel, cut.axis - 1))
          reads[buffer].lines = depth;
      deepen(deepest_, reads);
    }
  }

  /// After steps, which follow one another, ghosts are as deep as the lists read that come next;
  /// after all other lists as deep as any kernel reads.
  void operator()() {
    program::Program& p = plan_.program;
    std::vector<Launches*> steps;
    for (Launches& list : p.cycle) steps.push_back(&list);
    if (steps.empty()) steps.push_back(&p.step);
    const std::vector<Depths> after = after_steps(steps);
    p.each_list([&](Launches& list) {
      const auto step = std::ranges::find(steps, &list);
      if (step != steps.end())
        return fill(list, after[static_cast<std::size_t>(step - steps.begin())]);
      fill(list, &list == &p.step ? after[0] : deepest_);
    });
  }

 private:
  using Launches = std::vector<program::Launch>;

  /// What the steps must leave, by their place in the cycle. Whatever is launched beside steps
  /// comes between any two of them, but for the start.
  std::vector<Depths> after_steps(const std::vector<Launches*>& steps) {
    program::Program& p = plan_.program;
    Depths beside;
    p.each_list([&](Launches& list) {
      const bool step = &list == &p.step || std::ranges::find(steps, &list) != steps.end();
      if (!step && &list != &p.prologue) deepen(beside, before(list, {}));
    });
    std::vector<Depths> after(steps.size(), beside);
    // what a step does not write is needed as the step after it does
    for (std::size_t turn = 0; turn < 2; ++turn)
      for (std::size_t k = steps.size(); k-- > 0;) {
        const std::size_t next = (k + 1) % steps.size();
        deepen(after[k], before(*steps[next], after[next]));
      }
    return after;
  }

  /// What a list needs of the ghosts when it begins, where it must leave `after`.
  Depths before(const Launches& list, Depths after) const {
    for (auto launch = list.rbegin(); launch != list.rend(); ++launch) step_back(*launch, after);
    return after;
  }

  /// Halos of a list that must leave `after`: each stands at the last launch that writes the buffer
  /// before one that reads its ghosts, as deep as those read that come before the next one that
  /// writes it.
  void fill(Launches& list, Depths after) const {
    for (auto launch = list.rbegin(); launch != list.rend(); ++launch)
      for (const auto& [buffer, depth] : step_back(*launch, after))
        launch->halos.push_back({buffer, depth.planes, depth.lines});
  }

  /// From what is needed after a launch to what is needed before it. What it must fill comes back.
  Depths step_back(const program::Launch& launch, Depths& needed) const {
    if (launch.solve >= 0) deepen(needed, deepest_);  // its launches come behind this one
    Depths filled;
    for (const int buffer : written(launch)) {
      const auto found = needed.find(buffer);
      if (found == needed.end()) continue;
      if (!found->second.none()) filled.insert(*found);
      needed.erase(found);
    }
    deepen(needed, reads_[static_cast<std::size_t>(launch.kernel)]);
    return filled;
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
  Depths deepest_;             ///< of all kernels
  std::vector<Depths> reads_;  ///< of neighbours, by kernel
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

void exchange(Plan& plan) {
  Exchange in(plan);
  in();
}

}  // namespace vphi::schedule
