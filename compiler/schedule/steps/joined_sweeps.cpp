#include "compiler/schedule/steps/joined_sweeps.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/device.hpp"
#include "compiler/kernel/kernel.hpp"
#include "compiler/kernel/rounds.hpp"
#include "compiler/kernel/site_cost.hpp"
#include "compiler/schedule/live_values.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"
#include "compiler/schedule/steps/several.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using algebra::Op;
using kernel::Kernel;

/// Of the time of two sweeps, what the joined one may take by the counts.
constexpr double kMostTime = 0.9;

/// The sweep of a part that is nothing but one sweep over many numbers of a site; null for others.
const Kernel* lone_sweep(const StepPart& part) {
  if (part.solve >= 0 || part.leader >= 0 || !part.maps.empty() || part.loops.sweeps.size() != 1)
    return nullptr;
  const kernel::SiteLoop& loop = part.loops.sweeps.front();
  const Kernel& k = loop.kernel;
  if (!loop.before.empty() || !loop.shared.empty() || !part.loops.swaps.front().empty())
    return nullptr;
  if (k.stores.empty() || k.along >= 0 || k.colours || k.gathers || !k.stages.empty() ||
      kernel::sums_pairs(k))
    return nullptr;
  std::set<const algebra::Node*> reads;
  for (const Expr value : k.values()) {
    if (algebra::contains(value, [](Expr node) {
          return node.is(Op::Normal) || node.is(Op::Uniform) || node.is(Op::Noise) ||
                 node.is(Op::Stencil);
        }))
      return nullptr;
    for (const Expr leaf : algebra::reads(value)) reads.insert(leaf.get());
  }
  return reads.size() >= kernel::kManyReads ? &k : nullptr;
}

bool same_domain(const Kernel& a, const Kernel& b) {
  return a.dims == b.dims && a.extent == b.extent && a.compute == b.compute && a.sum == b.sum &&
         a.boundary == b.boundary && a.fixed_value == b.fixed_value && a.dx == b.dx &&
         a.still == b.still && a.reach == b.reach && a.steps == b.steps;
}

class Joining {
 public:
  Joining(StepLoops& step, const Storage& storage, int registers)
      : step_(step), storage_(storage), registers_(registers) {}

  void operator()() {
    std::vector<std::vector<int>> groups;  // parts that become one, in order
    std::vector<StepPart> parts;
    for (std::size_t i = 0; i < step_.parts.size(); ++i) {
      const auto number = static_cast<int>(i);
      if (!groups.empty() && beside(groups.back().back(), number))
        if (auto both = joined(parts.back(), step_.parts[i])) {
          std::vector<int> group = groups.back();
          group.push_back(number);
          if (held(group) <= numbers_that_fit(kernel_of(number).compute, registers_)) {
            parts.back() = *std::move(both);
            groups.back() = std::move(group);
            continue;
          }
        }
      groups.push_back({number});
      parts.push_back(step_.parts[i]);
    }
    if (parts.size() == step_.parts.size()) return;
    std::vector<std::string> names;
    std::map<int, int> number_of;  // of the first one; the others are no launches of their own
    for (std::size_t i = 0; i < groups.size(); ++i) {
      number_of[groups[i].front()] = static_cast<int>(i);
      if (groups[i].size() == 1) continue;
      Kernel& k = parts[i].loops.sweeps.front().kernel;
      k.name = name_of(groups[i]);
      names.push_back(fmt::format("{} ({})", k.name, groups[i].size()));
    }
    for (std::vector<int>& order : step_.cycle) {
      std::vector<int> renumbered;
      for (const int part : order)
        if (const auto found = number_of.find(part); found != number_of.end())
          renumbered.push_back(found->second);
      order = std::move(renumbered);
    }
    step_.parts = std::move(parts);
    step_.remarks.push_back(fmt::format("sweeps that read the same numbers are one launch: {}",
                                        fmt::join(names, ", ")));
  }

