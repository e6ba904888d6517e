#include "compiler/schedule/division.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include "compiler/schedule/exchange.hpp"

namespace vphi::schedule {
namespace {

using kernel::Kernel;
using program::Launch;

/// Of the fewest planes that a rank has, ends are half at most: the time of an exchange is to pass
/// meanwhile.
constexpr std::int64_t kPlanesOfAnEnd = 4;

class Divider {
 public:
  Divider(Plan& plan, int ranks, const std::function<bool(const Kernel&)>& divisible, bool counts)
      : plan_(plan), p_(plan.program), divisible_(divisible), counts_(counts) {
    least_ = p_.cut.own;
    for (int rank = 0; rank < ranks; ++rank)
      least_ = std::min(least_, p_.cut.planes(ranks, rank).count);
  }

  Division operator()() {
    // lines of planes lie between ghosts too; of a row, or for all other ranks, there are no ends
    if (p_.cut.axis < 1 || p_.cut.second.ranks > 1 || p_.cut.all) return {};
    divide(p_.step);
    for (auto& step : p_.cycle) divide(step);
    for (program::Solve& solve : p_.solves) divide(solve.iterate);
    return std::move(division_);
  }

 private:
  struct Parts {
    int ends = 0, rest = 0;
    int then = -1;  ///< the epilogue; -1: there is none, or the parts have it
  };

  void divide(std::vector<Launch>& list) {
    std::vector<Launch> divided;
    for (Launch& launch : list) {
      const std::int64_t planes = planes_of_ends(launch);
      if (planes == 0) {
        divided.push_back(std::move(launch));
        continue;
      }
      const Parts parts = parts_of(launch, planes);
      divided.push_back({parts.ends, std::move(launch.swap), std::move(launch.halos)});
      divided.push_back({.kernel = parts.rest, .swap = {}});
      if (parts.then >= 0) divided.push_back({.kernel = parts.then, .swap = {}});
    }
    list = std::move(divided);
  }

  /// How deep the ends of a launch are; 0: it is not divided.
  std::int64_t planes_of_ends(const Launch& launch) const {
    const Kernel& kernel = plan_.kernels[static_cast<std::size_t>(launch.kernel)];
    if (launch.halos.empty() || launch.solve >= 0 || !launch.maps.empty()) return 0;
    if (!kernel.planes || kernel.gathers || kernel::sums_pairs(kernel)) return 0;
    if (!kernel.reductions.empty() || !divisible_(kernel)) return 0;
    std::int64_t deepest = 0;
    for (const program::Halo& halo : launch.halos)
      deepest = std::max<std::int64_t>({deepest, halo.depth[0], halo.depth[1]});
    for (const auto& [buffer, depth] : reach_across(plan_, kernel, p_.cut.axis))
      deepest = std::max<std::int64_t>({deepest, depth[0], depth[1]});
    const std::int64_t modulus = kernel.colours ? kernel.colours->modulus : 1;
    const std::int64_t planes = (deepest + modulus - 1) / modulus * modulus;
    return kPlanesOfAnEnd * planes <= least_ ? planes : 0;
  }

  Parts parts_of(const Launch& launch, std::int64_t planes) {
    const auto key = std::tuple(launch.kernel, launch.swap, planes);
    const auto known = parts_.find(key);
    if (known != parts_.end()) return known->second;
    const Kernel whole = plan_.kernels[static_cast<std::size_t>(launch.kernel)];
    const std::int64_t inside = whole.planes->own - 2 * planes;
    Kernel ends = part(whole, "ends", 0, 2 * planes), rest = part(whole, "rest", planes, inside);
    ends.planes->gap = inside;
    Parts parts;
    const bool counted = counts_ && whole.reach == kernel::Reach::Launch && !whole.epilogue.empty();
    if (!counted && !whole.epilogue.empty()) parts.then = add(epilogue_alone(ends, rest));
    parts.ends = add(std::move(ends)), parts.rest = add(std::move(rest));
    division_.ends.insert(parts.ends);
    division_.rests[parts.rest] = launch.swap;
    if (counted) division_.counted.push_back({parts.ends, parts.rest});
    return parts_[key] = parts;
  }

  static Kernel part(const Kernel& whole, const char* name, std::int64_t below, std::int64_t own) {
    Kernel made = whole;
    made.name += std::string("_") + name;
    kernel::Planes& planes = *made.planes;
    planes.first += below, planes.below = below;
    planes.own = planes.slab = own;
    return made;
  }

  /// The epilogue that the parts have had.
  static Kernel epilogue_alone(Kernel& ends, Kernel& rest) {
    Kernel then = rest;
    then.name.resize(then.name.rfind('_'));
    then.name += "_then";
    then.planes.reset(), then.colours.reset();
    then.arrays.clear(), then.stores.clear(), then.paired_angles.clear();
    then.random = {};
    then.still.clear();
    ends.epilogue.clear(), rest.epilogue.clear();
    return then;
  }

  int add(Kernel kernel) {
    plan_.kernels.push_back(std::move(kernel));
    return static_cast<int>(plan_.kernels.size()) - 1;
  }

  Plan& plan_;
  program::Program& p_;
  const std::function<bool(const Kernel&)>& divisible_;
  bool counts_;
  std::int64_t least_ = 0;  ///< planes of the rank that has fewest
  std::map<std::tuple<int, std::vector<int>, std::int64_t>, Parts> parts_;
  Division division_;
};

}  // namespace

Division divide(Plan& plan, int ranks, const std::function<bool(const kernel::Kernel&)>& divisible,
                bool counts) {
  return Divider(plan, ranks, divisible, counts)();
}

}  // namespace vphi::schedule
