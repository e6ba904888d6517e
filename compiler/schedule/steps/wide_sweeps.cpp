#include "compiler/schedule/steps/wide_sweeps.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/kernel.hpp"
#include "compiler/kernel/rounds.hpp"
#include "compiler/schedule/facts.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"
#include "compiler/schedule/steps/several.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using algebra::Op;
using kernel::Kernel;
using Marches = std::function<bool(const Kernel&)>;

/// Numbers that the sweeps move, over those of the whole one.
constexpr double kMostNumbers = 1.3;
/// Instructions that two sweeps may both compute.
constexpr int kComputedTwice = 24;

/// The values of a kernel, in sets that are computed by one sweep each.
class Division {
 public:
  Division(const Plan& plan, const Kernel& whole, const Marches& marches)
      : plan_(plan), whole_(whole), marches_(marches), values_(whole.values()) {}

  /// The sweeps, that with the sums as the last; empty where the kernel stays whole.
  std::vector<Kernel> sweeps() {
    for (std::vector<std::size_t>& set : inseparable()) {
      Kernel sweep = sweep_of(set);
      if (!marches_(sweep)) return {};
      parts_.push_back({std::move(set), std::move(sweep)});
    }
    if (parts_.size() < 2) return {};
    while (join()) {
    }
    int numbers = 0;
    for (const Part& part : parts_) numbers += moved(part.sweep);
    if (parts_.size() < 2 || numbers > kMostNumbers * moved(whole_)) return {};
    std::ranges::stable_sort(parts_, {}, [](const Part& part) { return part.values.back(); });
    std::vector<Kernel> result;
    for (Part& part : parts_) result.push_back(std::move(part.sweep));
    return result;
  }

 private:
  struct Part {
    std::vector<std::size_t> values;  ///< numbers in `values_`, ascending
    Kernel sweep;
  };

  static int moved(const Kernel& kernel) {
    const kernel::Cost cost = kernel::cost(kernel);
    return cost.loads + cost.stores;
  }

  /// Values belong together where one is stored in place of an array that the other reads, and
  /// where they have a long computation in common. All sums belong together.
  std::vector<std::vector<std::size_t>> inseparable() const {
    std::vector<std::size_t> set(values_.size());
    std::iota(set.begin(), set.end(), std::size_t{0});
    const auto unite = [&](std::size_t i, std::size_t j) {
      const std::size_t from = set[i], to = set[j];
      std::ranges::replace(set, from, to);
    };
    std::vector<std::set<int>> reads;
    std::vector<int> length;
    for (const Expr& value : values_) {
      std::set<int>& arrays = reads.emplace_back();
      for (const Expr leaf : algebra::reads(std::span(&value, 1)))
        arrays.insert(leaf.is(Op::Load) ? leaf->index : leaf.arg(0)->index);
      length.push_back(instructions({value}));
    }
    for (std::size_t i = 0; i < values_.size(); ++i)
      for (std::size_t j = 0; j < values_.size(); ++j) {
        if (i == j) continue;
        const bool in_place = i < whole_.stores.size() &&
                              !whole_.find(whole_.stores[i].array)->next &&
                              reads[j].contains(whole_.stores[i].array);
        const bool both_sums = i >= whole_.stores.size() && j >= whole_.stores.size();
        if (in_place || both_sums ||
            (i < j &&
             length[i] + length[j] - instructions({values_[i], values_[j]}) > kComputedTwice))
          unite(i, j);
      }
    std::map<std::size_t, std::vector<std::size_t>> sets;
    for (std::size_t i = 0; i < set.size(); ++i) sets[set[i]].push_back(i);
    std::vector<std::vector<std::size_t>> result;
    for (auto& [number, members] : sets) result.push_back(std::move(members));
    return result;
  }

  int instructions(const std::vector<Expr>& roots) const {
    return kernel::estimated_instructions(kernel::operations_of(roots, is_read), whole_.compute);
  }

