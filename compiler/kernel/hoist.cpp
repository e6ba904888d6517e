// Pass `hoist`: values equal at all sites are computed once, before the sweep.
#include <unordered_map>

#include "compiler/algebra/node_map.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::kernel {
namespace {

using algebra::Op;

class Hoister {
 public:
  Hoister(SiteLoop& loop, const FreshName& fresh) : loop_(loop), fresh_(fresh) {}

  void root(Expr& value, const std::string& hint) {
    hint_ = hint;
    value = value->per_site ? visit(value) : scalar(value);
  }

 private:
  /// A scalar as the kernel sees it: numbers and slots stay, anything else gets a slot.
  Expr scalar(Expr value) {
    if (value.is_number() || value.is(Op::Symbol)) return value;
    const auto found = slots_.find(value.get());
    if (found != slots_.end()) return found->second;
    const std::string name = fresh_(hint_);
    loop_.before.push_back({name, value});
    const Expr symbol = value->arena->symbol(name, value->span);
    slots_.emplace(value.get(), symbol);
    return symbol;
  }

  /// Takes the scalar part of a sum or product out as one value.
  Expr split(Expr expr) {
    std::vector<Expr> scalars, sites;
    for (Expr arg : expr.args()) (arg->per_site ? sites : scalars).push_back(arg);
    for (Expr& site : sites) site = visit(site);
    algebra::Arena& arena = *expr->arena;
    if (!scalars.empty()) sites.push_back(scalar(arena.make(expr.op(), scalars)));
    return arena.make(expr.op(), sites, expr->span);
  }

  Expr visit(Expr expr) {
    if (!expr->per_site) return scalar(expr);
    if (expr.args().empty()) return expr;
    if (const Expr found = done_.find(expr)) return found;
    Expr result;
    if ((expr.is(Op::Add) || expr.is(Op::Mul)) && !expr->fixed_order) {
      result = split(expr);
    } else if (expr.is(Op::Stencil)) {
      result = expr;
    } else if (expr.is(Op::PairSum)) {
      const std::vector<Expr> terms{visit(expr.arg(0))};
      result = expr->arena->canonical(Op::PairSum, terms, expr->span, expr->index);
    } else {
      std::vector<Expr> args;
      for (Expr arg : expr.args()) args.push_back(visit(arg));
      // operations in a fixed order keep it
      const bool fixed_order = expr->fixed_order || algebra::is_ordered(expr.op());
      result = fixed_order ? expr->arena->raw(expr.op(), args, expr->span)
                           : expr->arena->make(expr.op(), args, expr->span);
    }
    done_.add(expr, result);
    return result;
  }

  SiteLoop& loop_;
  const FreshName& fresh_;
  std::string hint_;
  std::unordered_map<const algebra::Node*, Expr> slots_;
  algebra::NodeMap done_;
};

}  // namespace

SiteLoop hoist(SiteLoop loop, const FreshName& fresh) {
  Hoister hoister(loop, fresh);
  for (Store& value : loop.shared) hoister.root(value.value, "c");
  for (Store& store : loop.kernel.stores) {
    hoister.root(store.value, "c");
  }
  for (Reduction& reduction : loop.kernel.reductions) {
    hoister.root(reduction.value, "c");
  }
  return loop;
}

}  // namespace vphi::kernel
