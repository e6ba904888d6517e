#include "compiler/emit/walks/march_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/emit/site_function.hpp"
#include "compiler/emit/walks/march_steps_text.hpp"
#include "compiler/kernel/device.hpp"

namespace vphi::emit {
namespace {

constexpr int kMostSteps = 4;  // the most steps that are estimated
// Arrays that fit the last cache of a GPU are not read from memory again, so that several steps a
// pass gain nothing: 96^3 in two steps a pass took twice the time (H100).
constexpr std::int64_t kBytesOfCache = std::int64_t{40} << 20;

/// The functions of a site take the scalars of their step in private memory.
Job job_of_steps(const kernel::Kernel& kernel, const TargetInfo& target, const Bindings& bindings) {
  Job job = make_job(kernel, target, bindings);
  job.body = make_body(kernel, job.dialect, bindings, true, {}, {}, !job.dialect.processor());
  return job;
}

/// Why a march of several steps does not apply, whatever its shape; empty where it does.
std::string refusal(const kernel::Kernel& kernel, const Job& job) {
  if (job.dialect.processor()) return "on this device rows of sites are walked one step at a time";
  if (has_site_order(job)) return "the arrays lie in an order of their own";
  for (const kernel::ArrayParam& array : kernel.arrays)
    if (array.store != kernel.compute)
      return fmt::format("`{}` is stored in another precision than it is computed in", array.name);
  if (centred(job)) return "a site reads nothing of its neighbours";
  return {};
}

}  // namespace

program::Kernel emit_march_steps(const Job& job, const Bindings& bindings,
                                 const StepsShape& shape) {
  const kernel::Kernel& kernel = job.kernel;
  const MarchSteps march(job, bindings, shape);
  const MarchPlan& plan = march.plan();
  const MarchShape& tile = shape.march;
  const int threads = tile.threads(), k = shape.steps;
  const int blocks = ((tile.stages * plan.stage_vectors + 2 * (k - 1) * march.level_vectors()) *
                          plan.vector_bytes +
                      15) /
                     16;
  const auto over = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const Groups groups{over(kernel.extent[0] / plan.width, march.stored_vectors()),
                      over(kernel.extent[1], march.stored_rows()), tile.ranges};
  Slots slots = common_slots(job, threads, &groups);
  const auto number = [&](const char* key, std::int64_t value) {
    slots[key] = std::to_string(value);
  };
  number("together", k);
  number("occupancy", tile.occupancy);
  number("tile_x", tile.lanes * plan.width);
  number("tile_y", tile.tile_y());
  number("stored_x", march.stored_vectors() * plan.width);
  number("stored_y", march.stored_rows());
  number("stages", tile.stages);
  number("ahead", tile.stages - 1);
  number("in_flight", tile.stages - 2);
  number("lanes_x", tile.lanes);
  number("width", plan.width);
  number("nz", kernel.extent[2]);
  number("twice_reach", 2 * k * plan.depth);
  number("lag", k - 1);
  number("stage_vectors", plan.stage_vectors);
  number("last_stage", (tile.stages - 1) * plan.stage_vectors);
  number("level_vectors", march.level_vectors());
  const std::int64_t plane = kernel.extent[0] * kernel.extent[1];
  slots["plane"] = index_literal(job, plane);
  slots["last_plane"] = index_literal(job, plane * (kernel.extent[2] - 1));
  slots["real"] = type_name(job.body.real);
  slots["vector"] = slots["real"] + (plan.width == 1 ? Code() : std::to_string(plan.width));
  number("vector_bytes", plan.vector_bytes);
  slots["cached"] = plan.vector_bytes == 16 ? "cg" : "ca";
  slots["async"] = async_text(job, tile, slots);
  slots["staging"] = staging_text(job, plan, blocks);
  slots["local_memory"] = march.local_scalars();
  slots["line"] = march.line();
  slots["places"] = march.places();
  slots["edge_places"] = march.edge_places();
  slots["first_planes"] = march.first_planes();
  slots["copy_halo"] = march.copy_halo();
  slots["copy_edges"] = march.copy_edges();
  slots["copy_centre"] = march.copy_centre();
  slots["clear"] = march.clear();
  slots["scalars_of_steps"] = march.scalars_of_steps();
  slots["carried"] = march.carried();
  slots["levels"] = march.levels();
  slots["finish"] = march.finish();
  slots["issue"] = fill("issue_steps_gpu.txt", slots);

  program::Kernel out;
  out.entry = job.entry;
  out.source = finished(fill("march_steps_gpu.txt", slots));
  out.grid = grid_of(job, groups);
  out.block = {static_cast<std::uint32_t>(threads), 1, 1};
  out.arguments = arguments(job, bindings, job.epilogue(), 0);
  if (job.dialect.can.launch_memory) out.shared_bytes = static_cast<std::uint32_t>(16 * blocks);
  return out;
}

std::optional<int> steps_of_a_pass(const kernel::Kernel& one_step, const TargetInfo& target,
                                   const Bindings& bindings, int wish, std::string& why) {
  const kernel::Kernel kernel = kernel::for_device(site_by_site(one_step, target)).kernel;
  const Job own = job_of_steps(kernel, target, bindings);
  why = refusal(kernel, own);
  if (!why.empty()) return std::nullopt;
  const kernel::Kernel in_three = in_three_dimensions(kernel);
  const Job job = in_three_dimensions(own, in_three);
  if ((kernel.dims < 3 && !worth_marching(own)) || !choose_march(job)) {
    why = "a step by itself is no march through the planes of the box";
    return std::nullopt;
  }
  std::int64_t bytes = 0;
  for (const kernel::ArrayParam& array : kernel.arrays)
    bytes += kernel.sites() * bytes_of(array.store) * (array.next ? 2 : 1);
  if (wish == 0 && bytes < kBytesOfCache) {
    why = fmt::format("the arrays have {} MiB, which the last cache of a GPU holds",
                      (bytes + (1 << 20) - 1) >> 20);
    return std::nullopt;
  }
  std::optional<StepsShape> best;
  std::string first_reason;
  for (int steps = wish > 0 ? wish : 2; steps <= (wish > 0 ? wish : kMostSteps); ++steps) {
    std::string reason;
    const auto shape = choose_march_steps(job, steps, reason);
    if (!shape && first_reason.empty()) first_reason = reason;
    if (shape && (!best || shape->estimate.time < best->estimate.time)) best = shape;
  }
  if (!best) {
    why = first_reason;
    return std::nullopt;
  }
  const StepsEstimate& e = best->estimate;
  const std::string counts = fmt::format(
      "a group computes {:.2f} sites and reads {:.2f} words for one that memory holds, predicted "
      "{:.2f} times as fast as one pass for each step",
      e.computed, e.moved, 1 / e.time);
  if (wish == 0 && e.time > 1 / 1.05) {
    why = fmt::format("with {} of them {}", best->steps, counts);
    return std::nullopt;
  }
  why = counts;
  return best->steps;
}

program::Kernel emit_steps_in(const kernel::Kernel& steps, const TargetInfo& target,
                              const Bindings& bindings, StepsShape shape) {
  const kernel::Kernel kernel = kernel::for_device(site_by_site(steps, target)).kernel;
  const Job own = job_of_steps(kernel, target, bindings);
  const kernel::Kernel in_three = in_three_dimensions(kernel);
  const Job job = in_three_dimensions(own, in_three);
  if (!fit_march_steps(job, shape))
    throw std::invalid_argument("kernel " + kernel.name + ": a tile that does not fit");
  return emit_march_steps(job, bindings, shape);
}

program::Kernel emit_steps(const kernel::Kernel& steps, const TargetInfo& target,
                           const Bindings& bindings) {
  const kernel::Kernel kernel = kernel::for_device(site_by_site(steps, target)).kernel;
  const Job own = job_of_steps(kernel, target, bindings);
  const kernel::Kernel in_three = in_three_dimensions(kernel);
  const Job job = in_three_dimensions(own, in_three);
  std::string why;
  const auto shape = choose_march_steps(job, static_cast<int>(kernel.together), why);
  if (!shape) throw std::invalid_argument("kernel " + kernel.name + ": " + why);
  return emit_march_steps(job, bindings, *shape);
}

}  // namespace vphi::emit
