#include "compiler/emit/patterns/sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>

#include "compiler/emit/math/draws.hpp"
#include "compiler/emit/memory/gather.hpp"
#include "compiler/emit/patterns/colours.hpp"
#include "compiler/kernel/draw.hpp"

namespace vphi::emit {
namespace {

constexpr int kThreads = 256;
constexpr int kThreadsHeld = 128;         // where a site holds many numbers, or has loops
constexpr int kStripBytes = 16;           // of an array that a thread takes at once
constexpr std::int64_t kLeastStrips = 4;  // strips of a thread from which on they are used
constexpr int kMostStripInputs =
    4;  // values of a site; with more a thread has enough work without strips
constexpr int kMostStripSums = 4;           // reductions of a thread beside them
constexpr std::int64_t kOccupancy = 4;      // groups on a multiprocessor while they wait for memory
constexpr std::int64_t kWaves = 32;         // groups for each multiprocessor, one after another
constexpr int kMostHeldParameters = 24;     // numbers of the step kept in registers
constexpr std::int64_t kWaveOccupancy = 2;  // groups on a multiprocessor that wait for each other
constexpr std::int64_t kManySums =
    8;  // reductions from which on they cost a group more than its sites

// Sites that a thread takes together. A kernel that reads its own site alone is limited by memory:
// with single numbers there are too few bytes in flight and too many instructions.
int strip_of(const Job& job) {
  const bool own = centred(job);
  const bool same = std::ranges::all_of(job.kernel.arrays, [&](const kernel::ArrayParam& array) {
    return array.store == job.body.real && array.elements == 0;
  });
  // A rank's part of a row that reads no neighbours begins at the start of its memory, and is whole
  // strips.
  const bool ghosts_first =
      job.kernel.planes && (job.kernel.planes->axis > 0 || job.kernel.planes->first > 0);
  if (job.dialect.processor() || job.kernel.instances > 1 || ghosts_first ||
      job.kernel.reach != kernel::Reach::Launch || has_site_order(job) || !own || !same ||
      job.body.reads.empty() || job.body.reads.size() > kMostStripInputs ||
      job.body.draws.size() > kMostStripInputs || job.body.parameters > kMostHeldParameters ||
      job.kernel.reductions.size() > kMostStripSums)
    return 1;
  int strip = kStripBytes / bytes_of(job.body.real);
  if (!job.body.draws.empty()) {  // whole blocks of random numbers
    if (!kernel::across_sites(job.kernel.random)) return 1;
    strip = std::max(strip, static_cast<int>(kernel::sites_of_block(job.kernel.random)));
  }
  return strip;
}

// The lines of the pattern of vectors that differ from those of single sites.
void vector_lines(const Job& job, Slots& slots, int strip) {
  const char* real = type_name(job.body.real);
  const int lanes = kStripBytes / bytes_of(job.body.real), vectors = strip / lanes;
  const Code type = real + std::to_string(lanes), space = job.dialect.words.global;
  Code load, store;
  const auto index = [&](int v) {
    return vectors == 1 ? Code("vector") : code("vector * {}u + {}u", vectors, v);
  };
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    const kernel::ArrayParam& array = job.kernel.arrays[i];
    const Code from = read_pointer(job, i), to = write_pointer(job, i);
    const Code old = Gather::old_of_strip(job, i), next = Gather::next_of_strip(job, i);
    const auto name = [&](const Code& stem, int v) {
      return stem + "_vector" + (vectors == 1 ? "" : "_" + std::to_string(v));
    };
    const auto part = [&](const Code& stem, int k) {
      return code("{}.{}", name(stem, k / lanes), "xyzw"[k % lanes]);
    };
    if (array.read) {
      Code values;
      for (int v = 0; v < vectors; ++v)
        load += code("const {0} {1} = (({2}const {0}*){3})[{4}];\n", type, name(old, v), space,
                     from, index(v));
      for (int k = 0; k < strip; ++k) values += (k > 0 ? ", " : "") + part(old, k);
      load += code("const {} {}[{}] = {{{}}};\n", real, old, strip, values);
    }
    if (array.written) {
      load += code("{} {}[{}];\n", real, next, strip);
      for (int v = 0; v < vectors; ++v) store += code("{} {};\n", type, name(next, v));
      for (int k = 0; k < strip; ++k) store += code("{} = {}[{}];\n", part(next, k), next, k);
      for (int v = 0; v < vectors; ++v)
        store += code("(({}{}*){})[{}] = {};\n", space, type, to, index(v), name(next, v));
    }
  }
  if (!job.body.draws.empty()) load += strip_draws(job, "vector", strip);
  slots["load_vectors"] = load;
  slots["gather_vectors"] = Gather(job).lines(true);
  slots["store_parts"] = Gather::stores(job, true);
  slots["store_vectors"] = store;
}

/// The place in memory of a site among the own ones, where rows are apart.
Code place_beside(const Job& job) {
  const RowsOfLines rows(job.kernel);
  const std::int64_t row = job.kernel.extent[0];
  const auto literal = [&](std::int64_t value) { return index_literal(job, value); };
  Code text = code("const vphi_index at = {};\n", rows.place("own", row, literal));
  if (!job.body.draws.empty() && job.kernel.planes->second)
    text += code(
        "const {0} sites_before = ((first_plane + own / {3}) * {1}u + first_line) * {2}u +\n"
        "    own % {3} - at;\n",
        widest_integer(job), job.kernel.planes->second->whole, rows.of_line * row,
        literal(rows.own * row));
  return text;
}

// What launches of one and of many steps have in common: the loop over the sites, and its sums.
Slots site_slots(const Job& job, int threads, const Groups& groups,
                 const GpuReductions& reductions) {
  Slots slots = common_slots(job, threads, &groups);
  const std::int64_t sites = job.kernel.walked_sites();
  slots["sites"] = index_literal(job, sites);
  slots["finish_functions"] = reductions.functions;
  slots["sums"] = reductions.sums;
  slots["finish"] = reductions.finish;
  const bool ghosts = job.kernel.planes.has_value();
  const std::string number = has_site_order(job) ? "number" : ghosts ? "own" : "at";
  const bool once = job.body.held > 0 && job.kernel.reach == kernel::Reach::Launch &&
                    groups[0] * threads >= sites;
  slots["each"] = each_site(number, slots["sites"].str(), threads, once);
  slots["gather"] = Gather(job, false, threads).lines();
  slots["evaluate"] = Gather(job, false, threads).evaluated();
  Code add;
  for (std::size_t i = 0; i < job.kernel.reductions.size(); ++i)
    add += accumulate(job, i, "out." + job.body.reduction_members[i]);
  slots["store"] = Gather::stores(job);
  slots["accumulate"] = add;
  // A compiler would keep many numbers of the step in registers across the loop, and spill them.
  const Code rematerialise = job.dialect.words.rematerialise;
  const bool held = job.body.parameters <= kMostHeldParameters || rematerialise.empty();
  const Code parameters =
      code("const vphi_par_{0} par = vphi_par_of_{0}(scalars);\n", job.body.suffix);
  slots["parameters_before"] = held ? parameters : "";
  slots["parameters_inside"] =
      held ? "" : rematerialise + "  // read again for each site\n" + parameters;
  const bool plain = !has_site_order(job);
  if (plain && rows_apart(job.kernel))
    slots["parameters_inside"] += place_beside(job);
  else if (plain && ghosts)
    slots["parameters_inside"] +=
        code("const vphi_index at = own + {};\n",
             index_literal(job, sites / job.kernel.planes->own * job.kernel.planes->first));
  return slots;
}

/// The number of groups of an instance: as many as its sites need or as run at the same time,
/// whichever is less; 1 where the threads of a group alone must synchronise.
std::int64_t groups_within_reach(const Job& job, int threads) {
  if (job.kernel.reach == kernel::Reach::Group) return 1;
  return std::min((job.kernel.sites() + threads - 1) / threads, wave_groups(job.target));
}

/// Ranks along the slowest axis.
std::int64_t ranks_across(const kernel::Planes& planes) {
  return planes.second ? planes.ranks * planes.second->own / planes.second->whole : planes.ranks;
}

}  // namespace

