#include "compiler/emit/emit.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "compiler/emit/patterns/colours.hpp"
#include "compiler/emit/patterns/pairs.hpp"
#include "compiler/emit/patterns/persistent.hpp"
#include "compiler/emit/patterns/rows.hpp"
#include "compiler/emit/patterns/single_site.hpp"
#include "compiler/emit/patterns/sites.hpp"
#include "compiler/emit/site_function.hpp"
#include "compiler/emit/walks/lines.hpp"
#include "compiler/emit/walks/lines_tile.hpp"
#include "compiler/emit/walks/march.hpp"
#include "compiler/emit/walks/march_steps.hpp"
#include "compiler/kernel/site_cost.hpp"
#include "compiler/kernel/slabs.hpp"

namespace vphi::emit {
namespace {

constexpr int kMostEndThreads = 256, kMostEndBytes = 40 * 1024;  // of the group of an end

/// Whether the sites of a colour are stored together.
bool stored_by_colour(int array, const Bindings& bindings) {
  const auto number = static_cast<std::size_t>(array);
  return number < bindings.places.size() && bindings.places[number].home >= 0;
}

bool updates_in_place_of_colours(const kernel::Kernel& kernel, const Bindings& bindings) {
  return std::ranges::any_of(kernel.arrays, [&](const kernel::ArrayParam& array) {
    return stored_by_colour(array.array, bindings);
  });
}

// Counts sites along x: where the sites of a class are stored together, those of a colour are
// together along the first axis that the colours divide.
void count_along_x(kernel::Kernel& kernel) {
  for (int axis = kernel.dims - 1; axis >= 0; --axis) {
    kernel::Colours colours = *kernel.colours;
    colours.axis = axis;
    const auto extent = kernel.extent[static_cast<std::size_t>(axis)];
    if (colours.inverse() >= 0 && extent % colours.modulus == 0) kernel.colours->axis = axis;
  }
}

/// The passes for devices over a step of a walk.
void make_for_device(kernel::Line& line) {
  kernel::SiteFunction step = kernel::for_device(step_of(line));
  line.step = std::move(step.kernel);
  for (std::size_t i = 0; i < line.held.size(); ++i) line.held[i].value = step.held[i].value;
}

bool may_march(const Job& job) {
  return !has_site_order(job) && job.kernel.reach == kernel::Reach::Launch;
}

program::Kernel by_pattern(const Job& job, const Bindings& bindings) {
  if (is_single_site(job.kernel)) return emit_single_site(job, bindings);
  if (job.kernel.steps > 1)
    throw std::invalid_argument("kernel " + job.kernel.name + ": many steps of a lattice");
  if (job.kernel.colours) return emit_colours(job, bindings);
  if (job.signed_index) return emit_rows(job, bindings);
  if (!job.per_site()) return emit_epilogue_gpu(job, bindings);
  if (may_march(job))
    if (auto march = march_if_it_fits(job, bindings)) return *std::move(march);
  return emit_sites(job, bindings);
}

/// Fills in how often a launch of `kernel` evaluates its site function, and in which precision.
/// Special functions are counted as on the device: a reciprocal root is one instruction where
/// `fast` is allowed.
void count_work(const kernel::Kernel& kernel, const TargetInfo& target, program::Kernel& out) {
  const kernel::Kernel& work = kernel.stages.empty() ? kernel : kernel.stages.front();
  const bool pairs = kernel::sums_pairs(work);
  out.arithmetic = (pairs ? work.pair : work.compute) == kernel::Precision::F32
                       ? program::Precision::F32
                       : program::Precision::F64;
  const std::int64_t of_instance = work.walked_sites() / (work.colours ? work.colours->modulus : 1);
  out.sites = of_instance * work.instances;
  if (pairs) out.pairs = out.sites * work.sites();
  if (target.nvidia && out.arithmetic == program::Precision::F32 && kernel.stages.empty()) {
    const kernel::SiteCost cost = kernel::site_cost(kernel);
    out.special -= cost.reciprocal_roots + cost.dividing_roots;
  }
}

}  // namespace

kernel::SiteFunction site_function(const kernel::Kernel& kernel, const TargetInfo& target) {
  if (kernel::sums_pairs(kernel)) return {.kernel = pair_kernel(kernel, target), .of_pair = true};
  if (is_single_site(kernel) && !kernel.common.empty())
    return path_function(kernel::share(kernel), target);
  if (const auto line = lines_of(kernel, target)) return step_of(*line);
  return site_by_site(kernel, target);
}

kernel::SiteFunction site_by_site(const kernel::Kernel& kernel, const TargetInfo& target) {
  kernel::SiteFunction function{kernel};
  kernel::Kernel& own = function.kernel;
  own.fast = noise_hides_errors(kernel, target);
  own.pairs_all_angles = dialect_of(target).can.sincos_for_all;
  // an f64 update of the sites of a colour, which is short of registers, took 1.15 times as long
  const bool gains = own.compute == kernel::Precision::F32 || !own.colours;
  own.written_out = !own.fast && gains && target.contract && *dialect_of(target).texts.near != '\0';
  return function;
}

std::int64_t planes_of_march(const kernel::Kernel& kernel, const TargetInfo& target,
                             const Bindings& bindings) {
  if (target.is_cpu || !kernel.stages.empty() || kernel::sums_pairs(kernel) || kernel.colours ||
      is_single_site(kernel) || kernel.together > 1 || lines_of(kernel, target))
    return 0;
  const kernel::Kernel own = kernel::for_device(site_by_site(kernel, target)).kernel;
  const Job job = make_job(own, target, bindings);
  return job.per_site() && !job.signed_index && may_march(job) ? planes_of_march(job) : 0;
}

bool walks_lines(const kernel::Kernel& kernel, const TargetInfo& target) {
  return lines_of(kernel, target).has_value();
}

program::Kernel emit(const kernel::Kernel& kernel, const TargetInfo& target,
                     const Bindings& bindings) {
  program::Kernel out;
  kernel::Kernel counted = kernel;  // as it is walked
  if (!kernel.stages.empty()) {
    out = emit_persistent(kernel, target, bindings);
  } else if (kernel::sums_pairs(kernel)) {
    out = emit_pairs(kernel, target, bindings);
  } else if (is_single_site(kernel) && !kernel.common.empty()) {
    out = emit_single_site_shared(kernel, target, bindings);
  } else if (kernel.together > 1) {
    out = emit_steps(kernel, target, bindings);
  } else if (auto line = lines_of(kernel, target)) {
    counted.along = line->axis;
    if (auto tile = tile_of(kernel, *line, target)) {
      for (kernel::Line& phase : tile->phases) make_for_device(phase);
      out = emit_tile(*tile, target, bindings);
    } else {
      make_for_device(*line);
      out = emit_lines(*line, target, bindings);
    }
  } else {
    kernel::Kernel own = kernel::for_device(site_by_site(kernel, target)).kernel;
    if (own.colours && updates_in_place_of_colours(kernel, bindings)) count_along_x(own);
    const bool rows = !own.colours && !is_single_site(own);
    const Job job = make_job(own, target, bindings, {}, {}, rows ? Taken::InParts : Taken::Whole);
    out = by_pattern(job, bindings);
    out.entry = job.entry;
  }
  out.name = kernel.name;
  if (!dialect_of(target).processor() && kernel::folds_sums_on_rank(kernel)) {
    out.totals = static_cast<std::int64_t>(kernel.reductions.size());
    out.partials += out.totals;
  }
  const kernel::Cost cost = kernel::cost(counted);
  out.loads = cost.loads;
  out.stores = cost.stores;
  out.bytes = cost.bytes;
  out.flops = cost.flops;
  if (counted.colours)
    out.bytes =
        kernel::bytes_moved(counted, [&](int array) { return stored_by_colour(array, bindings); });
  const kernel::LeastWork least = kernel::least_work(counted, cost, dialect_of(target).processor());
  const int of_places = out.instructions;  // where the pattern has counted them
  out.special = least.special, out.instructions = least.instructions;
  out.chain = least.chain.instructions, out.chain_special = least.chain.special;
  count_work(counted, target, out);
  // with those of special functions; in f64 both are issued while one of f64 takes its two turns
  if (of_places > 0 && out.arithmetic == program::Precision::F32)
    out.instructions += of_places + out.special;
  return out;
}

namespace {

/// 4 to 16 planes, with which ranks have as many each: the slowest of them decides how long a step
/// takes. 16 where no such number does that. With fewer planes groups that end with slabs would be
/// too few or too small.
std::int64_t usual_slab(std::int64_t extent, std::int64_t ranks) {
  constexpr std::int64_t kUsual = 16, kLeast = 4;
  for (std::int64_t planes = kUsual; planes >= kLeast; --planes)
    if (extent % (planes * ranks) == 0) return planes;
  return kUsual;
}

}  // namespace

std::int64_t planes_of_slab(std::span<const kernel::Kernel> kernels, const TargetInfo& target,
                            const Bindings& bindings, int ranks) {
  if (dialect_of(target).processor()) return 1;
  std::int64_t planes = 1, most = 1;
  for (const kernel::Kernel& kernel : kernels) {
    planes = std::lcm(planes, std::max<std::int64_t>(1, planes_of_march(kernel, target, bindings)));
    const int axis = kernel::slab_axis(kernel.extent);
    most = std::max(most, kernel.extent[static_cast<std::size_t>(axis)] / ranks);
  }
  return planes > 1 && planes <= most ? planes : usual_slab(most * ranks, ranks);
}

program::Kernel emit_end(const kernel::Kernel& kernel, const TargetInfo& target,
                         const Bindings& bindings, const program::Kernel& sums, int number) {
  const kernel::Planes& planes = kernel.planes.value();
  const auto count = static_cast<std::int64_t>(kernel.reductions.size());
  kernel::Kernel end = kernel;
  end.name += "_end";
  end.stores.clear();
  end.arrays.clear();
  end.random = {};
  end.colours.reset();
  for (kernel::Reduction& reduction : end.reductions)
    reduction.value = reduction.value->arena->integer(0);
  end = kernel::for_device(site_by_site(end, target)).kernel;
  const Job job = make_job(end, target, bindings);
  const std::int64_t shares =
      sums.totals > 0 ? planes.ranks
                      : sums.partials / count * planes.whole / planes.own *
                            (planes.second ? planes.second->whole / planes.second->own : 1);
  program::Kernel out;
  if (job.signed_index) {
    // on one device the kernel itself has this end
    out.source = finished(fusing_line(kernel, target) +
                          rows_end_text(job, shares, place_of_share(kernel, shares)));
  } else {
    // the shares of groups are added as the last group of one device adds them
    int threads = static_cast<int>(sums.block[0] * sums.block[1] * sums.block[2]);
    if (sums.totals > 0) {
      threads = kMostEndThreads;
      while (threads > 32 && threads / 2 >= count && 8 * count * threads > kMostEndBytes)
        threads /= 2;
    }
    out.source = finished(sites_end_text(job, shares, threads));
    out.block[0] = static_cast<std::uint32_t>(threads);
  }
  out.arguments = {
      {program::Argument::Kind::Scalars, 0, static_cast<std::int64_t>(8 * bindings.slots.size()),
       program::Precision::F64, true},
      {program::Argument::Kind::Gathered, number, 8 * count * shares}};
  out.name = end.name;
  out.entry = job.entry;
  return out;
}

}  // namespace vphi::emit
