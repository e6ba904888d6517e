#include "compiler/physics/lower/displacement.hpp"

#include <algorithm>
#include <numbers>

#include <fmt/format.h>

#include "compiler/algebra/pairs.hpp"
#include "compiler/physics/clauses/ensemble_errors.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

const Variable* variable(const System& system, int array) {
  const auto found = std::ranges::find(system.variables, array, &Variable::array);
  return found == system.variables.end() ? nullptr : &*found;
}

constexpr const char *kStart = "start", *kWinding = "turns";

/// A variable that nothing moves, beside the one with this array; `number` is its own array.
void add_companion(Derivation& d, int array, const std::string& kind, int number, bool counts) {
  System& system = d.system;
  const Variable& whose = *variable(system, array);
  Variable v;
  v.name = fmt::format("{}_of_{}", kind, whose.name);
  v.shown = fmt::format("{} of {}", kind, whose.shown);
  v.array = number;
  v.rate = d.arena().integer(0);
  v.span = whose.span;
  v.frozen = true;
  if (counts) v.partner = array;
  system.variables.push_back(v);
}

/// Number of the companion that an output names, made where there is none.
int companion(Derivation& d, int array, const std::string& kind, bool counts) {
  System& system = d.system;
  const std::string name = fmt::format("{}_of_{}", kind, variable(system, array)->name);
  const auto known = std::ranges::find(system.variables, name, &Variable::name);
  if (known != system.variables.end()) return known->array;
  const int number = system.arrays++;
  add_companion(d, array, kind, number, counts);
  if (!counts) system.initial.push_back({number, d.arena().load(array)});
  return number;
}

Expr moved(Derivation& d, int array) {
  Arena& arena = d.arena();
  // those of equations are converted with what is around them
  const auto beside = std::ranges::find(d.companions, array, &Companions::array);
  if (beside != d.companions.end()) {
    const Expr way = arena.load(array) - arena.load(beside->start);
    if (beside->winding < 0) return way;
    return way + arena.real(angle_period(d, *d.field_of(array))) * arena.load(beside->winding);
  }
  Expr other = -arena.load(companion(d, array, kStart, false));
  const double period = variable(d.system, array)->period;
  if (period != 0) {
    other = other + arena.real(period) * arena.load(companion(d, array, kWinding, true));
  }
  return arena.load(array) + other / d.rescaling.A;  // companions are stored as the variable is
}

/// Whether this is an array of state that moves.
bool moves(Derivation& d, int array) {
  if (d.system.variables.empty()) {
    const StateField* field = d.field_of(array);
    return field && !field->drawn && !field->primitive;
  }
  const Variable* v = variable(d.system, array);
  return v && !v->frozen;
}

}  // namespace

Value displacement(Derivation& d, const Value& x, dsl::Span span) {
  if (d.expanding()) d.fail(errors::not_yet(span, "a displacement in an expanding box"));
  const auto of_part = [&](Expr part) {
    if (!part) return part;
    const bool other = part.is(Op::Load) && algebra::is_other(*part);
    const Expr own = other ? algebra::as_own(part) : part;
    if (!own.is(Op::Load) || !own->offset.zero() || !moves(d, own->index)) {
      d.fail(errors::displacement_of(span));
    }
    if (d.system.variables.empty() &&
        std::ranges::count(d.companions, own->index, &Companions::array) == 0) {
      const StateField& field = *d.field_of(own->index);
      const bool counts = field.periodic && field.place(own->index) >= 0;
      const int start = d.system.arrays++;
      d.companions.push_back({own->index, start, counts ? d.system.arrays++ : -1});
    }
    const Expr way = moved(d, own->index);
    return other ? algebra::other(way) : way;
  };
  Value result{x.rows, x.columns, {}};
  for (const Component& c : x.parts) result.parts.push_back({of_part(c.re), of_part(c.im)});
  return result;
}

void add_companions(Derivation& d) {
  for (const Companions& c : d.companions) {
    add_companion(d, c.array, kStart, c.start, false);
    if (c.winding >= 0) add_companion(d, c.array, kWinding, c.winding, true);
  }
}

void start_companions(Derivation& d) {
  for (const Companions& c : d.companions) {
    d.system.initial.push_back({c.start, d.arena().load(c.array)});
  }
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

const Variable* winding_of(const System& system, const Variable& angle) {
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
