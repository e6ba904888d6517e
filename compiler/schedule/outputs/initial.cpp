#include "compiler/schedule/outputs/initial.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/outputs/gauss.hpp"
#include "compiler/schedule/steps/flow.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"

namespace vphi::schedule {

using algebra::Op;

namespace {

/// Random arrays that a value reads.
std::set<int> random_reads(const physics::System& system, Expr value) {
  std::set<int> arrays;
  for (const Expr read : algebra::reads(value)) {
    const int array = read.is(Op::Load) ? read->index : -1;
    for (const physics::RandomField& random : system.random) {
      if (random.array == array) arrays.insert(array);
    }
  }
  return arrays;
}

/// Splits sweeps so that each reads two random arrays at most: random arrays are needed once and
/// borrow the second copies of fields. The stores of a sweep are independent of each other; its
/// scalars stay with its last part.
std::vector<kernel::SiteLoop> with_few_random_arrays(const physics::System& system,
                                                     const kernel::SiteLoop& given) {
  constexpr std::size_t kAtOnce = 2;
  if (!given.kernel.reductions.empty()) return {given};
  // a value that several stores share may read a random array as well
  const kernel::SiteLoop loop = given.shared.empty() ? given : kernel::inlined(given);
  std::vector<std::vector<kernel::Store>> parts(1);
  std::set<int> here;
  for (const kernel::Store& store : loop.kernel.stores) {
    const std::set<int> wanted = random_reads(system, store.value);
    std::set<int> together = here;
    together.insert(wanted.begin(), wanted.end());
    if (together.size() > kAtOnce && !parts.back().empty()) {
      parts.emplace_back();
      together = wanted;
    }
    here = together;
    parts.back().push_back(store);
  }
  if (parts.size() == 1) return {given};
  std::vector<kernel::SiteLoop> result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    kernel::SiteLoop part = loop;
    part.kernel.stores = parts[i];
    if (i > 0) {
      part.kernel.name += "_part_" + std::to_string(i + 1);
      part.before.clear();
    }
    if (i + 1 < parts.size()) part.kernel.epilogue.clear();
    std::erase_if(part.kernel.arrays, [&](const kernel::ArrayParam& param) {
      return std::ranges::none_of(part.kernel.stores, [&](const kernel::Store& store) {
        return store.array == param.array || algebra::contains(store.value, [&](Expr node) {
                 return node.is(Op::Load) && node->index == param.array;
               });
      });
    });
    for (kernel::ArrayParam& param : part.kernel.arrays) {
      param.written = std::ranges::any_of(
          part.kernel.stores, [&](const kernel::Store& s) { return s.array == param.array; });
    }
    result.push_back(std::move(part));
  }
  return result;
}

/// Moves sums over random arrays that are stored unchanged after the stores, to read the stored
/// arrays, so that the stores can be split. Nothing where a sum reads another random array.
std::optional<std::pair<kernel::SiteLoop, kernel::SiteLoop>> with_sums_behind(
    const physics::System& system, const kernel::SiteLoop& loop, const Storage& storage) {
  if (!loop.shared.empty()) return std::nullopt;
  std::map<int, int> stored;  // random array -> array of state
  for (const kernel::Store& store : loop.kernel.stores) {
    const bool drawn = store.value.is(Op::Load) && store.value->offset.zero() &&
                       !random_reads(system, store.value).empty();
    if (!drawn) return std::nullopt;
    stored.emplace(store.value->index, store.array);
  }
  kernel::SiteLoop stores = loop, sums = loop;
  stores.kernel.reductions.clear();
  stores.kernel.epilogue.clear();
  sums.before.clear();
  sums.kernel.name += "_sums";
  sums.kernel.stores.clear();
  sums.kernel.arrays.clear();
  for (kernel::Reduction& reduction : sums.kernel.reductions) {
    for (const int array : random_reads(system, reduction.value))
      if (!stored.contains(array)) return std::nullopt;
    reduction.value = algebra::rewrite(reduction.value, [&](Expr node) {
      const auto found = node.is(Op::Load) ? stored.find(node->index) : stored.end();
      return found == stored.end() ? node
                                   : system.arena->load(found->second, node->offset, node->span);
    });
  }
  declare_arrays(sums.kernel, storage);
  return std::pair(std::move(stores), std::move(sums));
}

/// The values of a start as a block: first arrays, then the scalars that they do not need.
class StartBlock {
 public:
  StartBlock(const physics::System& system, Slots& slots, Storage& storage)
      : system_(system), storage_(storage), block_(system, slots, storage) {}

  /// Scalars whose initial value is a number have it from now on.
  void set_numbers() {
    for (const auto& s : system_.scalars)
      if (const auto number = algebra::constant(s.initial))
        state_.scalars[s.symbol] = system_.arena->number(*number);
  }