std::int64_t wave_groups(const TargetInfo& target) {
  return kWaveOccupancy * std::int64_t{std::max(1, target.compute_units)};
}

std::int64_t groups_of_rank(const kernel::Kernel& kernel, std::int64_t groups) {
  if (!kernel.planes) return groups;
  const kernel::Planes& planes = *kernel.planes;
  return std::max<std::int64_t>(1, groups * planes.slab / planes.whole) * planes.own / planes.slab;
}

Stage sites_stage(const Job& job, const Bindings& bindings, const OwnSites& own) {
  const int threads = job.kernel.threads;
  const Groups groups{groups_within_reach(job, threads), 1, 1};
  Stage stage;
  stage.pointers = array_pointers(job);
  if (!job.per_site()) {
    Slots slots = common_slots(job, threads, &groups);
    const GpuReductions end = gpu_reductions(job, threads);
    stage.functions = slots["choices"] + slots["body"] + end.functions;
    stage.text = end.finish;
    return stage;
  }
  const GpuReductions reductions = gpu_reductions(job, threads);
  Slots slots = site_slots(job, threads, groups, reductions);
  stage.functions =
      slots["choices"] + slots["wrap"] + Gather::functions(job) + reductions.functions;
  if (own.any()) slots["loop"] = own.loop(job, slots["parameters_inside"], slots["accumulate"]);
  stage.text = draw_start(job, bindings, job.kernel.instances > 1 ? "instance" : "0") +
               (own.any() ? own.names(job) : Code()) +
               fill(own.any() ? "sites_own_gpu.txt" : "sites_loop_gpu.txt", slots);
  stage.tree_doubles = reductions.tree_doubles;
  if (job.kernel.reach == kernel::Reach::Wave)
    stage.partials = groups[0] * static_cast<std::int64_t>(job.kernel.reductions.size());
  return stage;
}

