// Detects growth that comes from the step and not from the equations, where dt is beyond the
// integrator's limit of stability (W0316, Program::step_growth).
//
// A correct solution may grow by any factor, so size alone is no criterion. Three conditions must
// hold: the compiler knows a mode that every step multiplies by `excess` more than the equations
// do; over the steps made this is a factor of at least kBeyond; and the largest value of the state
// has grown by kBeyond more than the fastest mode of the linearised equations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/run/session.hpp"

namespace vphi::runtime {

struct GrowthFault {
  std::string message, hint;
};

class WatchedGrowth {
 public:
  static constexpr double kBeyond = 1e6;

  explicit WatchedGrowth(Session& session) : session_(session), p_(session.program()) {}

  /// Sets the reference size to that of the state at `step`. A state that is 0 everywhere gives
  /// none; then the object `waits` for the first that is not.
  void begin(std::int64_t step, std::int64_t instances);
  bool waits() const { return knows() && !(largest_ > 0); }

  /// Whether this number of steps makes rounding errors as large as the state itself.
  bool explains(std::int64_t steps) const;
  std::optional<GrowthFault> fault(std::int64_t step, std::int64_t instance);

  /// "dt = 0.7 is beyond the limit ..." and what helps, for a run that has broken.
  std::string cause() const;
  std::string remedy() const;

 private:
  bool knows() const { return p_.step_growth.excess > 1; }
  /// The largest value of a variable of the state.
  double size(std::int64_t instance, std::size_t* variable);

  Session& session_;
  const program::Program& p_;
  std::int64_t from_ = 0;
  std::vector<double> at_start_;  ///< by instance
  double largest_ = 0;
};

}  // namespace vphi::runtime