 private:
  /// Whether each launch of the one is followed by one of the other, and each of the other follows
  /// one.
  bool beside(int first, int second) const {
    bool any = false;
    for (const std::vector<int>& order : step_.cycle)
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (order[i] == first && (i + 1 == order.size() || order[i + 1] != second)) return false;
        if (order[i] == second && (i == 0 || order[i - 1] != first)) return false;
        any = any || order[i] == first;
      }
    return any;
  }

  std::set<std::size_t> buffers(const std::set<int>& arrays) const {
    std::set<std::size_t> result;
    for (const int array : arrays) result.insert(storage_.buffer_index(array));
    return result;
  }
  std::set<std::size_t> written(const Kernel& k) const {
    std::set<int> arrays;
    for (const kernel::Store& store : k.stores) arrays.insert(store.array);
    return buffers(arrays);
  }
  static bool meet(const std::set<std::size_t>& a, const std::set<std::size_t>& b) {
    return std::ranges::any_of(a, [&](std::size_t one) { return b.contains(one); });
  }

  /// Whether the sites of `second` read scalars that the end of `first` sets.
  static bool needs_end(const StepPart& first, const Kernel& second) {
    std::set<std::string> set;
    for (const kernel::Reduction& r : first.loops.sweeps.front().kernel.reductions)
      set.insert(r.slot);
    for (const kernel::ScalarAssign& a : first.loops.sweeps.front().kernel.epilogue)
      set.insert(a.slot);
    for (const kernel::ScalarAssign& a : first.loops.finish) set.insert(a.slot);
    return std::ranges::any_of(second.values(), [&](Expr value) {
      return algebra::contains(
          value, [&](Expr node) { return node.is(Op::Symbol) && set.contains(node->name); });
    });
  }

  std::optional<StepPart> joined(const StepPart& first, const StepPart& second) const {
    const Kernel *a = lone_sweep(first), *b = lone_sweep(second);
    if (!a || !b || !same_domain(*a, *b) || needs_end(first, *b)) return std::nullopt;
    const auto stored = written(*a), stored_then = written(*b);
    if (meet(stored, stored_then) || meet(stored, buffers(arrays_read(*b))) ||
        meet(stored_then, buffers(arrays_read(*a))))
      return std::nullopt;
    StepPart both = first;
    Kernel& k = both.loops.sweeps.front().kernel;
    k.stores.insert(k.stores.end(), b->stores.begin(), b->stores.end());
    k.reductions.insert(k.reductions.end(), b->reductions.begin(), b->reductions.end());
    k.epilogue.insert(k.epilogue.end(), b->epilogue.begin(), b->epilogue.end());
    k.comment += "\n" + b->comment;
    k.arrays.clear();
    declare_arrays(k, storage_);
    const auto& finish = second.loops.finish;
    both.loops.finish.insert(both.loops.finish.end(), finish.begin(), finish.end());
    if (time(k) > kMostTime * (time(*a) + time(*b))) return std::nullopt;
    return both;
  }

  /// What a thread holds at most where the sweeps of the parts are computed one after the other:
  /// what one of them holds, and the numbers that several read.
  int held(const std::vector<int>& group) const {
    int most = 0;
    std::map<const algebra::Node*, int> readers;
    for (const int part : group) {
      const std::vector<Expr> values = kernel_of(part).values();
      most = std::max(most, LiveValues(values).most());
      for (const Expr leaf : algebra::reads(values)) ++readers[leaf.get()];
    }
    return most + static_cast<int>(std::ranges::count_if(
                      readers, [](const auto& reader) { return reader.second > 1; }));
  }

  const Kernel& kernel_of(int part) const {
    return step_.parts[static_cast<std::size_t>(part)].loops.sweeps.front().kernel;
  }

  static int time(const Kernel& k) {
    const int instructions =
        kernel::estimated_instructions(kernel::operations_of(k.values(), is_read), k.compute);
    return kernel::time_of_site(instructions, kernel::cost(k).bytes, k.compute);
  }

  /// What the names have in common, and what they differ in, one after the other.
  std::string name_of(const std::vector<int>& group) const {
    std::vector<std::string> names;
    for (const int part : group) names.push_back(kernel_of(part).name);
    std::string name = names.front();
    for (const std::string& other : names)
      while (!other.starts_with(name)) name.pop_back();
    const std::size_t common = name.size();
    for (const std::string& other : names) name += other.substr(common);
    return name;
  }

  StepLoops& step_;
  const Storage& storage_;
  const int registers_;
};

}  // namespace

void join_sweeps(StepLoops& step, const Storage& storage, int registers) {
  if (registers > 0 && !step.in_order) Joining{step, storage, registers}();
}

}  // namespace vphi::schedule
