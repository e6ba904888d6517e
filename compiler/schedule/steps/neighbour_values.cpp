#include "compiler/schedule/steps/neighbour_values.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/kernel.hpp"
#include "compiler/kernel/neighbour_values.hpp"
#include "compiler/schedule/facts.hpp"
#include "compiler/schedule/steps/several.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using kernel::Kernel;
using WalkOf = std::function<Walked(const Kernel&)>;

/// Sweeps that one sweep is divided into at most.
constexpr int kMostSweeps = 4;

class NeighbourSweeps {
 public:
  NeighbourSweeps(Plan& plan, const WalkOf& walked) : plan_(plan), walked_(walked) {}

  void operator()(std::int64_t least_bytes) {
    std::vector<std::string> divided;
    std::map<int, std::vector<int>> before;
    for (const int number : kernels_of_steps(plan_)) {
      const Kernel whole = plan_.kernels[static_cast<std::size_t>(number)];
      if (!may_be_divided(whole, least_bytes)) continue;
      used_.clear();
      std::vector<Kernel> sweeps = sweeps_of(whole, kMostSweeps);
      if (sweeps.size() < 2) continue;
      std::size_t values = 0;
      for (std::size_t i = 0; i + 1 < sweeps.size(); ++i) {
        values += sweeps[i].stores.size();
        sweeps[i].name = sweeps.size() == 2 ? whole.name + "_values"
                                            : fmt::format("{}_values_{}", whole.name, i + 1);
        sweeps[i].comment = "values of sites that their neighbours read: " + whole.comment;
        before[number].push_back(add_kernel(plan_, std::move(sweeps[i])));
      }
      plan_.kernels[static_cast<std::size_t>(number)] = std::move(sweeps.back());
      add_cost(plan_, static_cast<std::size_t>(number));
      divided.push_back(fmt::format("{} ({})", whole.name, values));
    }
    if (divided.empty()) return;
    launch_before(plan_.program, before);
    plan_.remarks.push_back(
        fmt::format("values that several neighbours of a site need are computed once a site, by a "
                    "sweep before, and stored: {}",
                    fmt::join(divided, ", ")));
  }

 private:
  /// Ranks that share a lattice divide as one device does, so that they add in the same order.
  static bool may_be_divided(const Kernel& kernel, std::int64_t least_bytes) {
    std::int64_t sites = 1;
    for (const std::int64_t extent : kernel.whole()) sites *= extent;
    return kernel.sites() > 1 && !kernel.colours && kernel.stages.empty() &&
           kernel.reach == kernel::Reach::Launch && !kernel::sums_pairs(kernel) &&
           sites * kernel.instances * kernel::cost(kernel).bytes >= least_bytes;
  }

  /// Of its time, the share that a march may take by the counts when it is divided. Marches compute
  /// while they read, and gain less than the counts say: on an H200 shares of 0.90 were 0.97 in
  /// f32, and shares of 0.7 to 0.85 were 1.12 to 1.16 in f64.
  static double most_of_march(const Kernel& kernel) {
    return kernel.compute == kernel::Precision::F32 ? 0.92 : 0.5;
  }

  /// In the order of their launches; one where it stays whole.
  std::vector<Kernel> sweeps_of(const Kernel& whole, int most) {
    if (most < 2) return {whole};
    const kernel::NeighbourValues values = kernel::neighbour_values(whole);
    if (values.stored.empty()) return {whole};
    const Walked own = walked_(whole);
    if (own == Walked::Lines) return {whole};
    if (own == Walked::March && values.after > most_of_march(whole) * values.before) return {whole};
    const Memory before = memory_now();
    Kernel first = whole, last = whole;
    first.stores.clear();
    first.reductions.clear();
    first.epilogue.clear();
    algebra::Substitution rest;
    for (const kernel::NeighbourValue& stored : values.stored) {
      const int array = memory(whole.compute);
      first.stores.push_back({array, stored.value});
      for (const auto& [node, offset] : stored.uses)
        rest.add(node, node->arena->load(array, offset));
    }
    for (kernel::Store& store : last.stores) store.value = rest(store.value);
    for (kernel::Reduction& reduction : last.reductions) reduction.value = rest(reduction.value);
    declare_used(plan_, first);
    declare_used(plan_, last);
    if (own == Walked::March && walked_(last) != Walked::March) {
      give_back(before);
      return {whole};
    }
    std::vector<Kernel> sweeps = sweeps_of(first, most - 1);
    sweeps.push_back(std::move(last));
    return sweeps;
  }

  struct Memory {
    std::size_t buffers = 0, arrays = 0;
    std::map<kernel::Precision, std::vector<int>> numbers;  ///< of arrays
    std::map<kernel::Precision, std::size_t> used;          ///< of them, by the sweeps of a kernel
  };

  Memory memory_now() const {
    return {plan_.program.buffers.size(), plan_.buffer_of.size(), memory_, used_};
  }

  void give_back(const Memory& before) {
    plan_.program.buffers.resize(before.buffers);
    plan_.buffer_of.resize(before.arrays);
    memory_ = before.numbers;
    used_ = before.used;
  }

  /// The next array that the sweeps of this kernel do not use yet.
  int memory(kernel::Precision precision) {
    program::Program& p = plan_.program;
    std::vector<int>& arrays = memory_[precision];
    const std::size_t place = used_[precision]++;
    if (place == arrays.size()) {
      arrays.push_back(static_cast<int>(plan_.buffer_of.size()));
      plan_.buffer_of.push_back(static_cast<int>(p.buffers.size()));
      program::Buffer& buffer = p.buffers.emplace_back();
      buffer.name = fmt::format("of_neighbours_{}", p.buffers.size());
      buffer.precision = precision;
    }
    return arrays[place];
  }

  Plan& plan_;
  const WalkOf& walked_;
  std::map<kernel::Precision, std::vector<int>> memory_;  ///< array numbers
  std::map<kernel::Precision, std::size_t> used_;         ///< of them, by the sweeps of a kernel
};

}  // namespace

void store_neighbour_values(Plan& plan, const WalkOf& walked, std::int64_t least_bytes) {
  NeighbourSweeps{plan, walked}(least_bytes);
}

}  // namespace vphi::schedule
