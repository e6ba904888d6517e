// The tile of a march of several steps, and whether such a march is faster.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/emit/walks/march_steps_text.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {
namespace {

constexpr int kMostThreads = 1024, kRegisters = 65536;
constexpr int kMostLanes = 128, kMostRows = 80;
constexpr std::int64_t kMostTiles = 32, kFewestPlanes = 16;
constexpr std::int64_t kLocalOfProcessor = 228 * 1024, kLocalBeside = 1024;

/// The registers of a thread, in words of four bytes: values carried from plane to plane, a window
/// of rows, and some for addresses and values being loaded.
int registers(const Job& job, const StepsShape& shape, const MarchPlan& plan) {
  constexpr int kBeside = 40;
  int carried = 0, window = 0;
  const int rows = shape.march.rows_per_thread;
  for (const Staged& staged : plan.arrays) {
    const int planes = plan.depth + 1;
    carried += shape.steps * static_cast<int>(staged.sums.size()) * 2 * plan.depth;
    if (staged.halo && staged.centre) carried += shape.steps * plan.depth;
    if (!staged.halo) carried += (shape.steps - 1) * planes;
    if (staged.halo)
      window = std::max(window, (rows + 2 * plan.reach_y) * (plan.width + 2 * plan.reach_x));
  }
  const int values = carried * rows * plan.width + window;
  const int copies = (plan.halo_rows + shape.march.lines - 1) / shape.march.lines;
  return values * bytes_of(job.body.real) / 4 + kBeside + copies + 2 * rows;
}

/// Local memory of a group.
std::int64_t local_bytes(const StepsShape& shape, const MarchPlan& plan) {
  int level = 0;
  for (const Staged& staged : plan.arrays)
    if (staged.halo) level += plan.halo_rows * plan.row_vectors;
  return std::int64_t{plan.vector_bytes} *
             (shape.march.stages * plan.stage_vectors + 2 * (shape.steps - 1) * level) +
         kLocalBeside;
}

/// Edges of the tile, and whether it fits the device.
bool fits(const Job& job, StepsShape& shape, MarchPlan& plan) {
  const MarchShape& tile = shape.march;
  apply_shape(job, tile, plan);
  const bool whole_row = tile.lanes * plan.width == job.kernel.extent[0];
  const int between = shape.steps - 1;
  shape.edge_vectors = whole_row ? 0 : (between * plan.reach_x + plan.width - 1) / plan.width;
  shape.edge_rows = between * plan.reach_y;
  if (tile.lanes <= 2 * shape.edge_vectors || tile.tile_y() <= 2 * shape.edge_rows) return false;
  // with an even number of lanes no lane is the first and the last that has neighbours in its warp
  if (tile.lanes % 2 != 0 || tile.threads() > kMostThreads) return false;
  if (job.dialect.can.exchange_lanes && plan.reach_x > plan.width) return false;
  // A whole row's neighbours are found around its ends; elsewhere beside it.
  if (!whole_row && plan.reach_x > plan.side * plan.width) return false;
  if ((tile.tile_y() + 2 * plan.edge_y) * 2 * plan.side > tile.threads()) return false;
  return local_bytes(shape, plan) <= static_cast<std::int64_t>(job.target.local_bytes);
}

/// Instructions of a site: those of its function, and what a march adds up in a plane, where the
/// cost of the kernel counts the sums of stencils point by point.
double instructions(const Job& job, const kernel::Cost& cost, const MarchPlan& plan) {
  constexpr double kBeside = 8;        // places, copies, what moves up by a plane
  constexpr double kOfAnExchange = 6;  // with the lane on either side
  constexpr double kOfASpecial = 4;
  double sums = 0, point_by_point = 0;
  for (const Staged& staged : plan.arrays) {
    for (const Column& column : staged.columns)
      sums += static_cast<double>(column.dy.size()) - 1 + kOfAnExchange * column.reach / plan.width;
    for (const PlaneSum& sum : staged.sums) {
      for (const auto& terms : sum.terms) sums += static_cast<double>(terms.size()) - 1;
      for (const auto& pattern : sum.plan.patterns)
        sums += static_cast<double>(std::ranges::count_if(pattern, [](auto w) { return w != 0; }));
      sums += 2 * plan.depth;
      const Read& read = job.body.reads[sum.read];
      const std::set<std::int64_t> weights(read.weights.begin(), read.weights.end());
      point_by_point +=
          static_cast<double>(read.offsets.size() - 1 + weights.size() - weights.count(1));
    }
  }
  return std::max(0.0, cost.instructions - point_by_point) + kOfASpecial * cost.special + sums +
         kBeside;
}

double joined(double a, double b) { return std::cbrt(a * a * a + b * b * b); }

// Expected time of a step over that of one pass for each, fitted to 13 timings on an H100 (one and
// two fields, 7 and 27 points, 512^3, f32 and f64; two fields, 4096^2; two to four steps). It meets
// them within 8 %, but for four steps of 4096^2, which take three quarters of what it expects.
StepsEstimate estimate(const Job& job, double instructions, const StepsShape& shape,
                       const MarchPlan& plan) {
  constexpr double kCacheShare = 0.3;  // of a word from the last cache, of one from memory
  constexpr double kPlanesAlone = 32;  // of a march of one step
  // Bytes that memory moves in the time of one thread's instruction: copies reach 4.2 TB/s on an
  // H200, and 132 multiprocessors start 28e12 instructions a second.
  const double instruction = job.body.real == Precision::F32 ? 0.15 : 0.3;
  const kernel::Kernel& kernel = job.kernel;
  const MarchShape& tile = shape.march;
  const double stored_x = plan.width * (tile.lanes - 2 * shape.edge_vectors);
  const double stored_y = tile.tile_y() - 2 * shape.edge_rows;
  const auto extent = [&](int axis) {
    return static_cast<double>(kernel.extent[static_cast<std::size_t>(axis)]);
  };
  const double across = std::ceil(extent(0) / stored_x), rows = std::ceil(extent(1) / stored_y);
  const double planes = std::max(1.0, extent(2) / tile.ranges);
  // of what a group computes and reads in a plane, over what the box has there
  const double tiles = across * rows / (extent(0) * extent(1));
  const double loads = (planes + 2 * shape.steps * plan.depth) / planes;
  const double marched = loads + (shape.steps - 1) / planes;
  StepsEstimate e;
  e.computed = tiles * tile.lanes * plan.width * tile.tile_y() * marched;
  const double stores = static_cast<double>(kernel.stores.size());
  const double least = static_cast<double>(plan.arrays.size()) + stores;
  e.moved = (tiles * plan.stage_vectors * plan.width * loads + stores) / least;

  const double bytes = least * bytes_of(job.body.real);
  const double alone = joined(bytes, instruction * instructions);
  e.time = joined(bytes * (1 + kCacheShare * (e.moved - 1)) / shape.steps,
                  instruction * instructions * e.computed) /
           alone;
  // Filling the stages at the start of a range; neighbours that drift apart on a long march and
  // find their halo gone from the cache.
  const double plane_bytes = extent(0) * extent(1) * bytes;
  const auto drift = [&](double length) {
    return 1 + 0.4 / length + 0.0012 * length * std::min(1.0, plane_bytes / 8e6);
  };
  e.time *= drift(planes) / drift(std::min(kPlanesAlone, extent(2)));
  // Processors that have nothing left to do at the end.
  const double waves =
      across * rows * tile.ranges / (std::max(1, job.target.compute_units) * tile.occupancy);
  e.time *= waves <= 1 ? 1 / waves : std::ceil(waves) / waves;
  e.time *= 1 + 0.15 * std::max(0.0, 512.0 / (tile.occupancy * tile.threads()) - 1);
  if (tile.stages == 2) e.time *= 1.02;
  return e;
}

}  // namespace

