// Marks clauses as used by their effect on the equations rather than by being read. A metric
// without effect on an equation, units without a quantity and a seed without random numbers stay
// unused (see ledger.hpp).
#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/hmc.hpp"
#include "compiler/physics/chains/link_flow.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/checks.hpp"
#include "dsl/messages/error.hpp"
#include "dsl/syntax/parse.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Marks definitions and library texts; the language checks whether they are called.
void use_declarations(const Context& d) {
  for (const char* keyword : {"model", "param", "stencil", "integrator", "solver"})
    for (const dsl::Clause* clause : d.resolved.clauses(keyword)) d.ledger.everything(*clause);
  for (const dsl::Clause* scheme : d.resolved.clauses("scheme"))
    if (scheme->has_body) d.ledger.everything(*scheme);
}

void use_metric(const Program& d) {
  const dsl::Clause* clause = d.resolved.clause("metric");
  if (!clause) return;
  const bool holds = std::ranges::any_of(d.rates, [&](const auto& rate) {
    return algebra::contains(rate.second,
                             [&](Expr node) { return node == d.scale() || node == d.hubble(); });
  });
  if (holds || !d.expanding() || d.conservation) d.ledger.use(*clause);
  // the energies of all fields are in the constraint
  if (d.background.metric != Metric::SelfConsistent) return;
  for (const auto& [fact, value] : d.potentials) use_source(d, *fact);
  for (const auto& [fact, value] : d.lagrangians) use_source(d, *fact);
}

/// `method` where a sum over pairs was taken by it.
void use_method(const Program& d) {
  if (!d.ledger.chosen("method")) return;
  for (const dsl::Clause* clause : d.resolved.clauses("particles"))
    d.ledger.option(*clause, "method");
}

/// `laplacian = NAME` where nothing holds `lap` or a squared gradient.
void use_laplacian(const Program& d) {
  const NamedFact* chosen = d.facts.find("laplacian");
  if (!chosen || d.ledger.chosen("laplacian")) return;
  d.diagnostics.add(dsl::error(
      "E0799", chosen->span,
      fmt::format("nothing makes use of `laplacian = {}`", dsl::to_text(*chosen->value)), "",
      "it is the stencil of `lap`, of `norm2(grad(u))` and of energies made of it; differences "
      "that are written out stay as they are",
      "leave it out, or write `lap(u)` or `norm2(grad(u))` where it is meant"));
}

void use_rescale(const Program& d) {
  const dsl::Clause* clause = d.resolved.clause("rescale");
  if (!clause || d.conservation || moves_links(d.dynamics)) return;
  d.ledger.use(*clause);
  for (const dsl::Item& item : clause->items) {
    const std::string name = item.head ? item.head->name : std::string();
    if (!d.expanding() && name != "A" && name != "B") continue;
    d.ledger.use(item);
    d.ledger.words(item);
  }
}

bool random_op(Expr node) {
  return node.is(Op::Noise) || node.is(Op::Normal) || node.is(Op::Uniform);
}

bool draws_at_start(const System& system) {
  using Kind = RandomField::Kind;
  const auto drawn = [](const RandomField& r) {
    return r.kind != Kind::File && r.kind != Kind::Link;
  };
  const auto holds = [](Expr e) { return e && algebra::contains(e, random_op); };
  return std::ranges::any_of(system.random, drawn) ||
         std::ranges::any_of(system.initial,
                             [&](const InitialValue& i) { return holds(i.value); }) ||
         std::ranges::any_of(system.solves, [&](const LinearSystem& solve) {
           return std::ranges::any_of(solve.source, holds);
         });
}

/// `--seed` where no random number is drawn.
dsl::Diagnostic idle_seed(const Context& d) {
  dsl::Span span;
  if (const dsl::Clause* model = d.resolved.clause("model")) span = model->keyword_span;
  dsl::Diagnostic warning = dsl::error(
      "W0799", span, "`--seed` changes nothing: no random number is drawn", "",
      "a seed is that of drawn initial values, of `noise` and of Markov chains", "leave it out");
  warning.severity = dsl::Severity::Warning;
  return warning;
}

void use_random(const Context& d, const System& system) {
  const dsl::Clause* clause = d.resolved.clause("random");
  if (!clause && !d.options.seed) return;
  const auto* chain = std::get_if<MarkovChain>(&system.dynamics);
  const bool trajectory = std::holds_alternative<Trajectory>(system.dynamics);
  const bool moving = system.noise.kind != NoiseClass::None ||
                      (chain != nullptr && !chain->updates.empty()) || trajectory;
  const bool any = moving || draws_at_start(system);
  if (d.options.seed && !any) d.diagnostics.add(idle_seed(d));
  if (!clause) return;
  d.ledger.line(*clause);
  for (const dsl::Item& item : clause->items) {
    // initial values always take the default generator, so naming it asks for no other
    const bool standard = !item.head && system.generator == Generator::Philox10;
    if (item.head || standard ? any : moving) d.ledger.use(item);
  }
}

void use_precision(const Context& d, const System& system) {
  const dsl::Clause* clause = d.resolved.clause("precision");
  const bool pairs = std::ranges::any_of(system.variables, [](const Variable& v) {
    return algebra::contains(v.rate, [](Expr node) { return node.is(Op::PairSum); });
  });
  if (clause && pairs) d.ledger.option(*clause, "pair");
}

}  // namespace

void use_source(const Context& d, const NamedFact& fact) {
  d.ledger.line(*fact.clause);
  d.ledger.value(*fact.clause, fact.value);
}

void use_by_effect(const Program& d, const System& system) {
  use_declarations(d);
  use_metric(d);
  use_laplacian(d);
  use_method(d);
  use_rescale(d);
  use_random(d, system);
  use_precision(d, system);
}

}  // namespace vphi::physics
