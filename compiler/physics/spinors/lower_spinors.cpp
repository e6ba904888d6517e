// Gamma matrices by name, and functions of a spinor as linear operators.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/edges.hpp"
#include "compiler/physics/spinors/solve_errors.hpp"
#include "compiler/physics/spinors/spinors.hpp"

namespace vphi::physics {

namespace {

/// Whether a number of the form depends on the spinor: the operator is then not linear.
bool holds_parts_of(const Value& psi, const SpinorForm& form) {
  const auto own = [&](Expr node) {
    return std::ranges::any_of(
        psi.parts, [&](const Component& part) { return node == part.re || node == part.im; });
  };
  return std::ranges::any_of(form.terms, [&](const SpinorTerm& term) {
    return algebra::contains(term.weight.re, own) || algebra::contains(term.weight.im, own);
  });
}

}  // namespace

bool Lowerer::has_fermions() const {
  return std::ranges::any_of(d_.facts.fields, [](const FieldFact& f) { return f.fermion; });
}

std::optional<Value> Lowerer::gamma_matrix(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& base = *e.args[0];
  if (base.kind != dsl::ExprKind::Name || base.text != "gamma" || e.args.size() != 2) return {};
  if (scope.value(base.text) || !has_fermions() || d_.facts.find(base.text)) return {};
  const auto k = direction(*e.args[1], scope);
  if (d_.spins == 1)
    d_.fail(errors::wrong_shape(e.span, "a spinor(1) has one component of spin, and no gammas"));
  if (d_.spins == 2 && k && k->value == 3)
    d_.fail(errors::wrong_shape(
        e.span, "a spinor(2) has gammas of x, y and z; four directions take four components"));
  if (!k || k->value < 0 || k->value >= 4) {
    d_.fail(errors::wrong_shape(e.args[1]->span, "a gamma matrix has a direction: gamma[mu]"));
  }
  const gauge::SpinMatrix& gamma = d_.gammas[static_cast<std::size_t>(k->value)];
  return spin_value(d_.arena(), gauge::Gaussian{k->sign, 0} * gamma);
}

int Lowerer::colours() const {
  int colours = 1;
  for (const StateField& field : d_.fields) {
    if (field.links) colours = field.links->group.n;
  }
  return colours;
}

gauge::LinkOf Lowerer::link_matrices() const {
  gauge::LinkOf link;
  for (const StateField& field : d_.fields) {
    if (field.links) link = links_of(d_, field);
  }
  return link;
}

std::optional<Value> Lowerer::unit_spinor(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  Value v{d_.spins, colours(), {}};
  v.spinor = true;
  const Component zero{arena.integer(0), arena.integer(0)};
  v.parts.assign(static_cast<std::size_t>(v.rows * v.columns), zero);
  std::int64_t at[2] = {0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    const int size = i == 0 ? v.rows : v.columns;
    at[i] = fixed_integer(*e.args[i], "a component of a spinor", scope);
    if (at[i] < 0 || at[i] >= size)
      d_.fail(errors::index_out_of_range(e.args[i]->span, static_cast<int>(at[i]), size));
  }
  v.parts[static_cast<std::size_t>(at[0] * v.columns + at[1])].re = arena.integer(1);
  return v;
}

EdgePhases Lowerer::edges_of_sources(algebra::Offset offset, dsl::Span span) {
  EdgePhases common;
  for (int axis = 0; axis < d_.grid.dims; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    if (offset.d[k] == 0 || d_.spinor_edges.empty()) continue;
    common[k] = d_.spinor_edges.begin()->second[k];
    const bool same = std::ranges::all_of(
        d_.spinor_edges, [&](const auto& fermion) { return fermion.second[k] == common[k]; });
    if (same) continue;
    std::vector<std::string> names;
    for (const auto& [name, edges] : d_.spinor_edges) names.push_back(name);
    d_.fail(errors::whose_source(span, algebra::kAxisNames[k], names));
  }
  return common;
}

void Lowerer::turn_source(Value& moved, algebra::Offset offset, dsl::Span span) {
  const auto phases = [&](const auto& fermion) {
    for (std::size_t k = 0; k < fermion.second.size(); ++k)
      if (offset.d[k] != 0 && !fermion.second[k].one()) return true;
    return false;
  };
  if (std::ranges::none_of(d_.spinor_edges, phases)) return;
  const bool signs = std::ranges::none_of(
      d_.spinor_edges, [](const auto& fermion) { return turns_by_an_angle(fermion.second); });
  const auto turns = turns_with_spinors(d_, moved, signs);
  if (!turns) d_.fail(errors::mixed_source(span));
  if (*turns != 0) return;
  const SitePhase phase = phase_beyond(d_, edges_of_sources(offset, span), offset);
  for (Component& part : moved.parts) {
    if (phase.cosine) part = multiply({phase.cosine, phase.sine}, part);
    if (phase.sign) part = multiply({phase.sign, {}}, part);
  }
}

SpinorForm Lowerer::linear_operator(const NamedFact& fact, const dsl::Expr& at,
                                    const Scope& scope) {
  Reading without_stages = scope.reading();
  without_stages.stages = nullptr;
  Scope inner = Scope::in(without_stages);
  inner.parent = scope.dynamic_part();
  const Value unknown = unknown_spinor(d_.arena(), d_.spins, colours());
  inner.values.emplace(fact.parameters[0], unknown);
  const Value v = value(*fact.value, inner);
  if (!v.spinor || !v.form || holds_parts_of(unknown, *v.form))
    d_.fail(errors::not_a_sum_of_paths(at.span, fact.name, fact.parameters[0], fact.span));
  return *v.form;
}

Value Lowerer::adjoint_applied(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& name = *e.args[0];
  const NamedFact* fact = name.kind == dsl::ExprKind::Name ? d_.facts.find(name.text) : nullptr;
  if (!fact || fact->kind != NamedFact::Kind::Function || fact->parameters.size() != 1) {
    d_.fail(errors::wrong_shape(name.span, "adj(D, psi) takes the name of a function D(psi)"));
  }
  const Value psi = staged(value(*e.args[1], scope), scope.reading());
  if (!psi.spinor) d_.fail(errors::wrong_shape(e.args[1]->span, "adj(D, psi) takes a spinor"));
  Scope options = Scope::of_definition(scope);
  options.dynamic = true;
  for (const dsl::NamedArgument& option : e.named) {
    options.values.emplace(option.name, value(*option.value, scope));
  }
  const algebra::Mover move = around(d_.grid);
  const SpinorForm form = adjoint(linear_operator(*fact, e, options), move);
  const gauge::LinkOf& made = scope.reading().links;
  const gauge::LinkOf link = made ? made : link_matrices();
  const SpinorMover spinor_at = [&](const Value& of, algebra::Offset offset) {
    return offset.zero() ? of : at_neighbour(of, offset, e.span, scope.reading());
  };
  return shaped(e, [&] { return apply(form, link, psi, move, spinor_at); });
}

}  // namespace vphi::physics
