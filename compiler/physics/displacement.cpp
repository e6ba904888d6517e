#include "compiler/physics/displacement.hpp"

#include <algorithm>
#include <numbers>

#include <fmt/format.h>

#include "compiler/algebra/pairs.hpp"
#include "compiler/physics/ensemble_errors.hpp"
#include "compiler/physics/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/sweeps.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

const Variable* variable(const System& system, int array) {
  const auto found = std::ranges::find(system.variables, array, &Variable::array);
  return found == system.variables.end() ? nullptr : &*found;
}

/// A variable that nothing moves, beside the one with this array.
int companion(Derivation& d, int array, const std::string& kind, const std::string& shown,
              bool counts) {
  System& system = d.system;
  const Variable& whose = *variable(system, array);
  const std::string name = kind + whose.name;
  const auto known = std::ranges::find(system.variables, name, &Variable::name);
  if (known != system.variables.end()) return known->array;
  Variable v;
  v.name = name;
  v.shown = fmt::format("{} of {}", shown, whose.shown);
  v.array = system.arrays++;
  v.rate = d.arena().integer(0);
  v.span = whose.span;
  v.frozen = true;
  if (counts) {
    v.partner = array;
  } else {
    system.initial.push_back({v.array, d.arena().load(array)});
  }
  system.variables.push_back(v);
  return v.array;
}

Expr moved(Derivation& d, int array) {
  Arena& arena = d.arena();
  const Expr start = arena.load(companion(d, array, "start_of_", "start", false));
  Expr beside = -start;
  const double period = variable(d.system, array)->period;
  if (period != 0) {
    const Expr turns = arena.load(companion(d, array, "turns_of_", "turns", true));
    beside = arena.real(period) * turns - start;
  }
  return arena.load(array) +
         beside / d.rescaling.A;  // the companions are stored as the variable is
}

}  // namespace

Value displacement(Derivation& d, const Value& x, dsl::Span span) {
  if (d.system.variables.empty()) {
    d.fail(errors::not_yet(span, "a displacement in an equation of motion"));
  }
  if (d.expanding()) d.fail(errors::not_yet(span, "a displacement in an expanding box"));
  const auto of_part = [&](Expr part) {
    if (!part) return part;
    const bool other = part.is(Op::Load) && algebra::is_other(*part);
    const Expr own = other ? algebra::as_own(part) : part;
    const bool bare = own.is(Op::Load) && own->offset.zero() && variable(d.system, own->index);
    if (!bare || variable(d.system, own->index)->frozen) {
      d.fail(errors::displacement_of(span));
    }
    const Expr way = moved(d, own->index);
    return other ? algebra::other(way) : way;
  };
  Value result{x.rows, x.columns, {}};
  for (const Component& c : x.parts) result.parts.push_back({of_part(c.re), of_part(c.im)});
  return result;
}

dsl::ExprPtr mean_squared_displacement(const dsl::Expr& call) {
  const auto wrap = [&](const char* function, const dsl::ExprPtr& inside) {
    auto e = std::make_shared<dsl::Expr>();
    e->kind = dsl::ExprKind::Call;
    e->text = function;
    e->span = call.span;
    e->args = {inside};
    return e;
  };
  const auto mean = wrap("mean", wrap("norm2", wrap("displacement", call.args[0])));
  mean->named = call.named;
  return mean;
}

const Variable* turns_of(const System& system, const Variable& angle) {
  const auto found = std::ranges::find_if(
      system.variables, [&](const Variable& v) { return v.frozen && v.partner == angle.array; });
  return found == system.variables.end() ? nullptr : &*found;
}

double angle_period(Derivation& d, const StateField& field) {
  const FieldFact* fact = d.facts.field(field.name);
  if (!fact || !fact->type || fact->type->kind != dsl::ExprKind::Call) {
    return 2 * std::numbers::pi;
  }
  Lowerer lower(d);
  const dsl::Expr& written = *fact->type->args[0];
  const auto period = static_cast<double>(lower.fixed_number(written, "the period of an angle"));
  if (!(period > 0)) d.fail(errors::option_value(written.span, "the period", "a number above 0"));
  return period;
}

Expr standard_error(Derivation& d, Expr average, dsl::Span span) {
  const Expr error = error_of(d, average);
  if (!error) d.fail(errors::no_standard_error(span));
  return error;
}

}  // namespace vphi::physics
