// Conservation laws: `conserve U = f(primitives): flux`, `recover`, `limit`, `scheme`, `split`.
//
// The state is what is conserved; primitive variables are values of a site that are recovered from
// it. A law is read into one flux for each component and axis and what is left as a source; the
// recovery into expressions without a loop: a solved name is the root of its equation where that is
// of second degree in it, otherwise its fixed point after a number of rounds that the contraction
// of the equation and the tolerance give. The text of a flux scheme (models/std/schemes.vphi or the
// model's own) is read for each axis into lines (physics::FluxSweep); nothing here knows a scheme
// by its name.
//
// The steps run in the order declare, laws, start, scheme. All of them fail as the other steps of
// `derive` do.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/steps.hpp"

namespace vphi::physics {

/// One conserved field.
struct Law {
  std::string name;
  std::vector<int> arrays;              ///< of its components
  Value density;                        ///< of the primitive variables
  std::vector<std::vector<Expr>> flux;  ///< [component][axis]: U' + sum_k d(flux_k, k) = source
  std::vector<Expr> source;             ///< [component]
  dsl::Span span;
};

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
  double reached = 0;  ///< largest error that these rounds leave
};

/// `U = density` of a clause `conserve U = density: flux`; null where it is written otherwise.
const dsl::Item* law_of(const dsl::Clause& clause);
/// Arrays for the conserved fields; after `declare_fields`.
void declare_conserved(Derivation& d);
/// The laws, once primitive variables have their arrays.
std::vector<Law> read_laws(Derivation& d, Lowerer& lower);
/// Fills System::conservation: recovery, limits and the scheme, and the rates of the quantities.
void read_conservation(Derivation& d, Lowerer& lower, const std::vector<Law>& laws);
/// Initial values of the quantities from those of the primitive variables or, where `init` gives
/// quantities, the other way round by `recover`; E0725 where it gives some of both.
void start_conserved(Derivation& d, const std::vector<Law>& laws, std::map<int, StartValue>& start);
/// What a reader is shown of the laws.
void show_laws(Derivation& d, const std::vector<Law>& laws);

/// `courant`, `residual` and `fixes`: what a model of conservation laws is given.
std::optional<Expr> fluid_name(Derivation& d, const std::string& name);
/// E0312 where dt is above what the scheme's text names as its limit, for any state; where signals
/// have no largest velocity, a promise that is judged at every output.
void check_courant(Derivation& d, const std::vector<Law>& laws);
/// Conservation::sound and unsound: what a run is watched for.
void watch_recovery(Derivation& d, const std::vector<Law>& laws, ProgramUnits& units);

// ---- recover.cpp
/// Recovered values of the primitive variables, as `Derived` of quantities.
std::vector<Derived> read_recovery(Derivation& d, Lowerer& lower, const std::vector<Law>& laws);

// ---- scheme.cpp
/// The text of the scheme that the model names, for every axis.
void read_scheme(Derivation& d, Lowerer& lower, const std::vector<Law>& laws);

}  // namespace vphi::physics
