#include <algorithm>
#include <cmath>

#include "compiler/emit/text/frame.hpp"
#include "compiler/emit/walks/march_plan.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {
namespace {

using physics::Boundary;

bool applies(const Job& job) {
  const kernel::Kernel& kernel = job.kernel;
  if (job.dialect.processor() || kernel.dims != 3) return false;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (kernel.boundary[axis] == Boundary::Absorbing) return false;
  for (const kernel::ArrayParam& array : kernel.arrays)
    if (array.store != kernel.compute) return false;
  return std::any_of(job.body.reads.begin(), job.body.reads.end(),
                     [](const Read& read) { return !read.centre(); });
}

// Values that a sum needs: its own, and one for each plane to come for which it has a share.
int values_of(const PlaneSum& sum, int depth) {
  int lowest = depth;
  for (const algebra::Plane& plane : sum.plan.planes) lowest = std::min(lowest, plane.offset);
  return 1 + depth - lowest;
}

/// Values that a thread keeps for a row of its vector: shares, sums, waiting values. `most`: with a
/// share for each plane in reach.
struct Carried {
  int values = 0, most = 0;
};

Carried carried_values(const MarchPlan& plan) {
  Carried carried;
  for (const Staged& staged : plan.arrays) {
    for (const PlaneSum& sum : staged.sums) {
      carried.values += values_of(sum, plan.depth) * plan.width;
      carried.most += (2 * plan.depth + 1) * plan.width;
    }
    if (!staged.centre) continue;
    carried.values += (staged.halo ? plan.depth + 1 : 1) * plan.width;
    carried.most += (plan.depth + 1) * plan.width;
  }
  return carried;
}

/// Whether the registers of a thread hold what it carries. Compiled kernels have about 0.85 of the
/// registers that the values of one row count: 125 for 168 values in f32, 244 for 288, and 254 for
/// 144 values in f64. Special functions in f64 are computed in line, with registers of their own: a
/// step with 134 values and 17 quotients and functions took 1.05 of its time as a march (H200). In
/// smaller groups they spill less, but fewer of them wait for each other (1.27 of the time). A
/// second row makes more of what a site computes wait as well.
bool registers_hold(const Carried& carried, const MarchShape& shape, int special,
                    Precision precision) {
  constexpr int kMostOfRows = 160, kMostOfThread = 255, kRegisters = 65536, kOfSpecial = 2;
  const int rows = shape.rows_per_thread;
  const int words = bytes_of(precision) / 4;
  const int registers = carried.values * rows * words * 17 / 20;
  if (rows > 1 && carried.most * rows > kMostOfRows) return false;
  const int computing = words > 1 ? kOfSpecial * special : 0;
  return registers + computing <= kMostOfThread && registers * shape.threads() <= kRegisters;
}

}  // namespace

namespace {

// A mirror at the face of the last site shows that site to its neighbour alone; beyond it the image
// is not the last site again.
bool bounds_fit(const Job& job, const MarchPlan& plan) {
  const auto& boundary = job.kernel.boundary;
  const int reach[3] = {plan.reach_x, plan.reach_y, plan.depth};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (boundary[axis] == Boundary::Neumann && reach[axis] > 1) return false;
  return true;
}

/// Whether the tiles of a rank that has a piece of a single row are tiles of the whole row, and its
/// vectors are aligned.
bool ends_with_slabs(const kernel::Kernel& kernel, std::int64_t tile_x, int width) {
  if (!kernel.planes || kernel.planes->axis != 0) return true;
  return kernel.planes->slab % tile_x == 0 && kernel.planes->first % width == 0;
}

bool fits_plan(const Job& job, const MarchShape& shape, MarchPlan& plan) {
  const kernel::Kernel& kernel = job.kernel;
  apply_shape(job, shape, plan);
  const std::int64_t tile_x = shape.lanes * plan.width;
  const std::int64_t bytes =
      std::int64_t{plan.vector_bytes} * shape.stages * plan.stage_vectors + 1024;
  const int edges = (shape.tile_y() + 2 * plan.edge_y) * 2 * plan.side;
  const bool exchanges = job.dialect.can.exchange_lanes;
  return kernel.walked()[0] % tile_x == 0 && ends_with_slabs(kernel, tile_x, plan.width) &&
         bounds_fit(job, plan) && kernel.extent[0] >= plan.reach_x + plan.width &&
         kernel.extent[1] > plan.reach_y && kernel.extent[2] > plan.depth &&
         shape.ranges <= kernel.whole()[2] &&
         bytes <= static_cast<std::int64_t>(job.target.local_bytes) && edges <= shape.threads() &&
         (!exchanges || plan.reach_x <= plan.width) && shape.threads() <= 1024 &&
         static_cast<int>(kernel.reductions.size()) <= shape.threads();
}

}  // namespace

