#include "compiler/schedule/steps/flux.hpp"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/steps/wall_fluxes.hpp"

namespace vphi::schedule {
namespace {

using algebra::Arena;
using algebra::Offset;
using algebra::Op;
using physics::AxisScheme;
using physics::Conservation;
using physics::Derived;

/// Operations that a value may cost for each further place where it is read before it is kept in
/// memory: about what a store and a few loads cost.
constexpr int kDear = 150;

/// The cells beyond the ends of the axis. Beyond an open wall every cell has the state of the last
/// cell, and the lines of the scheme are evaluated for such cells too, as is the state after half
/// of the step. Memory holds the values of the box alone, so a value that reads neighbours is not
/// stored with open walls, apart from the flux through a face, which is that of the wall where the
/// last cell has no neighbour. Beyond a mirror the values follow from the stored ones.
enum class Ends { Periodic, Mirrors, Open };

/// Whether a line chooses by the number of its cell, as where the state beyond an end is given: it
/// is then not the mirror image of another.
bool chooses_by_cell(const AxisScheme& scheme) {
  return std::ranges::any_of(scheme.lines, [&](const Derived& line) {
    return algebra::contains(line.value, [&](Expr node) {
      const auto is_cell = [&](Expr e) { return e.is(Op::Site) && e->index == scheme.axis; };
      return node.is(Op::Less) && std::ranges::any_of(node.args(), is_cell);
    });
  });
}

Ends ends_of(const physics::System& system, int axis) {
  const auto k = static_cast<std::size_t>(axis);
  switch (system.lattice.boundary[k]) {
    case physics::Boundary::Periodic:
      return Ends::Periodic;
    case physics::Boundary::Neumann:
      return chooses_by_cell(system.conservation->sweeps.at(k)) ? Ends::Open : Ends::Mirrors;
    case physics::Boundary::Antiperiodic:
    case physics::Boundary::Fixed:
    case physics::Boundary::Outflow:
    case physics::Boundary::Absorbing:
      break;
  }
  return Ends::Open;
}

/// The lines that a scheme's fluxes through faces are made of.
std::set<int> lines_of_faces(const AxisScheme& scheme) {
  std::set<int> lines;
  for (const auto& [quantity, face] : scheme.face)
    for (const Expr load : algebra::reads(face)) lines.insert(load->index);
  return lines;
}

/// The distances along the axis at which each value is read, and the values that are therefore
/// stored.
class KeptLines {
 public:
  /// `walked`: the kernel walks along lines, where every value is computed once anyway.
  KeptLines(const Conservation& laws, const AxisScheme& scheme, Ends ends, bool walked)
      : axis_(static_cast<std::size_t>(scheme.axis)) {
    if (walked) return;
    for (const auto& [quantity, result] : scheme.result) read(result, {0});
    for (std::size_t i = scheme.lines.size(); i-- > 0;)
      decide(scheme.lines[i], false, ends != Ends::Open);
    // the face of a right side: one computation serves both its sites. Beyond a wall there is a
    // face without a site of its own (WallFluxes).
    if (!laws.step && ends == Ends::Periodic) kept_.merge(lines_of_faces(scheme));
    for (std::size_t i = laws.recovered.size(); i-- > 0;) {
      decide(laws.recovered[i], laws.recovered[i].keep, true);
    }
  }
  bool operator()(int array) const { return kept_.contains(array); }

 private:
  void read(Expr value, const std::set<int>& from) {
    for (const Expr load : algebra::reads(value)) {
      if (!load.is(Op::Load)) continue;
      for (const int place : from) places_[load->index].insert(place + load->offset.d[axis_]);
    }
  }
  void decide(const Derived& value, bool solved, bool possible) {
    const auto found = places_.find(value.array);
    if (found == places_.end()) return;
    const int further = static_cast<int>(found->second.size()) - 1;
    const int cost = operations_in(std::span(&value.value, 1));
    const bool keep = possible && further > 0 && (solved || cost * further >= kDear);
    if (keep) kept_.insert(value.array);
    read(value.value, keep ? std::set<int>{0} : found->second);
  }

  std::size_t axis_;
  std::map<int, std::set<int>> places_;
  std::set<int> kept_;
};

/// The place beyond a reflecting wall is the mirror image, in which a vector's component along the
/// axis changes sign. `odd` has these arrays, and those of a block that hold such values.
class Mirrors {
 public:
  explicit Mirrors(const physics::System& system)
      : system_(system), odd_(system.conservation->odd) {}

