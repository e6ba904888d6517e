#include "runtime/run/expect.hpp"

#include <algorithm>
#include <cmath>

namespace vphi::runtime {

using program::Expectation;

namespace {

/// The last output of a run may be at a moment that was checked already.
void remember(ExpectationResult& result, double time, double value) {
  if (result.history.empty() || result.history.back().first != time)
    result.history.emplace_back(time, value);
}

}  // namespace

Expectations::Expectations(const program::Program& program)
    : program_(program), memory_(program.expectations.size()) {
  for (const Expectation& e : program.expectations) results_.push_back({e.text, true, 0, 0, {}});
}

void Expectations::judge(std::span<const double> scalars, double time) {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Expectation& e = program_.expectations[i];
    ExpectationResult& result = results_[i];
    Memory& memory = memory_[i];
    if (e.kind == Expectation::Kind::Condition) {
      const double value = scalars[e.value_slot >= 0 ? e.value_slot : e.ok_slot];
      remember(result, time, value);
      if (!result.ok) continue;  // the first failure stays
      result.ok = scalars[e.ok_slot] == 1;
      result.value = value;
      result.time = time;
      continue;
    }
    const double value = scalars[e.value_slot];
    if (!memory.begun) memory.first = value;
    memory.begun = true;
    const bool drift = e.kind == Expectation::Kind::Drift;
    memory.largest_scale =
        std::max(memory.largest_scale, std::abs(drift ? memory.first : scalars[e.scale_slot]));
    const double change = std::abs(value - memory.first);
    if (change > memory.largest_change || std::isnan(change)) {
      memory.largest_change = change;
      result.time = time;
    }
    remember(result, time, change == 0 ? 0 : change / memory.largest_scale);
    // A quantity that stays exactly at its start has not drifted, even from zero.
    result.value = memory.largest_change == 0 ? 0 : memory.largest_change / memory.largest_scale;
    result.ok = result.value < e.bound || memory.largest_change == 0;
  }
}

void Expectations::restore(const ExpectationState& state) {
  for (std::size_t i = 0; i < results_.size(); ++i)
    for (std::size_t k = 0; k < state.results.size(); ++k) {
      if (state.results[k].text != results_[i].text) continue;
      results_[i] = state.results[k];
      memory_[i] = state.memory[k];
    }
}

}  // namespace vphi::runtime