bool fits(const Job& job, const MarchShape& shape) {
  MarchPlan plan = plan_march(job);
  return fits_plan(job, shape, plan);
}

namespace {

// Expected time per site relative to the traffic without a stencil. The factors were fitted to
// about 120 timings on one H200 (27-point leapfrog, two fields, 128^3 to 512^3, f32 and f64); the
// best shape there is found within 1 %.
double expected_cost(const Job& job, const MarchShape& shape, const MarchPlan& plan) {
  const kernel::Kernel& kernel = job.kernel;
  const double x = shape.lanes * plan.width, y = shape.tile_y();
  const double planes = static_cast<double>(kernel.whole()[2]) / shape.ranges;
  const double row_bytes = 1.0 * plan.vector_bytes * shape.lanes;

  // Words through the last-level cache; halo vectors cost whole sectors of 32 bytes.
  const double halo = (y + 2 * plan.reach_y) / y * (planes + 2 * plan.depth) / planes *
                      (plan.side > 0 ? 1 + 64 / row_bytes : 1);
  double words = static_cast<double>(kernel.stores.size()), least = words;
  for (const Staged& staged : plan.arrays) {
    words += staged.halo ? halo : 1;
    least += 1;
  }
  double cost = 1 + 0.3 * (words / least - 1);

  // Rows beyond the end of the box, and threads that repeat others' work.
  const auto rows = static_cast<double>(kernel.walked()[1]);
  const double tiles_y = std::ceil(rows / y);
  cost *= tiles_y * y / rows;
  cost *= 1 + 0.5 * (1.0 * shape.threads() / (shape.lanes * shape.lines) - 1);

  cost *= row_bytes <= 128 ? 1.12 : row_bytes <= 256 ? 1.06 : row_bytes <= 512 ? 1.018 : 1;
  cost *= shape.threads() < 64 ? 1.1 : shape.threads() < 128 ? 1.04 : 1;
  if (row_bytes >= 2048) cost *= plan.width == 2 ? 0.987 : 1.005;
  const auto row = static_cast<double>(kernel.whole()[0]);
  if (x == row) cost *= 1.03;
  const bool four_values = shape.rows_per_thread * plan.width == 4;
  cost *= four_values ? 1 : 1.015;
  cost *= shape.stages == 2 ? 1.03 : shape.stages == 3 ? 1 : 0.999;

  // Filling the stages at the start of a range; neighbours that drift apart on a long march and
  // find their halo gone from the cache.
  const double plane_bytes = row * rows * least * bytes_of(job.body.real);
  cost *= 1 + 0.4 / planes + 0.0012 * planes * std::min(1.0, plane_bytes / 8e6);

  // Processors that have nothing left to do.
  const double units = std::max(1, job.target.compute_units);
  const double groups = row / x * tiles_y * shape.ranges;
  const double bytes = 1.0 * plan.vector_bytes * shape.stages * plan.stage_vectors + 1024;
  const double occupancy =
      std::max(1.0, std::floor(std::min(512.0 / shape.threads(), 228.0 * 1024 / bytes)));
  const double waves = groups / (units * occupancy);
  if (kernel.instances > 1) {
    // An ensemble keeps every processor busy; its shape does not depend on how many there are, so
    // that the numbers of an instance do not either.
  } else if (waves <= 1) {
    cost *= std::ceil(groups / units) * units / groups;
  } else {
    const double loss = std::ceil(waves - 1e-9) / waves - 1;
    cost *= 1 + (waves <= 4 ? loss : std::min(loss, 0.03));
  }
  const double together =
      kernel.instances > 1 ? occupancy : std::min(occupancy, std::ceil(groups / units));
  if (together < 2 && shape.threads() < 512) cost *= 1.03;
  return cost;
}

constexpr int kMostLanes = 256;

// Vectors in a row of the tile: powers of two where they divide the box's row; otherwise, and where
// the tile is `wide`, its divisors.
std::vector<int> lane_choices(std::int64_t vectors, Boundary along_x, bool wide) {
  std::vector<int> list;
  for (int lanes : {32, 64, 128, 16, 8})
    if (vectors % lanes == 0) list.push_back(lanes);
  const std::size_t powers = list.size();
  const int most = static_cast<int>(std::min<std::int64_t>(kMostLanes, vectors));
  for (int lanes = 5; lanes <= most; ++lanes) {
    const bool wanted =
        wide || powers == 0 || vectors <= 32 || (along_x != Boundary::Periodic && lanes == vectors);
    if (wanted && vectors % lanes == 0 && std::ranges::count(list, lanes) == 0)
      list.push_back(lanes);
  }
  return list;
}

// Lines of the tile: powers of two where 16 of them divide the box; its divisors else, and tiles
// that hang over its end.
std::vector<int> line_choices(std::int64_t extent) {
  std::vector<int> list{16, 8, 4, 2, 1};
  for (int lines = 3; extent % 16 != 0 && lines <= 32; ++lines)
    if (extent % lines == 0 && std::ranges::count(list, lines) == 0) list.push_back(lines);
  return list;
}

// Where a plane is one row, its tiles have no second direction to grow in. Wide ones are faster
// where a site has little to compute (H200: 0.92 of the time with a fourth of an instruction a
// byte) and slower where it has more (1.14 with 7 to 9); without them a row that large powers of
// two do not divide is cut into pieces of a few vectors.
bool wide_tile(const Job& job, const MarchPlan& plan) {
  constexpr int kMostInstructionsOfAByte = 3, kFewestVectors = 32;
  if (job.kernel.extent[1] > 1) return false;
  const kernel::Cost cost = kernel::cost(job.kernel);
  return cost.instructions <= kMostInstructionsOfAByte * cost.bytes ||
         job.kernel.whole()[0] / plan.width % kFewestVectors != 0;
}

/// Planes of a range. Where ranks share the lattice, ranges end where slabs end: then the groups of
/// a rank are groups of the whole lattice, for which the shape is chosen.
std::vector<std::int64_t> plane_choices(const kernel::Kernel& kernel) {
  std::vector<std::int64_t> choices{16, 32, 8, 4};
  if (!kernel.planes || kernel.planes->axis != 2) return choices;
  const std::int64_t slab = kernel.planes->slab;
  std::erase_if(choices, [&](std::int64_t planes) { return slab % planes != 0; });
  choices.push_back(slab);
  return choices;
}

}  // namespace

