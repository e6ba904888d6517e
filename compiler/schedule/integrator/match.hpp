// An integrator's head against the equations of a system (docs/rules.md rules 18 and 19).
//
// A head variable stands for a group of state variables: coordinates go to the variable that is
// driven by the other one, momenta to the other; a head with one variable takes everything. The
// scalars (scale factor and its derivative, time) may go to either group: all choices are listed,
// and the schedule takes the one with the fewest sweeps. A right side is a sum of holes `F(x)`,
// of variables, of coefficients times a variable (`gamma*v`), and of noise (`g*noise`,
// `g(x)*noise`), and of `cross(v, W(x))`: the terms that rotate vectors of three components. The
// terms of each equation are shared out to the first part that they fit.
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
  std::string name;                    ///< Hole, Coefficient, Cross: of W in `cross(v, W(x))`
  std::vector<std::string> arguments;  ///< Hole, Cross; Noise: `g(x, t)*noise`; `g*noise` has none
  std::string variable;                ///< Variable, Coefficient, Cross: what it multiplies
  dsl::Span span;
};

struct Head {
  std::vector<std::string> variables;
  std::vector<std::vector<Part>> parts;  ///< for each equation
  int index(const std::string& variable) const;
  /// Every right side is one hole or one variable: the body may be a composition of flows.
  bool is_plain() const;
};

std::optional<Head> read_head(const Integrator& integrator, dsl::Diagnostics& diagnostics);

/// All assignments of the variables to groups, arrays by their roles. At least one.
std::vector<std::vector<Group>> groupings(const physics::System& system, const Head& head);

/// Terms that went to each part: [equation][part] -> state array -> expression.
using Shares = std::vector<std::vector<std::map<int, Expr>>>;

struct Leftover {
  int array = -1;
  std::vector<Expr> terms;
};

/// Arrays of the vector that `array` is a component of, in order.
std::vector<int> vector_of(const physics::System& system, int array);

/// Terms of the arrays' rates, assigned to parts; a leftover where a term fits none. The share of
/// a Noise part is the factor g in front of the noise.
struct Sharing {
  Shares shares;
  std::optional<Leftover> leftover;
};
Sharing share_out(const physics::System& system, const Head& head,
                  const std::vector<Group>& groups);

}  // namespace vphi::schedule
