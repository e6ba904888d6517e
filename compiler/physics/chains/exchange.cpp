#include "compiler/physics/chains/exchange.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/clauses/field_outputs.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

const dsl::Item* item_of(const Context& d, const char* name) {
  const dsl::Clause* sample = d.resolved.clause("sample");
  if (!sample) return nullptr;
  for (const dsl::Item& item : sample->items)
    if (item.head && item.value && item.head->name == name) return &item;
  return nullptr;
}

/// The name of the axis: `K` or `[K]`.
std::string axis_named(const Context& d, const dsl::Item& item) {
  const dsl::Expr* name = item.value.get();
  if (name->kind == dsl::ExprKind::List && name->args.size() == 1) name = name->args[0].get();
  if (name->kind != dsl::ExprKind::Name)
    d.fail(errors::option_value(item.span, "exchange", "the name of one sweep"));
  return name->text;
}

/// The sum of the densities of all actions.
Expr density_of_actions(const Program& d, Lowerer& lower) {
  Expr sum = d.arena().integer(0);
  for (const dsl::Clause* clause : d.ledger.clauses("action"))
    for (const dsl::Item& item : clause->items)
      if (item.head && item.value) sum = sum + lower.real(*item.value, "an action");
  return sum;
}

std::vector<int> configuration(const Program& d) {
  std::vector<int> arrays;
  for (const StateField& field : d.fields)
    if (!field.spinor && !field.drawn)
      arrays.insert(arrays.end(), field.arrays.begin(), field.arrays.end());
  return arrays;
}

}  // namespace

bool exchanges(const Context& d) { return item_of(d, "exchange") != nullptr; }

std::optional<int> exchange_axis(const Setting& d) {
  const dsl::Item* item = item_of(d, "exchange");
  if (!item) return std::nullopt;
  return axis_of_sweep(d, axis_named(d, *item));
}

std::optional<OutputClause> read_exchange(const Program& d, Lowerer& lower, ProgramUnits& units) {
  const dsl::Item* item = item_of(d, "exchange");
  if (!item) return std::nullopt;
  if (const auto* trajectory = std::get_if<Trajectory>(&d.dynamics))
    for (const Trajectory::Level& level : trajectory->levels)
      if (!level.solves.empty())
        d.fail(errors::not_yet(item->span, "an exchange of configurations under a determinant"));
  const std::string name = axis_named(d, *item);
  const int axis = *exchange_axis(d);
  if (axis < 0) {
    d.remark(fmt::format("`{}` has one value: no configurations are exchanged", name));
    return std::nullopt;
  }
  OutputClause clause;
  clause.span = item->span;
  clause.every = 1;
  if (const dsl::Item* every = item_of(d, "exchange_every"))
    clause.every = static_cast<int>(std::clamp<std::int64_t>(
        lower.fixed_integer(*every->value, "`exchange_every`"), 1, 2000000000));
  Arena& arena = d.arena();
  const Axis& along = d.axes[static_cast<std::size_t>(axis)];
  const Expr own = arena.symbol(along.symbol), density = density_of_actions(d, lower);
  if (!algebra::depends_on(density, own))
    d.fail(errors::action_without_axis(item->span, name, along.span));
  for (const char* other : {Exchange::kAbove, Exchange::kBelow}) {
    const Expr there = algebra::rewrite(
        density, [&](Expr node) { return node == own ? arena.symbol(other) : node; });
    Observable o;
    o.name = other;
    o.value = scalar_quantity(
        d, units, arena.integer(d.grid.sites()) * arena.make(Op::Mean, {there - density}));
    o.span = item->span;
    clause.observables.push_back(std::move(o));
  }
  clause.exchange = Exchange{static_cast<std::size_t>(axis), configuration(d)};
  d.remark(
      fmt::format("neighbours along `{}` exchange their configurations after every {}, with "
                  "exp(-change of S)",
                  name, clause.every == 1 ? "sweep" : fmt::format("{} sweeps", clause.every)));
  return clause;
}

}  // namespace vphi::physics