program::Kernel emit_sites(const Job& job, const Bindings& bindings) {
  const kernel::Kernel& kernel = job.kernel;
  const std::int64_t sites = kernel.walked_sites() * (kernel.planes ? kernel.planes->whole : 1) /
                             (kernel.planes ? kernel.planes->own : 1);
  // Enough groups to fill the device several times over; each thread then takes sites in strides.
  // Where it takes them as vectors, as many as run at the same time: sums are folded at the end of
  // a group (2 to 17 % on an H200). Of many instances each takes few groups, whatever the device,
  // unless a site is long: its neighbours would come in a loop, one site after the other.
  const bool many = kernel.instances > 1;
  const auto reductions_64 = static_cast<std::int64_t>(kernel.reductions.size());
  const int usual = job.body.held > 0 || job.body.rolled ? kThreadsHeld : kThreads;
  const bool alone = kernel.reach == kernel::Reach::Group;
  const bool free = kernel.reach == kernel::Reach::Launch;
  const int threads = !free  ? kernel.threads
                      : many ? static_cast<int>(std::clamp<std::int64_t>(
                                   (std::max(sites, reductions_64) + 31) / 32 * 32, 32, usual))
                             : usual;
  const int wish = strip_of(job);
  // Of ranks that share a lattice: those of all devices, as `sites` are those of the whole lattice.
  const std::int64_t units =
      std::max(1, job.target.compute_units) * (kernel.planes ? ranks_across(*kernel.planes) : 1);
  // Sharing random numbers between neighbours is worth fewer threads, as long as all
  // multiprocessors have work.
  const bool noisy =
      wish > 1 && !job.body.draws.empty() && sites >= std::int64_t{2} * wish * threads * units;
  const std::int64_t threads_wanted = noisy ? sites / wish : sites;
  const std::int64_t wanted = (threads_wanted + threads - 1) / threads;
  const bool vectors = !job.dialect.processor() && wish > 1 &&
                       sites >= kLeastStrips * wish * kOccupancy * units * threads;
  const bool long_site = job.body.held > 0 && !centred(job);
  const std::int64_t most = long_site                   ? std::int64_t{1} << 30
                            : many                      ? most_groups_of_instance(job, wanted)
                            : kernel.reductions.empty() ? std::int64_t{1} << 30
                                                        : (vectors ? kOccupancy : kWaves) * units;
  // Many sums: fewer groups, each with more sites, as long as they fill the device.
  const std::int64_t fewest = std::int64_t{4} * units;
  const bool fewer = !many && !long_site && !job.dialect.processor() && reductions_64 >= kManySums;
  const std::int64_t shares = fewer ? std::max(wanted / kSitesPerThread, fewest) : wanted;
  const std::int64_t number = std::clamp<std::int64_t>(std::min(wanted, shares), 1, most);
  const std::int64_t of_all = has_site_order(job) ? even_shares(wanted, number) : number;
  const Groups groups{free ? groups_of_rank(kernel, of_all) : groups_within_reach(job, threads), 1,
                      1};
  const std::int64_t partials = alone ? 0 : groups[0] * reductions_64;

  const GpuReductions reductions = gpu_reductions(job, threads);
  Slots slots = site_slots(job, threads, groups, reductions);
  slots["instance"] = instance_pointers(job, bindings, partials, job.counts_groups() && !alone);
  slots["local_memory"] = sum_memory(reductions);
  if (alone && reductions.tree_doubles > 0)
    slots["local_memory"] = code("VPHI_LOCAL double tree[{}];", reductions.tree_doubles);
  if (reductions.tree_doubles == 0 && kernel.reach == kernel::Reach::Wave && job.epilogue())
    slots["local_memory"] = "VPHI_LOCAL unsigned last;";

  const std::int64_t own = kernel.walked_sites();
  const bool long_ways = own / (groups[0] * threads) >= kLeastStrips * wish;
  const int strip = noisy || (job.body.draws.empty() && long_ways) ? wish : 1;
  slots["strip"] = std::to_string(strip);
  slots["vectors"] = index_literal(job, own / strip);
  if (strip > 1) vector_lines(job, slots, strip);
  const std::int64_t launched = std::int64_t{groups[0]} * groups[1] * groups[2] * kernel.instances;
  slots["occupancy"] = std::to_string(strip > 1 ? kOccupancy : occupancy(job, threads, launched));
  slots["loop"] = strip > 1 ? "" : fill("sites_loop_gpu.txt", slots);

  if (strip == 1) slots["body"] = Gather::functions(job);

  program::Kernel out;
  out.source = finished(fill(strip > 1 ? "sites_vectors_gpu.txt" : "sites_gpu.txt", slots));
  out.partials = partials * kernel.instances;
  out.arguments = arguments(job, bindings, job.counts_groups() && !alone, partials);
  out.grid = grid_of(job, groups);
  out.block = {static_cast<std::uint32_t>(threads), 1, 1};
  return out;
}

