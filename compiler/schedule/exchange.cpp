#include "compiler/schedule/exchange.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/known_colours.hpp"

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

/// The sites of one class of a buffer; of one that lies plainly all have class 0.
struct OfClass {
  int buffer = 0, number = 0;
  auto operator<=>(const OfClass&) const = default;
};
using Depths = std::map<OfClass, Depth>;  ///< what is missing needs nothing

void deepen(Depths& known, const Depths& more) {
  for (const auto& [of_class, depth] : more) known[of_class].deepen(depth);
}

/// A read of a site `apart` from the one that is computed.
struct Read {
  int buffer = 0;
  std::array<int, 4> apart{};
};

std::vector<Read> reads_of(const Plan& plan, const kernel::Kernel& kernel) {
  std::vector<Read> list;
  const auto read = [&](int array, const algebra::Offset& first, const algebra::Offset& then) {
    Read& one = list.emplace_back();
    one.buffer = plan.buffer_of[static_cast<std::size_t>(array)];
    for (std::size_t axis = 0; axis < 4; ++axis) one.apart[axis] = first.d[axis] + then.d[axis];
  };
  for (const Expr leaf : algebra::reads(kernel.values())) {
    if (leaf.is(Op::Load)) read(leaf->index, leaf->offset, {});
    if (!leaf.is(Op::Stencil)) continue;
    for (const algebra::Offset& offset : leaf->arena->stencil_data(leaf->index).offsets)
      read(leaf.arg(0)->index, offset, leaf.arg(0)->offset);
  }
  return list;
}

/// That a site `distance` away is reached, below or above.
void extend(std::array<int, 2>& depth, int distance) {
  int& side = depth[distance < 0 ? 0 : 1];
  side = std::max(side, std::abs(distance));
}

/// What launches need of the ghosts that others fill.
class Exchange {
 public:
  explicit Exchange(Plan& plan) : plan_(plan), colours_(plan) {
    for (std::size_t k = 0; k < plan.kernels.size(); ++k) deepen(deepest_, read(k, {}));
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
  Depths before(const Launches& list, Depths after) {
    const auto colours = colours_.of(list);
    for (std::size_t i = list.size(); i-- > 0;) step_back(list[i], colours[i], after);
    return after;
  }

  /// Halos of a list that must leave `after`: each stands at the last launch that writes the buffer
  /// before one that reads its ghosts, as deep as those read that come before the next one that
  /// writes it.
  void fill(Launches& list, Depths after) {
    const auto colours = colours_.of(list);
    for (std::size_t i = list.size(); i-- > 0;)
      list[i].halos = halos_of(step_back(list[i], colours[i], after));
  }

  /// Classes of a buffer whose ghosts are filled alike are filled together.
  std::vector<program::Halo> halos_of(const Depths& filled) const {
    std::vector<program::Halo> halos;
    for (const auto& [of_class, depth] : filled) {
      const std::uint64_t bit = std::uint64_t{1} << of_class.number;
      const auto alike = std::ranges::find_if(halos, [&](const program::Halo& halo) {
        return halo.buffer == of_class.buffer && halo.depth == depth.planes &&
               halo.beside == depth.lines;
      });
      if (alike == halos.end())
        halos.push_back({of_class.buffer, depth.planes, depth.lines, bit});
      else
        alike->classes |= bit;
    }
    for (program::Halo& halo : halos)
      if (halo.classes == all_classes(halo.buffer)) halo.classes = 0;
    return halos;
  }

  /// From what is needed after a launch to what is needed before it. What it must fill comes back.
  Depths step_back(const program::Launch& launch, std::optional<int> colour, Depths& needed) {
    if (launch.solve >= 0) deepen(needed, deepest_);  // its launches come behind this one
    Depths filled;
    for (const OfClass& one : written(launch, colour)) {
      const auto found = needed.find(one);
      if (found == needed.end()) continue;
      if (!found->second.none()) filled.insert(*found);
      needed.erase(found);
    }
    deepen(needed, read(static_cast<std::size_t>(launch.kernel), colour));
    return filled;
  }

  /// What has another present copy after the launch.
  std::set<OfClass> written(const program::Launch& launch, std::optional<int> colour) const {
    std::set<OfClass> all;
    const auto add = [&](int buffer, std::uint64_t classes) {
      each_class(classes, [&](int number) { all.insert({buffer, number}); });
    };
    for (const int buffer : launch.swap) add(buffer, all_classes(buffer));
    const kernel::Kernel& kernel = plan_.kernels[static_cast<std::size_t>(launch.kernel)];
    for (const kernel::ArrayParam& array : kernel.arrays) {
      if (!array.written || array.next) continue;
      const int buffer = plan_.buffer_of[static_cast<std::size_t>(array.array)];
      add(buffer, classes(buffer, kernel, colour, {}));
    }
    for (const int map : launch.maps)
      for (const int buffer : plan_.program.maps[static_cast<std::size_t>(map)].to)
        add(buffer, all_classes(buffer));
    return all;
  }

  /// What a kernel reads of ghosts.
  const Depths& read(std::size_t number, std::optional<int> colour) {
    const auto [known, made] = reads_.try_emplace({number, colour.value_or(-1)});
    Depths& depths = known->second;
    if (!made) return depths;
    const program::Cut& cut = plan_.program.cut;
    const kernel::Kernel& kernel = plan_.kernels[number];
    if (kernel.gathers || kernel::sums_pairs(kernel)) {
      for (const auto& [buffer, depth] : reach_across(plan_, kernel, cut.axis))
        each_class(all_classes(buffer), [&](int of_class) {
          depths[{buffer, of_class}].planes = depth;
        });
      return depths;
    }
    const auto axis = static_cast<std::size_t>(cut.axis);
    for (const Read& one : reads_of(plan_, kernel)) {
      Depth depth;
      extend(depth.planes, one.apart[axis]);
      if (cut.second.ranks > 1) extend(depth.lines, one.apart[axis - 1]);
      if (depth.none()) continue;
      each_class(classes(one.buffer, kernel, colour, one.apart), [&](int of_class) {
        depths[{one.buffer, of_class}].deepen(depth);
      });
    }
    return depths;
  }

  /// As bits: those of a buffer, and those that a kernel reads or writes of it.
  std::uint64_t all_classes(int buffer) const {
    return classes_of_colour(order_of(buffer), {}, {}, {});
  }
  std::uint64_t classes(int buffer, const kernel::Kernel& kernel, std::optional<int> colour,
                        const std::array<int, 4>& apart) const {
    return classes_of_colour(order_of(buffer), kernel.colours, colour, apart);
  }
  program::SiteOrder order_of(int buffer) const {
    constexpr int kMost = 32;
    const program::Program& p = plan_.program;
    const bool plain = p.buffers[static_cast<std::size_t>(buffer)].home < 0;
    return plain || p.order.modulus > kMost ? program::SiteOrder{} : p.order;
  }
  static void each_class(std::uint64_t classes, const std::function<void(int)>& see) {
    for (int number = 0; classes >> number != 0; ++number)
      if ((classes >> number & 1) != 0) see(number);
  }

  Plan& plan_;
  KnownColours colours_;
  Depths deepest_;                                       ///< of all kernels
  std::map<std::pair<std::size_t, int>, Depths> reads_;  ///< by kernel and colour; -1: any
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
  for (const Read& one : reads_of(plan, kernel)) {
    const int distance = one.apart[static_cast<std::size_t>(axis)];
    if (distance != 0) extend(reach[one.buffer], distance);
  }
  return reach;
}

void exchange(Plan& plan) {
  Exchange in(plan);
  in();
}

}  // namespace vphi::schedule
