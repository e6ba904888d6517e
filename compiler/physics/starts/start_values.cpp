// From the values of `init` to the stored start: the Hubble rate from the constraint, and the
// variables in the order of their dependences.
#include <functional>
#include <set>
#include <unordered_map>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/start.hpp"
#include "compiler/physics/starts/init_errors.hpp"

namespace vphi::physics {

using algebra::Op;

// 3 M^2 H^2 = rho(H) where rho = c0 + c1 H + c2 H^2: velocities may hold H.
std::optional<Expr> solve_constraint(const Space& d, Expr density,
                                     const std::function<Expr(Expr)>& average) {
  Arena& arena = d.arena();
  const auto found = algebra::polynomial(density, d.hubble(), 2);
  if (!found) return std::nullopt;
  const Expr three = arena.integer(3) * d.background.planck2;
  const auto c = [&](std::size_t i) {
    return i < found->size() ? average((*found)[i]) : arena.integer(0);
  };
  const Expr half = arena.rational(1, 2);
  if (found->size() < 2) return algebra::pow(c(0) / three, half);
  const Expr lead = three - c(2);
  const Expr root = algebra::pow(algebra::pow(c(1), 2) + arena.integer(4) * lead * c(0), half);
  return (c(1) + root) / (arena.integer(2) * lead);
}

Expr hubble_at_start(const Program& d, ProgramUnits& units, const StartValues& start) {
  Lowerer lower(d);
  Arena& arena = d.arena();
  ProgramUnits unmixed(d, true);
  unmixed.random_factors = units.random_factors;
  const Expr density = lower.energy_density();
  std::unordered_map<const algebra::Node*, Expr> inserted;
  dsl::Span span;
  // values that need H are inserted, first those that need no other such value
  Expr open = density;
  for (std::size_t pass = 0; pass < start.size(); ++pass) {
    for (const auto& [array, s] : start) {
      if (!s.needs_hubble) continue;
      span = s.span;
      open = algebra::substitute(open, arena.load(array), s.value);
    }
  }
  for (const auto& [array, s] : start)
    if (const Expr u = arena.load(array); s.by_hubble)
      open = algebra::substitute(open, u, u + d.hubble() * s.by_hubble);
  const auto average = [&](Expr e) {
    const Expr mean = unmixed.quantity(arena.make(Op::Mean, {e}));
    return algebra::substitute(mean, d.scale(), arena.integer(1));
  };
  const auto solved = solve_constraint(d, open, average);
  if (!solved) {
    d.fail(errors::not_yet(span, "an initial value that needs the Hubble rate in this way"));
  }
  return *solved;
}

std::vector<InitialValue> initial_values(const Program& d, ProgramUnits& units,
                                         const StartValues& start) {
  std::vector<InitialValue> initial;
  Arena& arena = d.arena();
  const Rescaling& r = d.rescaling;

  ProgramUnits unmixed(d, true);
  unmixed.random_factors = units.random_factors;
  // in the order of dependences: a value may read other state
  std::set<int> done, open;
  std::map<int, Expr> factors;  // stored = factor * physical
  for (const StateField& field : d.fields) {
    for (std::size_t i = 0; i < field.arrays.size(); ++i) {
      factors[field.arrays[i]] = field.links ? arena.integer(1) : r.A;
      if (field.order == 2) {
        if (d.rescaled()) {
          factors[field.arrays[i]] = r.A * algebra::pow(units.scale(), r.r);
          factors[field.velocities[i]] = r.A / r.B * algebra::pow(units.scale(), r.r - r.s);
          continue;
        }
        const Expr weight = algebra::pow(units.scale(), d.weights.at(field.arrays[i]));
        factors[field.velocities[i]] = r.A / r.B * weight;
      }
    }
  }
  const std::function<void(int)> place = [&](int array) {
    if (done.contains(array)) return;
    const StartValue& s = start.at(array);
    if (!open.insert(array).second) {
      const StateField* field = d.field_of(array);
      d.fail(errors::init_circle(s.span, field ? field->name : std::string()));
    }
    algebra::visit(s.value, [&](Expr node) {
      if (node.is(Op::Load) && start.contains(node->index)) place(node->index);
    });
    open.erase(array);
    done.insert(array);
    const Expr stored = distribute(factors.at(array), unmixed.quantity(s.value));
    initial.push_back({array, snap_numbers(units.at_start(stored))});
  };
  // the Hubble rate is known once all values that do not need it are
  for (const bool with_hubble : {false, true}) {
    for (const auto& [array, s] : start) {
      if (s.needs_hubble == with_hubble) place(array);
    }
  }
  for (const auto& [array, s] : start) {
    if (!s.by_hubble) continue;
    const Expr added = distribute(factors.at(array), unmixed.quantity(d.hubble() * s.by_hubble));
    initial.push_back({array, arena.load(array) + snap_numbers(units.at_start(added))});
  }
  // psi' = (A/B) a^(r-s) phi' + r h psi  (docs/formulas.md 1.2)
  for (const auto& [array, s] : start) {
    const Expr shift = units.velocity_shift(array);
    if (!shift) continue;
    initial.push_back({array, snap_numbers(arena.load(array) + units.at_start(shift))});
  }
  return initial;
}

}  // namespace vphi::physics
