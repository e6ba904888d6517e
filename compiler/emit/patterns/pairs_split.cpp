#include "compiler/emit/patterns/pairs_split.hpp"

#include <algorithm>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/emit/dialects/dialect.hpp"
#include "compiler/emit/patterns/pairs.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::emit {
namespace {

using algebra::Expr;
using algebra::Op;

class Splitter {
 public:
  explicit Splitter(const kernel::Kernel& kernel) {
    for (const kernel::Store& store : kernel.stores) first(store.value.arg(0));
    // the kernel needs values of both sides: a number where the terms read none
    algebra::Arena& arena = *kernel.stores.front().value->arena;
    for (Side* side : {&split_.near, &split_.far}) {
      if (side->values.empty()) side->of(arena.integer(0));
    }
    for (const kernel::Store& store : kernel.stores) {
      split_.terms.push_back(replaced(store.value.arg(0)));
    }
  }
  Split take() { return std::move(split_); }

 private:
  static bool trivial(Expr e) { return !e->per_site; }

  /// Numbers the values of both sides before any pseudo array gets its number.
  void first(Expr e) {
    if (trivial(e) || !seen_.emplace(e.get(), true).second) return;
    if (algebra::is_pair_entry(*e)) {
      split_.matrices.of(e->index);
    } else if (!algebra::reads_other(e)) {
      split_.near.of(e);
    } else if (!algebra::reads_own(e)) {
      split_.far.of(algebra::as_own(e));
    } else {
      for (Expr arg : e.args()) first(arg);
    }
  }

  Expr replaced(Expr e) {
    if (trivial(e)) return e;
    algebra::Arena& arena = *e->arena;
    if (algebra::is_pair_entry(*e)) {
      return arena.load(static_cast<int>(split_.near.values.size() + split_.far.values.size()) +
                        split_.matrices.of(e->index));
    }
    if (!algebra::reads_other(e)) return arena.load(split_.near.of(e));
    if (!algebra::reads_own(e)) {
      return arena.load(static_cast<int>(split_.near.values.size()) +
                        split_.far.of(algebra::as_own(e)));
    }
    std::vector<Expr> args;
    for (Expr arg : e.args()) args.push_back(replaced(arg));
    return arena.raw(e.op(), std::move(args), e->span);
  }

  Split split_;
  std::unordered_map<const algebra::Node*, bool> seen_;
};

}  // namespace

Split split_pairs(const kernel::Kernel& kernel) { return Splitter(kernel).take(); }

kernel::Kernel one_side(const kernel::Kernel& kernel, const std::string& name,
                        const std::vector<Expr>& values, const TargetInfo& target) {
  kernel::Kernel side = kernel;
  side.pairs_all_angles = dialect_of(target).can.sincos_for_all;
  side.name = kernel.name + "_" + name;
  side.planes.reset();  // sites of both sides come with their numbers in the whole row
  side.stores.clear();
  side.arrays.clear();
  for (const kernel::ArrayParam& array : kernel.arrays) {
    if (array.read) side.arrays.push_back(array);
  }
  int number = 1 << 20;
  for (Expr value : values) {
    side.arrays.push_back({number, name, kernel.compute, false, true, false});
    side.stores.push_back({number++, value});
  }
  return kernel::paired_angles({side}).kernel;
}

kernel::Kernel pair_function(const kernel::Kernel& kernel, const Split& split,
                             const TargetInfo& target) {
  kernel::Kernel pair = kernel;
  pair.name = kernel.name + "_pair";
  pair.compute = kernel.pair;
  pair.fast =
      dialect_of(target).can.approximate && (kernel.pair == Precision::F32 || target.contract);
  pair.pairs_all_angles = dialect_of(target).can.sincos_for_all;
  pair.stores.clear();
  pair.arrays.clear();
  int number = 0;
  for (std::size_t i = 0; i < split.near.values.size(); ++i) {
    pair.arrays.push_back({number++, "near", kernel.pair, true, false, false});
  }
  for (std::size_t i = 0; i < split.far.values.size(); ++i) {
    pair.arrays.push_back({number++, "far", kernel.pair, true, false, false});
  }
  for (std::size_t i = 0; i < split.matrices.arrays.size(); ++i) {
    pair.arrays.push_back({number++, "entry", kernel.pair, true, false, false});
  }
  for (Expr term : split.terms) {
    pair.arrays.push_back({number, "term", kernel.pair, false, true, false});
    pair.stores.push_back({number++, term});
  }
  return pair;
}

kernel::Kernel pair_kernel(const kernel::Kernel& kernel, const TargetInfo& target) {
  return pair_function(kernel, split_pairs(kernel), target);
}

}  // namespace vphi::emit
