#include "compiler/kernel/rounds.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/algebra/node_map.hpp"
#include "compiler/algebra/ops.hpp"

namespace vphi::kernel {
namespace {

using algebra::Node;
using algebra::Op;
using IsLeaf = std::function<bool(const Node&)>;

class Operations {
 public:
  explicit Operations(const IsLeaf& leaf) : leaf_(leaf) {}
  void visit(Expr expr) {
    if (expr.is_number() || leaf_(*expr) || !seen_.add(expr.get(), true).second) return;
    for (Expr arg : expr.args()) visit(arg);
    found.push_back(expr);
    if (!together_.empty()) made_.add(expr.get(), true);
    if (!expr.is(Op::Select)) return;
    const auto others = together_.find(expr.arg(0).get());
    if (others == together_.end()) return;
    for (const Expr other : others->second)
      if (std::ranges::all_of(other.args(), [&](Expr arg) { return is_made(arg); })) visit(other);
  }
  /// Choices by one condition between values that are made follow each other: a round that ends
  /// with them is whole where the next round, or what comes after the last one, begins with a
  /// function of one of them.
  void keep_together(const std::vector<Expr>& operations) {
    for (const Expr expr : operations)
      if (expr.is(Op::Select)) together_[expr.arg(0).get()].push_back(expr);
  }
  std::vector<Expr> found;

 private:
  bool is_made(Expr expr) const {
    return expr.is_number() || leaf_(*expr) || made_.contains(expr.get());
  }

  const IsLeaf& leaf_;
  algebra::NodeTable<bool> seen_, made_;
  std::unordered_map<const Node*, std::vector<Expr>> together_;
};

/// Operations in their order; rounds are stretches of it that repeat at a distance, the period.
class RoundFinder {
 public:
  RoundFinder(std::span<const Expr> roots, const IsLeaf& leaf, HandOn hand_on)
      : hand_on_(hand_on), list_(operations_of(roots, leaf)) {
    for (std::size_t i = 0; i < list_.size(); ++i) at_.add(list_[i].get(), i);
    users_.resize(list_.size());
    arguments_.resize(list_.size());
    for (std::size_t i = 0; i < list_.size(); ++i)
      for (Expr arg : list_[i].args()) {
        const std::size_t j = arguments_[i].emplace_back(position(arg));
        if (j != kNone) users_[j].push_back(i);
      }
    for (Expr root : roots)
      if (const std::size_t j = position(root); j != kNone) users_[j].push_back(list_.size());
  }

  std::vector<Rounds> find() {
    std::vector<Rounds> all;
    const std::vector<std::size_t> shapes = shapes_of_all();
    std::unordered_map<std::size_t, std::size_t> latest;  // by shape
    std::size_t done = 0;                                 // operations before this are settled
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const auto [entry, fresh] = latest.try_emplace(shapes[i], i);
      const std::size_t before = std::exchange(entry->second, i);
      if (fresh || before < done) continue;
      auto rounds = rounds_at(before, i - before, done);
      if (!rounds) continue;
      const auto period = rounds->body.size();
      done = position(rounds->body.front()) + period * static_cast<std::size_t>(rounds->times);
      all.push_back(std::move(*rounds));
    }
    return all;
  }

 private:
  static constexpr int kDepth = 4;
  static constexpr std::size_t kLeast = 3;                            ///< rounds worth a loop
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);  ///< not among the operations

  std::size_t position(Expr expr) const {
    const std::size_t* found = at_.find(expr.get());
    return found ? *found : kNone;
  }

