#include "runtime/run/step_growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/run/number_text.hpp"

namespace vphi::runtime {

double WatchedGrowth::size(std::int64_t instance, std::size_t* variable) {
  double most = 0;
  for (std::size_t v = 0; v < p_.state.size(); ++v) {
    for (const double value : session_.read(p_.state[v].buffer, instance)) {
      if (!std::isfinite(value) || std::abs(value) <= most) continue;
      most = std::abs(value);
      if (variable != nullptr) *variable = v;
    }
  }
  return most;
}

void WatchedGrowth::begin(std::int64_t step, std::int64_t instances) {
  if (!knows()) return;
  from_ = step;
  at_start_.clear();
  for (std::int64_t i = 0; i < instances; ++i) at_start_.push_back(size(i, nullptr));
  largest_ = *std::ranges::max_element(at_start_);
}

bool WatchedGrowth::explains(std::int64_t steps) const {
  return knows() &&
         static_cast<double>(steps) * std::log(p_.step_growth.excess) >= std::log(kBeyond);
}

std::optional<GrowthFault> WatchedGrowth::fault(std::int64_t step, std::int64_t instance) {
  const std::int64_t steps = step - from_;
  if (!explains(steps)) return std::nullopt;
  const double start = std::max(at_start_.at(static_cast<std::size_t>(instance)), 0.0);
  if (start == 0) return std::nullopt;
  std::size_t variable = 0;
  const double now = size(instance, &variable);
  const double equations = static_cast<double>(steps) * std::log(p_.step_growth.equations);
  if (!(now > 0) || std::log(now / start) - equations < std::log(kBeyond)) return std::nullopt;
  return GrowthFault{fmt::format("`{}` has grown to {} in {} steps, from a state of at most {}: {}",
                                 p_.state[variable].shown, number_text(now, 4), steps,
                                 number_text(start, 4), cause()),
                     remedy()};
}

std::string WatchedGrowth::cause() const {
  return fmt::format(
      "dt = {} is beyond the integrator's limit of stability for these equations (W0316), and "
      "every step multiplies small perturbations by {}",
      number_text(p_.dt_physical, 4),
      number_text(p_.step_growth.excess * p_.step_growth.equations, 3));
}

std::string WatchedGrowth::remedy() const {
  return fmt::format("dt = {} or less, or an integrator with a larger limit",
                     number_text(p_.step_growth.fits, 3));
}

}  // namespace vphi::runtime