  Kernel sweep_of(const std::vector<std::size_t>& values) const {
    Kernel sweep = whole_;
    sweep.stores.clear();
    sweep.reductions.clear();
    for (const std::size_t i : values) {
      if (i < whole_.stores.size())
        sweep.stores.push_back(whole_.stores[i]);
      else
        sweep.reductions.push_back(whole_.reductions[i - whole_.stores.size()]);
    }
    const bool last = std::ranges::count(values, values_.size() - 1) > 0;
    if (!last) sweep.epilogue.clear();
    declare_used(plan_, sweep);
    return sweep;
  }

  /// Makes one sweep of the two that save the most numbers; of equals, those that move the most.
  bool join() {
    struct Choice {
      int saved = 0, moved = 0;
      std::size_t first = 0, second = 0;
      std::vector<std::size_t> values;
      Kernel sweep;
    };
    std::vector<Choice> choices;
    for (std::size_t i = 0; i < parts_.size(); ++i)
      for (std::size_t j = i + 1; j < parts_.size(); ++j) {
        Choice choice{.first = i, .second = j, .values = {}, .sweep = {}};
        std::ranges::merge(parts_[i].values, parts_[j].values, std::back_inserter(choice.values));
        if (too_wide_.contains(choice.values)) continue;
        choice.sweep = sweep_of(choice.values);
        choice.moved = moved(choice.sweep);
        choice.saved = moved(parts_[i].sweep) + moved(parts_[j].sweep) - choice.moved;
        if (choice.saved > 0) choices.push_back(std::move(choice));
      }
    std::ranges::stable_sort(
        choices, {}, [](const Choice& choice) { return std::pair(-choice.saved, -choice.moved); });
    for (Choice& choice : choices) {
      if (!marches_(choice.sweep)) {
        too_wide_.insert(std::move(choice.values));
        continue;
      }
      parts_[choice.first] = {std::move(choice.values), std::move(choice.sweep)};
      parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(choice.second));
      return true;
    }
    return false;
  }

  const Plan& plan_;
  const Kernel& whole_;
  const Marches& marches_;
  std::vector<Expr> values_;
  std::vector<Part> parts_;
  std::set<std::vector<std::size_t>> too_wide_;
};

bool may_be_divided(const Kernel& kernel, std::int64_t least_bytes) {
  return (kernel.dims == 2 || kernel.dims == 3) && kernel.stores.size() > 1 && kernel.along < 0 &&
         !kernel.colours && kernel.stages.empty() && kernel.reach == kernel::Reach::Launch &&
         !kernel::sums_pairs(kernel) &&
         kernel.sites() * kernel.instances * kernel::cost(kernel).bytes >= least_bytes &&
         std::ranges::any_of(algebra::reads(kernel.values()), [](const Expr leaf) {
           return leaf.is(Op::Stencil) || leaf->offset != algebra::Offset{};
         });
}

}  // namespace

void divide_wide_sweeps(Plan& plan, const Marches& marches, std::int64_t least_bytes) {
  std::map<int, std::vector<int>> before;
  std::vector<std::string> divided;
  for (const int number : kernels_of_steps(plan)) {
    const Kernel whole = plan.kernels[static_cast<std::size_t>(number)];
    if (!may_be_divided(whole, least_bytes) || marches(whole)) continue;
    std::vector<Kernel> sweeps = Division(plan, whole, marches).sweeps();
    if (sweeps.empty()) continue;
    divided.push_back(fmt::format("{} in {}", whole.name, sweeps.size()));
    for (std::size_t i = 0; i + 1 < sweeps.size(); ++i) {
      sweeps[i].name = fmt::format("{}_{}_of_{}", whole.name, i + 1, sweeps.size());
      before[number].push_back(add_kernel(plan, std::move(sweeps[i])));
    }
    plan.kernels[static_cast<std::size_t>(number)] = std::move(sweeps.back());
    add_cost(plan, static_cast<std::size_t>(number));
  }
  if (divided.empty()) return;
  launch_before(plan.program, before);
  plan.remarks.push_back(
      fmt::format("sweeps over more arrays than the registers of a march hold are divided: {}",
                  fmt::join(divided, ", ")));
}

}  // namespace vphi::schedule
