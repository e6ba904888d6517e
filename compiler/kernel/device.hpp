// Passes for a device: a site's arithmetic in the forms that a GPU is quickest at.
//
// They come behind the passes of a schedule (passes.hpp), once it is known where a kernel runs and
// whether its lines are walked, and change kernels alone that may be approximate there
// (Kernel::fast). What they leave is made of the same operations and printed as it stands. Values
// are those from before but for rounding. Pure functions; nothing fails.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

/// What a site computes.
struct SiteFunction {
  Kernel kernel;
  /// Of a walk along lines (line.hpp): values that the next step reads as symbols.
  std::vector<ScalarAssign> held = {};
  /// Symbols whose values come with the site or with the step: all others are the same everywhere.
  std::set<std::string> at_site = {};
  bool of_pair = false;  ///< done for each pair of sites

  bool walked() const { return !held.empty(); }
  /// Stores, reductions, and what is held.
  std::vector<Expr> values() const;
};

/// Of a walk or of a pair: where x and powers of it divide, one reciprocal of x is multiplied with;
/// a root that does nothing but divide becomes a reciprocal root, x^(-1/2).
SiteFunction reciprocals(SiteFunction function);

/// Where lines are not walked: sums that start with a product start with the first term that is
/// none, so that each product is one multiply-add. Sites that read many numbers keep their order,
/// which decides how many of them are held (emit/text/register_order.hpp).
SiteFunction sums(SiteFunction function);

/// Numbers that a site reads from which on the order of its operations decides over spills.
inline constexpr std::size_t kManyReads = 48;

struct DevicePass {
  const char* name;
  SiteFunction (*run)(SiteFunction);
};
/// In their order.
const std::vector<DevicePass>& device_passes();
/// All of them, or those up to the one called `last`.
SiteFunction for_device(SiteFunction function, const std::string& last = {});

}  // namespace vphi::kernel
