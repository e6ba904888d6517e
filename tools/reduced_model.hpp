// A smaller version of a model, for checks within seconds: fewer sites, particles and instances.
//
// It is made by options of the command line alone: --lattice, and --set of the parameter that
// counts the particles or of a swept name that counts 1..N. Options of the user are kept.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "compiler/compile.hpp"

namespace vphi::tools {

struct Most {
  /// Sites along an axis, in 1, 2, 3, 4 dimensions; half as many where a sweep has many lattices.
  std::array<std::int64_t, 4> edge = {256, 64, 32, 8};
  std::int64_t particles = 256;
  std::int64_t count = 8;  ///< of a sweep that counts
};

/// `options` with what makes the model at `path` no larger than `most`. A model with mistakes gives
/// them back as they are.
CompileOptions made_small(const std::string& path, CompileOptions options, const Most& most = {});

}  // namespace vphi::tools
