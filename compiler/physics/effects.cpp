// Clauses that are made use of by what the equations have become, not by being read: a metric that
// no equation holds, units of nothing, a seed of no random number (see ledger.hpp).
#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/hmc.hpp"
#include "compiler/physics/chains/link_flow.hpp"
#include "compiler/physics/steps.hpp"
#include "dsl/messages/error.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Names and texts: whether anything calls them is the language's to say.
void use_declarations(Derivation& d) {
  for (const char* keyword : {"model", "param", "stencil", "integrator", "solver"})
    for (const dsl::Clause* clause : d.resolved.clauses(keyword)) d.ledger.everything(*clause);
  for (const dsl::Clause* scheme : d.resolved.clauses("scheme"))
    if (scheme->has_body) d.ledger.everything(*scheme);
}

void use_metric(Derivation& d) {
  const dsl::Clause* clause = d.resolved.clause("metric");
  if (!clause) return;
  const bool holds = std::ranges::any_of(d.rates, [&](const auto& rate) {
    return algebra::contains(rate.second,
                             [&](Expr node) { return node == d.scale() || node == d.hubble(); });
  });
  if (holds || !d.expanding()) d.ledger.use(*clause);
  // the energies of all fields are in the constraint
  if (d.background.metric != Metric::SelfConsistent) return;
  for (const auto& [fact, value] : d.potentials) use_source(d, *fact);
}

void use_rescale(Derivation& d) {
  const dsl::Clause* clause = d.resolved.clause("rescale");
  if (!clause || d.system.conservation || moves_links(d.system.dynamics)) return;
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

bool draws_at_start(const Derivation& d) {
  using Kind = RandomField::Kind;
  const auto drawn = [](const RandomField& r) {
    return r.kind == Kind::Vacuum || r.kind == Kind::Normal || r.kind == Kind::Uniform;
  };
  const auto holds = [](Expr e) { return e && algebra::contains(e, random_op); };
  return std::ranges::any_of(d.system.random, drawn) ||
         std::ranges::any_of(d.system.initial,
                             [&](const InitialValue& i) { return holds(i.value); }) ||
         std::ranges::any_of(d.system.solves, [&](const LinearSystem& solve) {
           return std::ranges::any_of(solve.source, holds);
         });
}

/// `--seed` where no random number is drawn.
dsl::Diagnostic idle_seed(const Derivation& d) {
  dsl::Span span;
  if (const dsl::Clause* model = d.resolved.clause("model")) span = model->keyword_span;
  dsl::Diagnostic warning = dsl::error(
      "W0799", span, "`--seed` changes nothing: no random number is drawn", "",
      "a seed is that of drawn initial values, of `noise` and of Markov chains", "leave it out");
  warning.severity = dsl::Severity::Warning;
  return warning;
}

void use_random(Derivation& d) {
  const dsl::Clause* clause = d.resolved.clause("random");
  if (!clause && !d.options.seed) return;
  const auto* chain = std::get_if<MarkovChain>(&d.system.dynamics);
  const bool trajectory = std::holds_alternative<Trajectory>(d.system.dynamics);
  const bool moving = d.system.noise.kind != NoiseClass::None ||
                      (chain != nullptr && !chain->updates.empty()) || trajectory;
  const bool any = moving || draws_at_start(d);
  if (d.options.seed && !any) d.diagnostics.add(idle_seed(d));
  if (!clause) return;
  d.ledger.line(*clause);
  for (const dsl::Item& item : clause->items) {
    // initial values always take the default generator: naming that is no wish of another
    const bool standard = !item.head && d.system.generator == Generator::Philox10;
    if (item.head || standard ? any : moving) d.ledger.use(item);
  }
}

void use_precision(Derivation& d) {
  const dsl::Clause* clause = d.resolved.clause("precision");
  const bool pairs = std::ranges::any_of(d.system.variables, [](const Variable& v) {
    return algebra::contains(v.rate, [](Expr node) { return node.is(Op::PairSum); });
  });
  if (clause && pairs) d.ledger.option(*clause, "pair");
}

}  // namespace

void use_source(Derivation& d, const NamedFact& fact) {
  d.ledger.line(*fact.clause);
  d.ledger.value(*fact.clause, fact.value);
}

void use_by_effect(Derivation& d) {
  use_declarations(d);
  use_metric(d);
  use_rescale(d);
  use_random(d);
  use_precision(d);
}

}  // namespace vphi::physics
