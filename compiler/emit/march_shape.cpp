#include <algorithm>
#include <cmath>

#include "compiler/emit/march_plan.hpp"

namespace vphi::emit {
namespace {

using physics::Boundary;

bool applies(const Job& job) {
  const kernel::Kernel& kernel = job.kernel;
  if (job.language == Language::Cpp || job.target.is_cpu || kernel.dims != 3) return false;
  for (int axis = 0; axis < 3; ++axis)
    if (kernel.boundary[static_cast<std::size_t>(axis)] != Boundary::Periodic) return false;
  for (const kernel::ArrayParam& array : kernel.arrays)
    if (array.store != kernel.compute) return false;
  return std::any_of(job.body.reads.begin(), job.body.reads.end(),
                     [](const Read& read) { return !read.centre(); });
}

// Registers a thread needs beyond the addresses, roughly: shares, waiting values, windows.
int carried_values(const MarchPlan& plan) {
  int values = 0;
  for (const Staged& staged : plan.arrays) {
    values += static_cast<int>(staged.sums.size()) * (2 * plan.depth + 1);
    values += staged.centre ? plan.depth + 1 : 0;
  }
  return values * plan.width;
}

}  // namespace

bool fits(const Job& job, const MarchShape& shape) {
  const kernel::Kernel& kernel = job.kernel;
  MarchPlan plan = plan_march(job);
  apply_shape(job, shape, plan);
  const std::int64_t tile_x = shape.lanes * plan.width;
  const std::int64_t bytes = std::int64_t{16} * shape.stages * plan.stage_vectors + 1024;
  const int edges = (shape.tile_y() + 2 * plan.edge_y) * 2 * plan.side;
  const bool exchanges = job.language == Language::Cuda || job.target.nvidia;
  return kernel.extent[0] % tile_x == 0 && kernel.extent[1] % shape.tile_y() == 0 &&
         kernel.extent[0] >= plan.reach_x + plan.width && kernel.extent[1] > plan.reach_y &&
         kernel.extent[2] > plan.depth && shape.ranges <= kernel.extent[2] &&
         bytes <= static_cast<std::int64_t>(job.target.local_bytes) && edges <= shape.threads() &&
         (!exchanges || plan.reach_x <= plan.width) && shape.threads() % 32 == 0 &&
         shape.threads() <= 1024 && static_cast<int>(kernel.reductions.size()) <= shape.threads();
}

std::optional<MarchShape> choose_march(const Job& job) {
  if (!applies(job)) return {};
  const MarchPlan plan = plan_march(job);
  if (carried_values(plan) > 160) return {};  // would not stay in registers
  const kernel::Kernel& kernel = job.kernel;
  const std::int64_t units = std::max(1, job.target.compute_units);
  std::optional<MarchShape> best;
  double least = 0;
  for (int lanes : {32, 16, 8, 4})
    for (int lines : {16, 8, 4, 2})
      for (int stages : {4, 3, 2}) {
        MarchShape shape{lanes, lines, 1, stages, 1, 1};
        for (std::int64_t length : {32, 16, 8}) {
          shape.ranges = static_cast<int>(std::max<std::int64_t>(1, kernel.extent[2] / length));
          if (!fits(job, shape)) continue;
          // Words moved through the last-level cache against the least possible, idle processors at
          // the end, and stages that are too few.
          const double y = lines, x = lanes * plan.width;
          const double z = static_cast<double>(kernel.extent[2]) / shape.ranges;
          const bool whole = x == static_cast<double>(kernel.extent[0]);
          const double halo = (y + 2 * plan.reach_y) / y * (z + 2 * plan.depth) / z *
                              (whole || plan.reach_x == 0 ? 1 : (x + 16) / x);
          double words = static_cast<double>(kernel.stores.size()), least_words = words;
          for (const Staged& staged : plan.arrays) {
            words += staged.halo ? halo : 1;
            least_words += 1;
          }
          const double groups = static_cast<double>(kernel.extent[0]) / x *
                                (static_cast<double>(kernel.extent[1]) / y) * shape.ranges;
          const double per_unit = groups * shape.threads() / (512.0 * static_cast<double>(units));
          const double waves = std::max(1.0, std::ceil(per_unit - 1e-9)) / per_unit;
          const double idle = 1 + (waves - 1) * 0.7;
          double cost = words / least_words * idle;
          cost *= stages == 2 ? 1.15 : stages == 3 ? 1.01 : 1;
          cost *= lanes == 32 ? 1 : lanes == 16 ? 1.05 : 1.2;
          if (shape.threads() < 64) cost *= 1.1;
          if (!best || cost < least) {
            best = shape;
            least = cost;
          }
        }
      }
  return best;
}

}  // namespace vphi::emit
