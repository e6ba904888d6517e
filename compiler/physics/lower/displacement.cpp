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

/// The variable of an array, of the program or a companion made for an output; null where there is
/// none.
const Variable* variable(const Program& d, int array) {
  for (const std::vector<Variable>* all :
       {&d.variables, &std::as_const(d.collected.output_companions)}) {
    const auto found = std::ranges::find(*all, array, &Variable::array);
    if (found != all->end()) return &*found;
  }
  return nullptr;
}

constexpr const char *kStart = "start", *kWinding = "turns";

/// A companion of another variable, without an equation of its own; `number` is its array.
Variable companion_of(const Variable& whose, const std::string& kind, int number, bool counts) {
  Variable v;
  v.name = fmt::format("{}_of_{}", kind, whose.name);
  v.shown = fmt::format("{} of {}", kind, whose.shown);
  v.array = number;
  v.rate = whose.rate->arena->integer(0);
  v.span = whose.span;
  v.frozen = true;
  if (counts) v.partner = whose.array;
  return v;
}

/// Number of the companion that an output names, made where there is none.
int companion(const Program& d, int array, const std::string& kind, bool counts) {
  const Variable& whose = *variable(d, array);
  const std::string name = fmt::format("{}_of_{}", kind, whose.name);
  for (const std::vector<Variable>* all :
       {&d.variables, &std::as_const(d.collected.output_companions)}) {
    const auto known = std::ranges::find(*all, name, &Variable::name);
    if (known != all->end()) return known->array;
  }
  const int number = d.new_array();
  d.collected.output_companions.push_back(companion_of(whose, kind, number, counts));
  if (!counts) d.collected.output_starts.push_back({number, d.arena().load(array)});
  return number;
}

Expr moved(const Program& d, int array) {
  Arena& arena = d.arena();
  // in equations it is converted together with the expression around it
  const auto beside = std::ranges::find(d.collected.companions, array, &Companions::array);
  if (beside != d.collected.companions.end()) {
    const Expr way = arena.load(array) - arena.load(beside->start);
    if (beside->winding < 0) return way;
    return way + arena.real(angle_period(d, *d.field_of(array))) * arena.load(beside->winding);
  }
  Expr other = -arena.load(companion(d, array, kStart, false));
  const double period = variable(d, array)->period;
  if (period != 0) {
    other = other + arena.real(period) * arena.load(companion(d, array, kWinding, true));
  }
  return arena.load(array) + other / d.rescaling.A;  // companions are stored as the variable is
}

/// Whether this is an array of state that moves.
bool moves(const Program& d, int array) {
  if (d.variables.empty()) {
    const StateField* field = d.field_of(array);
    return field && !field->drawn && !field->primitive;
  }
  const Variable* v = variable(d, array);
  return v && !v->frozen;
}

}  // namespace

Value displacement(const Program& d, const Value& x, dsl::Span span) {
  if (d.expanding()) d.fail(errors::not_yet(span, "a displacement in an expanding box"));
  const auto of_part = [&](Expr part) {
    if (!part) return part;
    const bool other = part.is(Op::Load) && algebra::is_other(*part);
    const Expr own = other ? algebra::as_own(part) : part;
    if (!own.is(Op::Load) || !own->offset.zero() || !moves(d, own->index)) {
      d.fail(errors::displacement_of(span));
    }
    if (d.variables.empty() &&
        std::ranges::count(d.collected.companions, own->index, &Companions::array) == 0) {
      const StateField& field = *d.field_of(own->index);
      const bool counts = field.periodic && field.place(own->index) >= 0;
      const int start = d.new_array();
      d.collected.companions.push_back({own->index, start, counts ? d.new_array() : -1});
    }
    const Expr way = moved(d, own->index);
    return other ? algebra::other(way) : way;
  };
  Value result{x.rows, x.columns, {}};
  for (const Component& c : x.parts) result.parts.push_back({of_part(c.re), of_part(c.im)});
  return result;
}

std::vector<Variable> companions_of_equations(const Context& d,
                                              const std::vector<Variable>& variables) {
  std::vector<Variable> all;
  for (const Companions& c : d.collected.companions) {
    const Variable& whose = *std::ranges::find(variables, c.array, &Variable::array);
    all.push_back(companion_of(whose, kStart, c.start, false));
    if (c.winding >= 0) all.push_back(companion_of(whose, kWinding, c.winding, true));
  }
  return all;
}

std::vector<InitialValue> starts_of_companions(const Context& d) {
  std::vector<InitialValue> all;
  for (const Companions& c : d.collected.companions)
    all.push_back({c.start, d.arena().load(c.array)});
  return all;
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

double angle_period(const Declared& d, const StateField& field) {
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

Expr standard_error(const Context& d, Expr average, dsl::Span span) {
  const Expr error = error_of(d, average);
  if (!error) d.fail(errors::no_standard_error(span));
  return error;
}

}  // namespace vphi::physics
