// The system with references: which arrays have one, and the equations of the references.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/system_expressions.hpp"
#include "compiler/physics/fields/deviation.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {
namespace {

using algebra::Op;

const std::string kWalls =
    "the box has walls that are no mirrors, and what lies beyond them does not move with the field";

/// Whether a field that is the same everywhere stays so.
bool keeps_constants(Boundary boundary) {
  return boundary == Boundary::Periodic || boundary == Boundary::Neumann;
}

/// A stencil whose weights do not add up to 0, so that it does not vanish for constants; null where
/// there is none.
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

/// Why these arrays of the system cannot be stored as deviations; empty: they can.
std::string obstacle(System& system, const std::set<int>& arrays) {
  if (!std::holds_alternative<Evolution>(system.dynamics)) return "no integrator moves the fields";
  if (system.noise.kind != NoiseClass::None) return "noise moves the fields";
  if (system.conservation) return "conservation laws stand beside the fields";
  if (!system.limits.empty()) return "`limit` changes what is stored";
  if (!system.solves.empty()) return "linear systems are solved";
  if (!system.gauss.empty()) return "the start obeys Gauss's law by a solve";
  if (system.lattice.sites() < 2) return "there is a single site";
  for (int axis = 0; axis < system.lattice.dims; ++axis)
    if (!keeps_constants(system.lattice.boundary[static_cast<std::size_t>(axis)])) return kWalls;
  for (const Variable& v : system.variables)
    if (arrays.contains(v.array) && v.role == Role::FirstOrder)
      return fmt::format("the equation of `{}` is of first order in time", v.shown);
  if (uneven_stencil(system)) return "a stencil of the model does not vanish for constants";
  return {};
}

/// A symbol name that is not taken.
std::string free_name(const System& system, std::string name) {
  const auto taken = [&] {
    return std::ranges::any_of(system.axes, [&](const Axis& a) { return a.symbol == name; }) ||
           std::ranges::any_of(system.scalars,
                               [&](const ScalarVariable& s) { return s.symbol == name; });
  };
  while (taken()) name += "_";
  return name;
}

/// The scalars that the start of an array depends on, directly or through other scalars.
std::set<std::string> scalars_before(const System& system, Expr value) {
  std::set<std::string> result;
  const auto add = [&](const auto& self, Expr e) -> void {
    for (const ScalarVariable& s : system.scalars)
      if (algebra::depends_on(e, system.arena->symbol(s.symbol)) && result.insert(s.symbol).second)
        self(self, s.initial);
  };
  add(add, value);
  return result;
}

/// The homogeneous parts of the initial values, by array. A velocity of the rescaled form is set
/// twice: first without H, which the start of the scale factor uses, then with H.
struct Starts {
  std::map<int, Expr> bases;
  /// For scalars whose start uses the first value: what replaces the symbol of a reference there.
  std::map<std::string, algebra::Substitution> early;
};

Starts split_starts(const System& system, const std::map<int, Expr>& references, Splitting& split,
                    std::vector<InitialValue>& initial) {
  const auto or_zero = [&](Expr e) { return e ? e : system.arena->integer(0); };
  Starts starts;
  for (InitialValue& start : initial) {
    const BaseAndRest parts = split(start.value);
    const auto reference = references.find(start.array);
    if (reference == references.end()) {
      start.value = or_zero(parts.base) + or_zero(parts.rest);
      continue;
    }
    Expr base = or_zero(parts.base), rest = or_zero(parts.rest);
    if (const auto first = starts.bases.find(start.array); first != starts.bases.end()) {
      algebra::Substitution then;
      then.add(reference->second, first->second);
      base = then(base), rest = then(rest);
      for (const std::string& scalar : scalars_before(system, start.value))
        starts.early[scalar].add(reference->second, first->second);
    }
    starts.bases[start.array] = base;
    start.value = rest;
  }
  return starts;
}

/// The scalars, the rates and the initial values of both parts; nothing where a rate holds a
/// function whose differences have no closed form.
bool take_apart(const System& system, const std::map<int, Expr>& references, Splitting& split,
                System& result) {
  algebra::Arena& arena = *system.arena;
  const auto or_zero = [&](Expr e) { return e ? e : arena.integer(0); };
  std::vector<ScalarVariable> moved;
  result.variables = system.variables;
  for (Variable& v : result.variables) {
    const BaseAndRest parts = split(v.rate);
    if (!references.contains(v.array)) {
      v.rate = or_zero(parts.base) + or_zero(parts.rest);
      continue;
    }
    moved.push_back({v.reference, or_zero(parts.base), {}, "reference of " + v.shown, v.role});
    v.rate = or_zero(parts.rest);
  }
  if (!split.unknown.empty()) return false;
  result.initial = system.initial;
  Starts starts = split_starts(system, references, split, result.initial);
  result.scalars = system.scalars;
  for (ScalarVariable& s : result.scalars) {
    s.rate = split.sum(s.rate), s.initial = split.sum(s.initial);
    if (const auto early = starts.early.find(s.symbol); early != starts.early.end())
      s.initial = early->second(s.initial);
  }
  for (const Variable& v : result.variables) {
    const auto scalar = std::ranges::find(moved, v.reference, &ScalarVariable::symbol);
    if (!v.reference.empty()) scalar->initial = or_zero(starts.bases[v.array]);
  }
  result.scalars.insert(result.scalars.end(), moved.begin(), moved.end());
  return true;
}

/// Spectra and occupation numbers of the rest alone. A constant is in the mode k = 0 only, and it
/// would cost the other modes digits.
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

std::optional<System> with_references(const System& whole, const std::set<int>& arrays,
                                      std::string& why) {
  System system = whole;
  why = obstacle(system, arrays);
  if (!why.empty()) return std::nullopt;
  std::map<int, Expr> references;
  for (Variable& v : system.variables) {
    if (!arrays.contains(v.array)) continue;
    v.reference = free_name(system, v.name + "_reference");
    references[v.array] = system.arena->symbol(v.reference);
  }
  Splitting split(system, references);
  System parts;
  if (!take_apart(system, references, split, parts)) {
    why = fmt::format(
        "a rate holds `{}` of the field, whose differences have no closed form without "
        "cancellation",
        split.unknown);
    return std::nullopt;
  }
  const auto spectra = without_base(system, split);
  for_each_expression(system, [&](Expr& e) { e = split.sum(e); });
  for (const auto& [place, rest] : spectra) *place = rest;
  system.variables = std::move(parts.variables);
  system.scalars = std::move(parts.scalars);
  system.initial = std::move(parts.initial);
  return system;
}

System with_references(System system, dsl::Diagnostics& diagnostics) {
  if (system.numerics.deviations.empty()) return system;
  std::set<int> arrays;
  for (const auto& [array, span] : system.numerics.deviations) arrays.insert(array);
  std::string why;
  auto result = with_references(system, arrays, why);
  if (!result) {
    diagnostics.add(errors::no_deviation(system.numerics.deviations.begin()->second, why));
    return system;
  }
  for (const Variable& v : result->variables) {
    if (v.reference.empty() || v.role != Role::Coordinate) continue;
    result->remarks.push_back(fmt::format(
        "`{}` is stored as its deviation from a homogeneous solution, which the integrator moves "
        "in f64 and which is brought back to the mean where that has left it; outputs are of the "
        "sum",
        v.shown));
  }
  return std::move(*result);
}

}  // namespace vphi::physics
