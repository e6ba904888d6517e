// Gamma matrices by name, and functions of a spinor as linear operators.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/physics/link_field.hpp"
#include "compiler/physics/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors.hpp"

namespace vphi::physics {

bool Lowerer::has_fermions() const {
  return std::ranges::any_of(d_.facts.fields, [](const FieldFact& f) { return f.fermion; });
}

std::optional<Value> Lowerer::gamma_matrix(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& base = *e.args[0];
  if (base.kind != dsl::ExprKind::Name || base.text != "gamma" || e.args.size() != 2) return {};
  if (scope.value(base.text) || !has_fermions() || d_.facts.find(base.text)) return {};
  const auto k = direction(*e.args[1], scope);
  if (!k || k->value < 0 || k->value >= 4) {
    d_.fail(errors::wrong_shape(e.args[1]->span, "a gamma matrix has a direction: gamma[mu]"));
  }
  const gauge::SpinMatrix& gamma = d_.gammas[static_cast<std::size_t>(k->value)];
  return spin_value(d_.arena(), gauge::Gaussian{k->sign, 0} * gamma);
}

SpinorForm Lowerer::linear_operator(const NamedFact& fact, const dsl::Expr& at,
                                    const Scope& scope) {
  int colours = 1;
  for (const StateField& field : d_.fields) {
    if (field.links) colours = field.links->group.n;
  }
  Scope inner;
  for (const Scope* s = &scope; s; s = s->parent) {
    if (!s->dynamic) continue;
    inner.parent = s;
    break;
  }
  inner.values.emplace(fact.parameters[0], unknown_spinor(d_.arena(), colours));
  const Value v = value(*fact.value, inner);
  if (!v.spinor || !v.form) {
    d_.fail(errors::wrong_shape(
        at.span, fmt::format("`{0}({1})` is not recognised as linear in `{1}`: a sum of numbers, "
                             "gammas and paths of links before `{1}` at the path's end",
                             fact.name, fact.parameters[0])));
  }
  return *v.form;
}

Value Lowerer::adjoint_applied(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& name = *e.args[0];
  const NamedFact* fact = name.kind == dsl::ExprKind::Name ? d_.facts.find(name.text) : nullptr;
  if (!fact || fact->kind != NamedFact::Kind::Function || fact->parameters.size() != 1) {
    d_.fail(errors::wrong_shape(name.span, "adj(D, psi) takes the name of a function D(psi)"));
  }
  const Value psi = value(*e.args[1], scope);
  if (!psi.spinor) d_.fail(errors::wrong_shape(e.args[1]->span, "adj(D, psi) takes a spinor"));
  Scope options;
  for (const Scope* s = &scope; s && !options.parent; s = s->parent) {
    if (s->dynamic) options.parent = s;
  }
  options.dynamic = true;
  for (const dsl::NamedArgument& option : e.named) {
    options.values.emplace(option.name, value(*option.value, scope));
  }
  const SpinorForm form = adjoint(linear_operator(*fact, e, options));
  gauge::LinkOf link;
  for (const StateField& field : d_.fields) {
    if (field.links) link = links_of(d_.arena(), field);
  }
  return shaped(e, [&] { return apply(form, link, psi); });
}

}  // namespace vphi::physics
