// Tables by nodes, for passes that give every node something.
//
// Open addressing in one piece of memory: with buckets and a piece of memory for each entry, most
// of the time of a long rewriting was spent in the table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

template <class Value>
class NodeTable {
 public:
  /// The value of the node; null where it has none.
  const Value* find(const Node* node) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[place(node)];
    return slot.node ? &slot.value : nullptr;
  }
  bool contains(const Node* node) const { return find(node) != nullptr; }

  /// Gives the node a value unless it has one. The second is true where it had none. The pointer
  /// holds until the next one is added.
  std::pair<Value*, bool> add(const Node* node, Value value) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place(node)];
    if (slot.node) return {&slot.value, false};
    slot = {node, std::move(value)};
    ++count_;
    return {&slot.value, true};
  }
  Value& operator[](const Node* node) { return *add(node, Value()).first; }

 private:
  struct Slot {
    const Node* node = nullptr;
    Value value{};
  };

  /// The slot of the node, or the free one where it belongs. Nodes that were made together are
  /// looked for together, so four of them are neighbours and share a line of the cache.
  std::size_t place(const Node* node) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t spread = (node->id >> 2) * std::uint64_t{0x9E3779B97F4A7C15};
    std::size_t i = (static_cast<std::size_t>(spread >> 32 << 2) | (node->id & 3)) & mask;
    while (slots_[i].node && slots_[i].node != node) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
    old.swap(slots_);
    for (Slot& slot : old)
      if (slot.node) slots_[place(slot.node)] = std::move(slot);
  }

  std::vector<Slot> slots_;
  std::size_t count_ = 0;
};

/// What nodes become.
class NodeMap {
 public:
  /// The expression of the node; null where it has none.
  Expr find(Expr node) const {
    const Expr* found = table_.find(node.get());
    return found ? *found : Expr();
  }
  bool contains(Expr node) const { return table_.contains(node.get()); }
  /// Gives the node an expression unless it has one.
  void add(Expr node, Expr value) { table_.add(node.get(), value); }

 private:
  NodeTable<Expr> table_;
};

}  // namespace vphi::algebra
