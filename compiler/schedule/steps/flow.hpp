// One flow of one group: all variables of the group follow their rates for a length of time,
// with the other groups held fixed.
//
// Members of a group may depend on each other in one direction (scale factor -> momentum, field ->
// derivative of the scale factor). The flow is then the symmetric composition of its members
// (docs/rules.md rule 19), written without sub-steps: a member that moved before enters the rate of
// the next one by the mean of its start and its end if it is a scalar, and an average takes the
// mean of the rates at the start and at the end if it is a field. Every such map is its own inverse
// with the length reversed, and of order 2.
//
// Scalars that depend on themselves or on each other, and on no field that moves with them (the
// time that a prescribed scale factor is a function of), are moved by the implicit midpoint rule: a
// single one whose rate is a quadratic polynomial of itself by the root of a quadratic equation
// (a' of the rescaled form, docs/formulas.md 1.3), others iterated to round-off.
//
// In a mean, a quadratic form u L u of a moving field whose second half would need neighbours of
// values made in this very sweep is taken in its polar form: u(end) L u(start). For a symmetric L
// and a periodic box it is symmetric under reversal, and its error is of the same order.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/schedule/steps/block.hpp"

namespace vphi::schedule {

/// What a variable of an integrator's head stands for.
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

/// Clocks: physical time, and what advances at a constant rate. They are summed with the rounding
/// of each sum kept in a slot of its own (Kahan 1965), so that 1e8 steps cost no digits.
bool is_clock(const physics::System& system, const std::string& scalar);
/// Slot of what the last sum lost.
std::string rest_name(const std::string& scalar);
/// A clock of constant rate at the end of a step: its start + step*dt*rate; null for others.
Expr clock_time(const physics::System& system, const physics::ScalarVariable& scalar, Expr step);
/// state[scalar] := start + increment.
void move_scalar(Block& block, const std::string& scalar, Expr start, Expr increment, State& state);

/// The expression with every state variable replaced by its value; reads at neighbours follow.
Expr at(const State& state, Expr expr);
/// The same for values that are computed together, in the order in which they were written.
std::vector<Expr> at(const State& state, std::span<const Expr> exprs);

/// One member of a group, in the order in which members are moved.
struct Member {
  int array = -1;  ///< -1: a scalar
  std::string scalar;
  Expr rate;
  std::set<int> own_arrays;  ///< members of its own group that its rate reads
  std::set<std::string> own_scalars;
  int circle = -1;  ///< members with the same number >= 0 depend on each other: moved together
};

/// Members such that each depends on earlier ones only; nothing where there is a cycle
/// of anything else than scalars without averages.
std::optional<std::vector<Member>> members_in_order_of_dependence(const physics::System& system,
                                                                  const Group& group);

/// No member depends on another: two flows in a row are one of the summed length, exactly.
bool is_exact(const std::vector<Member>& members);

/// Moves the group by `length` (a scalar); the block gets the definitions, `state` the values.
void advance(Block& block, const std::vector<Member>& members, Expr length, State& state,
             std::set<std::string>& remarks);

/// Plain name for people and kernels: "phi", "a".
std::string name_of(const physics::System& system, int array);
const physics::Variable* variable_of(const physics::System& system, int array);

}  // namespace vphi::schedule
