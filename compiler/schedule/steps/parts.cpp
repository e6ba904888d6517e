#include "compiler/schedule/steps/parts.hpp"

#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/parts.hpp"
#include "compiler/schedule/facts.hpp"
#include "compiler/schedule/steps/several.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using kernel::Kernel;

class LongKernels {
 public:
  explicit LongKernels(Plan& plan) : plan_(plan) {}

  void operator()() {
    std::vector<std::string> cut;
    for (const int number : kernels_of_steps(plan_)) {
      if (!in_parts(number)) continue;
      cut.push_back(fmt::format("{} in {}", plan_.kernels[static_cast<std::size_t>(number)].name,
                                parts_.at(number).size() + 1));
    }
    if (cut.empty()) return;
    launch_before(plan_.program, parts_);
    plan_.remarks.push_back(
        fmt::format("kernels longer than the caches of instructions are cut into parts, which hand "
                    "{} numbers of a site on through memory: {}",
                    numbers_, fmt::join(cut, ", ")));
  }

 private:
  bool in_parts(int number) {
    const Kernel whole = plan_.kernels[static_cast<std::size_t>(number)];
    if (whole.sites() == 1 || whole.along >= 0 || kernel::sums_pairs(whole)) return false;
    const std::map<const algebra::Node*, int> places = places_of_stores(whole);
    std::vector<Expr> stored;
    for (const kernel::Store& store : whole.stores)
      if (places.contains(store.value.get())) stored.push_back(store.value);
    const auto cuts = kernel::cuts_of(whole.values(), stored, is_read, whole.compute);
    if (cuts.empty()) return false;
    std::set<int> done;          // arrays that an earlier part has stored
    algebra::Substitution rest;  // by what the part before has handed on
    for (std::size_t part = 0; part < cuts.size(); ++part) {
      Kernel k = whole;
      k.name = fmt::format("{}_part_{}", whole.name, part + 1);
      k.comment = fmt::format("part {} of {}: {}", part + 1, cuts.size() + 1, whole.comment);
      k.stores.clear();
      k.reductions.clear();
      k.epilogue.clear();
      algebra::Substitution next;
      std::size_t handed_on = 0;
      for (const Expr value : cuts[part]) {
        const auto place = places.find(value.get());
        const int array =
            place == places.end() ? memory(handed_on++, whole.compute) : place->second;
        if (place == places.end() || done.insert(array).second)
          k.stores.push_back({array, rest(value)});
        next.add(value, value->arena->load(array));
      }
      rest = std::move(next);
      declare_used(plan_, k);
      parts_[number].push_back(add_kernel(plan_, std::move(k)));
    }
    Kernel& last = plan_.kernels[static_cast<std::size_t>(number)];
    std::erase_if(last.stores, [&](const auto& store) { return done.contains(store.array); });
    for (kernel::Store& store : last.stores) store.value = rest(store.value);
    for (kernel::Reduction& reduction : last.reductions) reduction.value = rest(reduction.value);
    declare_used(plan_, last);
    add_cost(plan_, static_cast<std::size_t>(number));
    return true;
  }

  /// The arrays of stored values that a part can read back: those that the kernel does not read,
  /// in the precision that it computes in.
  std::map<const algebra::Node*, int> places_of_stores(const Kernel& whole) const {
    std::set<int> read;
    for (const Expr value : whole.values())
      for (const Expr node : algebra::reads(value))
        read.insert((node.is(algebra::Op::Stencil) ? node.arg(0) : node)->index);
    std::map<const algebra::Node*, int> places;
    for (const kernel::Store& store : whole.stores) {
      const program::Buffer& buffer = plan_.program.buffers[static_cast<std::size_t>(
          plan_.buffer_of[static_cast<std::size_t>(store.array)])];
      if (!read.contains(store.array) && buffer.precision == whole.compute)
        places.emplace(store.value.get(), store.array);
    }
    return places;
  }

  int memory(std::size_t place, kernel::Precision precision) {
    program::Program& p = plan_.program;
    std::vector<int>& arrays = memory_[precision];
    while (arrays.size() <= place) {
      arrays.push_back(static_cast<int>(plan_.buffer_of.size()));
      plan_.buffer_of.push_back(static_cast<int>(p.buffers.size()));
      program::Buffer& buffer = p.buffers.emplace_back();
      buffer.name = fmt::format("handed_on_{}", numbers_++);
      buffer.precision = precision;
    }
    return arrays[place];
  }

  Plan& plan_;
  std::map<int, std::vector<int>> parts_;  ///< kernels before the last part, by its number
  std::map<kernel::Precision, std::vector<int>> memory_;  ///< array numbers
  int numbers_ = 0;                                       ///< arrays in it
};

}  // namespace

void cut_long_kernels(Plan& plan) { LongKernels{plan}(); }

}  // namespace vphi::schedule
