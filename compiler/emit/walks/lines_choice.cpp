// Which kernels are walked, and how their lines are cut.
#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/walks/lines.hpp"
#include "compiler/emit/walks/lines_runs.hpp"
#include "compiler/emit/walks/lines_x.hpp"

namespace vphi::emit {
namespace {

/// The work of a site in instructions; a special function in f64 counts as those of a call.
double work_of(const kernel::Kernel& kernel) {
  const double special = kernel.compute == Precision::F32 ? 8 : 24;
  const kernel::Cost cost = kernel::cost(kernel);
  return cost.instructions + special * cost.special;
}

/// Whether a walk is worth its scattered reads, by which it moves memory at two thirds of the rate
/// of a march. A thread of a march has some neighbouring sites, whose common values are made once;
/// what sums take is less in a walk. Instructions a byte, as kernels of fluids showed on an H100.
bool worth_walking(const kernel::Kernel& kernel, const kernel::Kernel& walked) {
  constexpr double kWorth = 0.75;  // of the work site by site
  const double enough =
      (kernel.compute == Precision::F32 ? 10 : 7) * (kernel.reductions.empty() ? 1 : 0.5);
  const double alone = work_of(kernel), once = work_of(walked);
  const double marched = once + (alone - once) * bytes_of(kernel.compute) / 16;
  return once < kWorth * alone && marched > enough * kernel::cost(kernel).bytes;
}

/// Work of a site on a processor, in vector instructions, special functions included.
double vector_work_of(const kernel::Kernel& kernel) {
  const double special = kernel.compute == Precision::F32 ? 8 : 16;
  const kernel::Cost cost = kernel::cost(kernel);
  return cost.instructions + special * cost.special;
}

/// Whether a walk in the lanes of vectors pays on a processor. The lanes load and store one number
/// at a time, which takes as long as some vector instructions, and held values are in memory.
/// `longer`: steps of a run over its cells, because a run starts with the cells before it.
bool worth_lanes(const kernel::Kernel& kernel, const kernel::Kernel& walked, std::size_t held,
                 double longer) {
  constexpr double kWorth = 0.67;  // of the work site by site
  constexpr double kHold = 5;
  const double move = kernel.compute == Precision::F32 ? 40 : 20;
  const kernel::Cost cost = kernel::cost(kernel);
  const double step = vector_work_of(walked) + move * (cost.loads + cost.stores) +
                      kHold * static_cast<double>(held);
  return longer * step < kWorth * vector_work_of(kernel);
}

/// Whether the value is always a whole number: a sum of it has the same bits in any order.
bool is_whole(algebra::Expr value) {
  if (value.is_number()) return value->number.exact && value->number.rational.den == 1;
  const auto all_from = [&](std::size_t first) {
    return std::ranges::all_of(value.args().subspan(first), is_whole);
  };
  if (value.is(algebra::Op::Select)) return all_from(1);
  return value.is(algebra::Op::Add) && all_from(0);
}

/// Whether the reductions have the same bits in any order of the cells: minima, maxima, sums of at
/// most two nonzero terms, and sums of whole numbers.
bool same_sums(const kernel::Line& line) {
  for (std::size_t i = 0; i < line.step.reductions.size(); ++i) {
    const kernel::Reduction& reduction = line.step.reductions[i];
    if (reduction.kind == kernel::ReduceKind::Sum && !line.two_terms[i] &&
        !is_whole(reduction.value))
      return false;
  }
  return true;
}

/// Read at other sites than the one that is computed.
bool read_away(const kernel::Kernel& kernel, int array) {
  bool away = false;
  algebra::visit(kernel.values(), [&](algebra::Expr, algebra::Expr node) {
    away = away || (node.is(algebra::Op::Load) && node->index == array && !node->offset.zero());
  });
  return away;
}

/// Sites may be computed in any order, and those before a walk more than once.
bool in_any_order(const kernel::Kernel& kernel, bool own_in_place) {
  return std::ranges::all_of(kernel.arrays, [&](const kernel::ArrayParam& array) {
    const bool in_place = array.read && array.written && !array.next;
    return array.elements == 0 && (!in_place || (own_in_place && !read_away(kernel, array.array)));
  });
}

/// The walk, if one applies. `own_in_place`: arrays read at their own site alone may be stored in
/// place.
std::optional<kernel::Line> walk_of(const kernel::Kernel& kernel, const TargetInfo& target,
                                    bool own_in_place) {
  if (!in_any_order(kernel, own_in_place)) return {};
  auto line = kernel::line_of(kernel);
  if (!line || boundary_of(*line) == physics::Boundary::Absorbing) return {};
  // One turn around the box, or one image in a wall, at most; in memory as well where it has
  // ghosts.
  const std::int64_t cells = kernel.whole()[static_cast<std::size_t>(line->axis)];
  if (cells < line->before + line->delay + 2 * kLineQuad) return {};
  if (line_shape(*line).extent < line->before + line->back + line->delay) return {};
  line->step.fast = dialect_of(target).can.approximate && target.contract;
  line->step.pairs_all_angles = dialect_of(target).can.sincos_for_all;
  return line;
}

/// Whether the kernel may be walked in runs: a lattice of one line, one step in a launch.
bool one_line(const kernel::Kernel& kernel) {
  return kernel.dims == 1 && !kernel.colours && kernel.stages.empty() && kernel.steps == 1 &&
         !kernel.stores.empty() && !kernel::sums_pairs(kernel);
}

/// One dimension on a GPU: the walk in runs, where it saves more than the extra cells at the start
/// of each run.
std::optional<kernel::Line> runs_of_threads(const kernel::Kernel& kernel,
                                            const TargetInfo& target) {
  const bool free = kernel.instances == 1 && kernel.reach == kernel::Reach::Launch;
  if (!free || kernel.planes || !dialect_of(target).can.copy_together) return {};
  kernel::Kernel walked = kernel;
  walked.along = 0;
  auto line = walk_of(walked, target, true);
  if (!line || !worth_walking(kernel, walked) || !cut_into_runs(*line, target)) return {};
  return line;
}

/// One dimension on a processor: a run in each lane of the vectors.
std::optional<kernel::Line> runs_of_lanes(const kernel::Kernel& kernel, const TargetInfo& target) {
  if (kernel.instances > 1 && kernel.reach != kernel::Reach::Launch) return {};
  kernel::Kernel walked = kernel;
  walked.along = 0;
  if (!worth_lanes(kernel, walked, 0, 1)) return {};
  auto line = walk_of(walked, target, true);
  if (!line || !same_sums(*line) || !cut_into_lanes(*line)) return {};
  // ranks that share a row choose as one device does
  const std::int64_t run = run_of_lane(*line, kernel.whole()[0]);
  const double beginnings =
      static_cast<double>(line->before + line->delay) / static_cast<double>(run);
  if (!worth_lanes(kernel, walked, line->held.size(), 1 + beginnings)) return {};
  return line;
}

std::optional<kernel::Line> runs_of(const kernel::Kernel& kernel, const TargetInfo& target) {
  if (!one_line(kernel)) return {};
  return dialect_of(target).processor() ? runs_of_lanes(kernel, target)
                                        : runs_of_threads(kernel, target);
}

}  // namespace

std::optional<kernel::Line> lines_of(const kernel::Kernel& kernel, const TargetInfo& target) {
  if (!kernel.random.step.empty()) return {};
  // where ranks share a row, it is walked in runs alone
  if (kernel.along == 0 && kernel.planes && kernel.planes->axis == 0) return {};
  // where ranks share a row, it is walked in runs alone
  if (kernel.along == 0 && kernel.planes && kernel.planes->axis == 0) return {};
  return kernel.along < 0 ? runs_of(kernel, target) : walk_of(kernel, target, false);
}

}  // namespace vphi::emit
