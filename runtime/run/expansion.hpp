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
