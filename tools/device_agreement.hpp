// Whether the output scalars of two runs of a model are the same but for rounding.
//
// Two devices add in another order, so their last digits differ. How much that may be is measured:
// a run of the same model in the other precision shows, for each scalar, what the rounding of f32
// does. That of f64 is 2^-29 of it. Sums of terms in f32 (`precision pair = f32`) and fields stored
// in f32 round as f32 does, whatever the rest is in. The components of a vector have one rounding,
// the largest: one of them may be 0 in both runs by chance. Pure functions; nothing fails.
#pragma once

#include <map>
#include <string>

#include "compiler/model/numerics.hpp"
#include "runtime/run/run.hpp"

namespace vphi::tools {

using Rounding = std::map<std::string, double>;  ///< of each scalar, absolute

struct Roundings {
  Rounding own;  ///< of the model as it is written
  Rounding f64;  ///< where all of it is in f64
};

/// Whether a part of the arithmetic or of the memory of fields is in f32.
bool any_f32(const physics::Numerics& numerics);

/// From the run of the model and one in the other precision. `f32`: see any_f32.
Roundings roundings(const runtime::RunResult& own, const runtime::RunResult& other, bool f32);

/// Of a scalar of this size: at least one unit in the last place of f64.
double rounding_of(const Rounding& rounding, const std::string& scalar, double size);

struct ScalarDifference {
  std::string name;
  double relative = 0;
  double in_rounding = 0;  ///< in units of the scalar's rounding
};

/// The scalar that differs most, measured in its rounding; no name where all are the same.
ScalarDifference furthest(const runtime::RunResult& a, const runtime::RunResult& b,
                          const Rounding& rounding);

constexpr double kMostRounding = 1000;  ///< times its rounding that a scalar may differ
constexpr double kVisible = 1e-6;       ///< relative difference that more than rounding has to make

bool differs(const ScalarDifference& difference);

}  // namespace vphi::tools
