#include "compiler/emit/patterns/colours.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/emit/memory/gather.hpp"
#include "compiler/emit/patterns/rows.hpp"
#include "compiler/emit/patterns/rows_text.hpp"
#include "compiler/emit/patterns/sites.hpp"
#include "compiler/emit/text/reading.hpp"

namespace vphi::emit {
namespace {

constexpr std::int64_t kCellsPerTask = 256;
constexpr int kColourThreads = 128;  // few: such kernels keep many numbers in registers
constexpr std::int64_t kLongestPiece =
    2048;  // sites of a row whose values are stored before they are summed
constexpr std::int64_t kMostColourGroups =
    32;                                      // for each multiprocessor: sums are folded at the end
constexpr std::int64_t kCellsPerThread = 8;  // of an instance among many

std::string colour_slot(const Bindings& bindings, const std::string& name) {
  return slot_text(bindings, slot_number(bindings, name));
}

Code count_function(const Job& job) {
  const char* type = job.signed_index ? "long" : "unsigned";
  return Code::item("vphi_count_of",
                    code("// A scalar that counts; it does not depend on what lies at the sites.\n"
                         "VPHI_INLINE {0} vphi_count_of(double whole) {{ return ({0})whole; }}\n",
                         type));
}

void site_lines(const Job& job, const Bindings& bindings, Slots& slots) {
  slots["colour_slot"] = colour_slot(bindings, job.kernel.colours->slot);
  slots["still"] = job.kernel.still.empty() ? "0"
                                            : code("vphi_count_of(scalars[{}]) != 0",
                                                   colour_slot(bindings, job.kernel.still));
  slots["store"] = Gather::stores(job);
}

// Tells clang the number of lanes that it would choose anyway, and that no cells are left over.
// Without this, its cost analysis takes longer than all other steps for sites of thousands of
// operations.
Code lanes_text(const Job& job, std::int64_t cells, std::int64_t most) {
  std::int64_t lanes = 1;
  while (2 * lanes <= most && cells % (2 * lanes) == 0) lanes *= 2;
  const bool known = job.body.real == Precision::F64 && (lanes == most || lanes == cells);
  if (!known || lanes < 2) return "interleave(disable)";
  return code("vectorize_width({}) interleave_count(1) vectorize_predicate(enable)", lanes);
}

Code independent_text(const Job& job) {
  const std::int64_t cells = Gather::cells(job.kernel, 0);
  return fill("independent.txt",
              {{"lanes_wide", lanes_text(job, cells, 8)}, {"lanes", lanes_text(job, cells, 4)}});
}

// A task of a processor: some of the rows.
Code rows_text(const Job& job, const Bindings& bindings, std::int64_t units, std::int64_t tasks) {
  Slots slots;
  site_lines(job, bindings, slots);
  slots["name"] = job.body.suffix;
  slots["units"] = std::to_string(units);
  slots["below"] = units_below(job.kernel, units);
  slots["tasks"] = std::to_string(tasks);
  slots["cells"] = std::to_string(Gather::cells(job.kernel, 0));
  slots["inner"] = Gather::cell_name(job.kernel, 0);
  slots["of_row"] = Gather::of_row(job);
  slots["in_row"] = Gather::in_row(job);
  slots["gather"] = Gather(job, true).lines();
  if (job.kernel.reductions.empty()) return fill("colours.txt", slots);
  const Rows rows(job);
  slots["chunk"] = std::to_string(std::min(kLongestPiece, Gather::cells(job.kernel, 0)));
  for (const std::string& member : job.body.reduction_members)
    slots["rows_of_sums"] +=
        code("{} {}_row[{}];\n", type_name(job.body.real), member, slots["chunk"]);
  slots["lanes"] = rows.lanes();
  slots["put"] = rows.put();
  slots["add_lanes"] = rows.add_lanes();
  slots["shares"] = rows.shares(tasks);
  return fill("colours_sums.txt", slots);
}

}  // namespace

std::int64_t even_shares(std::int64_t wanted, std::int64_t most) {
  const std::int64_t shares_of_a_thread = (wanted + most - 1) / most;
  return (wanted + shares_of_a_thread - 1) / shares_of_a_thread;
}

Code sum_memory(const GpuReductions& reductions) {
  if (reductions.tree_doubles == 0) return {};
  return code("VPHI_LOCAL double tree[{}];{}", reductions.tree_doubles,
              reductions.last ? "\nVPHI_LOCAL unsigned last;" : "");
}

program::Kernel emit_colours(const Job& job, const Bindings& bindings) {
  const kernel::Kernel& kernel = job.kernel;
  const std::int64_t cells = kernel.walked_sites() / kernel.colours->modulus;
  const std::int64_t all_cells =
      kernel.planes ? cells * kernel.planes->whole / kernel.planes->own : cells;
  if (job.signed_index) {
    const std::int64_t units = cells / Gather::cells(kernel, 0);
    const auto text = [&](std::int64_t tasks) { return rows_text(job, bindings, units, tasks); };
    const Loop loop{units, text, fill("wrap.txt", {}) + independent_text(job) + count_function(job),
                    std::max<std::int64_t>(1, all_cells / kCellsPerTask), true};
    return emit_rows(job, bindings, &loop);
  }
  const std::int64_t wanted = (all_cells + kColourThreads - 1) / kColourThreads;
  std::int64_t most = kMostColourGroups * std::max<std::int64_t>(1, job.target.compute_units);
  if (kernel.instances > 1) most = std::max<std::int64_t>(1, wanted / kCellsPerThread);
  // Sums of a few more groups are folded sooner than neighbours come in a loop.
  const bool held = job.body.held > 0 && !centred(job);
  if (kernel.reductions.empty() || (held && kernel.instances == 1)) most = wanted;
  const Groups groups{groups_of_rank(kernel, even_shares(wanted, most)), 1, 1};
  const std::int64_t partials = groups[0] * static_cast<std::int64_t>(kernel.reductions.size());
  GpuReductions finish = gpu_reductions(job, kColourThreads);
  Slots slots = common_slots(job, kColourThreads, &groups);
  site_lines(job, bindings, slots);
  slots["instance"] = instance_pointers(job, bindings, partials, job.counts_groups());
  slots["cells"] = index_literal(job, cells);
  slots["each"] = each_site(kernel.planes ? "own" : "cell", "cells", kColourThreads,
                            job.body.held > 0 && groups[0] * kColourThreads >= cells);
  slots["occupancy"] = std::to_string(occupancy(job, kColourThreads));
  slots["finish_functions"] = count_function(job) + finish.functions;
  slots["finish"] = finish.finish;
  slots["local_memory"] = sum_memory(finish);
  slots["sums"] = finish.sums;
  slots["accumulate"];
  for (std::size_t i = 0; i < kernel.reductions.size(); ++i)
    slots["accumulate"] += accumulate(job, i, "out." + job.body.reduction_members[i]);
  slots["evaluate"] = Gather(job).evaluated();
  if (kernel.planes)  // the cells of the ghosts below come first
    slots["evaluate"] =
        code("const vphi_index cell = own + {};\n",
             index_literal(job, cells * kernel.planes->first / kernel.planes->own)) +
        slots["evaluate"];
  slots["body"] = Gather::functions(job);
  program::Kernel out;
  out.source = finished(fill("colours_gpu.txt", slots));
  out.partials = partials * kernel.instances;
  out.arguments = arguments(job, bindings, job.counts_groups(), partials);
  out.grid = grid_of(job, groups);
  out.block = {static_cast<std::uint32_t>(kColourThreads), 1, 1};
  return out;
}

}  // namespace vphi::emit
