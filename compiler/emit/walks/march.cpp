#include "compiler/emit/walks/march.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/emit/walks/march_text.hpp"
#include "compiler/kernel/kernel.hpp"

namespace vphi::emit {

Code async_text(const Job& job, const MarchShape& shape, Slots slots) {
  const bool power_of_two = (shape.lanes & (shape.lanes - 1)) == 0;
  const int segment = power_of_two ? std::min(32, shape.lanes) : 32;
  slots["clamp_up"] = std::to_string((32 - segment) << 8);
  slots["clamp_down"] = std::to_string(((32 - segment) << 8) | 31);
  slots["segment"] = std::to_string(segment);
  const Texts& texts = job.dialect.texts;
  const std::string lanes = job.body.real == Precision::F32 ? texts.lanes_f32 : texts.lanes_f64;
  if (!lanes.empty()) slots["lane_exchange"] = fill(lanes, slots);
  return fill(texts.copies, slots);
}

// In units of 16 bytes, whatever the length of a vector: the sums are kept there too.
Code staging_text(const Job& job, const MarchPlan& plan, int blocks) {
  const bool whole = plan.vector_bytes == 16;
  const char* type = whole ? "vphi_vector" : "double2";
  const char* name = whole ? "staging" : "staged_blocks";
  Code text = fmt::format(fmt::runtime(job.dialect.words.staging), type, name, blocks);
  if (!whole)
    text +=
        code("\n{0} vphi_vector* staging = ({0} vphi_vector*)staged_blocks;", "VPHI_LOCAL_POINTER");
  return text;
}

namespace {

/// Sizes of the tile, of its vectors and of the box.
void size_slots(const Job& job, const MarchPlan& plan, const MarchShape& shape, Slots& slots) {
  const kernel::Kernel& kernel = job.kernel;
  const auto number = [&](const char* key, std::int64_t value) {
    slots[key] = std::to_string(value);
  };
  number("occupancy", shape.occupancy);
  number("tile_x", shape.lanes * plan.width);
  number("tile_y", shape.tile_y());
  number("stages", shape.stages);
  number("ahead", shape.stages - 1);
  number("in_flight", shape.stages - 2);
  number("lanes_x", shape.lanes);
  number("width", plan.width);
  number("nz", kernel.walked()[2]);
  // the first own plane, or site of a single row
  const bool ghosts = kernel.planes && kernel.planes->first > 0;
  const Code first = ghosts ? code("{}u + ", kernel.planes->first) : Code();
  slots["below"] = ghosts && kernel.planes->axis == 2 ? first : Code();
  slots["left"] = ghosts && kernel.planes->axis == 0 ? first : Code();
  const bool beside = kernel.planes && kernel.planes->second && kernel.planes->second->first > 0;
  slots["front"] = beside ? code("{}u + ", kernel.planes->second->first) : Code();
  number("rows_per_thread", shape.rows_per_thread);
  number("twice_depth", 2 * plan.depth);
  number("stage_vectors", plan.stage_vectors);
  number("last_stage", (shape.stages - 1) * plan.stage_vectors);
  slots["nx"] = index_literal(job, kernel.extent[0]);
  slots["plane"] = index_literal(job, kernel.extent[0] * kernel.extent[1]);
  slots["sites"] = index_literal(job, kernel.sites());
  slots["real"] = type_name(job.body.real);
  slots["vector"] = slots["real"] + (plan.width == 1 ? Code() : std::to_string(plan.width));
  number("vector_bytes", plan.vector_bytes);
  slots["cached"] = plan.vector_bytes == 16 ? "cg" : "ca";
  slots["at_work"] = shape.surplus()
                         ? code("const int at_work = thread < {}u;\n", shape.lanes * shape.lines)
                         : Code();
  // Surplus threads read in place what another one stores a barrier later.
  slots["barrier"] = shape.surplus() ? "vphi_barrier_all" : "vphi_barrier";
}

/// What the march copies, adds up and does at its sites.
void walk_slots(const March& march, Slots& slots) {
  slots["line"] = march.line();
  slots["first_plane"] = march.first_plane();
  slots["this_plane"] = march.this_plane();
  slots["next_plane"] = march.next_plane();
  slots["row_flags"] = march.row_flags();
  slots["plane_flags"] = march.plane_flags();
  slots["owned"] = march.owned();
  slots["copy_places"] = march.copy_places();
  slots["edge_places"] = march.edge_places();
  slots["copy_halo"] = march.copy_halo();
  slots["copy_edges"] = march.copy_edges();
  slots["copy_centre"] = march.copy_centre();
  slots["carried"] = march.carried();
  slots["plane_sums"] = march.plane_sums();
  slots["centres"] = march.centres();
  slots["parts"] = march.parts();
  slots["gather"] = march.gather();
  slots["put"] = march.put();
  slots["store"] = march.store();
  slots["accumulate"] = march.accumulate_parts();
  slots["shift"] = march.shift();
}

/// The groups' sums, which are added up in the memory of the staged planes.
void march_reduction_slots(const kernel::Kernel& kernel, const GpuReductions& reductions,
                           Slots& slots) {
  slots["sums"] = reductions.sums;
  slots["finish_functions"] = reductions.functions;
  slots["finish"] = reductions.finish;
  if (kernel.reductions.empty()) return;
  if (reductions.last) slots["staging"] += "\nVPHI_LOCAL unsigned last;";
  slots["finish"] =
      "vphi_all_arrived();\nvphi_barrier();\n"
      "VPHI_LOCAL_POINTER double* tree = (VPHI_LOCAL_POINTER double*)staging;\n" +
      reductions.finish;
}

}  // namespace

program::Kernel emit_march(const Job& job, const Bindings& bindings, const MarchShape& shape) {
  const kernel::Kernel& kernel = job.kernel;
  const March march(job, shape);
  const MarchPlan& plan = march.plan();
  const int threads = shape.threads();
  const GpuReductions reductions = gpu_reductions(job, threads);
  const int bytes =
      std::max(shape.stages * plan.stage_vectors * plan.vector_bytes, reductions.tree_doubles * 8);
  const int blocks = (bytes + 15) / 16;

  const Groups groups{kernel.walked()[0] / (shape.lanes * plan.width),
                      (kernel.walked()[1] + shape.tile_y() - 1) / shape.tile_y(), shape.ranges};
  const std::int64_t partials =
      groups[0] * groups[1] * groups[2] * static_cast<std::int64_t>(kernel.reductions.size());
  Slots slots = common_slots(job, threads, &groups);
  slots["instance"] = instance_pointers(job, bindings, partials, job.counts_groups());
  size_slots(job, plan, shape, slots);
  slots["async"] = async_text(job, shape, slots) + march.bound_function();
  slots["staging"] = staging_text(job, plan, blocks);
  walk_slots(march, slots);
  march_reduction_slots(kernel, reductions, slots);
  slots["issue"] = fill("issue_gpu.txt", slots);

  program::Kernel out;
  out.entry = job.entry;
  out.source = finished(fill("march_gpu.txt", slots));
  out.grid = grid_of(job, groups);
  out.block = {static_cast<std::uint32_t>(threads), 1, 1};
  out.partials = partials * kernel.instances;
  out.arguments = arguments(job, bindings, job.counts_groups(), partials);
  if (job.dialect.can.launch_memory) out.shared_bytes = static_cast<std::uint32_t>(16 * blocks);
  return out;
}

namespace {

/// The axis of three that each axis of a lattice becomes: x stays x, a second one is marched along.
std::array<int, 4> axis_in_three(int dims) {
  return dims == 2 ? std::array<int, 4>{0, 2, 1, 3} : std::array<int, 4>{0, 1, 2, 3};
}

}  // namespace

kernel::Kernel in_three_dimensions(kernel::Kernel kernel) {
  const std::array<int, 4> to = axis_in_three(kernel.dims);
  const kernel::Kernel own = kernel;
  kernel.extent = {1, 1, 1, 1};
  kernel.boundary.fill(physics::Boundary::Periodic);
  if (kernel.planes) kernel.planes->axis = to[static_cast<std::size_t>(kernel.planes->axis)];
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(own.dims); ++axis) {
    kernel.extent[static_cast<std::size_t>(to[axis])] = own.extent[axis];
    kernel.boundary[static_cast<std::size_t>(to[axis])] = own.boundary[axis];
  }
  kernel.dims = 3;
  return kernel;
}

