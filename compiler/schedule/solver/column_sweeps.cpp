#include "compiler/schedule/solver/column_sweeps.hpp"

#include <map>
#include <numeric>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"

namespace vphi::schedule {
namespace {

using algebra::Op;
using kernel::SiteLoop;
using kernel::Store;

/// Values that a thread holds until it stores them, in registers of 32 bits: of 255, the rest is
/// for addresses (tools/gpu_registers: 144 fit, 192 spill 150 bytes a site).
constexpr std::size_t kStoredAtOnce = 185;

/// The arrays of a store, or of a sum (array -1).
std::set<int> arrays_of(const Store& store) {
  std::set<int> arrays;
  if (store.array >= 0) arrays.insert(store.array);
  algebra::visit(store.value, [&](algebra::Expr node) {
    if (node.is(Op::Load)) arrays.insert(node->index);
  });
  return arrays;
}

/// Stores and sums that have an array in common, by their places, in the order of their first ones.
std::vector<std::vector<std::size_t>> apart(const std::vector<Store>& stores) {
  std::vector<std::size_t> group(stores.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  std::map<int, std::size_t> owners;
  for (std::size_t i = 0; i < stores.size(); ++i) {
    for (const int array : arrays_of(stores[i])) {
      const auto [owner, fresh] = owners.emplace(array, group[i]);
      const std::size_t old = owner->second;
      if (fresh || old == group[i]) continue;
      const std::size_t from = std::max(old, group[i]), to = std::min(old, group[i]);
      for (std::size_t& one : group) one = one == from ? to : one;
      for (auto& [known, one] : owners) one = one == from ? to : one;
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < group.size(); ++i) groups[group[i]].push_back(i);
  std::vector<std::vector<std::size_t>> result;
  for (auto& [first, places] : groups) result.push_back(std::move(places));
  return result;
}

/// Stores, then sums, as places in one list.
std::vector<Store> effects_of(const SiteLoop& loop) {
  std::vector<Store> effects = loop.kernel.stores;
  for (const kernel::Reduction& sum : loop.kernel.reductions) effects.push_back({-1, sum.value});
  return effects;
}

/// The places of stores and sums, in as many parts as hold few enough values each; fewer than two:
/// the sweep stays as it is.
std::vector<std::vector<std::size_t>> parts_of(const SiteLoop& loop) {
  const std::size_t words = loop.kernel.compute == kernel::Precision::F64 ? 2 : 1;
  const std::size_t stores = loop.kernel.stores.size();
  const std::size_t parts = (words * stores + kStoredAtOnce - 1) / kStoredAtOnce;
  if (parts < 2) return {};
  std::vector<Store> linked = effects_of(loop);
  const std::size_t effects = linked.size();
  linked.insert(linked.end(), loop.shared.begin(), loop.shared.end());  // they tie stores together
  std::vector<std::vector<std::size_t>> result(1);
  std::size_t stored = 0;
  for (const std::vector<std::size_t>& places : apart(linked)) {
    if (parts * stored >= stores) result.emplace_back(), stored = 0;
    for (const std::size_t place : places) {
      if (place < effects) result.back().push_back(place);
      stored += place < stores ? 1 : 0;
    }
  }
  if (stored == 0) return {};
  return result;
}

/// The sweep of some of the stores and sums alone.
SiteLoop part_of(const SiteLoop& loop, const std::vector<std::size_t>& places,
                 const std::set<int>& second, const Storage& storage) {
  SiteLoop part = loop;
  part.kernel.stores.clear(), part.kernel.reductions.clear(), part.kernel.arrays.clear();
  std::set<int> read, written, used, shared;
  for (const std::size_t place : places) {
    const std::size_t stores = loop.kernel.stores.size();
    if (place < stores) {
      part.kernel.stores.push_back(loop.kernel.stores[place]);
      written.insert(loop.kernel.stores[place].array);
    } else {
      part.kernel.reductions.push_back(loop.kernel.reductions[place - stores]);
    }
  }
  const std::vector<Store> effects = effects_of(part);
  for (const Store& one : effects) used.merge(arrays_of(one));
  for (const Store& value : loop.shared) shared.insert(value.array);
  std::erase_if(part.shared, [&](const Store& value) { return !used.contains(value.array); });
  const auto see = [&](const Store& of) {
    algebra::visit(of.value, [&](algebra::Expr node) {
      if (node.is(Op::Load) && !shared.contains(node->index)) read.insert(node->index);
    });
  };
  for (const Store& value : part.shared) see(value);
  for (const Store& one : effects) see(one);
  declare_arrays(part.kernel, read, written, second, storage);
  return part;
}

}  // namespace

SiteLoops narrower(SiteLoops loops, std::size_t columns, const Storage& storage) {
  if (columns < 2) return loops;
  SiteLoops result;
  result.alone = std::move(loops.alone);
  for (std::size_t i = 0; i < loops.sweeps.size(); ++i) {
    SiteLoop& loop = loops.sweeps[i];
    const std::vector<std::vector<std::size_t>> parts = parts_of(loop);
    if (parts.size() < 2) {
      result.sweeps.push_back(std::move(loop));
      result.swaps.push_back(std::move(loops.swaps[i]));
      continue;
    }
    const std::set<int> second(loops.swaps[i].begin(), loops.swaps[i].end());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const bool last = p + 1 == parts.size();
      SiteLoop part = part_of(loop, parts[p], second, storage);
      if (p > 0) part.kernel.name += "_part_" + std::to_string(p + 1), part.before.clear();
      if (!last) part.kernel.epilogue.clear();
      result.sweeps.push_back(std::move(part));
      result.swaps.push_back(last ? std::move(loops.swaps[i]) : std::vector<int>{});
    }
  }
  return result;
}

}  // namespace vphi::schedule
