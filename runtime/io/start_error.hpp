// What is wrong with a file that a run reads: the start of a field, points, a matrix, links.
#pragma once

#include "runtime/io/results.hpp"

namespace vphi::io {

/// The file is missing, damaged or of another shape than the program was compiled for, or holds a
/// number that is not finite. The text names the file and the place in it.
struct StartError : ResultsError {
  using ResultsError::ResultsError;
};

}  // namespace vphi::io
