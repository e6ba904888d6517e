#include "compiler/schedule/steps/side_by_side.hpp"

#include <algorithm>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/spinors/linear_map.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using algebra::Op;
using physics::LinearSystem;
using physics::Update;

/// The arrays that an update reads and writes.
struct Access {
  std::set<int> reads, writes;

  void read(Expr value) {
    algebra::visit(value, [this](Expr node) {
      if (node.is(Op::Load)) reads.insert(node->index);
    });
  }
  void read(const physics::LinearMap& map) {
    for (const Expr value : physics::values_of(map)) read(value);
  }
};

Access access_of(const LinearSystem& solve) {
  Access access;
  for (const physics::LinearMap* map : {&solve.op, &solve.adjoint}) access.read(*map);
  if (const auto& half = solve.even_odd)
    for (const physics::LinearMap* map : {&half->op, &half->adjoint, &half->source, &half->back})
      access.read(*map);
  for (const Expr part : solve.source) access.read(part);
  for (const std::vector<int>& past : solve.past) access.reads.insert(past.begin(), past.end());
  access.writes.insert(solve.arrays.begin(), solve.arrays.end());
  for (const auto& [name, arrays] : solve.beside)
    access.writes.insert(arrays.begin(), arrays.end());
  return access;
}

bool meet(const std::set<int>& a, const std::set<int>& b) {
  return std::ranges::any_of(a, [&](int array) { return b.contains(array); });
}

/// Whether the order of two updates matters.
bool depend(const Access& a, const Access& b) {
  return meet(a.writes, b.reads) || meet(a.writes, b.writes) || meet(a.reads, b.writes);
}

class Order {
 public:
  Order(const physics::System& system, const std::vector<Update>& updates)
      : system_(system), updates_(updates), placed_(updates.size()) {
    for (const Update& update : updates) access_.push_back(access_of_update(update));
  }

  std::vector<std::vector<const Update*>> make() {
    for (std::size_t i = 0; i < updates_.size(); ++i)
      if (!placed_[i]) place(i);
    return std::move(order_);
  }

 private:
  Access access_of_update(const Update& update) const {
    if (update.solve >= 0) return access_of(solve_of(update));
    Access access;
    for (const auto& [array, value] : update.values) {
      access.read(value);
      access.writes.insert(array);
    }
    return access;
  }
  const LinearSystem& solve_of(const Update& update) const {
    return system_.solves[static_cast<std::size_t>(update.solve)];
  }
  bool same_form(std::size_t i, std::size_t j) const {
    return updates_[j].solve >= 0 &&
           physics::same_form(solve_of(updates_[i]), solve_of(updates_[j]));
  }

  /// Places the update, with the later ones of its form.
  void place(std::size_t i) {
    std::vector<std::size_t> group{i};
    placed_[i] = true;
    for (std::size_t j = i + 1; updates_[i].solve >= 0 && j < updates_.size(); ++j) {
      if (placed_[j] || !same_form(i, j)) continue;
      const std::vector<std::size_t> first = before(i, j);
      if (waits(first, j, group)) continue;
      for (const std::size_t one : first) {
        placed_[one] = true;
        order_.push_back({&updates_[one]});
      }
      placed_[j] = true;
      group.push_back(j);
    }
    std::vector<const Update*>& last = order_.emplace_back();
    for (const std::size_t one : group) last.push_back(&updates_[one]);
  }

  /// What stands between two updates and has to come before the second one.
  std::vector<std::size_t> before(std::size_t i, std::size_t j) const {
    std::vector<std::size_t> needed{j};
    for (std::size_t m = j - 1; m > i; --m) {
      if (!placed_[m] && std::ranges::any_of(needed, [&](std::size_t later) {
            return depend(access_[m], access_[later]);
          }))
        needed.push_back(m);
    }
    std::ranges::sort(needed);
    needed.pop_back();
    return needed;
  }

  bool waits(const std::vector<std::size_t>& first, std::size_t j,
             const std::vector<std::size_t>& group) const {
    return std::ranges::any_of(group, [&](std::size_t member) {
      return depend(access_[member], access_[j]) ||
             std::ranges::any_of(
                 first, [&](std::size_t one) { return depend(access_[member], access_[one]); });
    });
  }

  const physics::System& system_;
  const std::vector<Update>& updates_;
  std::vector<Access> access_;
  std::vector<bool> placed_;
  std::vector<std::vector<const Update*>> order_;
};

}  // namespace

std::vector<std::vector<const Update*>> side_by_side(const physics::System& system,
                                                     const std::vector<Update>& updates) {
  if (std::ranges::count_if(updates, [](const Update& u) { return u.solve >= 0; }) > 1)
    return Order(system, updates).make();
  std::vector<std::vector<const Update*>> order;
  for (const Update& update : updates) order.push_back({&update});
  return order;
}

}  // namespace vphi::schedule