  /// Of each operation a number for what it does and for the operations down to kDepth below it.
  std::vector<std::size_t> shapes_of_all() const {
    std::vector<std::size_t> shapes(list_.size());
    for (std::size_t i = 0; i < list_.size(); ++i) shapes[i] = own_shape(i);
    for (int depth = 1; depth <= kDepth; ++depth) {
      std::vector<std::size_t> deeper(list_.size());
      for (std::size_t i = 0; i < list_.size(); ++i) {
        deeper[i] = own_shape(i);
        for (std::size_t k = 0; k < arguments_[i].size(); ++k) {
          const std::size_t at = arguments_[i][k];
          const Node* const arg = list_[i].args()[k].get();
          deeper[i] =
              deeper[i] * 1000003 + (at == kNone ? std::hash<const Node*>()(arg) : shapes[at]);
        }
      }
      shapes = std::move(deeper);
    }
    return shapes;
  }
  std::size_t own_shape(std::size_t i) const {
    return static_cast<std::size_t>(list_[i].op()) * 131 + 7;
  }

  /// Whether operation i + p does to values p later what operation i does, or to the same values.
  bool repeats(std::size_t i, std::size_t p) const {
    if (i + p >= list_.size()) return false;
    const Expr a = list_[i], b = list_[i + p];
    if (a.op() != b.op() || a->index != b->index || a.args().size() != b.args().size())
      return false;
    for (std::size_t k = 0; k < a.args().size(); ++k) {
      if (a.args()[k] == b.args()[k]) continue;
      const std::size_t from = arguments_[i][k], to = arguments_[i + p][k];
      if (from == kNone || to == kNone || to != from + p) return false;
    }
    return true;
  }

  /// Rounds around operation `at` that begin at `free` or later.
  std::optional<Rounds> rounds_at(std::size_t at, std::size_t p, std::size_t free) const {
    if (!repeats(at, p)) return {};
    std::size_t begin = at, end = at;
    while (begin > free && repeats(begin - 1, p)) --begin;
    while (repeats(end, p)) ++end;
    // rounds begin where the fewest numbers are handed on
    std::optional<Rounds> best;
    for (std::size_t start = begin; start < begin + 2 * p; ++start) {
      if (end + p < start + kLeast * p) break;
      auto rounds = rounds_from(start, p, static_cast<int>((end + p - start) / p));
      if (rounds && (!best || rank(*rounds) < rank(*best))) best = std::move(rounds);
    }
    return best;
  }

  /// The lowest is best: products and values that are handed on, then the most rounds.
  std::tuple<std::size_t, std::size_t, int> rank(const Rounds& rounds) const {
    std::size_t products = 0;
    if (hand_on_ == HandOn::FewestProducts)
      for (const RoundValue& value : rounds.values)
        products += value.before && is_added_product(value.first);
    return {products, rounds.values.size(), -rounds.times};
  }

  bool is_added_product(Expr expr) const {
    return is_product(expr) && std::ranges::any_of(users_[position(expr)], [&](auto user) {
             return user < list_.size() && is_sum(list_[user].op());
           });
  }

  /// How many of the rounds from `start` on hand their values to the next round alone.
  int closed(std::size_t start, std::size_t p, int times) const {
    for (int round = 0; round + 1 < times; ++round) {
      const std::size_t next = start + (static_cast<std::size_t>(round) + 1) * p;
      for (std::size_t j = next - p; j < next; ++j)
        for (const std::size_t user : users_[j])
          if (user >= next + p) return round + 1;
    }
    return times;
  }

  std::optional<Rounds> rounds_from(std::size_t start, std::size_t p, int times) const {
    times = closed(start, p, times);
    for (int less = 0; less < 2 && times - less >= static_cast<int>(kLeast); ++less) {
      auto rounds = made(start, p, times - less);
      if (rounds) return rounds;
    }
    return {};
  }

