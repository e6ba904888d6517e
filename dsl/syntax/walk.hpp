// Visits every expression of a line in text order.
#pragma once

#include "dsl/syntax/ast.hpp"

namespace vphi::dsl {

/// Calls `visit(const Expr&)` for the node, then for everything below it.
template <typename Visit>
void for_each(const ExprPtr& expr, const Visit& visit) {
  if (!expr) return;
  visit(*expr);
  for (const ExprPtr& arg : expr->args) for_each(arg, visit);
  for (const NamedArgument& named : expr->named) for_each(named.value, visit);
}

template <typename Visit>
void for_each(const Line& line, const Visit& visit) {
  if (line.kind != Line::Kind::Clause) {
    for_each(line.definition.value, visit);
    return;
  }
  for (const Item& item : line.clause.items) {
    for_each(item.value, visit);
    for (const auto& [word, expr] : item.words) for_each(expr, visit);
  }
  for_each(line.clause.destination, visit);
  for (const Line& inner : line.clause.body) for_each(inner, visit);
  for (const Definition& fact : line.clause.where) for_each(fact.value, visit);
}

}  // namespace vphi::dsl