  /// `made` holds what `array` stands for.
  void follow(int array, Expr made) {
    const auto odd = odd_.find(array);
    if (odd != odd_.end() && made.is(Op::Load)) odd_[made->index] = odd->second;
  }

  Expr operator()(Expr value) const {
    if (odd_.empty()) return value;
    Arena& arena = *system_.arena;
    return algebra::rewrite(value, [&](Expr node) -> Expr {
      const auto odd = node.is(Op::Load) ? odd_.find(node->index) : odd_.end();
      const int distance = odd == odd_.end() ? 0 : node->offset.d[odd->second];
      if (distance == 0) return node;
      const auto n = system_.lattice.extent[static_cast<std::size_t>(odd->second)];
      const Expr site = arena.site(odd->second);
      const Expr beyond = distance < 0
                              ? arena.raw(Op::Less, {site, arena.integer(-distance)})
                              : arena.raw(Op::Less, {arena.integer(n - 1 - distance), site});
      return arena.raw(Op::Select, {beyond, arena.raw(Op::Neg, {node}), node});
    });
  }

 private:
  const physics::System& system_;
  std::map<int, int> odd_;
};

Expr fixed_order(Expr value) { return kernel::with_fixed_order(value); }

/// One value of a site, stored or to be computed again where it is read.
Expr kept_or_not(Block& block, Mirrors& mirrors, const Derived& value, Expr made, bool keep) {
  if (!keep) return made;
  const Expr load = block.array(value.name, mirrors(made));
  mirrors.follow(value.array, load);
  return load;
}

Expr defined(Block& block, Mirrors& mirrors, const State& state, const Derived& value, bool keep) {
  return kept_or_not(block, mirrors, value, in_order(state, value.value), keep);
}

/// Slot of a scalar made before the sweeps of its part.
Expr step_length(Block& block, double weight) {
  const physics::System& system = block.system();
  Arena& arena = *system.arena;
  return block.scalar("flux_dt", arena.real(system.dt * weight));
}

/// Whether an expectation reads the scalar.
bool asked_for(const physics::System& system, const std::string& name) {
  const auto reads = [&](Expr value) {
    return value && algebra::contains(value, [&](Expr node) {
             return node.is(Op::Symbol) && node->name == name;
           });
  };
  return std::ranges::any_of(system.expectations, [&](const physics::Expectation& promise) {
    return reads(promise.value) || reads(promise.ok) || reads(promise.scale);
  });
}

/// The number of values at a site that the limits change between two states.
Expr fixes_between(const physics::System& system, const State& before, const State& after) {
  Arena& arena = *system.arena;
  const Expr zero = arena.integer(0), one = arena.integer(1);
  std::vector<int> limited = system.conservation->quantities;
  for (const Derived& limit : system.limits)  // of fields beside the laws
    if (std::ranges::count(limited, limit.array) == 0) limited.push_back(limit.array);
  Expr count = zero;
  for (const int array : limited) {
    const Expr a = before.arrays.at(array), b = after.arrays.at(array);
    if (a == b) continue;
    const Expr changed = arena.raw(Op::Select, {arena.raw(Op::Equal, {a, b}), zero, one});
    count = count.is_zero() ? changed : arena.raw(Op::Add, {count, changed});
  }
  return count;
}

/// The assignment of the scalar that counts these changes while the run has not ended.
kernel::ScalarAssign count_fixes(Block& block, Expr count, Wanted& wanted) {
  Arena& arena = *block.system().arena;
  const std::string& name = block.system().conservation->fixes;
  const std::string changed = block.slots().fresh("fixed");
  block.reduce(changed, kernel::ReduceKind::Sum, count);
  wanted.slots.push_back(changed);
  const Expr runs = arena.integer(1) - arena.symbol(slot::kStop);
  return {name, arena.symbol(name) + runs * arena.symbol(changed)};
}

/// The pass along one axis, over `weight` of the step.
class AxisPart {
 public:
  AxisPart(const physics::System& system, const AxisScheme& scheme, double weight, Slots& slots,
           Storage& storage)
      : system_(system),
        laws_(*system.conservation),
        scheme_(scheme),
        ends_(ends_of(system, scheme.axis)),
        walked_(system.lattice.dims > 1),
        kept_(laws_, scheme, ends_, walked_),
        weight_(weight),
        block_(system, slots, storage),
        mirrors_(system) {}

