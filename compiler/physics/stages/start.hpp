// The start: the values of `init`, the Hubble rate from the constraint, and the stored values in an
// order in which each depends on earlier ones only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// Initial value of one array, physical units.
struct StartValue {
  Expr value;
  dsl::Span span;
  bool velocity = false;
  bool needs_hubble = false;  ///< it depends on H of a metric that follows the averages
  /// Beside `init gauss = 0`: what H adds to it, as a multiple of H, once the law holds; null:
  /// none.
  Expr by_hubble = {};
};
using StartValues = std::map<int, StartValue>;

/// Laws that hold after the start by a linear system (System::gauss_projection), in program units.
struct Projected {
  LinearSystem system;
  Expr size;                   ///< GaussProjection::size
  std::map<int, Expr> change;  ///< GaussProjection::change
};

struct Start {
  std::vector<InitialValue> initial;   ///< program units, in the order in which they are set
  std::vector<GaussStart> gauss;       ///< laws that hold after them, by `init gauss = 0`
  std::optional<Projected> projected;  ///< or all of them together
};

Start read_start(const Program& program, ProgramUnits& units);

// ---- its steps
StartValues read_initial(const Program& d, ProgramUnits& units);
/// Initial values of the quantities from those of the primitive variables or, where `init` gives
/// quantities, the primitive variables by `recover`; E0725 where it gives some of both.
void start_conserved(const Program& d, StartValues& start);
/// a, b = da/d(eta) and physical time as scalars that evolve.
void background_scalars(const Program& d, ProgramUnits& units, const StartValues& start);
/// H0 from the constraint at a = 1, as an expression of the state as `initial_values` first sets
/// it.
Expr hubble_at_start(const Program& d, ProgramUnits& units, const StartValues& start);
/// Ordered so that each depends on earlier ones only; the velocities of the rescaled form are
/// completed last, with H.
std::vector<InitialValue> initial_values(const Program& d, ProgramUnits& units,
                                         const StartValues& start);

// ---- functions for other stages
/// Homogeneous initial value of every array of state, read by `lower`; null where it depends on the
/// site.
std::map<int, Expr> homogeneous_values(const Equations& d, Lowerer lower);
/// The positive H of 3 M^2 H^2 = <density(H)>; nothing where density is not a quadratic in H.
std::optional<Expr> solve_constraint(const Space& d, Expr density,
                                     const std::function<Expr(Expr)>& average);

}  // namespace vphi::physics
