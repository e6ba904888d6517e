// Outputs by time: which are due, and for how many steps a run may continue before the next check.
//
// `every T` is written at the first step at or after each whole multiple of T, counted from the
// start time (program::Output::interval); of several instances, at the first step at which every
// one that has not ended has reached it. Steps of conformal time differ in t, so the number of that
// step is not known beforehand. The run reads t at decreasing distances, which are estimated from
// the length of earlier steps, and takes the last steps one by one. Nothing here fails; `note`
// reports a time that was passed by more than a step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/run/session.hpp"

namespace vphi::runtime {

class OutputTimes {
 public:
  explicit OutputTimes(Session& session);

  /// Whether any output is by time.
  bool any() const { return any_; }
  /// Called with the number of steps done at each check.
  void look(std::int64_t step);
  /// Number of steps to the next check, at least 1.
  std::int64_t ahead() const;
  /// Whether a multiple of its time has been reached since it was written; true at the start.
  bool due(std::size_t output) const;
  /// Number of the last multiple reached, from 0.
  std::int64_t multiple(std::size_t output) const;
  void written(std::size_t output);
  /// For a run that is continued: the output had reached `time`.
  void seen(std::size_t output, double time);
  std::string note() const;

 private:
  double passed(std::size_t output, double time) const;

  Session& session_;
  bool any_ = false;
  std::int64_t step_ = -1;
  double time_ = 0;               ///< smallest t of the instances
  double pace_ = 0, growth_ = 1;  ///< t per step, and the ratio of its values at successive checks
  std::int64_t stride_ = 0;       ///< steps between the last two checks
  std::vector<double> written_;   ///< by output: number of the last multiple, -1: none
  std::int64_t late_ = 0;
};

}  // namespace vphi::runtime
