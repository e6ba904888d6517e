// Outputs by time: which are due, and how far a run may go before it looks again.
//
// `every T` is written at the first step at or after each whole multiple of T, counted from the
// start time (program::Output::interval); of several instances, at the first step at which every
// one that has not ended has reached it. Steps of conformal time differ in t, so the number of that
// step is not known beforehand. The run reads t after fewer and fewer steps, estimated from the
// length of the steps before, and takes the last ones one by one. Nothing here fails; a time that
// was passed by more than a step is reported (`note`).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/run/session.hpp"

namespace vphi::runtime {

class OutputTimes {
 public:
  explicit OutputTimes(Session& session);

  /// Whether any output goes by time.
  bool any() const { return any_; }
  /// Called with the number of steps done whenever the run has stopped to look.
  void look(std::int64_t step);
  /// Steps from here to the next look; at least 1.
  std::int64_t ahead() const;
  /// A multiple of its time has been reached since it was written; at the start always.
  bool due(std::size_t output) const;
  /// Number of the multiple that has been reached, from 0.
  std::int64_t multiple(std::size_t output) const;
  void written(std::size_t output);
  /// The run goes on from a state of which the output had seen `time`.
  void seen(std::size_t output, double time);
  std::string note() const;

 private:
  double passed(std::size_t output, double time) const;

  Session& session_;
  bool any_ = false;
  std::int64_t step_ = -1;
  double time_ = 0;               ///< of the instance that is behind
  double pace_ = 0, growth_ = 1;  ///< t of a step, and its change from look to look
  std::int64_t stride_ = 0;       ///< steps between the last two looks
  std::vector<double> written_;   ///< by output: number of the last multiple, -1: none
  std::int64_t late_ = 0;
};

}  // namespace vphi::runtime
