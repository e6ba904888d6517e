// Options of a compilation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vphi {

/// What the command line changes without an edit of the model's text.
struct CompileOptions {
  std::vector<std::pair<std::string, std::string>> set;  ///< --set NAME=EXPR
  /// Parameters that kernels read as numbers of the run: programs for other values have the same
  /// kernels.
  std::vector<std::string> free;
  std::string lattice;      ///< --lattice 64^3
  std::string until;        ///< --until EXPR
  std::int64_t steps = -1;  ///< --steps N
  std::string precision;    ///< --precision f32|f64
  std::optional<std::uint64_t> seed;
  std::int64_t batch = 0;  ///< instances in one launch; 0: all of the sweep
  /// The lattice is cut for so many ranks (schedule/cut.hpp), and the program is that of `rank`.
  int ranks = 1, rank = 0;
  /// So many of them lie along the second axis; a divisor of `ranks`.
  int ranks_beside = 1;
  bool renewal = false;    ///< the program gets Program::renewed_averages and renewed_scalars
  std::string stop_after;  ///< emit --after PASS
  bool reading = false;    ///< print kernels in their readable form (emit/text/reading.hpp)
};

}  // namespace vphi
