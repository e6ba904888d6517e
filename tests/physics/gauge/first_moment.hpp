// What a run of a gauge model begins with.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tests/support/simulate.hpp"

namespace vphi::testing {

/// Arrays of the start by the names of Program::state ("E[x]", "re(phi)"), and what was written.
struct Begun {
  std::map<std::string, std::vector<double>> arrays;
  runtime::RunResult result;
};

inline Begun first_moment(const std::string& text) {
  Simulation setup;
  setup.steps = 0;
  setup.keep_state = true;
  const Compilation compiled = compile_text(text, setup);
  Begun begun;
  begun.result = run_program(*compiled.program, setup);
  for (std::size_t i = 0; i < compiled.program->state.size(); ++i)
    begun.arrays[compiled.program->state[i].shown] = begun.result.state[i];
  return begun;
}

}  // namespace vphi::testing
