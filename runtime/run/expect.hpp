// The expectations of a model (`expect`), evaluated during a run (docs/rules.md rule 24).
//
//   Condition: its slot must be 1 at every output.
//   Drift:     |q(t) - q(0)| / |q(0)| stays below the bound.
//   Conserved: |q(t) - q(0)| stays below the bound times the largest scale seen.
// With NaN none of them holds.
#pragma once

#include <span>
#include <vector>

#include "program/program.hpp"
#include "runtime/run/run.hpp"

namespace vphi::runtime {

/// The state of Expectations, for checkpoints.
struct ExpectationState {
  struct Memory {
    double first = 0, largest_change = 0, largest_scale = 0;
    bool begun = false;
  };
  std::vector<ExpectationResult> results;
  std::vector<Memory> memory;
};

class Expectations {
 public:
  explicit Expectations(const program::Program& program);

  /// Evaluates the expectations from the scalars of one moment; the first call sets the initial
  /// values.
  void judge(std::span<const double> scalars, double time);
  const std::vector<ExpectationResult>& results() const { return results_; }

  ExpectationState save() const { return {results_, memory_}; }
  /// Expectations are matched by their text; a new one starts with the present values.
  void restore(const ExpectationState& state);

 private:
  using Memory = ExpectationState::Memory;
  const program::Program& program_;
  std::vector<ExpectationResult> results_;
  std::vector<Memory> memory_;
};

}  // namespace vphi::runtime
