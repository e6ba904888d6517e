#include "compiler/emit/text/register_order.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace vphi::emit {

using algebra::Expr;
using algebra::Node;

namespace {

/// All but the leaves, by the numbers of their handles.
std::vector<Expr> by_handle(std::span<const Expr> roots, const IsLeaf& leaf) {
  std::vector<Expr> order, open(roots.begin(), roots.end());
  std::unordered_set<const Node*> seen;
  while (!open.empty()) {
    const Expr next = open.back();
    open.pop_back();
    if (next.is_number() || leaf(*next) || !seen.insert(next.get()).second) continue;
    order.push_back(next);
    for (const Expr arg : next.args()) open.push_back(arg);
  }
  std::ranges::sort(order, {}, [](Expr e) { return e->id; });
  return order;
}

using Users = std::unordered_map<const Node*, std::vector<std::size_t>>;

/// Places in the order of those that take a value.
Users users_in(const std::vector<Expr>& order) {
  Users users;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const Expr arg : order[i].args()) users[arg.get()].push_back(i);
  return users;
}

/// Values in an order, some of which move to right before another one.
class Moves {
 public:
  explicit Moves(std::size_t count) : final_(count), before_(count), moved_(count) {
    for (std::size_t i = 0; i < count; ++i) final_[i] = i;
  }
  /// The one of these that comes first.
  std::size_t first(const std::vector<std::size_t>& list) const {
    return *std::ranges::min_element(list, {},
                                     [&](std::size_t u) { return std::pair(final_[u], u); });
  }
  std::size_t final(std::size_t i) const { return final_[i]; }
  void move(std::size_t i, std::size_t to) {
    moved_[i] = true;
    final_[i] = final_[to];
    before_[to].push_back(i);
  }
  std::vector<Expr> order(const std::vector<Expr>& old) const {
    std::vector<Expr> result;
    for (std::size_t i = 0; i < old.size(); ++i)
      if (!moved_[i]) put(i, old, result);
    return result;
  }

 private:
  void put(std::size_t i, const std::vector<Expr>& old, std::vector<Expr>& result) const {
    std::vector<std::size_t> first = before_[i];
    std::ranges::sort(first);
    for (const std::size_t k : first) put(k, old, result);
    result.push_back(old[i]);
  }
  std::vector<std::size_t> final_;                ///< where a value comes, as the place of another
  std::vector<std::vector<std::size_t>> before_;  ///< values moved to the place before it
  std::vector<bool> moved_;
};

/// The order with blocks of values that were made together (a product of matrices that another
/// kernel has too; their numbers have no large gap) moved to their first use; `far`: only where
/// that is not in the next block anyway.
std::vector<Expr> blocks_moved(const std::vector<Expr>& order, bool far) {
  constexpr std::uint32_t kGap = 32;
  const Users users = users_in(order);
  Moves moves(order.size());
  std::size_t end = order.size(), next_end = end;
  for (std::size_t begin = end; begin-- > 0;) {
    if (begin > 0 && order[begin]->id - order[begin - 1]->id <= kGap) continue;
    std::vector<std::size_t> outside;
    bool root = false;
    for (std::size_t i = begin; i < end; ++i) {
      const auto found = users.find(order[i].get());
      root = root || found == users.end();
      if (root) break;
      for (const std::size_t u : found->second)
        if (u >= end) outside.push_back(u);
    }
    const bool soon = std::ranges::any_of(outside, [&](std::size_t u) { return u < next_end; });
    if (!root && !outside.empty() && !(far && soon)) {
      const std::size_t to = moves.first(outside);
      for (std::size_t i = begin; i < end; ++i) moves.move(i, to);
    }
    next_end = end;
    end = begin;
  }
  return moves.order(order);
}

/// Moves single values to their first use, unless an argument would have to be held longer for it.
class Sinking {
 public:
  explicit Sinking(const std::vector<Expr>& order)
      : order_(order), users_(users_in(order)), moves_(order.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i].get()] = i;
  }

  std::vector<Expr> order() {
    for (std::size_t i = order_.size(); i-- > 0;) sink(i);
    return moves_.order(order_);
  }

 private:
  void sink(std::size_t i) {
    const auto users = users_.find(order_[i].get());
    if (users == users_.end()) return;  // a root
    const std::size_t first = moves_.first(users->second);
    for (const Expr arg : order_[i].args())
      if (held_longer(arg, i, moves_.final(first))) return;
    moves_.move(i, first);
  }

  /// Whether `arg` is used last before place `until`, apart from user number `user`. A value
  /// without other users would be moved along with its user.
  bool held_longer(Expr arg, std::size_t user, std::size_t until) const {
    if (arg.is_number()) return false;
    const std::vector<std::size_t>& users = users_.at(arg.get());
    const bool alone = std::ranges::all_of(users, [&](std::size_t u) { return u == user; });
    const auto made = place_.find(arg.get());
    if (alone && made == place_.end()) return false;
    if (alone)
      return std::ranges::any_of(arg.args(),
                                 [&](Expr part) { return held_longer(part, made->second, until); });
    return std::ranges::none_of(
        users, [&](std::size_t u) { return u != user && moves_.final(u) >= until; });
  }

  const std::vector<Expr>& order_;
  std::unordered_map<const Node*, std::size_t> place_;
  Users users_;
  Moves moves_;
};

}  // namespace

std::vector<Expr> register_order(std::span<const Expr> roots, const IsLeaf& leaf) {
  const std::vector<Expr> written = by_handle(roots, leaf);
  std::vector<Expr> best = written;
  for (const std::vector<Expr>& start :
       {written, blocks_moved(written, true), blocks_moved(written, false)})
    for (const std::vector<Expr>& order : {start, Sinking(start).order()})
      if (most_live(order, roots, leaf) < most_live(best, roots, leaf)) best = order;
  return best;
}

int most_live(std::span<const Expr> order, std::span<const Expr> roots, const IsLeaf& read) {
  struct Life {
    std::size_t first = 0, last = 0;
  };
  std::unordered_map<const Node*, Life> lives;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const Expr arg : order[i].args()) {
      const auto known = lives.find(arg.get());
      if (known != lives.end()) {
        known->second.last = i;
      } else if (!arg.is_number() && read(*arg)) {
        lives.emplace(arg.get(), Life{i, i});
      }
    }
    lives.emplace(order[i].get(), Life{i, i});
  }
  for (const Expr root : roots)
    if (const auto known = lives.find(root.get()); known != lives.end())
      known->second.last = order.size();
  std::vector<int> change(order.size() + 2);
  for (const auto& [node, life] : lives) {
    ++change[life.first];
    --change[life.last + 1];
  }
  int now = 0, most = 0;
  for (const int c : change) most = std::max(most, now += c);
  return most;
}

}  // namespace vphi::emit
