// Passes for GPUs: they bring the arithmetic of a site into forms that a GPU computes fastest.
//
// They run after the passes of a schedule (passes.hpp), when it is known on which device a kernel
// runs and whether it walks along lines. They change only kernels that may be approximate
// (Kernel::fast), and values only by rounding. The printer writes their result as it stands. Pure
// functions; nothing fails.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.hpp"

namespace vphi::kernel {

/// The computation of one site.
struct SiteFunction {
  Kernel kernel;
  /// For a walk along lines (line.hpp): values that the next step reads as symbols.
  std::vector<ScalarAssign> held = {};
  /// Symbols whose values differ between sites or steps. All other symbols have one value in a
  /// launch.
  std::set<std::string> at_site = {};
  bool of_pair = false;  ///< it is evaluated for each pair of sites
  bool phase = false;    ///< of a tile (line.hpp): its symbols `at_site` are values of others

  bool walked() const { return !held.empty() || phase; }
  /// Values of the stores and reductions, then the held values.
  std::vector<Expr> values() const;
};

/// For walks and pairs: divisions by x and by powers of x become multiplications by one reciprocal
/// of x, and a root that is only a divisor becomes a reciprocal root, x^(-1/2).
SiteFunction reciprocals(SiteFunction function);

/// For kernels that do not walk along lines: a sum whose first term is a product begins with its
/// first term that is not a product, so that each product is one multiply-add. Sites that read many
/// numbers keep their order, because it determines the number of live values
/// (emit/text/register_order.hpp).
SiteFunction sums(SiteFunction function);

/// In f64, where each bound takes several instructions: max(min(0, max(b, c)), min(a, max(0,
/// min(b, c)))) and max(0, min(a, b, c)) + min(0, max(a, b, c)), the forms of limiters of slopes,
/// become the minmod of the three; the second also of two.
SiteFunction minmods(SiteFunction function);

/// Notes the angles whose sine and cosine are both used (Kernel::paired_angles). With
/// Kernel::pairs_all_angles all angles in f64, and in f32 where functions are written out: the
/// functions of a GPU's library have branches and memory of their own. Kernels in f32 with
/// approximate functions have none. Values keep their order of operations.
SiteFunction paired_angles(SiteFunction function);

/// For walks that read tables: min(max(floor(x), low), high) with whole numbers becomes a
/// TableIndex, which is stored as an integer.
SiteFunction table_indices(SiteFunction function);

/// A site that reads at least this many numbers keeps its order of operations, on which register
/// spills depend.
inline constexpr std::size_t kManyReads = 48;

struct DevicePass {
  const char* name;
  SiteFunction (*run)(SiteFunction);
};
/// The passes in the order in which they run.
const std::vector<DevicePass>& device_passes();
/// Runs all passes, or those up to the one called `last`.
SiteFunction for_device(SiteFunction function, const std::string& last = {});

}  // namespace vphi::kernel