  /// Nothing where a value has no variable of its own: conditions and places in tables are not
  /// numbers, and the value before the first round may be used in all rounds as well.
  std::optional<Rounds> made(std::size_t start, std::size_t p, int times) const {
    Rounds rounds;
    rounds.times = times;
    const std::size_t end = start + p, last = (static_cast<std::size_t>(times) - 1) * p;
    std::unordered_set<const Node*> outside;
    std::vector<bool> carried(p);
    for (std::size_t i = start; i < end; ++i) {
      rounds.body.push_back(list_[i]);
      for (std::size_t k = 0; k < list_[i].args().size(); ++k) {
        const Expr arg = list_[i].args()[k];
        const bool same = arg == list_[i + p].args()[k];
        const std::size_t from = arguments_[i][k];
        if (same) {
          if (from != kNone && outside.insert(arg.get()).second) rounds.outside.push_back(arg);
        } else if (from < start) {
          if (from + p < start) return {};  // handed on over two rounds
          carried[from + p - start] = true;
        }
      }
    }
    for (std::size_t j = 0; j < p; ++j) {
      const auto& users = users_[start + j + last];
      const bool later =
          std::ranges::any_of(users, [&](std::size_t user) { return user >= end + last; });
      if (!carried[j] && !later) continue;
      const Expr first = list_[start + j];
      if (algebra::is_condition(first.op()) || first.is(Op::TableIndex)) return {};
      const Expr before = carried[j] ? list_[start + j - p] : Expr();
      if (before && outside.contains(before.get())) return {};
      rounds.values.push_back({before, first, list_[start + j + last]});
    }
    if (rounds.values.empty()) return {};
    const auto operation = [&](std::size_t i) {
      return list_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    rounds.later.assign(operation(end), operation(end + last));
    return rounds;
  }

  HandOn hand_on_;
  std::vector<Expr> list_;
  algebra::NodeTable<std::size_t> at_;
  std::vector<std::vector<std::size_t>> arguments_;  ///< positions of each operation's arguments
  std::vector<std::vector<std::size_t>> users_;      ///< of each operation; list_.size(): the roots
};

}  // namespace

std::vector<Expr> operations_of(std::span<const Expr> roots, const IsLeaf& leaf) {
  Operations operations(leaf);
  for (Expr root : roots) operations.visit(root);
  const auto chooses = [](Expr expr) { return expr.is(Op::Select); };
  if (std::ranges::none_of(operations.found, chooses)) return std::move(operations.found);
  Operations in_groups(leaf);
  in_groups.keep_together(operations.found);
  for (Expr root : roots) in_groups.visit(root);
  return std::move(in_groups.found);
}

std::vector<Rounds> find_rounds(std::span<const Expr> roots, const IsLeaf& leaf, HandOn hand_on) {
  return RoundFinder(roots, leaf, hand_on).find();
}

bool is_product(Expr expr) {
  const auto divides = [](Expr factor) {
    return factor.is(Op::Pow) && factor.arg(1).is(Op::Number) && factor.arg(1)->number.real < 0;
  };
  if (expr.is(Op::Pow)) return expr.arg(1).is(Op::Number) && !divides(expr);
  return expr.is(Op::Mul) && std::ranges::none_of(expr.args(), divides);
}

bool is_sum(Op op) { return op == Op::Add || op == Op::Sub; }

std::vector<Rounds> long_rounds(std::span<const Expr> roots, const IsLeaf& leaf,
                                Precision precision) {
  constexpr int kLong = 3072;
  constexpr int kSaved = 512;
  if (estimated_instructions(operations_of(roots, leaf), precision) < kLong) return {};
  std::vector<Rounds> all = find_rounds(roots, leaf);
  std::erase_if(
      all, [&](const Rounds& rounds) { return instructions_saved(rounds, precision) < kSaved; });
  return all;
}

namespace {

/// Numbers that rounds hand on, which are compared where their loop may end early.
std::ptrdiff_t watched(const Rounds& rounds) {
  return std::ranges::count_if(rounds.values,
                               [](const RoundValue& value) { return bool(value.before); });
}

}  // namespace

bool worth_watching(const Rounds& rounds, Precision precision) {
  constexpr int kComparison = 8;  // instructions of a round for each value that is compared
  return estimated_instructions(rounds.body, precision) >= kComparison * watched(rounds);
}

