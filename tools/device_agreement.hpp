// Compares the output scalars of two runs of a model: do they differ by more than rounding?
//
// Devices add in different orders, so the last digits differ. The size of these differences is
// estimated: a run of the same model in the other precision gives, for each scalar, the effect of
// rounding in f32, and that in f64 is 2^-29 of it. Sums of terms in f32 (`precision pair = f32`)
// and fields stored in f32 round as f32 does, whatever the precision of the rest. The components of
// a vector have a common rounding, the largest, because one of them may be 0 in both runs by
// chance. Pure functions; nothing fails.
#pragma once

#include <map>
#include <string>

#include "compiler/model/numerics.hpp"
#include "runtime/run/run.hpp"

namespace vphi::tools {

using Rounding = std::map<std::string, double>;  ///< effect of rounding on each scalar, absolute

struct Roundings {
  Rounding own;  ///< for the model as it is written
  Rounding f64;  ///< for the model entirely in f64
};

/// Whether a part of the arithmetic or of the memory of fields is in f32.
bool any_f32(const physics::Numerics& numerics);

/// The roundings from the run of the model and a run in the other precision. `f32`: see any_f32.
Roundings roundings(const runtime::RunResult& own, const runtime::RunResult& other, bool f32);

/// The rounding of a scalar of this size; at least one unit in the last place of f64.
double rounding_of(const Rounding& rounding, const std::string& scalar, double size);

struct ScalarDifference {
  std::string name;
  double relative = 0;
  double in_rounding = 0;  ///< in units of the scalar's rounding
};

/// The scalar with the largest difference relative to its rounding; no name where all are equal.
ScalarDifference furthest(const runtime::RunResult& a, const runtime::RunResult& b,
                          const Rounding& rounding);

/// Largest allowed difference of a scalar, in units of its rounding.
constexpr double kMostRounding = 1000;
constexpr double kVisible = 1e-6;  ///< smaller relative differences are always allowed

bool differs(const ScalarDifference& difference);

}  // namespace vphi::tools
