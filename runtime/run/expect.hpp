// The promises of a model, watched while it runs (docs/rules.md rule 24).
//
//   Condition: its slot must be 1 at every output.
//   Drift:     |q(t) - q(0)| / |q(0)| stays below the bound.
//   Conserved: |q(t) - q(0)| stays below the bound times the largest scale seen.
// A NaN breaks any of them.
#pragma once

#include <span>
#include <vector>

#include "program/program.hpp"
#include "runtime/run/run.hpp"

namespace vphi::runtime {

/// All that Expectations remember: for checkpoints.
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

  /// Judges the scalar block of one moment; the first call sets the initial values.
  void judge(std::span<const double> scalars, double time);
  const std::vector<ExpectationResult>& results() const { return results_; }

  ExpectationState save() const { return {results_, memory_}; }
  /// Promises are matched by their text; one that is new begins now.
  void restore(const ExpectationState& state);

 private:
  using Memory = ExpectationState::Memory;
  const program::Program& program_;
  std::vector<ExpectationResult> results_;
  std::vector<Memory> memory_;
};

}  // namespace vphi::runtime
