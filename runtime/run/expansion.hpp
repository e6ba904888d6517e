// Checks the background of a box that expands with its own averages during the run.
//
// a'' follows from the averages of rho and p, and <rho> = 3 M^2 H^2 is not imposed: it holds up to
// the integrator's error if energy is conserved. The check compares the difference with
// Program::expansion.explained, the compiler's bound of that error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/program.hpp"

namespace vphi::runtime {

struct ExpansionFault {
  std::string message, hint;
};

/// A violation in one instance of the batch; `scalars` are those after the launches of `watch`.
std::optional<ExpansionFault> expansion_fault(const program::Program& program,
                                              const std::vector<double>& scalars,
                                              std::int64_t instance, std::int64_t step);

/// Looks for the rate of the scale factor at which the residual of the Friedmann equation is 0, by
/// the secant method.
class RateSearch {
 public:
  explicit RateSearch(double rate) : first_(rate), rate_(rate) {}
  /// Takes the residual at `rate()` and moves on.
  void take(double residual);
  double rate() const { return rate_; }
  /// Whether the residual is 0 to rounding, or no other rate makes it smaller.
  bool done() const { return done_; }
  /// Whether `rate()` fulfils the equation, and expands or contracts as the first rate did.
  bool found() const;

 private:
  double first_, rate_;
  double before_ = 0, residual_before_ = 0;  ///< of the step before
  double best_ = 0, residual_best_ = 0;
  int taken_ = 0;
  bool done_ = false;
};

/// The largest residual of a run.
class WorstResidual {
 public:
  void look(const program::Program& program, const std::vector<double>& scalars,
            std::int64_t instance, double time);
  /// A sentence about it where it is above 1e-2; empty otherwise.
  std::string note() const;

 private:
  double largest_ = 0, time_ = 0;
};

}  // namespace vphi::runtime
