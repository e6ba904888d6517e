// A smaller version of a model, for checks within seconds: fewer sites, particles and instances.
//
// It is made only by options of the command line: --lattice, and --set for the number of particles
// or for a swept name with values 1..N. Options of the user are kept.
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
  std::int64_t count = 8;  ///< values of a swept name 1..N
};

/// `options` with additions that make the model at `path` no larger than `most`. For a model with
/// errors `options` are returned unchanged.
CompileOptions made_small(const std::string& path, CompileOptions options, const Most& most = {});

}  // namespace vphi::tools