  /// `until_gauss`: without what needs a scalar that the state gives, which Gauss's law changes.
  void set_arrays(bool until_gauss) {
    for (const auto& v : system_.variables) state_.arrays[v.array] = system_.arena->integer(0);
    for (const physics::InitialValue& initial : system_.initial) {
      if (until_gauss && needs_scalar_of_state(initial)) continue;
      for (const auto& s : system_.scalars)
        if (algebra::depends_on(initial.value, system_.arena->symbol(s.symbol))) set_scalar(s);
      state_.arrays[initial.array] =
          block_.array(name_of(system_, initial.array), at(state_, initial.value), initial.array);
    }
    for (const auto& v : system_.variables) {
      Expr& value = state_.arrays[v.array];
      if (!value.is(Op::Load)) value = block_.array(v.name, value, v.array);
      wanted_.arrays[v.array] = value;
    }
  }

  /// What `set_arrays` has left, of the arrays in memory.
  void set_late_arrays() {
    for (const physics::InitialValue& initial : system_.initial) {
      if (!needs_scalar_of_state(initial)) continue;
      const Expr value = at(state_, initial.value);
      state_.arrays[initial.array] =
          block_.array(name_of(system_, initial.array), value, initial.array);
      wanted_.arrays[initial.array] = state_.arrays.at(initial.array);
    }
  }

  void set_scalars() {
    for (const auto& s : system_.scalars) set_scalar(s);
  }

  StartPart take(const char* name) {
    wanted_.name = name;
    SiteLoops sweeps = make_site_loops(block_, wanted_);
    StartPart result;
    const auto add = [&](const kernel::SiteLoop& loop) {
      for (kernel::SiteLoop& part : with_few_random_arrays(system_, loop)) {
        result.chain.sweeps.push_back(std::move(part));
        result.chain.swaps.emplace_back();
      }
    };
    for (std::size_t i = 0; i < sweeps.sweeps.size(); ++i) {
      const kernel::SiteLoop& loop = sweeps.sweeps[i];
      const bool both = !loop.kernel.reductions.empty() && loop.kernel.stores.size() > 2 &&
                        sweeps.swaps[i].empty();
      const auto parts = both ? with_sums_behind(system_, loop, storage_) : std::nullopt;
      if (parts) add(parts->first);
      add(parts ? parts->second : loop);
      result.chain.swaps.back() = sweeps.swaps[i];
    }
    result.chain.finish = std::move(finish_);
    result.alone = std::move(sweeps.alone);
    return result;
  }

 private:
  bool needs_scalar_of_state(const physics::InitialValue& initial) const {
    return std::ranges::any_of(system_.scalars, [&](const physics::ScalarVariable& s) {
      return !algebra::constant(s.initial) &&
             algebra::depends_on(initial.value, system_.arena->symbol(s.symbol));
    });
  }

  /// A scalar is computed when a value needs it first, from the state as it is then.
  void set_scalar(const physics::ScalarVariable& s) {
    if (state_.scalars.contains(s.symbol)) return;
    for (const auto& other : system_.scalars)
      if (&other != &s && algebra::depends_on(s.initial, system_.arena->symbol(other.symbol)))
        set_scalar(other);
    const Expr value = block_.scalar(s.symbol + "_start", at(state_, s.initial));
    state_.scalars[s.symbol] = value;
    finish_.push_back({s.symbol, value});
    if (value.is(Op::Symbol)) wanted_.slots.push_back(value->name);
  }

  const physics::System& system_;
  Storage& storage_;
  Block block_;
  State state_;
  Wanted wanted_;
  std::vector<kernel::ScalarAssign> finish_;
};

}  // namespace

Initial initial_state(const physics::System& system, Slots& slots, Storage& storage) {
  for (const auto& s : system.scalars) {
    const auto number = algebra::constant(s.initial);
    slots.add(s.symbol, number ? static_cast<double>(number->real) : 0);
  }
  StartBlock start(system, slots, storage);
  start.set_numbers();
  const bool gauss = !system.gauss.empty() || system.gauss_projection;
  start.set_arrays(gauss);
  std::vector<StartPart> parts;
  if (!gauss) {
    start.set_scalars();
    parts.push_back(start.take("initial"));
  } else {
    parts.push_back(start.take("initial"));
    for (StartPart& part : obey_gauss(system, slots, storage)) parts.push_back(std::move(part));
    StartBlock scalars(system, slots, storage);
    scalars.set_numbers();
    scalars.set_scalars();
    scalars.set_late_arrays();
    parts.push_back(scalars.take("initial_scalars"));
  }
  StartPart last = std::move(parts.back());
  parts.pop_back();
  return {std::move(parts), std::move(last.chain), std::move(last.alone)};
}

bool kernels_of_start_draw(const physics::System& system) {
  return std::ranges::any_of(system.initial, [](const physics::InitialValue& start) {
    return algebra::contains(start.value,
                             [](Expr node) { return node.is(Op::Normal) || node.is(Op::Uniform); });
  });
}

}  // namespace vphi::schedule
