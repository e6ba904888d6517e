// The system with references: which arrays have one, and what moves it.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/system_expressions.hpp"
#include "compiler/physics/fields/deviation.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {
namespace {

using algebra::Op;

const std::string kPeriodic =
    "the box is not periodic, and what lies beyond its walls does not move with the field";

/// A stencil that makes something of a constant; null: there is none.
const algebra::Node* uneven_stencil(System& system) {
  const algebra::Node* found = nullptr;
  for_each_expression(system, [&](Expr& e) {
    algebra::visit(e, [&](Expr node) {
      if (!node.is(Op::Stencil)) return;
      std::int64_t sum = 0;
      for (const std::int64_t weight : node->arena->stencil_data(node->index).weights)
        sum += weight;
      if (sum != 0) found = node.get();
    });
  });
  return found;
}

/// Why no field of this system can be stored as a deviation; empty: it can.
std::string obstacle(System& system) {
  const auto deviates = [&](int array) { return system.numerics.deviations.contains(array); };
  if (!std::holds_alternative<Evolution>(system.dynamics)) return "no integrator moves the fields";
  if (system.noise.kind != NoiseClass::None) return "noise moves the fields";
  if (!system.limits.empty()) return "`limit` changes what is stored";
  if (!system.solves.empty()) return "linear systems are solved";
  if (system.lattice.sites() < 2) return "there is a single site";
  for (int axis = 0; axis < system.lattice.dims; ++axis)
    if (system.lattice.boundary[static_cast<std::size_t>(axis)] != Boundary::Periodic)
      return kPeriodic;
  for (const Variable& v : system.variables)
    if (deviates(v.array) && v.role == Role::FirstOrder)
      return fmt::format("the equation of `{}` is of first order in time", v.shown);
  std::set<int> set;
  for (const InitialValue& start : system.initial)
    if (deviates(start.array) && !set.insert(start.array).second)
      return "the rescaled form's velocities are set twice: leave out `form = rescaled`";
  if (uneven_stencil(system)) return "a stencil of the model does not vanish for constants";
  return {};
}

/// A symbol that nothing else has.
std::string free_name(const System& system, std::string name) {
  const auto taken = [&] {
    return std::ranges::any_of(system.axes, [&](const Axis& a) { return a.symbol == name; }) ||
           std::ranges::any_of(system.scalars,
                               [&](const ScalarVariable& s) { return s.symbol == name; });
  };
  while (taken()) name += "_";
  return name;
}

/// The scalars, the rates and the initial values of both parts.
void take_apart(System& system, Splitting& split, System& result) {
  algebra::Arena& arena = *system.arena;
  const auto or_zero = [&](Expr e) { return e ? e : arena.integer(0); };
  std::map<int, Expr> starts;
  result.initial = system.initial;
  for (InitialValue& start : result.initial) {
    const BaseAndRest parts = split(start.value);
    const bool deviates = system.numerics.deviations.contains(start.array);
    if (deviates) starts[start.array] = parts.base;
    start.value = deviates ? or_zero(parts.rest) : or_zero(parts.base) + or_zero(parts.rest);
  }
  split.unknown.clear();
  result.scalars = system.scalars;
  for (ScalarVariable& s : result.scalars)
    s.rate = split.sum(s.rate), s.initial = split.sum(s.initial);
  split.unknown.clear();
  result.variables = system.variables;
  for (Variable& v : result.variables) {
    const BaseAndRest parts = split(v.rate);
    if (!system.numerics.deviations.contains(v.array)) {
      v.rate = or_zero(parts.base) + or_zero(parts.rest);
      continue;
    }
    result.scalars.push_back({v.reference, or_zero(parts.base), or_zero(starts[v.array]),
                              "reference of " + v.shown, v.role});
    v.rate = or_zero(parts.rest);
  }
}

/// Waves know nothing of a constant, and it would cost digits: what is transformed is the rest.
std::vector<std::pair<Expr*, Expr>> without_base(System& system, Splitting& split) {
  std::vector<std::pair<Expr*, Expr>> result;
  const auto take = [&](Expr& value) {
    const BaseAndRest parts = split(value);
    if (parts.rest && algebra::per_site(parts.rest)) result.emplace_back(&value, parts.rest);
  };
  for (OutputClause& clause : system.outputs) {
    for (Observable& o : clause.observables) {
      if (o.kind != Observable::Kind::Spectrum && o.kind != Observable::Kind::Occupation) continue;
      take(o.value);
      for (Observable::Part& part : o.more) take(part.value);
    }
  }
  return result;
}

}  // namespace

System with_references(System system, dsl::Diagnostics& diagnostics) {
  if (system.numerics.deviations.empty()) return system;
  const dsl::Span span = system.numerics.deviations.begin()->second;
  if (const std::string why = obstacle(system); !why.empty()) {
    diagnostics.add(errors::no_deviation(span, why));
    return system;
  }
  std::map<int, Expr> references;
  for (Variable& v : system.variables) {
    if (!system.numerics.deviations.contains(v.array)) continue;
    v.reference = free_name(system, v.name + "_reference");
    references[v.array] = system.arena->symbol(v.reference);
  }
  Splitting split(system, references);
  System parts;
  take_apart(system, split, parts);
  if (!split.unknown.empty()) {
    diagnostics.add(errors::no_deviation(
        span, fmt::format("a rate holds `{}` of the field, whose differences have no closed form "
                          "without cancellation",
                          split.unknown)));
    return system;
  }
  const auto spectra = without_base(system, split);
  for_each_expression(system, [&](Expr& e) { e = split.sum(e); });
  for (const auto& [place, rest] : spectra) *place = rest;
  system.variables = std::move(parts.variables);
  system.scalars = std::move(parts.scalars);
  system.initial = std::move(parts.initial);
  for (const Variable& v : system.variables) {
    if (v.reference.empty() || v.role != Role::Coordinate) continue;
    system.remarks.push_back(fmt::format(
        "`{}` is stored as its deviation from a homogeneous solution, which the integrator moves "
        "in f64; outputs are of the sum",
        v.shown));
  }
  return system;
}

}  // namespace vphi::physics