Job in_three_dimensions(const Job& job, const kernel::Kernel& in_three) {
  Job result{in_three,   job.target, job.dialect, job.body,   job.entry, job.signed_index,
             job.handed, job.places, job.order,   job.inside, {}};
  const std::array<int, 4> to = axis_in_three(job.kernel.dims);
  result.model_axis = {to[0], to[1], to[2], to[3]};  // each exchange undoes itself
  for (Read& read : result.body.reads)
    for (algebra::Offset& offset : read.offsets) {
      const algebra::Offset own = offset;
      for (std::size_t axis = 0; axis < 3; ++axis)
        offset.d[static_cast<std::size_t>(to[axis])] = own.d[axis];
    }
  return result;
}

bool worth_marching(const Job& job) {
  constexpr int kMostInstructionsOfAByte = 24, kLeastValuesOnALine = 4, kMostNumbersOnALine = 12;
  const kernel::Cost cost = kernel::cost(job.kernel);
  if (cost.instructions > kMostInstructionsOfAByte * cost.bytes) return false;
  if (job.kernel.dims > 1) return true;
  return cost.loads + cost.stores <= kMostNumbersOnALine &&
         plan_march(job).width >= kLeastValuesOnALine;
}

namespace {

/// Hands the job in three dimensions and its best shape to `use`; nothing where the pattern does
/// not apply.
template <class Use>
auto in_best_shape(const Job& job, const Use& use)
    -> std::optional<decltype(use(job, std::declval<const MarchShape&>()))> {
  const auto of = [&](const Job& in_three) {
    const auto shape = choose_march(in_three);
    return shape ? std::optional(use(in_three, *shape)) : std::nullopt;
  };
  if (job.kernel.dims == 3) return of(job);
  if (job.kernel.dims > 3 || !worth_marching(job)) return std::nullopt;
  const kernel::Kernel kernel = in_three_dimensions(job.kernel);
  return of(in_three_dimensions(job, kernel));
}

}  // namespace

std::optional<program::Kernel> march_if_it_fits(const Job& job, const Bindings& bindings) {
  // ranges of planes are along z, or a single row is cut
  const kernel::Kernel& k = job.kernel;
  if (k.planes && k.planes->axis != k.dims - 1) return std::nullopt;
  if (k.planes && k.planes->second && !job.body.draws.empty()) return std::nullopt;
  return in_best_shape(job, [&](const Job& in_three, const MarchShape& shape) {
    return emit_march(in_three, bindings, shape);
  });
}

std::int64_t planes_of_march(const Job& job) {
  const auto planes = in_best_shape(job, [](const Job& in_three, const MarchShape& shape) {
    const std::int64_t all = in_three.kernel.extent[2];
    return all % shape.ranges == 0 ? all / shape.ranges : all;
  });
  return planes.value_or(0);
}

}  // namespace vphi::emit