bool fit_march_steps(const Job& job, StepsShape& shape) {
  MarchPlan plan = plan_march(job);
  return fits(job, shape, plan);
}

std::optional<StepsShape> choose_march_steps(const Job& job, int steps, std::string& why) {
  MarchPlan plan = plan_march(job);
  const kernel::Cost cost = kernel::cost(job.kernel);
  const double of_a_site = instructions(job, cost, plan);
  std::optional<StepsShape> best;
  const std::int64_t vectors = job.kernel.extent[0] / plan.width;
  const int edge = ((steps - 1) * plan.reach_x + plan.width - 1) / plan.width;
  const int edge_rows = (steps - 1) * plan.reach_y;
  std::set<int> widths;
  if (vectors <= kMostLanes && vectors % 2 == 0) widths.insert(static_cast<int>(vectors));
  for (std::int64_t tiles = 1; tiles <= kMostTiles; ++tiles) {
    const std::int64_t lanes = (vectors + tiles - 1) / tiles + 2 * edge;
    if (lanes <= kMostLanes) widths.insert(static_cast<int>(lanes + lanes % 2));
  }
  std::set<int> heights;
  for (std::int64_t tiles = 1; tiles <= job.kernel.extent[1]; ++tiles) {
    const std::int64_t rows = (job.kernel.extent[1] + tiles - 1) / tiles + 2 * edge_rows;
    if (rows <= kMostRows) heights.insert(static_cast<int>(rows));
  }
  for (const int lanes : widths)
    for (const int height : heights)
      for (const int rows : {1, 2})
        for (const int stages : {2, 3}) {
          const int lines = (height + rows - 1) / rows;
          StepsShape shape{{lanes, lines, rows, stages, 1, 1}, steps, 0, 0, {}};
          if (shape.march.threads() > kMostThreads || !fits(job, shape, plan)) continue;
          const int held = static_cast<int>(std::min<std::int64_t>(
              kLocalOfProcessor / local_bytes(shape, plan),
              kRegisters / (shape.march.threads() * registers(job, shape, plan))));
          if (held < 1) continue;
          shape.march.occupancy = std::min(held, 2048 / shape.march.threads());
          for (const std::int64_t ranges :
               {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 32, 64}) {
            if (ranges > 1 && ranges * kFewestPlanes > job.kernel.extent[2]) break;
            shape.march.ranges = static_cast<int>(ranges);
            shape.estimate = estimate(job, of_a_site, shape, plan);
            if (!best || shape.estimate.time < best->estimate.time) best = shape;
          }
        }
  if (!best)
    why = fmt::format(
        "the planes of {} steps fit neither the local memory nor the registers of a group", steps);
  return best;
}

}  // namespace vphi::emit
