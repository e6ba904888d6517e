// Steps whose length follows from an estimate of their error: `evolve ..., tol = 1e-8`.
//
// The text of an integrator sets `error` to the difference of its two orders and `order` to the
// power of dt with which this difference shrinks. A trial has a length that the trial before has
// proposed, or less where the time of an output or the end of the run comes sooner. The error of a
// trial is
//
//   E = max over variables u of  max|error_u| / (tol*(max(max|u|, max|u at the end|) + floor)),
//
// where u is a declared field (all components of a vector together), its velocity or a scalar such
// as the scale factor, and max goes over sites. For angles the length of the vector is 1 radian.
// With E <= 1 the trial is accepted; otherwise the state stays, and the next trial is shorter. The
// next length is 0.9*E^(-1/order) of this one, between 1/5 and 5 (Hairer, Norsett, Wanner, Solving
// Ordinary Differential Equations I, II.4). Maxima do not depend on the order of sites, so that
// ranks take the same steps. Everything is scalars and reductions of a step like any other.
#pragma once

#include <string>

#include "compiler/schedule/steps/flow.hpp"
#include "compiler/text/arithmetic.hpp"

namespace vphi::schedule {

inline constexpr const char* kError = "error";  ///< line of a text: the difference of two orders
inline constexpr const char* kOrder = "order";  ///< line of a text: its power of dt

struct Trial {
  Expr running;  ///< 1 before the end of the run, 0 after it
  Expr length;   ///< program units; 0 after the end of the run
  Expr target;   ///< the time that the trial must not pass; null: there is none
  Expr reaches;  ///< 1 where the trial ends at `target`; null: there is none
};

/// The slot with the time of the last row of an output by time. Steps wait where t has reached the
/// next one until it is written, so that no row is late and all instances of a sweep are at one
/// time. Empty: nothing waits for this output.
std::string slot_of_written(const physics::System& system, const physics::OutputClause& output);

/// The length of the next trial, from the stored state.
Trial begin_trial(Block& block, const State& start);

/// Judges the trial that has led from `start` to `state`: `state` becomes what is stored, and the
/// scalars of physics::Tolerance are set.
void end_trial(Block& block, const Trial& trial, const State& start, const text::Value& error,
               Expr order, State& state);

}  // namespace vphi::schedule
