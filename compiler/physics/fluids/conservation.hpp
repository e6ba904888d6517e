// Conservation laws: `conserve U = f(primitives): flux`, `recover`, `limit`, `scheme`, `split`.
//
// The state is what is conserved; primitive variables are values of a site that are recovered from
// it. A law is read into one flux for each component and axis, and the rest is a source. The
// recovery is read into expressions without a loop: a solved name is the root of its equation where
// that is of second degree in it, otherwise its fixed point after a number of iterations that
// follows from contraction and tolerance. The text of a flux scheme (models/std/schemes.vphi or the
// model's own) is read for each axis into lines (physics::FluxSweep); nothing here knows a scheme
// by its name.
//
// The steps run in the order laws, recovery, limits, scheme (stages/equations.hpp).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// A fact of `recover`, its names of other facts left open as symbols.
struct RecoveredFact {
  std::string name;
  std::vector<Expr> values;   ///< by component
  std::vector<Expr> symbols;  ///< what stands for them in other facts
  dsl::Span span;
};

struct Solve {
  enum class Method { FixedPoint, Newton, Bisection };
  std::string name;
  Method method = Method::FixedPoint;
  std::optional<long double> from, to;  ///< bounds of the solution
  long double tolerance = 1e-10L, start = 0;
  std::int64_t most = 100;
  bool most_given = false;
  dsl::Span span;
};

/// What is found out about `solve u`: u = g(u).
struct Solution {
  Expr value;              ///< of u, of quantities alone
  Expr residual;           ///< u - g(u) at that value
  double contraction = 0;  ///< largest |dg/du| met; 0 for a closed form
  std::int64_t iterations = 0;
  double reached = 0;  ///< largest error that these iterations leave
};

/// `U = density` of a clause `conserve U = density: flux`; null where it is written otherwise.
const dsl::Item* law_of(const dsl::Clause& clause);
/// `courant`, `residual` and `fixes`: what a model of conservation laws is given.
std::optional<Expr> fluid_name(const Program& d, const std::string& name);

// ---- steps of read_conservation, each of what those before it made
std::vector<Law> read_laws(const Equations& d);
/// Fills Conservation::recovered, residual and residual_left.
void read_recovery(const Equations& d, Conservation& c);
/// Fills what the text of the scheme gives for every axis, and returns the rates of the quantities.
std::map<int, Expr> read_scheme(const Equations& d, Conservation& c);

}  // namespace vphi::physics
