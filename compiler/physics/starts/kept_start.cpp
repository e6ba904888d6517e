#include "compiler/physics/starts/kept_start.hpp"

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/starts/init_errors.hpp"
#include "dsl/words/sweep_words.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

bool drawn_by_kernels(const Start& start) {
  return std::ranges::any_of(start.initial, [](const InitialValue& initial) {
    return algebra::contains(initial.value,
                             [](Expr node) { return node.is(Op::Normal) || node.is(Op::Uniform); });
  });
}

bool drawn_by_host(const Program& d) {
  return std::ranges::any_of(d.collected.random, [](const RandomField& random) {
    return random.kind != RandomField::Kind::File && random.kind != RandomField::Kind::Link;
  });
}

}  // namespace

void read_kept_start(const Program& d, Lowerer& lower, ProgramUnits& units, const Start& start) {
  const dsl::Item* item = dsl::keep_item(d.resolved);
  if (!item || !item->value) return;
  d.ledger.use(*item);
  const dsl::Span span = item->value->span;
  if (drawn_by_kernels(start))
    d.fail(errors::not_yet(span, "`keep` where kernels draw the start, as `hot`"));
  if (!drawn_by_host(d)) d.fail(errors::kept_start_not_drawn(span));
  const Expr physical = lower.real(*item->value, "`keep`");
  if (holds_statistics(d, physical))
    d.fail(errors::not_yet(span, "`keep` of an average over time or sweeps"));
  const Expr holds = scalar_quantity(d, units, physical);
  if (algebra::per_site(holds)) d.fail(errors::not_scalar_output(span, written(d, span)));
  Arena& arena = d.arena();
  const Expr zero = arena.integer(0), one = arena.integer(1);
  const std::string kept = "start_kept", draws = kDraws;
  d.collected.start_kept = kept, d.collected.draws = draws;
  d.collected.scalars.push_back({kept, zero, arena.make(Op::Select, {holds, one, zero}), kept});
  d.collected.scalars.push_back({draws, zero, one, draws});
}

}  // namespace vphi::physics