namespace {

/// Whether `then` is the value of a later round where `before` is that of an earlier one.
class Follows {
 public:
  Follows(const Rounds& rounds, Expr condition) : condition_(condition) {
    for (const RoundValue& value : rounds.values)
      if (stays(value)) kept_.emplace(value.first.get(), value.before.get());
  }
  bool none() const { return kept_.empty(); }
  bool operator()(Expr then, Expr before) const {
    if (then == before) return true;
    const auto kept = kept_.find(then.get());
    if (kept != kept_.end()) return kept->second == before.get();
    if (then.op() != before.op() || then->index != before->index || then.args().empty() ||
        then.args().size() != before.args().size())
      return false;
    for (std::size_t i = 0; i < then.args().size(); ++i)
      if (!(*this)(then.arg(i), before.arg(i))) return false;
    return true;
  }

 private:
  bool stays(const RoundValue& value) const {
    return value.before && value.first.is(Op::Select) && value.first.arg(0) == condition_ &&
           value.first.arg(1) == value.before;
  }
  Expr condition_;
  std::unordered_map<const Node*, const Node*> kept_;
};

}  // namespace

Expr settling(const Rounds& rounds) {
  for (const RoundValue& value : rounds.values) {
    if (!value.before || !value.first.is(Op::Select)) continue;
    const Follows follows(rounds, value.first.arg(0));
    const bool all = std::ranges::all_of(rounds.values, [&](const RoundValue& other) {
      return !other.before || follows(other.first, other.before);
    });
    if (!follows.none() && all) return value.first.arg(0);
  }
  return {};
}

namespace {

/// The rounds of iterations that may end early: for one number, or with a condition of their own.
std::vector<Rounds> watched_rounds(std::span<const Expr> roots, const IsLeaf& leaf,
                                   Precision precision) {
  std::vector<Rounds> all = find_rounds(roots, leaf);
  std::erase_if(all, [&](const Rounds& rounds) {
    return (watched(rounds) != 1 && !settling(rounds)) || !worth_watching(rounds, precision);
  });
  return all;
}

}  // namespace

// Iterations for one number that end early are loops whatever their length: on an H200 they took
// 0.35 to 0.83 of the time that they take written out (recoveries of relativistic fluids in one and
// two dimensions, f32 and f64). One for a vector of two took 1.11: more is compared, and some
// thread of a warp needs nearly all rounds.
//
// With its reads in the order of their uses a kernel is written out. On an H200 that takes 0.90 of
// the time of loops where these leave out a third of the instructions (a viscous fluid, f32), and
// 1.5 of it where they leave out more than half.
std::vector<Rounds> rounds_in_loops(std::span<const Expr> roots, const IsLeaf& leaf,
                                    Precision precision, bool many_reads) {
  std::vector<Rounds> loops = long_rounds(roots, leaf, precision);
  if (!many_reads) return loops.empty() ? watched_rounds(roots, leaf, precision) : loops;
  if (loops.empty()) return loops;
  const bool settle =
      std::ranges::all_of(loops, [](const Rounds& rounds) { return bool(settling(rounds)); });
  const int all = estimated_instructions(operations_of(roots, leaf), precision);
  if ((settle ? 4 : 2) * instructions_saved(loops, precision) <= all) return {};
  return loops;
}

int instructions_saved(const Rounds& loop, Precision precision) {
  return (loop.times - 1) * estimated_instructions(loop.body, precision);
}

int instructions_saved(std::span<const Rounds> loops, Precision precision) {
  int saved = 0;
  for (const Rounds& loop : loops) saved += instructions_saved(loop, precision);
  return saved;
}

int estimated_instructions(std::span<const Expr> operations, Precision precision) {
  const int special = precision == Precision::F32 ? 8 : 24;
  int sum = 0;
  for (Expr expr : operations) {
    const algebra::OpInfo& op = algebra::info(expr.op());
    const int times = op.arity < 0 ? std::max<int>(1, static_cast<int>(expr.args().size()) - 1) : 1;
    sum += std::max(1, op.flops * times) + special * op.special;
  }
  return sum;
}

}  // namespace vphi::kernel
