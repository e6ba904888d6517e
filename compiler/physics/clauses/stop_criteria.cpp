#include "compiler/physics/clauses/stop_criteria.hpp"

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/ensemble_errors.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/outputs.hpp"
#include "dsl/syntax/parse.hpp"
#include "program/stop_criterion.hpp"

namespace vphi::physics {

using dsl::ExprKind;

std::shared_ptr<const dsl::Source> given_text(const Context& d, const std::string& name,
                                              const std::string& text) {
  for (const dsl::ModelText& one : d.resolved.library)
    if (one.source->name() == name) return one.source;
  return std::make_shared<const dsl::Source>(name, text);
}

dsl::ExprPtr until_expression(const Context& d) {
  const dsl::Clause* clause = d.resolved.clause("evolve");
  if (!clause && !d.options.until.empty()) {
    const dsl::ExprPtr until =
        dsl::parse_expression(given_text(d, "--until", d.options.until), d.diagnostics);
    if (!until) throw Failure{};
    return until;
  }
  return clause ? d.ledger.option(*clause, "until") : nullptr;
}

std::vector<dsl::ExprPtr> alternatives(const dsl::ExprPtr& condition) {
  if (condition->kind != ExprKind::Binary || condition->text != "or") return {condition};
  std::vector<dsl::ExprPtr> parts = alternatives(condition->args[0]);
  for (const dsl::ExprPtr& part : alternatives(condition->args[1])) parts.push_back(part);
  return parts;
}

std::vector<Expectation> read_stop_criteria(const Program& d, Lowerer& lower, ProgramUnits& units,
                                            const Outputs& outputs) {
  std::vector<Expectation> criteria;
  const dsl::ExprPtr until = until_expression(d);
  if (!until) return criteria;
  for (const dsl::ExprPtr& part : alternatives(until)) {
    const Expr condition = lower.real(*part, "`until`");
    if (!holds_statistics(d, condition)) continue;
    if (!outputs.until) d.fail(errors::stop_criterion_alone(part->span));
    bool regular = false;
    for (const OutputClause& output : outputs.outputs) regular = regular || output.regular();
    if (!regular) d.fail(errors::stop_criterion_unseen(part->span));
    const auto scalar = [&](Expr physical) {
      const Expr v = scalar_quantity(d, units, physical);
      if (algebra::per_site(v)) d.fail(errors::not_scalar_output(part->span, dsl::to_text(*part)));
      return v;
    };
    const bool compared = part->kind == ExprKind::Binary && part->args.size() == 2 &&
                          part->text != "and" && part->text != "or";
    Expectation criterion;
    criterion.text = std::string(program::kStopCriterion) + dsl::to_text(*part);
    criterion.span = part->span;
    criterion.ok = scalar(condition);
    criterion.value = compared ? scalar(lower.real(*part->args[0], "the left side")) : criterion.ok;
    criterion.at_end = true;
    criteria.push_back(std::move(criterion));
  }
  return criteria;
}

}  // namespace vphi::physics
