// Site functions rewritten operation by operation: what the passes for devices have in common.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/kernel/device.hpp"

namespace vphi::kernel {

/// Finds values that need no operation at a site: leaves, sums of stencils, and values equal at all
/// sites.
class AtHand {
 public:
  explicit AtHand(const SiteFunction& function) : at_site_(function.at_site) {
    for (const ScalarAssign& held : function.held) at_site_.insert(held.slot);
  }
  bool operator()(Expr expr) {
    return expr.args().empty() || expr.is(algebra::Op::Stencil) || expr.is(algebra::Op::PairSum) ||
           kind(expr) == Kind::Uniform;
  }

 private:
  enum class Kind { Number, Uniform, Site };

  Kind kind(Expr expr) {
    if (expr->per_site) return Kind::Site;
    if (expr.is(algebra::Op::Symbol))
      return at_site_.contains(expr->name) ? Kind::Site : Kind::Uniform;
    const auto found = known_.find(expr.get());
    if (found != known_.end()) return found->second;
    Kind result = Kind::Number;
    for (const Expr arg : expr.args()) result = std::max(result, kind(arg));
    return known_[expr.get()] = result;
  }

  std::set<std::string> at_site_;
  std::unordered_map<const algebra::Node*, Kind> known_;
};

/// The values of a function rewritten together, operation by operation.
class SiteRewriting {
 public:
  explicit SiteRewriting(const SiteFunction& function) : at_hand(function) {
    std::vector<Expr> open = function.values();
    while (!open.empty()) {
      const Expr expr = open.back();
      open.pop_back();
      if (++uses_[expr.get()] > 1 || at_hand(expr)) continue;
      for (const Expr arg : expr.args()) open.push_back(arg);
    }
  }
  virtual ~SiteRewriting() = default;

  SiteFunction operator()(SiteFunction function) {
    for (Store& store : function.kernel.stores) store.value = visit(store.value);
    for (Reduction& reduction : function.kernel.reductions)
      reduction.value = visit(reduction.value);
    for (ScalarAssign& held : function.held) held.value = visit(held.value);
    return function;
  }

 protected:
  /// The replacement of an operation; null: it is kept.
  virtual Expr made(Expr expr) = 0;

  Expr visit(Expr expr) {
    if (at_hand(expr)) return expr;
    const auto found = done_.find(expr.get());
    if (found != done_.end()) return found->second;
    Expr result = made(expr);
    if (!result) {
      std::vector<Expr> args;
      for (const Expr arg : expr.args()) args.push_back(visit(arg));
      result = std::ranges::equal(args, expr.args())
                   ? expr
                   : expr->arena->raw(expr.op(), std::move(args), expr->span);
    }
    done_.emplace(expr.get(), result);
    return result;
  }
  int uses(Expr expr) const {
    const auto found = uses_.find(expr.get());
    return found == uses_.end() ? 0 : found->second;
  }
  /// Whether an operation is used once.
  bool open(Expr expr) { return uses(expr) <= 1 && !at_hand(expr); }

  AtHand at_hand;

 private:
  std::unordered_map<const algebra::Node*, int> uses_;
  std::unordered_map<const algebra::Node*, Expr> done_;
};

}  // namespace vphi::kernel
