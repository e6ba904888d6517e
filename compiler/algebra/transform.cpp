#include "compiler/algebra/transform.hpp"
#include "compiler/algebra/pairs.hpp"

#include <algorithm>
#include <unordered_set>

namespace vphi::algebra {
namespace {

/// Distinct nodes below `expr`, children first; `into` says whether to look below a node.
std::vector<Expr> children_first(Expr expr, const std::function<bool(Expr)>& into = {}) {
  // A stack of our own: sums of a thousand terms nest as deep as they are long.
  struct Visit {
    Expr expr;
    bool opened = false;
  };
  std::vector<Expr> result;
  std::unordered_set<const Node*> seen;
  std::vector<Visit> stack{{expr}};
  while (!stack.empty()) {
    const Visit top = stack.back();
    if (top.opened) {
      stack.pop_back();
      result.push_back(top.expr);
      continue;
    }
    if (!seen.insert(top.expr.get()).second) {
      stack.pop_back();
      continue;
    }
    stack.back().opened = true;
    if (into && !into(top.expr)) continue;
    for (std::size_t i = top.expr.args().size(); i-- > 0;) stack.push_back({top.expr.args()[i]});
  }
  return result;
}

bool is_ordered(Expr e) { return e->ordered || (e.op() >= Op::Neg && e.op() <= Op::Fma); }

/// `node` with other arguments; the order of operations stays where it was fixed.
Expr rebuilt(Expr node, std::vector<Expr> args) {
  if (std::ranges::equal(args, node.args())) return node;
  Arena& arena = *node->arena;
  if (is_ordered(node)) return arena.raw(node.op(), std::move(args), node->span);
  if (node.is(Op::Stencil)) return arena.stencil(node->index, args[0], node->span);
  if (node.is(Op::PairSum)) return pair_sum(args[0], node->index != 0);
  return arena.make(node.op(), std::move(args), node->span);
}

bool is_reduction(Expr e) { return e.op() >= Op::Mean && e.op() <= Op::Maximum; }

}  // namespace

void visit(Expr expr, const std::function<void(Expr)>& see) {
  for (Expr node : children_first(expr)) see(node);
}

Expr rewrite(Expr expr, const std::function<Expr(Expr)>& change) {
  std::unordered_map<const Node*, Expr> done;
  for (Expr node : children_first(expr)) {
    std::vector<Expr> args;
    args.reserve(node.args().size());
    for (Expr arg : node.args()) args.push_back(done.at(arg.get()));
    done.emplace(node.get(), change(rebuilt(node, std::move(args))));
  }
  return done.at(expr.get());
}

Expr substitute(Expr expr, const std::unordered_map<const Node*, Expr>& what) {
  std::unordered_map<const Node*, Expr> done;
  const auto below = [&](Expr e) { return !what.contains(e.get()); };
  for (Expr node : children_first(expr, below)) {
    if (const auto found = what.find(node.get()); found != what.end()) {
      done.emplace(node.get(), found->second);
      continue;
    }
    std::vector<Expr> args;
    args.reserve(node.args().size());
    for (Expr arg : node.args()) args.push_back(done.at(arg.get()));
    done.emplace(node.get(), rebuilt(node, std::move(args)));
  }
  return done.at(expr.get());
}

Expr substitute(Expr expr, Expr from, Expr to) { return substitute(expr, {{from.get(), to}}); }

bool contains(Expr expr, const std::function<bool(Expr)>& test) {
  const auto nodes = children_first(expr);
  return std::ranges::any_of(nodes, test);
}

bool depends_on(Expr expr, Expr leaf) {
  return contains(expr, [leaf](Expr e) { return e == leaf; });
}

std::vector<Expr> reads(Expr expr) {
  std::vector<Expr> result;
  const auto below = [](Expr e) { return !e.is(Op::Stencil) || !e.arg(0).is(Op::Load); };
  for (Expr node : children_first(expr, below)) {
    if (node.is(Op::Load) || node.is(Op::Stencil)) result.push_back(node);
  }
  std::ranges::sort(result, {}, [](Expr e) { return e->id; });
  return result;
}

bool per_site(Expr expr) { return expr->per_site; }

Expr shift(Expr expr, Offset offset) {
  if (offset.zero()) return expr;
  Arena& arena = *expr->arena;
  std::unordered_map<const Node*, Expr> done;
  for (Expr node : children_first(expr, [](Expr e) { return !is_reduction(e); })) {
    Expr moved = node;
    if (node.is(Op::Load)) {
      Offset o = node->offset;
      for (int i = 0; i < 4; ++i) o.d[i] = static_cast<std::int16_t>(o.d[i] + offset.d[i]);
      moved = arena.load(node->index, o, node->span);
    } else if (node.is(Op::Noise) || node.is(Op::Normal) || node.is(Op::Uniform)) {
      Offset o = node->offset;
      for (int i = 0; i < 4; ++i) o.d[i] = static_cast<std::int16_t>(o.d[i] + offset.d[i]);
      moved = arena.random(node.op(), node->index, o, node->span);
    } else if (node.is(Op::Site)) {
      moved = is_mark(offset) ? other(node) : node + arena.integer(offset.d[node->index]);
    } else if (node->per_site) {
      std::vector<Expr> args;
      for (Expr arg : node.args()) args.push_back(done.at(arg.get()));
      moved = rebuilt(node, std::move(args));
    }
    done.emplace(node.get(), moved);
  }
  return done.at(expr.get());
}

}  // namespace vphi::algebra