std::optional<MarchShape> choose_march(const Job& job) {
  if (!applies(job)) return {};
  MarchPlan plan = plan_march(job);
  const Carried carried = carried_values(plan);
  const int special = kernel::cost(job.kernel).special;
  std::optional<MarchShape> best;
  double least = 0;
  for (int lanes : lane_choices(job.kernel.whole()[0] / plan.width, job.kernel.boundary[0],
                                wide_tile(job, plan)))
    for (int lines : line_choices(job.kernel.walked()[1]))
      for (int rows : {1, 2})
        for (int stages : {4, 3, 2})
          for (const std::int64_t planes : plane_choices(job.kernel)) {
            if (lanes * lines > 512 || lanes * lines < 32) continue;
            MarchShape shape{lanes, lines, rows, stages, 1, 1};
            if (!registers_hold(carried, shape, special, job.body.real)) continue;
            shape.ranges =
                static_cast<int>(std::max<std::int64_t>(1, job.kernel.whole()[2] / planes));
            if (!fits_plan(job, shape, plan)) continue;
            const double cost = expected_cost(job, shape, plan);
            if (best && cost >= least) continue;
            best = shape;
            least = cost;
          }
  if (best) {
    const std::int64_t groups =
        job.kernel.whole()[0] / (best->lanes * plan.width) * job.kernel.instances;
    best->occupancy = occupancy_of_row(job, best->threads(), groups);
  }
  if (best && job.kernel.planes && job.kernel.planes->axis == 2)
    best->ranges =
        static_cast<int>(best->ranges * job.kernel.planes->own / job.kernel.planes->whole);
  return best;
}

}  // namespace vphi::emit
