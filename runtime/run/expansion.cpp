#include "runtime/run/expansion.hpp"

#include <fmt/format.h>

#include <cmath>

namespace vphi::runtime {

std::optional<ExpansionFault> expansion_fault(const program::Program& program,
                                              const std::vector<double>& scalars,
                                              std::int64_t instance, std::int64_t step) {
  const program::Expansion& e = program.expansion;
  if (e.scale_slot < 0) return std::nullopt;
  const double* row = scalars.data() + static_cast<std::size_t>(instance) * program.scalars.size();
  const double a = row[e.scale_slot], residual = row[e.residual_slot];
  const std::string when = program.time_slot >= 0
                               ? fmt::format("step {}, t = {:.6g}", step, row[program.time_slot])
                               : fmt::format("step {}", step);
  if (!(a > 0))
    return ExpansionFault{
        fmt::format("the scale factor is {:.6g} at {}: the box is no larger than a point", a, when),
        "a smaller dt, or a look at the sign of the potential and of the pressure"};
  if (!(std::abs(residual) > e.explained)) return std::nullopt;
  return ExpansionFault{
      fmt::format("the Friedmann equation no longer holds: <rho> is {:.2g} times 3 M^2 H^2 at {}, "
                  "and this step explains {:.0f} % at most",
                  1 + residual, when, 100 * e.explained),
      "a smaller dt where it becomes true again with one; else an equation of motion that does not "
      "keep the energy (a friction or a source beside `derived`): prescribe the background then"};
}

void RateSearch::take(double residual) {
  constexpr int kMost = 60;
  constexpr double kRounding = 1e-15;
  if (taken_ == 0 || std::abs(residual) < std::abs(residual_best_))
    best_ = rate_, residual_best_ = residual;
  const double slope = (residual - residual_before_) / (rate_ - before_);
  const bool first = taken_++ == 0;
  const double here = rate_;
  // residual = rho/(3 M^2 H^2) - 1 up to a positive factor, and H is proportional to the rate
  rate_ = first ? rate_ * (1 + residual / 2) : rate_ - residual / slope;
  before_ = here, residual_before_ = residual;
  done_ =
      std::abs(residual) <= kRounding || rate_ == here || !std::isfinite(rate_) || taken_ == kMost;
  if (done_) rate_ = best_;
}

bool RateSearch::found() const {
  constexpr double kEnough = 1e-10;
  return std::abs(residual_best_) < kEnough && rate_ * first_ > 0;
}

void WorstResidual::look(const program::Program& program, const std::vector<double>& scalars,
                         std::int64_t instance, double time) {
  if (program.expansion.residual_slot < 0) return;
  const std::size_t row = static_cast<std::size_t>(instance) * program.scalars.size();
  const double residual =
      std::abs(scalars[row + static_cast<std::size_t>(program.expansion.residual_slot)]);
  if (residual > largest_) largest_ = residual, time_ = time;
}

std::string WorstResidual::note() const {
  constexpr double kWorthSaying = 1e-2;
  if (!(largest_ > kWorthSaying)) return {};
  return fmt::format(
      "<rho> and 3 M^2 H^2 part by {:.1f} % (at t = {:.6g}, the worst that was seen): a run at "
      "half "
      "the step, --error-check, shows what of it is the step's error",
      100 * largest_, time_);
}

}  // namespace vphi::runtime
