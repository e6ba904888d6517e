// The flow of a group: all variables of the group change at their rates for a length of time, while
// the other groups are held fixed.
//
// Members of a group may depend on each other in one direction (scale factor -> momentum, field ->
// derivative of the scale factor). The flow is then the symmetric composition of its members
// (docs/rules.md rule 19), written without substeps. A scalar that has been updated enters the rate
// of the next member by the mean of its values before and after. For a field, an average in a rate
// is the mean of the averages before and after. Every such map is its own inverse with the length
// reversed, and of order 2.
//
// Scalars that depend on themselves or on each other, but on no field of their group (the time that
// a prescribed scale factor is a function of), are updated by the implicit midpoint rule. For a
// single scalar whose rate is a quadratic polynomial of itself it is solved by the root of a
// quadratic equation (a' of the rescaled form, docs/formulas.md 1.3), otherwise by iteration to
// round-off.
//
// The mean of a quadratic form u L u of a field that changes would need neighbours of values
// computed in the same sweep. It is replaced by its polar form u(end) L u(start). For a symmetric L
// in a periodic box this is symmetric under time reversal, and its error is of the same order.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/schedule/steps/block.hpp"

namespace vphi::schedule {

/// The variables of the system that a variable of an integrator's head stands for.
struct Group {
  std::string variable;  ///< "x"
  std::vector<int> arrays;
  std::vector<std::string> scalars;
};

/// Values of all variables at one moment, as Loads and Symbols of a block.
struct State {
  std::map<int, Expr> arrays;
  std::map<std::string, Expr> scalars;
};

/// The state as the program stores it.
State stored_state(const physics::System& system);

/// Whether a scalar is a clock: physical time, or a scalar of constant rate. Clocks are summed with
/// compensation (Kahan 1965), so that they lose no digits in 1e8 steps.
bool is_clock(const physics::System& system, const std::string& scalar);
/// The slot of the rounding error of the last sum.
std::string rest_name(const std::string& scalar);
/// The value of a clock of constant rate at the end of a step, start + step*dt*rate; null for other
/// scalars.
Expr clock_time(const physics::System& system, const physics::ScalarVariable& scalar, Expr step);
/// state[scalar] := start + increment.
void move_scalar(Block& block, const std::string& scalar, Expr start, Expr increment, State& state);

/// The expression with every state variable replaced by its value in `state`, shifted for reads at
/// neighbours.
Expr at(const State& state, Expr expr);
/// The same for several values; keeps the order in which their operations were created.
std::vector<Expr> at(const State& state, std::span<const Expr> exprs);
/// The lists in the state of the same place, with their operations in step
/// (algebra::rewrite_in_step).
std::vector<std::vector<Expr>> at_in_step(std::span<const State> states,
                                          std::span<const std::vector<Expr>> lists);

/// One member of a group; members are updated in the order of their list.
struct Member {
  int array = -1;  ///< -1: a scalar
  std::string scalar;
  Expr rate;
  std::set<int> own_arrays;  ///< members of its own group that its rate reads
  std::set<std::string> own_scalars;
  /// A link of SU(n), of which `array` is the first number; all its numbers move together.
  const physics::LinkMotion* link = nullptr;
  /// Members with the same number >= 0 depend on each other and are updated together.
  int circle = -1;
};

/// The members in an order in which each depends on earlier ones only. Nothing where there is a
/// cycle of members other than scalars without averages.
std::optional<std::vector<Member>> members_in_order_of_dependence(const physics::System& system,
                                                                  const Group& group);

/// Whether no member depends on another. Two successive flows are then exactly one flow of the
/// summed length.
bool is_exact(const std::vector<Member>& members);

/// The flow of the group for `length` (a scalar): adds definitions to the block and sets the new
/// values in `state`.
void advance(Block& block, const std::vector<Member>& members, Expr length, State& state,
             std::set<std::string>& remarks);

/// The name of an array for messages and kernels: "phi", "a".
std::string name_of(const physics::System& system, int array);
const physics::Variable* variable_of(const physics::System& system, int array);

}  // namespace vphi::schedule
