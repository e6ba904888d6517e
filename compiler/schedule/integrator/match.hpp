// Matches an integrator's head with the equations of a system (docs/rules.md rules 18 and 19).
//
// A head variable stands for a group of state variables: coordinates belong to the variable that is
// driven by the other one, momenta to the other; a head with one variable contains all. The scalars
// (scale factor and its derivative, time) may go to either group: all choices are listed, and the
// schedule takes the one with the fewest sweeps. A right side in a head is a sum of functions
// `F(x)` (called holes here, because the equations fill them), variables, coefficients times a
// variable (`gamma*v`), noise (`g*noise`, `g(x)*noise`), and `cross(v, W(x))`, terms that rotate
// vectors of three components. Each term of an equation is assigned to the first part that it fits.
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
  enum class Kind { Hole, Variable, Coefficient, Noise, Cross };
  Kind kind = Kind::Hole;
  bool negative = false;
  /// Hole, Coefficient, Cross: the name of W in `cross(v, W(x))`.
  std::string name;
  std::vector<std::string> arguments;  ///< Hole, Cross; Noise: `g(x, t)*noise`; `g*noise` has none
  /// Variable, Coefficient, Cross: the variable, or the variable that it multiplies.
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
/// Noise part is the factor g of the noise.
struct Sharing {
  Shares shares;
  std::optional<Leftover> leftover;
};
Sharing share_out(const physics::System& system, const Head& head,
                  const std::vector<Group>& groups);

}  // namespace vphi::schedule
