// What the command line says of a compilation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vphi {

/// What the command line may change without touching the model's text.
struct CompileOptions {
  std::vector<std::pair<std::string, std::string>> set;  ///< --set NAME=EXPR
  std::string lattice;                                   ///< --lattice 64^3
  std::string until;                                     ///< --until EXPR
  std::int64_t steps = -1;                               ///< --steps N
  std::string precision;                                 ///< --precision f32|f64
  std::optional<std::uint64_t> seed;
  std::int64_t batch = 0;  ///< instances at once; 0: all of a sweep
  std::string stop_after;  ///< emit --after PASS
  bool reading = false;    ///< kernels in the form for people (emit/text/reading.hpp)
};

}  // namespace vphi
