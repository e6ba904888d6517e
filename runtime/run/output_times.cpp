#include "runtime/run/output_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace vphi::runtime {

namespace {

constexpr double kRounding = 1e-9;  ///< of t in units of the interval
constexpr double kCaution = 0.7;    ///< of the steps that the present pace would need
constexpr double kMostTimes = 1e15;

}  // namespace

OutputTimes::OutputTimes(Session& session)
    : session_(session), written_(session.program().outputs.size(), -1) {
  any_ = std::ranges::any_of(session.program().outputs,
                             [](const program::Output& o) { return o.interval > 0; });
}

void OutputTimes::look(std::int64_t step) {
  if (!any_) return;
  const program::Program& p = session_.program();
  double time = std::numeric_limits<double>::infinity(), ended = time;
  if (p.time_slot < 0) {
    time = static_cast<double>(step) * p.dt_physical;
  } else {
    std::vector<bool> over(static_cast<std::size_t>(p.instances));
    if (p.stop_slot >= 0) {
      const Slot stop = session_.slot(p.stop_slot);
      for (std::int64_t i = 0; i < p.instances; ++i)
        over[static_cast<std::size_t>(i)] = stop[i] != 0;
    }
    const Slot times = session_.slot(p.time_slot);
    for (std::int64_t i = 0; i < p.instances; ++i) {
      double& least = over[static_cast<std::size_t>(i)] ? ended : time;
      least = std::min(least, times[i]);
    }
    if (!std::isfinite(time)) time = ended;
  }
  if (step > step_ && step_ >= 0) {
    stride_ = step - step_;
    const double pace = (time - time_) / static_cast<double>(stride_);
    growth_ = pace_ > 0 ? std::max(1.0, pace / pace_) : 1;
    pace_ = pace;
    for (std::size_t o = 0; o < written_.size(); ++o) {
      if (p.outputs[o].interval <= 0 || stride_ == 1) continue;
      const bool late = passed(o, time - pace) > written_[o] && passed(o, time) > written_[o];
      late_ += late ? 1 : 0;
    }
  }
  step_ = step;
  time_ = time;
}

double OutputTimes::passed(std::size_t output, double time) const {
  const program::Output& o = session_.program().outputs[output];
  return std::floor((time - o.from) / o.interval + kRounding);
}

std::int64_t OutputTimes::ahead() const {
  if (!(pace_ > 0)) return 1;
  double most = kMostTimes;
  for (std::size_t o = 0; o < written_.size(); ++o) {
    const program::Output& output = session_.program().outputs[o];
    if (output.interval <= 0) continue;
    const double next = output.from + (passed(o, time_) + 1) * output.interval;
    most = std::min(most, kCaution * (next - time_) / (pace_ * growth_ * growth_));
  }
  most = std::min(most, 2.0 * static_cast<double>(stride_));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(most));
}

bool OutputTimes::due(std::size_t output) const {
  return session_.program().outputs[output].interval > 0 &&
         passed(output, time_) > written_[output];
}

std::int64_t OutputTimes::multiple(std::size_t output) const {
  if (session_.program().outputs[output].interval <= 0) return 0;
  return static_cast<std::int64_t>(passed(output, time_));
}

void OutputTimes::written(std::size_t output) {
  if (session_.program().outputs[output].interval > 0) written_[output] = passed(output, time_);
}

void OutputTimes::seen(std::size_t output, double time) {
  if (session_.program().outputs[output].interval > 0) written_[output] = passed(output, time);
}

std::string OutputTimes::note() const {
  if (late_ == 0) return {};
  return fmt::format(
      "{} times of outputs were passed by more than one step, since t ran faster and faster: their "
      "rows say at which t they were taken; `every N steps` knows the step",
      late_);
}

}  // namespace vphi::runtime