  FluxPart make(std::vector<int>& scratch) {
    Arena& arena = *system_.arena;
    const State start = stored_state(system_);
    State state = start;
    recover(state, "", true);
    if (laws_.half_step) {
      State half = lines(state, step_length(block_, weight_ / 2));
      State middle = start;
      for (const auto& [quantity, result] : scheme_.result) {
        middle.arrays[quantity] = fixed_order(at(half, result));
      }
      apply_limits(block_, middle);
      recover(middle, "half_", ends_ != Ends::Open);
      for (const Derived& value : laws_.recovered) {
        state.arrays[value.array] = middle.arrays.at(value.array);
      }
    }
    const State done = lines(state, step_length(block_, weight_));
    State end = start;
    for (const auto& [quantity, result] : scheme_.result) {
      end.arrays[quantity] = fixed_order(at(done, result));
    }
    const State unlimited = end;
    apply_limits(block_, end);

    FluxPart part;
    Wanted wanted;
    constexpr const char* kAxes[] = {"x", "y", "z"};
    wanted.name = fmt::format("along_{}", kAxes[scheme_.axis]);
    wanted.scratch = &scratch;
    if (walked_) wanted.along = scheme_.axis;
    // a run that has ended keeps its state
    const Expr stop = arena.symbol(slot::kStop);
    for (const int quantity : laws_.quantities) {
      const Expr value =
          arena.raw(Op::Select, {stop, arena.load(quantity), end.arrays.at(quantity)});
      wanted.arrays[quantity] = block_.array(name_of(system_, quantity), mirrors_(value), quantity);
    }
    for (const auto& [quantity, name] : laws_.outflow) {
      if (ends_ == Ends::Periodic || !asked_for(system_, name)) continue;
      const std::string lost = block_.slots().fresh("lost");
      const Expr through = physics::lost_through_walls(system_, scheme_, quantity);
      block_.reduce(lost, kernel::ReduceKind::Sum, mirrors_(fixed_order(at(done, through))));
      wanted.slots.push_back(lost);
      const Expr more = (arena.integer(1) - stop) * arena.symbol(lost);
      part.finish.push_back({name, arena.symbol(name) + more});
    }
    if (!laws_.fixes.empty())
      part.finish.push_back(
          count_fixes(block_, mirrors_(fixes_between(system_, unlimited, end)), wanted));
    part.sweeps = make_site_loops(block_, wanted);
    return part;
  }

 private:
  void recover(State& state, const std::string& prefix, bool keep) {
    for (Derived value : laws_.recovered) {
      const int array = value.array;
      value.name = prefix + value.name;
      state.arrays[array] = defined(block_, mirrors_, state, value, keep && kept_(array));
    }
  }
  State lines(State state, Expr length) {
    state.scalars[Conservation::kStepLength] = length;
    for (const Derived& line : scheme_.lines) {
      state.arrays[line.array] = defined(block_, mirrors_, state, line, kept_(line.array));
    }
    return state;
  }

