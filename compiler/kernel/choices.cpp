#include "compiler/kernel/choices.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/algebra/ops.hpp"

namespace vphi::kernel {
namespace {

using algebra::Node;
using algebra::Op;
using IsLeaf = std::function<bool(const Node&)>;
using Nodes = std::unordered_set<const Node*>;

class Chooser {
 public:
  Chooser(std::span<const Rounds> rounds, std::span<const Expr> roots, const IsLeaf& leaf)
      : rounds_(rounds), list_(operations_of(roots, leaf)), leaf_(leaf) {
    for (const Rounds& loop : rounds)
      for (const auto* operations : {&loop.body, &loop.later})
        for (Expr operation : *operations) in_loops_.insert(operation.get());
    for (Expr root : roots) wanted_.insert(root.get());
    for (Expr expr : list_)
      for (Expr arg : expr.args()) users_[arg.get()].push_back(expr);
  }

  std::vector<Choice> find() const {
    std::vector<Choice> found;
    std::unordered_set<const Node*> seen;
    for (Expr expr : list_) {
      if (!is_choice(expr) || !seen.insert(expr.arg(0).get()).second) continue;
      Choice choice{expr.arg(0), independent(expr.arg(0)), {}};
      Nodes inside;
      bool loops = false;
      for (const std::size_t arm : {1, 2}) {
        const Nodes own = only_in(choice, arm);
        loops = loops || std::ranges::any_of(
                             rounds_, [&](const Rounds& loop) { return holds_whole(own, loop); });
        inside.insert(own.begin(), own.end());
      }
      if (!loops) continue;
      choice.before = read_by(choice, inside);
      found.push_back(std::move(choice));
    }
    return found;
  }

 private:
  bool is_choice(Expr expr) const { return expr.is(Op::Select) && !in_loops_.contains(expr.get()); }

  /// The choices by a condition, without those that need one before them.
  std::vector<Expr> independent(Expr condition) const {
    std::vector<Expr> found;
    Nodes need;  // operations that need one of `found`, and these
    for (Expr expr : list_) {
      const bool needs =
          std::ranges::any_of(expr.args(), [&](Expr arg) { return need.contains(arg.get()); });
      const bool taken = !needs && is_choice(expr) && expr.arg(0) == condition;
      if (taken) found.push_back(expr);
      if (taken || needs) need.insert(expr.get());
    }
    return found;
  }

  /// The operations that nothing needs but this arm of the choices.
  Nodes only_in(const Choice& choice, std::size_t arm) const {
    Nodes own;
    const auto here = [&](Expr user, Expr value) {
      if (own.contains(user.get())) return true;
      if (std::ranges::find(choice.selects, user) == choice.selects.end()) return false;
      return user.arg(arm) == value && user.arg(0) != value && user.arg(3 - arm) != value;
    };
    for (std::size_t i = list_.size(); i-- > 0;) {
      const Expr value = list_[i];
      const auto users = users_.find(value.get());
      if (wanted_.contains(value.get()) || users == users_.end()) continue;
      if (std::ranges::all_of(users->second, [&](Expr user) { return here(user, value); }))
        own.insert(value.get());
    }
    leave_out_parts_of_loops(own);
    return own;
  }

  /// A loop that others need as well is made before the arms, with all that it hands on.
  void leave_out_parts_of_loops(Nodes& own) const {
    for (const Rounds& loop : rounds_) {
      if (holds_whole(own, loop)) continue;
      for (const auto* operations : {&loop.body, &loop.later})
        for (Expr operation : *operations) own.erase(operation.get());
    }
  }

  static bool holds_whole(const Nodes& own, const Rounds& loop) {
    const auto inside = [&](Expr operation) { return own.contains(operation.get()); };
    return std::ranges::all_of(loop.body, inside) && std::ranges::all_of(loop.later, inside);
  }

  std::vector<Expr> read_by(const Choice& choice, const Nodes& inside) const {
    std::vector<Expr> result;
    Nodes seen;
    const auto read = [&](Expr value) {
      if (value.is_number() || leaf_(*value) || inside.contains(value.get())) return;
      if (seen.insert(value.get()).second) result.push_back(value);
    };
    for (Expr expr : list_) {
      if (inside.contains(expr.get())) std::ranges::for_each(expr.args(), read);
      if (std::ranges::find(choice.selects, expr) == choice.selects.end()) continue;
      read(expr.arg(1));
      read(expr.arg(2));
    }
    return result;
  }

  std::span<const Rounds> rounds_;
  std::vector<Expr> list_;
  const IsLeaf& leaf_;
  Nodes in_loops_, wanted_;
  std::unordered_map<const Node*, std::vector<Expr>> users_;
};

}  // namespace

std::vector<Choice> choices_around(std::span<const Rounds> rounds, std::span<const Expr> roots,
                                   const IsLeaf& leaf) {
  if (rounds.empty()) return {};
  return Chooser(rounds, roots, leaf).find();
}

}  // namespace vphi::kernel
