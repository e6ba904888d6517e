#include "compiler/kernel/round_parts.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/algebra/ops.hpp"

namespace vphi::kernel {
namespace {

using algebra::Node;
using algebra::Op;
using IsLeaf = std::function<bool(const Node&)>;
using Parts = std::uint64_t;  ///< a bit for each part

constexpr std::size_t kMostLoops = 32;

class Cutter {
 public:
  Cutter(std::vector<Rounds> loops, std::span<const Expr> roots, const IsLeaf& leaf,
         const IsLeaf& given)
      : loops_(std::move(loops)), list_(operations_of(roots, leaf)), leaf_(leaf), given_(given) {
    for (Expr root : roots) needed_[root.get()] = last_part();
    for (Expr expr : list_)
      for (Expr arg : expr.args()) users_[arg.get()].push_back(expr.get());
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      for (Expr expr : loops_[k].body) inside_[expr.get()] = k;
      for (Expr expr : loops_[k].later) inside_[expr.get()] = k;
      for (const RoundValue& value : loops_[k].values)
        if (value.before) before_[k].insert(value.before.get());
    }
    made_.resize(loops_.size());
  }

  RoundParts parts() {
    for (std::size_t i = list_.size(); i-- > 0;) {
      const auto loop = inside_.find(list_[i].get());
      if (loop == inside_.end()) {
        place(list_[i]);
      } else {
        for (Expr arg : list_[i].args()) read_by(loop->second, arg);
      }
    }
    for (std::vector<Expr>& made : made_) std::ranges::reverse(made);
    return {std::move(loops_), std::move(made_)};
  }

 private:
  Parts last_part() const { return Parts{1} << loops_.size(); }

  /// A loop reads a value that it does not compute.
  void read_by(std::size_t loop, Expr arg) {
    if (arg.is_number() || inside_.contains(arg.get())) return;  // or another loop's last value
    if (leaf_(*arg)) {
      if (given_(*arg)) copy(arg, loop);
      return;
    }
    if (is_computed_again(arg)) {
      for (Expr below : arg.args()) read_by(loop, below);
      return;
    }
    needed_[arg.get()] |= Parts{1} << loop;
    if (!before_[loop].contains(arg.get())) handed_.insert(arg.get());
  }

  /// A leaf is handed on before the first loop that reads it; later loops are read first.
  void copy(Expr leaf, std::size_t loop) {
    const auto [entry, fresh] = copied_.try_emplace(leaf.get(), loop);
    if (!fresh && entry->second == loop) return;
    if (!fresh) std::erase(made_[entry->second], leaf);
    entry->second = std::min(entry->second, loop);
    made_[entry->second].push_back(leaf);
  }

  /// Conditions and places in tables are no numbers. A product that is added is part of a
  /// multiply-add wherever it is computed; as a number of its own it would be rounded.
  bool is_computed_again(Expr expr) {
    if (algebra::is_condition(expr.op()) || expr.is(Op::TableIndex)) return true;
    return is_product(expr) && std::ranges::any_of(users_[expr.get()], [](const Node* user) {
             return is_sum(user->op);
           });
  }

  void place(Expr expr) {
    const Parts needed = needed_[expr.get()];
    Parts computed = needed;
    if (!is_computed_again(expr)) {
      computed = needed & (~needed + 1);  // the first part that needs it
      const bool elsewhere = computed != needed || handed_.contains(expr.get());
      if (elsewhere && computed != last_part())
        made_[static_cast<std::size_t>(std::countr_zero(computed))].push_back(expr);
    }
    for (Expr arg : expr.args())
      if (!arg.is_number() && !leaf_(*arg) && !inside_.contains(arg.get()))
        needed_[arg.get()] |= computed;
  }

  std::vector<Rounds> loops_;
  std::vector<Expr> list_;
  const IsLeaf& leaf_;
  const IsLeaf& given_;
  std::unordered_map<const Node*, std::size_t> inside_;  ///< the loop of an operation
  std::unordered_map<std::size_t, std::unordered_set<const Node*>> before_;
  std::unordered_map<const Node*, Parts> needed_;  ///< the parts that read a value
  std::unordered_map<const Node*, std::vector<const Node*>> users_;
  std::unordered_set<const Node*> handed_;  ///< values that a loop reads in each of its rounds
  std::unordered_map<const Node*, std::size_t> copied_;  ///< leaves, and where they are handed on
  std::vector<std::vector<Expr>> made_;
};

}  // namespace

RoundParts parts_between(std::vector<Rounds> loops, std::span<const Expr> roots, const IsLeaf& leaf,
                         const IsLeaf& given) {
  return Cutter(std::move(loops), roots, leaf, given).parts();
}

std::vector<Rounds> rounds_of_lanes(std::span<const Expr> roots, const IsLeaf& leaf,
                                    Precision precision) {
  constexpr int kSaved = 512;
  std::vector<Rounds> all = find_rounds(roots, leaf, HandOn::FewestProducts);
  std::erase_if(all, [&](const Rounds& rounds) {
    return !worth_watching(rounds, precision) || instructions_saved(rounds, precision) < kSaved;
  });
  if (all.size() > kMostLoops) all.clear();
  return all;
}

}  // namespace vphi::kernel
