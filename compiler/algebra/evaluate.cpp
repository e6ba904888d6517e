// The slow evaluator: the meaning of an expression, node by node, in the order of its arguments.
#include <stdexcept>
#include <unordered_map>

#include "compiler/algebra/evaluation.hpp"
#include "compiler/algebra/node_map.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/rational.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {
namespace {

bool is_leaf(Expr e) { return e.op() <= Op::Uniform || e.is(Op::Stencil); }
/// Its value needs those of all sites.
bool needs_all_sites(Expr e) { return reduces_sites(e.op()) || e.is(Op::PairSum); }

template <class Real>
Real apply(const Row& row, const std::vector<Real>& args) {
  const int count = static_cast<int>(args.size());
  if constexpr (std::is_same_v<Real, double>) {
    return row.value(args.data(), count);
  } else {
    return row.value_long(args.data(), count);
  }
}

template <class Real, class Leaf>
Real evaluate_in(Expr expr, const Leaf& leaf) {
  NodeTable<Real> values;
  std::vector<Expr> stack{expr};
  std::vector<Real> args;
  while (!stack.empty()) {
    const Expr e = stack.back();
    if (values.contains(e.get())) {
      stack.pop_back();
      continue;
    }
    if (e.is_number()) {
      values.add(e.get(), static_cast<Real>(e->number.real));
      continue;
    }
    if (is_leaf(e) || needs_all_sites(e)) {
      if (!leaf || needs_all_sites(e)) {
        throw std::invalid_argument("evaluate: no value for " + std::string(info(e.op()).name));
      }
      values.add(e.get(), static_cast<Real>(leaf(*e)));
      continue;
    }
    bool ready = true;
    args.clear();
    for (Expr arg : e.args()) {
      if (const Real* found = values.find(arg.get())) {
        args.push_back(*found);
      } else {
        ready = false;
        stack.push_back(arg);
      }
    }
    if (!ready) continue;
    values.add(e.get(), e.is(Op::Lookup) ? static_cast<Real>(table_entry(
                                               table_of(*e), static_cast<double>(args[1])))
                                         : apply<Real>(row(e.op()), args));
  }
  return *values.find(expr.get());
}

}  // namespace

double evaluate(Expr expr, const Environment& environment) {
  return evaluate_in<double>(expr, environment.leaf);
}

long double evaluate_long(Expr expr, const std::function<long double(const Node&)>& leaf) {
  return evaluate_in<long double>(expr, leaf);
}

Evaluation::Evaluation(std::span<const Expr> roots) {
  std::unordered_map<const Node*, std::size_t> places;
  std::vector<Expr> stack;
  for (Expr root : roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      const Expr e = stack.back();
      if (places.contains(e.get())) {
        stack.pop_back();
        continue;
      }
      if (needs_all_sites(e))
        throw std::invalid_argument("evaluate: no value for " + std::string(info(e.op()).name));
      const std::size_t waiting = stack.size();
      if (!is_leaf(e))
        for (Expr arg : e.args())
          if (!places.contains(arg.get())) stack.push_back(arg);
      if (stack.size() > waiting) continue;
      Operation operation{e.get(), arguments_.size(), is_leaf(e) ? 0 : e.args().size()};
      for (std::size_t i = 0; i < operation.count; ++i)
        arguments_.push_back(places.at(e.args()[i].get()));
      places.emplace(e.get(), operations_.size());
      operations_.push_back(operation);
    }
    roots_.push_back(places.at(root.get()));
  }
}

std::vector<double> Evaluation::operator()(const std::function<double(const Node&)>& leaf) const {
  std::vector<double> values, args, results;
  values.reserve(operations_.size());
  for (const Operation& operation : operations_) {
    const Node& node = *operation.node;
    if (node.op == Op::Number) {
      values.push_back(static_cast<double>(node.number.real));
    } else if (operation.count == 0) {
      values.push_back(leaf(node));
    } else {
      args.clear();
      for (std::size_t i = 0; i < operation.count; ++i)
        args.push_back(values[arguments_[operation.first + i]]);
      values.push_back(node.op == Op::Lookup
                           ? static_cast<double>(table_entry(table_of(node), args[1]))
                           : apply<double>(row(node.op), args));
    }
  }
  for (const std::size_t root : roots_) results.push_back(values[root]);
  return results;
}

std::optional<Number> constant(Expr expr) {
  if (expr.is_number()) return expr->number;
  if (contains(expr, [](Expr e) { return !e.is_number() && (is_leaf(e) || needs_all_sites(e)); })) {
    return std::nullopt;
  }
  return inexact(evaluate_long(expr, {}));
}

}  // namespace vphi::algebra
