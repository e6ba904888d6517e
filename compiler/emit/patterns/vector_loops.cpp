#include "compiler/emit/patterns/vector_loops.hpp"

#include "compiler/emit/text/fill.hpp"
#include "compiler/kernel/site_cost.hpp"

namespace vphi::emit {
namespace {

// From here on a site needs all registers for itself, and clang takes one vector at once.
constexpr std::size_t kManyReads = 500;
constexpr int kManyFlops = 1500;

/// Whether there are functions among the names for which there are vectors of 256 bits at most
/// (plugin/compile.cpp).
bool vectors_are_short(const Names& names) {
  for (const char* name : {"pow", "exp", "log", "sin", "cos"})
    for (const char* kind : {"", "f"})
      if (names.contains(std::string("__builtin_") + name + kind)) return true;
  return false;
}

bool power_of_two(std::int64_t n) { return (n & (n - 1)) == 0; }

}  // namespace

Code lanes_text(Precision real, std::int64_t count, std::int64_t most, const char* other) {
  std::int64_t lanes = 1;
  while (2 * lanes <= most && count % (2 * lanes) == 0) lanes *= 2;
  const bool known = real == Precision::F64 && (lanes == most || lanes == count);
  if (!known || lanes < 2) return other;
  return code("vectorize_width({}) interleave_count(1) vectorize_predicate(enable)", lanes);
}

RowPragma row_pragma(const Job& job, const Code& functions, std::int64_t width) {
  const bool native = job.dialect.tasks();
  const bool whole = width > 1 && (width % 16 == 0 || power_of_two(width) ||
                                   (job.body.real == Precision::F64 && width % 8 == 0));
  if (!native || !whole) return {};
  if (job.body.reads.size() < kManyReads && kernel::site_cost(job.kernel).flops < kManyFlops)
    return {};
  const char* own = "interleave_count(1) vectorize_predicate(enable)";
  const bool short_vectors = vectors_are_short(functions.all_uses());
  const auto lanes = [&](std::int64_t most) {
    return short_vectors ? Code(own) : lanes_text(job.body.real, width, most, own);
  };
  const Slots slots{{"lanes_wide", "vectorize(enable) " + lanes(8)},
                    {"lanes", "vectorize(enable) " + lanes(4)}};
  return {"WHOLE_ROW", Code::item("VPHI_WHOLE_ROW", fill("whole_row.txt", slots), true)};
}

}  // namespace vphi::emit
