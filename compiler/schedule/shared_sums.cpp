#include "compiler/schedule/shared_sums.hpp"

#include <algorithm>

#include "compiler/kernel/kernel.hpp"

namespace vphi::schedule {
namespace {

/// Instructions of a site below which a kernel of its own costs nothing: clang takes 20 ms for the
/// scalars that would follow a shared one, and 0.1 s for a kernel of 200 instructions.
constexpr int kLeastInstructions = 200;
/// The work that a shared kernel may have beyond what is wanted of it.
constexpr double kMostWork = 1.25;

const kernel::Reduction* find(const kernel::Kernel& made, const kernel::Reduction& sum) {
  const auto found = std::ranges::find_if(made.reductions, [&](const kernel::Reduction& other) {
    return other.kind == sum.kind && other.value == sum.value;
  });
  return found == made.reductions.end() ? nullptr : &*found;
}

/// Whether both visit the same sites, in the same arithmetic, and change nothing there.
bool alike(const kernel::Kernel& a, const kernel::Kernel& b) {
  const auto plain = [](const kernel::Kernel& k) {
    return !k.planes && !k.gathers && !k.colours && k.random.draws == 0 && k.stages.empty() &&
           k.steps == 1 && k.together == 1 && !kernel::sums_pairs(k);
  };
  return plain(a) && plain(b) && a.dims == b.dims && a.extent == b.extent &&
         a.instances == b.instances && a.still == b.still && a.common == b.common &&
         a.boundary == b.boundary && a.fixed_value == b.fixed_value && a.dx == b.dx &&
         a.along == b.along && a.compute == b.compute && a.sum == b.sum && a.fast == b.fast &&
         a.written_out == b.written_out && a.pairs_all_angles == b.pairs_all_angles;
}

bool covers(const kernel::Kernel& made, const kernel::Kernel& wanted, const Storage& storage) {
  const auto kept = [&](const kernel::Store& store) { return !storage.of(store.array).scratch; };
  if (!wanted.stores.empty() || wanted.reductions.empty() || !alike(made, wanted) ||
      std::ranges::any_of(made.stores, kept) ||
      !std::ranges::all_of(wanted.reductions,
                           [&](const kernel::Reduction& sum) { return find(made, sum); }))
    return false;
  const kernel::Cost own = kernel::cost(wanted), all = kernel::cost(made);
  return own.instructions >= kLeastInstructions &&
         all.instructions <= kMostWork * own.instructions && all.bytes <= kMostWork * own.bytes;
}

}  // namespace

std::size_t shared_sums(const Linked& wanted, const Linked& made, const Storage& storage) {
  const std::size_t most = std::min(wanted.kernels.size(), made.kernels.size());
  std::size_t shared = 0;
  while (shared < most && wanted.swaps[shared].empty() && made.swaps[shared].empty() &&
         covers(made.kernels[shared], wanted.kernels[shared], storage))
    ++shared;
  return shared;
}

Assigns after_shared(const kernel::Kernel& wanted, const kernel::Kernel& made,
                     algebra::Arena& arena) {
  Assigns result;
  for (const kernel::Reduction& sum : wanted.reductions)
    result.push_back({sum.slot, arena.symbol(find(made, sum)->slot)});
  append(result, wanted.epilogue);
  return result;
}

}  // namespace vphi::schedule
