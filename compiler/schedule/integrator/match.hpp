// Matches an integrator's head with the equations of a system (docs/rules.md rules 18 and 19).
//
// A head variable stands for a group of state variables: coordinates belong to the variable that is
// driven by the other one, momenta to the other; a head with one variable contains all. The scalars
// (scale factor and its derivative, time) may go to either group: all choices are listed, and the
// schedule takes the one with the fewest sweeps. A right side in a head is a sum of functions
// `F(x)` (called holes here, because the equations fill them), variables, coefficients times a
// variable (`gamma*v`), noise (`g*noise`, `g(x)*noise`), and `cross(v, W(x))`, terms that rotate
// vectors of three components. A hole that the body takes functions of, as in
// `exp(dt*A, x)`, takes the terms that are linear in the variable with the same coefficients at all
// sites. `w(x)*x` takes terms at the site itself that multiply a field by a real or complex number.
// Each term of an equation is assigned to the first part that it fits.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/model/texts.hpp"
#include "compiler/schedule/steps/flow.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

using text::Integrator;
using text::Statement;

/// One part of a right side.
struct Part {
  enum class Kind { Hole, Variable, Coefficient, Noise, Cross, Linear, Multiple };
  Kind kind = Kind::Hole;
  bool negative = false;
  /// Hole, Coefficient, Cross, Linear, Multiple: the name of W in `cross(v, W(x))`.
  std::string name;
  /// Hole, Cross, Linear, Multiple; Noise: `g(x, t)*noise`; `g*noise` has none
  std::vector<std::string> arguments;
  /// Variable, Coefficient, Cross, Multiple: the variable, or the variable that it multiplies.
  std::string variable;
  dsl::Span span;
};

struct Head {
  std::vector<std::string> variables;
  std::vector<std::vector<Part>> parts;  ///< for each equation
  int index(const std::string& variable) const;
  /// Whether every right side is one hole or one variable, so that the body may be a composition of
  /// flows.
  bool is_plain() const;
};

std::optional<Head> read_head(const Integrator& integrator, dsl::Diagnostics& diagnostics);

/// All assignments of the variables to groups, at least one. Arrays are assigned by their roles.
std::vector<std::vector<Group>> groupings(const physics::System& system, const Head& head);

/// Terms assigned to each part: [equation][part] -> state array -> expression.
using Shares = std::vector<std::vector<std::map<int, Expr>>>;

struct Leftover {
  int array = -1;
  std::vector<Expr> terms;
};

/// Arrays of the vector that `array` is a component of, in order.
std::vector<int> vector_of(const physics::System& system, int array);

/// Terms of the arrays' rates, assigned to parts; a leftover where a term fits none. The entry of a
/// Noise part is the factor g of the noise. Those of a Multiple part are the numbers w: of a pair
/// of arrays, real and imaginary part of one number.
struct Sharing {
  Shares shares;
  std::map<int, int> pairs;  ///< Multiple: array of a real part -> that of its imaginary part
  std::optional<Leftover> leftover;
};
/// c*(-k^2)^laplacians*u(x + offset): a term of a rate that is linear with constant coefficients.
struct WaveTerm {
  int array = 0;
  double coefficient = 1;
  algebra::Offset offset{};
  int laplacians = 0;
};
/// The expression as a sum of such terms in the arrays; nothing where it is none.
std::optional<std::vector<WaveTerm>> wave_terms(const physics::System& system, Expr expr,
                                                const std::vector<int>& arrays);

Sharing share_out(const physics::System& system, const Head& head,
                  const std::vector<Group>& groups);

}  // namespace vphi::schedule
