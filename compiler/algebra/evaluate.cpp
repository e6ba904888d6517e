// The slow evaluator: the meaning of an expression, node by node, in the order of its arguments.
#include <stdexcept>
#include <unordered_map>

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
  std::unordered_map<const Node*, Real> values;
  std::vector<Expr> stack{expr};
  std::vector<Real> args;
  while (!stack.empty()) {
    const Expr e = stack.back();
    if (values.contains(e.get())) {
      stack.pop_back();
      continue;
    }
    if (e.is_number()) {
      values.emplace(e.get(), static_cast<Real>(e->number.real));
      continue;
    }
    if (is_leaf(e) || needs_all_sites(e)) {
      if (!leaf || needs_all_sites(e)) {
        throw std::invalid_argument("evaluate: no value for " + std::string(info(e.op()).name));
      }
      values.emplace(e.get(), static_cast<Real>(leaf(*e)));
      continue;
    }
    bool ready = true;
    args.clear();
    for (Expr arg : e.args()) {
      const auto found = values.find(arg.get());
      if (found != values.end()) {
        args.push_back(found->second);
      } else {
        ready = false;
        stack.push_back(arg);
      }
    }
    if (!ready) continue;
    values.emplace(e.get(), e.is(Op::Lookup) ? static_cast<Real>(table_entry(
                                                   table_of(*e), static_cast<double>(args[1])))
                                             : apply<Real>(row(e.op()), args));
  }
  return values.at(expr.get());
}

}  // namespace

double evaluate(Expr expr, const Environment& environment) {
  return evaluate_in<double>(expr, environment.leaf);
}

long double evaluate_long(Expr expr, const std::function<long double(const Node&)>& leaf) {
  return evaluate_in<long double>(expr, leaf);
}

std::optional<Number> constant(Expr expr) {
  if (expr.is_number()) return expr->number;
  if (contains(expr, [](Expr e) { return !e.is_number() && (is_leaf(e) || needs_all_sites(e)); })) {
    return std::nullopt;
  }
  return inexact(evaluate_long(expr, {}));
}

}  // namespace vphi::algebra
