// Derivatives: forward through the graph, each node once; the rules are in the op table (ops.cpp).
#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "compiler/algebra/mover.hpp"
#include "compiler/algebra/node_map.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {
namespace {

/// d(node)/d(leaf) from the derivatives of the node's arguments.
Expr chain_rule(Expr node, const std::vector<Expr>& slopes, Expr leaf) {
  Arena& arena = *node->arena;
  if (std::ranges::all_of(slopes, [](Expr d) { return d.is_zero(); })) return arena.integer(0);
  if (node.is(Op::Stencil) && leaf.is(Op::Load)) return arena.integer(0);
  if (node.op() >= Op::Mean && node.op() <= Op::Maximum) {
    if (leaf.is(Op::Load) || node.op() >= Op::Minimum) {
      throw std::invalid_argument("derivative: not through a reduction over all sites");
    }
  }
  const auto rule = row(node.op()).derivative;
  return rule ? rule(node, slopes) : arena.integer(0);
}

/// d(expr)/d(leaf) for many leaves at once: backward through the graph, each node once. Their
/// expressions share what they have in common.
std::unordered_map<const Node*, Expr> derivatives(Expr expr, const std::vector<Expr>& leaves) {
  Arena& arena = *expr->arena;
  std::unordered_set<const Node*> above, ends;  // nodes that hold a leaf; the leaves
  for (const Expr leaf : leaves) ends.insert(leaf.get());
  std::vector<Expr> order;
  visit(expr, [&](Expr node) {
    const bool holds = ends.contains(node.get()) ||
                       (!node.is(Op::Stencil) && std::ranges::any_of(node.args(), [&](Expr arg) {
                         return above.contains(arg.get());
                       }));
    if (!holds) return;
    above.insert(node.get());
    order.push_back(node);
  });
  std::unordered_map<const Node*, std::vector<Expr>> shares;
  std::unordered_map<const Node*, Expr> result;
  shares[expr.get()] = {arena.integer(1)};
  for (std::size_t k = order.size(); k-- > 0;) {
    const Expr node = order[k];
    const Expr slope = arena.make(Op::Add, std::move(shares[node.get()]));
    if (ends.contains(node.get())) {
      result.emplace(node.get(), slope);
      continue;
    }
    for (std::size_t i = 0; i < node.args().size(); ++i) {
      const Expr arg = node.args()[i];
      if (!above.contains(arg.get())) continue;
      std::vector<Expr> unit(node.args().size(), arena.integer(0));
      unit[i] = arena.integer(1);
      const Expr part = chain_rule(node, unit, leaves.front());
      if (!part.is_zero()) shares[arg.get()].push_back(slope * part);
    }
  }
  return result;
}

std::size_t count_nodes(Expr expr) {
  std::size_t count = 0;
  visit(expr, [&](Expr) { ++count; });
  return count;
}

/// From so many nodes on, met once for each value of an array, the derivatives by all of them are
/// made together. Below it one by one has fewer operations.
constexpr std::size_t kManyNodes = 100000;

/// The sum over all sites of `density` varied with respect to `array`.
void vary(Expr density, int array, const Mover& move, std::vector<Expr>& result) {
  Arena& arena = *density->arena;
  std::vector<Expr> own;
  for (const Expr read : reads(density))
    if (read.is(Op::Load) && read->index == array) own.push_back(read);
  std::unordered_map<const Node*, Expr> known;
  if (own.size() > 1 && own.size() * count_nodes(density) >= kManyNodes)
    known = derivatives(density, own);
  for (Expr read : reads(density)) {
    if (read.is(Op::Load)) {
      if (read->index != array) continue;
      // sum_x F(u(x + o)) holds u(y) at x = y - o
      const auto found = known.find(read.get());
      const Expr slope = found == known.end() ? derivative(density, read) : found->second;
      if (!slope.is_zero()) result.push_back(move(slope, mirrored(read->offset)));
      continue;
    }
    // sum_x F((L f)(x)) = sum_x (L^T F')(x) f(x) with L^T F' held fixed
    const bool of_array =
        contains(read.arg(0), [array](Expr e) { return e.is(Op::Load) && e->index == array; });
    if (!of_array) continue;
    const Expr slope = derivative(density, read);
    if (slope.is_zero()) continue;
    const int adjoint_index = arena.add_stencil(adjoint(arena.stencil_data(read->index)));
    const Expr weight = arena.stencil(adjoint_index, slope, read->span);
    const Expr held = arena.symbol("held fixed: L^T F'");
    std::vector<Expr> inner;
    for (Expr inside : reads(read.arg(0))) {
      if (inside.is(Op::Stencil)) {
        throw std::invalid_argument("variation: a stencil of a stencil");
      }
      if (inside->index != array) continue;
      const Expr chain = substitute(derivative(held * read.arg(0), inside), held, weight);
      result.push_back(move(chain, mirrored(inside->offset)));
    }
  }
}

}  // namespace

Expr derivative(Expr expr, Expr leaf) {
  Arena& arena = *expr->arena;
  NodeMap slopes;
  std::vector<Expr> of_args;
  visit(expr, [&](Expr node) {
    if (node == leaf) {
      slopes.add(node, arena.integer(1));
      return;
    }
    if (node.args().empty()) {
      slopes.add(node, arena.integer(0));
      return;
    }
    of_args.clear();
    for (Expr arg : node.args()) of_args.push_back(slopes.find(arg));
    slopes.add(node, chain_rule(node, of_args, leaf));
  });
  return slopes.find(expr);
}

Expr local_derivative(Expr expr, Expr leaf) {
  Arena& arena = *expr->arena;
  std::unordered_map<const Node*, Expr> held, back;
  visit(expr, [&](Expr node) {
    if (!node.is(Op::PairSum) && !(node.op() >= Op::Mean && node.op() <= Op::Maximum)) return;
    const Expr symbol = arena.symbol("held " + std::to_string(held.size()));
    held.emplace(node.get(), symbol);
    back.emplace(symbol.get(), node);
  });
  if (held.empty()) return derivative(expr, leaf);
  return substitute(derivative(substitute(expr, held), leaf), back);
}

Expr variation(Expr density, int array) { return variation(density, array, shift); }

Expr variation(Expr density, int array, const Mover& move) {
  Arena& arena = *density->arena;
  if (density.is(Op::Total)) return variation(density.arg(0), array, move);
  std::vector<Expr> terms;
  const PairVariation pairs = vary_pairs(density, array);
  std::unordered_map<const Node*, Expr> sums;
  for (const auto& [symbol, sum] : pairs.held) sums.emplace(symbol.get(), sum);
  vary(pairs.rest, array, move, terms);
  for (Expr& term : terms) term = substitute(term, sums);
  terms.push_back(pairs.slope);
  return arena.make(Op::Add, std::move(terms), density->span);
}

}  // namespace vphi::algebra
