#include "compiler/kernel/rebuild.hpp"

#include <algorithm>
#include <vector>

namespace vphi::kernel {

using algebra::Expr;
using algebra::Op;

namespace {

bool all_numbers(const std::vector<Expr>& args) {
  return std::ranges::all_of(args, [](Expr arg) { return arg.is_number(); });
}

Expr sum(Expr old, std::vector<Expr> args) {
  std::erase_if(args, [](Expr arg) { return arg.is_zero(); });
  if (args.empty()) return old->arena->integer(0);
  return args.size() == 1 ? args[0] : old->arena->raw(Op::Add, std::move(args), old->span);
}

// 2*(3*x) is 6*x.
Expr product(Expr old, std::vector<Expr> args) {
  algebra::Arena& arena = *old->arena;
  for (Expr arg : args)
    if (arg.is_zero()) return arg;
  Expr number = arena.integer(1);
  std::vector<Expr> rest;
  for (Expr arg : args) {
    if (arg.is_number()) {
      number = arena.make(Op::Mul, {number, arg});
    } else if (arg.is(Op::Mul) && arg.arg(0).is_number()) {
      number = arena.make(Op::Mul, {number, arg.arg(0)});
      const auto inner = arg.args();
      rest.insert(rest.end(), inner.begin() + 1, inner.end());
    } else {
      rest.push_back(arg);
    }
  }
  if (!number.is_one()) rest.insert(rest.begin(), number);
  if (rest.empty()) return number;
  return rest.size() == 1 ? rest[0] : arena.raw(Op::Mul, std::move(rest), old->span);
}

Expr folded(Expr old, std::vector<Expr> args) {
  algebra::Arena& arena = *old->arena;
  if (all_numbers(args)) return arena.make(old.op(), args, old->span);
  if (old.is(Op::Select) && args[0].is_number()) return args[args[0].is_zero() ? 2 : 1];
  if (old.is(Op::Add)) return sum(old, std::move(args));
  if (old.is(Op::Mul)) return product(old, std::move(args));
  const auto before = old.args();
  if (std::equal(args.begin(), args.end(), before.begin(), before.end())) return old;
  if (old->index != 0) return arena.canonical(old.op(), args, old->span, old->index);
  return arena.raw(old.op(), std::move(args), old->span);
}

}  // namespace

Expr Rebuilder::operator()(Expr expr) {
  const auto found = done_.find(expr.get());
  if (found != done_.end()) return found->second;
  Expr result = replace_(expr);
  if (!result) {
    std::vector<Expr> args;
    // a table is known by its number, a stencil by its operator: their arguments stay
    const bool leaf = expr.args().empty() || expr.is(Op::Stencil) || expr.is(Op::PairSum);
    for (Expr arg : expr.args()) {
      if (!leaf) args.push_back((*this)(arg));
    }
    result = leaf ? expr : folded(expr, std::move(args));
  }
  done_.emplace(expr.get(), result);
  return result;
}

}  // namespace vphi::kernel
