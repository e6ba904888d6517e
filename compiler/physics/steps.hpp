// The steps of `derive`, in the order of their calls; each reads and extends the workbench.
#pragma once

#include <functional>

#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/lower.hpp"

namespace vphi::physics {

/// Initial value of one array, physical units.
struct StartValue {
  Expr value;
  dsl::Span span;
  bool velocity = false;
  bool needs_hubble = false;  ///< of a metric that follows the averages
};

/// Clauses and constructs of families that cannot run yet: one E0901 each.
void refuse_unsupported(Derivation& d);

// lattice.cpp
/// `boundary = ...`, `boundary(t) = ...` of a clause over what is in `walls`.
void read_boundaries(Derivation& d, Lowerer& lower, const dsl::Clause& clause, Walls& walls);
void read_lattice(Derivation& d, Lowerer& lower);

// state.cpp: fields, their arrays
void declare_fields(Derivation& d, Lowerer& lower);

// walls.cpp
/// Fails where a density couples neighbours of fields that differ in what lies beyond an edge: then
/// the derivative of its sum is no shift of its terms.
void check_coupled_walls(Derivation& d, Expr density, dsl::Span span);
/// The last step: what kernels find beyond the edges, and reads written out where fields differ.
void settle_walls(Derivation& d, ProgramUnits& units);

// stencils.cpp
void choose_laplacian(Derivation& d);

// background.cpp
void read_units(Derivation& d);
void read_metric(Derivation& d, Lowerer& lower);
/// d^2 a/d(eta)^2 from the averages: units.slope_rate.
void background_rate(Derivation& d, Lowerer& lower, ProgramUnits& units);
/// a, b = da/d(eta) and physical time as scalars that evolve.
void background_scalars(Derivation& d, Lowerer& lower, ProgramUnits& units,
                        const std::map<int, StartValue>& start);
/// H0^2 for homogeneous initial values.
Expr hubble2(Derivation& d, Expr density);

// equations.cpp: physical right sides of all variables
void read_potentials(Derivation& d, Lowerer& lower);
/// E0390 where the source `what` of a force holds the time derivative of a field.
void refuse_velocities(Derivation& d, Expr source, dsl::Span span, const std::string& what);
void decide_orders(Derivation& d);
void equations_of_motion(Derivation& d, Lowerer& lower);
/// phi'' that a potential gives (docs/rules.md rule 15), one expression for each array.
Value equation_from_potential(Derivation& d, Lowerer& lower, const StateField& field);
/// Values of the distinct real arrays, from a value of the field's shape.
std::vector<Expr> by_array(Derivation& d, const StateField& field, const Value& v);
/// The variables and their rates in program units.
void program_equations(Derivation& d, ProgramUnits& units);
void show_equations(Derivation& d);

// hamiltonian.cpp
void read_hamiltonian(Derivation& d, Lowerer& lower);
/// d/du(x) of the sum over all sites of h, gradient energies included.
Expr hamiltonian_force(Derivation& d, Expr h, int array, dsl::Span span);

// limits.cpp
/// `units`: null for conserved quantities, which are stored as they are.
void read_limits(Derivation& d, Lowerer& lower, ProgramUnits* units);

// rescale.cpp
void read_rescale(Derivation& d, Lowerer& lower);

// init.cpp
/// Homogeneous initial value of every array of state; null where it depends on the site.
std::map<int, Expr> homogeneous_values(Derivation& d);
void read_start_time(Derivation& d, Lowerer& lower);
std::map<int, StartValue> read_initial(Derivation& d, Lowerer& lower, ProgramUnits& units);

// start_values.cpp
/// H0 from the constraint at a = 1, as an expression of the state as `initial_values` first sets
/// it.
Expr hubble_at_start(Derivation& d, Lowerer& lower, ProgramUnits& units,
                     const std::map<int, StartValue>& start);
/// The positive H of 3 M^2 H^2 = <density(H)>; nothing where density is not a quadratic in H.
std::optional<Expr> solve_constraint(Derivation& d, Expr density,
                                     const std::function<Expr(Expr)>& average);
/// In the order of need; the rescaled form's velocities are completed last, with H.
void initial_values(Derivation& d, ProgramUnits& units, const std::map<int, StartValue>& start);

// evolve.cpp
void read_evolve(Derivation& d, Lowerer& lower);
void read_until(Derivation& d, Lowerer& lower, ProgramUnits& units);
void read_numerics(Derivation& d, Lowerer& lower);
/// Of the arithmetic, by the command line or the clause `precision`; known before `read_numerics`.
Precision real_precision(Derivation& d);

// observables.cpp
void read_outputs(Derivation& d, Lowerer& lower, ProgramUnits& units);
// expectations.cpp
void read_expectations(Derivation& d, Lowerer& lower, ProgramUnits& units);
void watch_progress(Derivation& d, Lowerer& lower, ProgramUnits& units);

// finite.cpp
/// E0736 where a number of the equations, the start or the outputs is infinite or none.
void check_finite(Derivation& d);

// effects.cpp
/// Says of the clauses whose effect is seen in the equations alone that they have one.
void use_by_effect(Derivation& d);
/// The line of a potential or an action.
void use_source(Derivation& d, const NamedFact& fact);

// stability.cpp
/// System::fastest, where variables follow an integrator without noise.
void find_fastest_waves(Derivation& d, ProgramUnits& units);
/// Which Laplacian the equations apply, if any; stencils that are wider than the box.
void check_extent(Derivation& d);

// ---- shared helpers
/// Text of a node as the user wrote it.
std::string written(const Derivation& d, dsl::Span span);
/// Evaluates with every Load replaced (null entries fail), stencils and gradients of constants 0.
Expr at_homogeneous(Derivation& d, Expr e, const std::map<int, Expr>& values, bool& known);

}  // namespace vphi::physics