  const physics::System& system_;
  const Conservation& laws_;
  const AxisScheme& scheme_;
  const Ends ends_;
  const bool walked_;  ///< there are lines to walk along side by side
  const KeptLines kept_;
  const double weight_;
  Block block_;
  Mirrors mirrors_;
};

/// U' = source over half a step, by Heun's method; `late`: the second half.
FluxPart source_part(const physics::System& system, bool late, Slots& slots, Storage& storage,
                     std::vector<int>& scratch) {
  const Conservation& laws = *system.conservation;
  Arena& arena = *system.arena;
  Block block(system, slots, storage);
  const Expr stop = arena.symbol(slot::kStop);
  const Expr h = block.scalar("source_dt", arena.real(system.dt / 2) * (arena.integer(1) - stop));
  const Expr time = arena.symbol(system.time);
  const State start = stored_state(system);
  const auto with_time = [&](State state, int half_steps) {
    if (!state.scalars.contains(system.time)) return state;
    state.scalars[system.time] =
        block.scalar("source_t", time + arena.real(system.dt / 2) * arena.integer(half_steps));
    return state;
  };
  Mirrors mirrors(system);
  const auto rates = [&](State& state) {
    for (const Derived& value : laws.recovered) {
      state.arrays[value.array] = defined(block, mirrors, state, value, false);
    }
    std::map<int, Expr> result;
    for (const auto& [quantity, source] : laws.source) {
      result[quantity] = fixed_order(at(state, source));
    }
    return result;
  };
  State first = with_time(start, late ? 1 : 0);
  const std::map<int, Expr> before = rates(first);
  State ahead = with_time(start, late ? 2 : 1);
  for (const auto& [quantity, rate] : before) {
    ahead.arrays[quantity] =
        arena.raw(Op::Add, {start.arrays.at(quantity), arena.raw(Op::Mul, {h, rate})});
  }
  const std::map<int, Expr> after = rates(ahead);
  State end = start;
  for (const auto& [quantity, rate] : before) {
    const Expr both = arena.raw(Op::Add, {rate, after.at(quantity)});
    const Expr half = block.scalar("source_half_dt", h / arena.integer(2));
    end.arrays[quantity] =
        arena.raw(Op::Add, {start.arrays.at(quantity), arena.raw(Op::Mul, {half, both})});
  }
  const State unlimited = end;
  apply_limits(block, end);
  FluxPart part;
  Wanted wanted;
  wanted.name = late ? "source_late" : "source";
  wanted.scratch = &scratch;
  for (const int quantity : laws.quantities) {
    if (end.arrays.at(quantity) == start.arrays.at(quantity)) continue;
    wanted.arrays[quantity] =
        block.array(name_of(system, quantity), end.arrays.at(quantity), quantity);
  }
  if (!laws.fixes.empty()) {
    const Expr changed = mirrors(fixes_between(system, unlimited, end));
    part.finish.push_back(count_fixes(block, changed, wanted));
  }
  part.sweeps = make_site_loops(block, wanted);
  return part;
}

/// What each line of a scheme's fluxes computes from the state, with all other lines written out.
/// Empty where a flux reads a stencil, whose sites at a wall are not reads of their own.
std::map<int, Expr> fluxes_of(const State& state, const AxisScheme& scheme) {
  const std::set<int> lines = lines_of_faces(scheme);
  State written = state;
  std::map<int, Expr> fluxes;
  for (const Derived& line : scheme.lines) {
    const Expr value = written.arrays[line.array] = at(written, line.value);
    if (!lines.contains(line.array)) continue;
    if (algebra::contains(value, [](Expr node) { return node.is(Op::Stencil); })) return {};
    fluxes[line.array] = value;
  }
  return fluxes;
}

/// The same for each axis where they are stored in spite of walls (WallFluxes).
std::vector<std::map<int, Expr>> stored_fluxes(const physics::System& system, const State& state,
                                               const WallFluxes& walls) {
  const Conservation& laws = *system.conservation;
  std::vector<std::map<int, Expr>> fluxes(laws.sweeps.size());
  const auto let_out = [&](const AxisScheme& scheme) {
    const auto ends = system.lattice.boundary[static_cast<std::size_t>(scheme.axis)];
    return ends == physics::Boundary::Outflow && !chooses_by_cell(scheme);
  };
  if (laws.step || std::ranges::none_of(laws.sweeps, let_out)) return fluxes;
  std::vector<std::vector<Expr>> values(fluxes.size());
  std::vector<Expr> all;
  for (std::size_t i = 0; i < fluxes.size(); ++i) {
    fluxes[i] = fluxes_of(state, laws.sweeps[i]);
    for (const auto& [line, value] : fluxes[i]) values[i].push_back(value);
    all.insert(all.end(), values[i].begin(), values[i].end());
  }
  const int operations = operations_in(all);
  for (std::size_t i = 0; i < fluxes.size(); ++i) {
    const AxisScheme& scheme = laws.sweeps[i];
    if (!let_out(scheme) || !walls.worthwhile(scheme.axis, values[i], operations))
      fluxes[i].clear();
  }
  return fluxes;
}

}  // namespace

std::optional<kernel::ScalarAssign> keep_limits(Block& block, State& state, Wanted& wanted,
                                                std::optional<Recovered>& last) {
  const physics::System& system = block.system();
  if (!system.conservation || system.limits.empty()) return std::nullopt;
  const State before = state;
  last = apply_limits(block, state, last);
  const Expr changed = fixes_between(system, before, state);
  define_limited(block, state);
  if (system.conservation->fixes.empty()) return std::nullopt;
  return count_fixes(block, changed, wanted);
}

void add_recovered(Block& block, State& state) {
  const auto& laws = block.system().conservation;
  if (!laws) return;
  // no order of operations yet: an output may combine them with others
  for (const Derived& value : laws->recovered) {
    state.arrays[value.array] = block.array(value.name, at(state, value.value));
  }
}

namespace {

/// Limits the state and recovers it, with values that are read at neighbours in memory.
void recover_stage(Block& block, State& state, std::optional<Recovered>& last, Mirrors& mirrors) {
  const physics::System& system = block.system();
  last = apply_limits(block, state, last);
  for (const int quantity : system.conservation->quantities) {
    Expr& value = state.arrays.at(quantity);
    value = block.array(name_of(system, quantity) + "_there", mirrors(value));
    mirrors.follow(quantity, value);
  }
  recover(system, last, state, [&](const Derived& value, const State& from, const auto& chosen) {
    return kept_or_not(block, mirrors, value, chosen(in_order(from, value.value)), true);
  });
}

}  // namespace

std::function<Expr(Expr)> with_fluxes(Block& block, State& state, Recoveries& recoveries) {
  const physics::System& system = block.system();
  if (!system.conservation) return [](Expr value) { return value; };
  const Conservation& laws = *system.conservation;
  Mirrors mirrors(system);
  const bool at_start = is_stored(system, state);
  recoveries.at_start = recoveries.at_start || at_start;
  if (at_start && recoveries.kept) {
    add_kept(system, state);
    for (const Derived& value : laws.recovered)
      mirrors.follow(value.array, state.arrays.at(value.array));
  } else {
    const bool iterated = std::ranges::any_of(
        laws.recovered, [](const Derived& value) { return bool(value.from_recovered); });
    if (iterated && !recoveries.last) ++recoveries.cold;
    recover_stage(block, state, recoveries.last, mirrors);
  }
  if (laws.starts_from_stages)
    recoveries.last = Recovered{state, {}};
  else
    recoveries.last.reset();
  WallFluxes walls(system);
  const std::vector<std::map<int, Expr>> stored = stored_fluxes(system, state, walls);
  for (std::size_t i = 0; i < laws.sweeps.size(); ++i) {
    const AxisScheme& scheme = laws.sweeps[i];
    const KeptLines kept(laws, scheme, ends_of(system, scheme.axis), false);
    for (const Derived& line : scheme.lines) {
      const auto flux = stored[i].find(line.array);
      const bool keep = kept(line.array) || flux != stored[i].end();
      Expr& made = state.arrays[line.array] = defined(block, mirrors, state, line, keep);
      if (flux != stored[i].end()) walls.add(scheme.axis, made, flux->second);
    }
  }
  return [mirrors, walls](Expr value) { return mirrors(walls(value)); };
}

Stepping make_flux_step(const physics::System& system, Slots& slots, Storage& storage) {
  const Conservation& laws = *system.conservation;
  Stepping result;
  std::vector<int> scratch;
  std::vector<std::pair<int, double>> known;  // axis and weight of each part
  const auto part_of = [&](const Conservation::Share& share) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] == std::pair(share.axis, share.weight)) return static_cast<int>(i);
    }
    const AxisScheme& scheme = laws.sweeps[static_cast<std::size_t>(share.axis)];
    result.parts.push_back(AxisPart(system, scheme, share.weight, slots, storage).make(scratch));
    known.emplace_back(share.axis, share.weight);
    return static_cast<int>(known.size()) - 1;
  };
  int early = -1, late = -1;
  if (!laws.source.empty()) {
    result.parts.push_back(source_part(system, false, slots, storage, scratch));
    result.parts.push_back(source_part(system, true, slots, storage, scratch));
    known = {{-1, 0}, {-1, 1}};
    early = 0, late = 1;
    result.remarks.insert("sources act over half a step before and after the fluxes");
  }
  for (const auto& order : laws.orders) {
    std::vector<int> parts;
    if (early >= 0) parts.push_back(early);
    for (const Conservation::Share& share : order) parts.push_back(part_of(share));
    if (late >= 0) parts.push_back(late);
    result.cycle.push_back(std::move(parts));
  }
  move_clocks(system, slots, storage, result);
  if (system.lattice.dims > 1) {
    result.remarks.insert(
        "each axis is one sweep that walks along its lines: every value is made once a cell and "
        "held while later cells want it; costs are those of a step of the walk");
  }
  std::size_t sweeps = 0;
  for (const int part : result.cycle.front()) {
    sweeps += result.parts[static_cast<std::size_t>(part)].sweeps.sweeps.size();
  }
  result.remarks.insert(fmt::format(
      "a step is {} sweeps over the lattice, {} axes{}", sweeps, laws.sweeps.size(),
      laws.orders.size() > 1 ? fmt::format(" in {} orders in turn", laws.orders.size()) : ""));
  return result;
}

}  // namespace vphi::schedule
