// Conservation laws: `conserve U = f(primitives): flux`, `recover`, `limit`, `scheme`, `split`.
//
// The state consists of the conserved quantities; primitive variables are per-site values that are
// recovered from it. A law is read into one flux for each component and axis, and the remaining
// terms are a source. The recovery is read into expressions without a loop: a solved name is the
// root of its equation where that is quadratic, otherwise the result of a fixed number of
// iterations (recovery_equation.hpp). The text of a flux scheme (models/std/schemes.vphi or the
// model's own) is read for each axis into lines (physics::AxisScheme); no scheme is known by its
// name.
//
// The order is laws, recovery, limits, scheme (stages/equations.hpp).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// A definition of `recover`; the names of other definitions in it are symbols.
struct RecoveredFact {
  std::string name;
  std::vector<Expr> values;   ///< by component
  std::vector<Expr> symbols;  ///< symbols that stand for them in other definitions
  dsl::Span span;
};

struct Solve {
  enum class Method { FixedPoint, Newton, Bisection };
  std::string name;
  Method method = Method::FixedPoint;
  std::optional<long double> from, to;  ///< bounds of the solution
  long double tolerance = 1e-10L, start = 0;
  /// The start by component as functions of quantities; empty: the number `start`.
  std::vector<Expr> start_of_state;
  std::int64_t most = 100;
  bool most_given = false;
  dsl::Span span;
};

/// Result for `solve u`, the equation u = g(u).
struct Solution {
  Expr value;              ///< u as a function of quantities
  Expr residual;           ///< u - g(u) at that value
  double contraction = 0;  ///< largest |dg/du| found; 0 for a closed form
  std::int64_t iterations = 0;
  double reached = 0;  ///< largest error after these iterations
  Expr needed = {};    ///< how many of them change u by more than the tolerance; null: closed form
};

/// `U = density` of a clause `conserve U = density: flux`; null where the clause has another form.
const dsl::Item* law_of(const dsl::Clause& clause);
/// The value of `courant`, `diffusion`, `residual` or `fixes`, names that every model of
/// conservation laws has; nothing for other names.
std::optional<Expr> fluid_name(const Program& d, const std::string& name);

/// E0835 where a function of the state holds a derivative of a field that has an equation of its
/// own: a state at a face has the values of fields alone.
void refuse_derivatives_of_fields(const Equations& d, Expr e, dsl::Span span);

// ---- steps of read_conservation, in their order
/// `of_state`: the same without derivatives in time of primitive variables, which densities and
/// fluxes do not hold.
std::vector<Law> read_laws(const Equations& d, const Equations& of_state);
/// Fills Conservation::recovered and solved; returns Laws::iterations.
Expr read_recovery(const Equations& d, Conservation& c);
/// Reads the text of the scheme for every axis into `c`, and returns the rates of the quantities.
std::map<int, Expr> read_scheme(const Equations& d, Conservation& c);

}  // namespace vphi::physics
