#include "compiler/emit/patterns/colours.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/emit/math/draws.hpp"
#include "compiler/emit/memory/gather.hpp"
#include "compiler/emit/patterns/rows.hpp"
#include "compiler/emit/patterns/rows_text.hpp"
#include "compiler/emit/patterns/sites.hpp"
#include "compiler/emit/patterns/vector_loops.hpp"
#include "compiler/emit/text/reading.hpp"
#include "compiler/kernel/draw.hpp"
#include "compiler/kernel/site_cost.hpp"
#include "compiler/kernel/slabs.hpp"

namespace vphi::emit {
namespace {

constexpr std::int64_t kCellsPerTask = 256;
constexpr int kColourThreads = 128;  // few: such kernels keep many numbers in registers
constexpr std::int64_t kLongestPiece =
    2048;  // sites of a row whose values are stored before they are summed
constexpr std::int64_t kMostColourGroups =
    32;  // for each multiprocessor: sums are folded at the end
constexpr std::int64_t kThreadsThatFill = 4096;  // a multiprocessor, twice

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

Code independent_text(const Job& job, std::int64_t cells) {
  const auto lanes = [&](std::int64_t most) {
    return lanes_text(job.body.real, cells, most, "interleave(disable)");
  };
  return fill("independent.txt", {{"lanes_wide", lanes(8)}, {"lanes", lanes(4)}});
}

bool is_single_row(const kernel::Kernel& kernel) { return kernel::slab_axis(kernel.whole()) == 0; }

/// What a task of a processor walks: rows of a colour, or pieces of a single row. Pieces are slabs,
/// so that sums have the bits of one device however ranks cut the row.
std::int64_t units_of_colour(const kernel::Kernel& kernel) {
  if (is_single_row(kernel))
    return kernel.walked_sites() / kernel::planes_of_slab(kernel.whole(), kernel.colours->modulus);
  return kernel.walked_sites() / kernel.colours->modulus / Gather::cells(kernel, 0);
}

/// Cells of a unit.
std::int64_t cells_of_unit(const kernel::Kernel& kernel) {
  return kernel.walked_sites() / kernel.colours->modulus / units_of_colour(kernel);
}

/// Of a single row the cells of a piece, behind those of the ghosts below.
void walk_pieces(const kernel::Kernel& kernel, Slots& slots) {
  const std::int64_t cells = cells_of_unit(kernel),
                     below = kernel.planes ? kernel.planes->first / kernel.colours->modulus : 0;
  slots["unit"] = "piece", slots["inner"] = "cell";
  slots["of_row"] = (kernel.dims > 1 ? "const vphi_index row = 0;\n" : Code()) + slots["of_row"];
  slots["in_row"] = code("const vphi_index {} = {}piece*{} + cell;\n", Gather::cell_name(kernel, 0),
                         below > 0 ? code("{} + ", below) : Code(), cells) +
                    slots["in_row"];
}

// A task of a processor: some of the rows.
Code rows_text(const Job& job, const Bindings& bindings, std::int64_t units, std::int64_t tasks) {
  Slots slots;
  site_lines(job, bindings, slots);
  slots["name"] = job.body.suffix;
  slots["units"] = std::to_string(units);
  slots["below"] = units_below(job.kernel, units);
  slots["tasks"] = std::to_string(tasks);
  const std::int64_t cells = cells_of_unit(job.kernel);
  slots["cells"] = std::to_string(cells);
  slots["inner"] = Gather::cell_name(job.kernel, 0);
  const bool apart = rows_apart(job.kernel);
  slots["unit"] = apart ? "unit" : "row";
  slots["of_row"] =
      (apart ? code("const vphi_index row = {};\n", row_in_memory(job.kernel, "unit")) : Code()) +
      Gather::of_row(job);
  slots["in_row"] = Gather::in_row(job);
  slots["gather"] = Gather(job, true).lines();
  if (is_single_row(job.kernel) && (units > 1 || job.kernel.planes)) walk_pieces(job.kernel, slots);
  if (job.kernel.reductions.empty()) return fill("colours.txt", slots);
  const Rows rows(job);
  slots["chunk"] = std::to_string(std::min(kLongestPiece, cells));
  for (const std::string& member : job.body.reduction_members)
    slots["rows_of_sums"] +=
        code("{} {}_row[{}];\n", type_name(job.body.real), member, slots["chunk"]);
  slots["lanes"] = rows.lanes();
  slots["put"] = rows.put();
  slots["add_lanes"] = rows.add_lanes();
  slots["shares"] = rows.shares(tasks);
  return fill("colours_sums.txt", slots);
}

/// Cells of a colour that one thread takes: `sites` of them, `apart` cells from each other, among
/// `of` cells that follow each other. `shared`: they have the blocks of their random numbers in
/// common.
struct Strip {
  std::int64_t sites = 1, apart = 1, of = 1;
  std::int64_t along = 1;  ///< what that is in sites of the row
  bool shared = false;
};

/// Sites of a strip without blocks in common, the most numbers that each of them may read and the
/// most work, a special function as four flops, and groups that a multiprocessor is to hold, so
/// that a thread keeps to 48 registers. With 16 values to choose from (558) they would spill.
constexpr std::int64_t kSitesOfStrip = 4;
constexpr std::size_t kReadsOfStrip = 8;
constexpr int kWorkOfStrip = 256, kOfASpecial = 4;
constexpr int kGroupsOfStrips = 10;

bool shares_blocks(const Job& job) {
  return !job.body.draws.empty() && kernel::across_sites(job.kernel.random) &&
         kernel::sites_of_block(job.kernel.random) > 1;
}

/// A block serves several sites of the colour along x, or neighbours of which some have it: a
/// thread that has all of them makes the block once.
Strip strip_of_block(const Job& job) {
  const kernel::Kernel& kernel = job.kernel;
  const std::int64_t apart = kernel.colours->apart(),
                     together = kernel::sites_of_block(kernel.random) * kernel.random.apart;
  if (kernel.extent[0] % together != 0 || together % apart != 0) return {};
  const std::int64_t sites = together / apart;
  if (kernel.colours->axis == 0) return {sites, 1, sites, apart, true};
  return {sites, apart, together, apart, true};
}

/// Other sites that read little share the arithmetic of their places. Neighbouring threads have
/// neighbouring cells, as many as a warp has where the row allows it.
Strip strip_of_places(const Job& job) {
  constexpr std::int64_t kWarp = 32;
  const kernel::Kernel& kernel = job.kernel;
  if (job.body.real != Precision::F32 || job.body.reads.size() > kReadsOfStrip) return {};
  const kernel::SiteCost cost = kernel::site_cost(kernel);
  if (cost.flops + kOfASpecial * cost.special > kWorkOfStrip) return {};
  const bool dense = kernel.colours->axis == 0;  // cells of a row have one colour
  const std::int64_t colour = kernel.colours->apart(), least = dense ? 1 : colour;
  for (std::int64_t apart = kWarp / least * least; apart >= least;
       apart = apart / 2 / least * least) {
    const std::int64_t along = dense ? apart * colour : apart;
    if (kernel.extent[0] % (kSitesOfStrip * along) == 0)
      return {kSitesOfStrip, apart, kSitesOfStrip * apart, along, false};
  }
  return {};
}

/// As long as there are threads enough to fill the device.
Strip strip_of(const Job& job, std::int64_t cells) {
  const kernel::Kernel& kernel = job.kernel;
  if (!job.body.pieces.empty() || has_site_order(job) || kernel.planes) return {};
  const Strip strip = shares_blocks(job) ? strip_of_block(job) : strip_of_places(job);
  const std::int64_t threads = cells / strip.sites * kernel.instances;
  if (strip.sites < 2 || threads < kThreadsThatFill * std::max(1, job.target.compute_units))
    return {};
  return strip;
}

/// The type of the places of a strip in its row. In wide integers known distances go into
/// addresses; with blocks in common that took up to 1.07 of the time of spins on an H200.
const char* places_of_strip(const Job& job, const Strip& strip) {
  return strip.shared ? "vphi_index" : widest_integer(job);
}

/// Site number `j` of a strip, `first_x` and `first_at` its first one: coordinates that differ
/// between sites, and the lines from there to its results. Adds its reads and
/// what they need to `integers`.
Code site_of_strip(const Job& job, const Strip& strip, std::int64_t j, int& integers) {
  const Code further = index_literal(job, j * strip.along);
  const bool whole = strip.shared && strip.sites == kernel::sites_of_block(job.kernel.random);
  Gather gather(job, true);
  gather.within_row(j * strip.along, (strip.sites - 1 - j) * strip.along,
                    places_of_strip(job, strip));
  const Code text = strip.shared ? gather.evaluated_of_blocks(whole ? std::to_string(j) + "u" : "")
                                 : gather.evaluated();
  integers += gather.reads() + (j == 0 ? gather.integers() : 0);  // the rows are the same
  return code("{{\n  const {1} x = first_x + {0}, at = first_at + {0};\n", further,
              places_of_strip(job, strip)) +
         indent(text + code("outs[{}] = out;\n", j), 2) + "}\n";
}

/// The cells of a strip: its blocks, then all that computes, and a loop that stores, so that no
/// read waits for a store. Its sites lie in one row, evenly apart. `effects`: stores and sums of a
/// site.
Code strip_text(const Job& job, const Strip& strip, const Code& effects, int& integers) {
  const auto number = [&](std::int64_t value) { return index_literal(job, value); };
  const Code& name = job.body.suffix;
  Code text = strip.apart == 1 ? code("const vphi_index cell = strip*{};\n", number(strip.sites))
                               : code("const vphi_index cell = strip/{0}*{1} + strip % {0};\n",
                                      number(strip.apart), number(strip.of));
  text += Gather::coloured(job) +
          code("const {2} first_x = x, first_at = at;\nvphi_out_{1} outs[{0}];\n", strip.sites,
               name, places_of_strip(job, strip));
  if (strip.shared)
    text += code("// Their sites share blocks of random numbers.\nconst {} walker = {};\n",
                 widest_integer(job), walker_of_site(job, "at")) +
            blocks_of_walker(job);
  for (std::int64_t j = 0; j < strip.sites; ++j) text += site_of_strip(job, strip, j, integers);
  return text +
         code(
             "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {{\n"
             "  const {3} at = first_at + ({3})j*{1};\n"
             "  const vphi_out_{2} out = outs[j];\n",
             strip.sites, number(strip.along), name, places_of_strip(job, strip)) +
         indent(effects, 2) + "}\n";
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
  std::int64_t all_cells =
      kernel.planes ? cells * kernel.planes->whole / kernel.planes->own : cells;
  const bool second = kernel.planes && kernel.planes->second;
  if (job.signed_index) {
    const std::int64_t units = units_of_colour(kernel);
    if (second) all_cells = all_cells * kernel.planes->second->whole / kernel.planes->second->own;
    const auto text = [&](std::int64_t tasks) { return rows_text(job, bindings, units, tasks); };
    const Loop loop{
        units, text,
        fill("wrap.txt", {}) + independent_text(job, cells_of_unit(kernel)) + count_function(job),
        std::max<std::int64_t>(1, all_cells / kCellsPerTask), true};
    return emit_rows(job, bindings, &loop);
  }
  const Strip strip = strip_of(job, cells);
  const std::int64_t wanted = (all_cells / strip.sites + kColourThreads - 1) / kColourThreads;
  std::int64_t most = kMostColourGroups * std::max<std::int64_t>(1, job.target.compute_units);
  if (kernel.instances > 1) most = most_groups_of_instance(job, wanted);
  // Sums of a few more groups are folded sooner than neighbours come in a loop, also of instances.
  const bool held = job.body.held > 0 && !centred(job);
  if (kernel.reductions.empty() || held) most = wanted;
  const Groups groups{groups_of_rank(kernel, even_shares(wanted, most)), 1, 1};
  const std::int64_t partials = groups[0] * static_cast<std::int64_t>(kernel.reductions.size());
  GpuReductions finish = gpu_reductions(job, kColourThreads);
  Slots slots = common_slots(job, kColourThreads, &groups);
  site_lines(job, bindings, slots);
  slots["instance"] = instance_pointers(job, bindings, partials, job.counts_groups());
  slots["cells"] = index_literal(job, cells / strip.sites);
  slots["walk"] = strip.sites > 1 ? code("One thread {} sites", strip.sites) : "One thread a site";
  slots["each"] =
      each_site(kernel.planes     ? "own"
                : strip.sites > 1 ? "strip"
                                  : "cell",
                "cells", kColourThreads, job.body.held > 0 && groups[0] * kColourThreads >= cells);
  slots["occupancy"] =
      std::to_string(strip.sites > 1 && !strip.shared
                         ? kGroupsOfStrips
                         : occupancy(job, kColourThreads, groups[0] * kernel.instances));
  slots["finish_functions"] = count_function(job) + finish.functions;
  slots["finish"] = finish.finish;
  slots["local_memory"] = sum_memory(finish);
  slots["sums"] = finish.sums;
  slots["accumulate"];
  for (std::size_t i = 0; i < kernel.reductions.size(); ++i)
    slots["accumulate"] += accumulate(job, i, "out." + job.body.reduction_members[i]);
  int integers = Gather::integers_of_coloured(job);  // and reads, of a strip
  if (strip.sites > 1) {
    slots["evaluate"] = strip_text(job, strip, slots["store"] + slots["accumulate"], integers);
    slots["store"] = slots["accumulate"] = "";
  } else {
    Gather gather(job);
    slots["evaluate"] = gather.evaluated();
    integers += gather.reads() + gather.integers();
  }
  if (rows_apart(kernel))
    slots["evaluate"] =
        code("const vphi_index cell = {};\n",
             RowsOfLines(kernel).place("own", Gather::cells(kernel, 0),
                                       [&](std::int64_t v) { return index_literal(job, v); })) +
        slots["evaluate"];
  else if (kernel.planes)  // the cells of the ghosts below come first
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
  out.instructions =
      integers / static_cast<int>(strip.sites) + static_cast<int>(kernel.stores.size());
  return out;
}

}  // namespace vphi::emit