program::Kernel emit_epilogue_gpu(const Job& job, const Bindings& bindings) {
  program::Kernel out;
  if (job.kernel.instances > 1) {
    constexpr std::int64_t kInstancesPerGroup = 64, kMostGroups = 1 << 16;
    Slots slots = common_slots(job, kInstancesPerGroup);
    slots["slots"] = std::to_string(bindings.slots.size());
    out.source = finished(fill("epilogue_many_gpu.txt", slots));
    out.block[0] = kInstancesPerGroup;
    out.grid[0] = static_cast<std::uint32_t>(std::min(
        kMostGroups, (job.kernel.instances + kInstancesPerGroup - 1) / kInstancesPerGroup));
  } else {
    out.source = finished(fill("epilogue_gpu.txt", common_slots(job, 1)));
  }
  out.arguments = arguments(job, bindings, false, 0);
  return out;
}

Code sites_end_text(const Job& job, std::int64_t shares, int threads) {
  const GpuReductions reductions = gpu_reductions(job, threads);
  Slots slots = common_slots(job, threads);
  slots["finish_functions"] = reductions.functions;
  slots["tree"] = std::to_string(reductions.tree_doubles);
  slots["reductions"] = std::to_string(job.kernel.reductions.size());
  slots["batch"] = std::to_string(sums_at_once(job.kernel.reductions.size()));
  slots["shares"] = std::to_string(shares);
  return fill("end_of_ranks_gpu.txt", slots);
}

}  // namespace vphi::emit
