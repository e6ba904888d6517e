#include "compiler/emit/patterns/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/math/draws.hpp"
#include "compiler/emit/patterns/lane_rounds.hpp"
#include "compiler/emit/patterns/rows_text.hpp"
#include "compiler/emit/patterns/sites.hpp"
#include "compiler/emit/patterns/vector_loops.hpp"
#include "compiler/kernel/slabs.hpp"

namespace vphi::emit {
namespace {

constexpr std::int64_t kSitesPerTask = 8192;
constexpr std::size_t kLongReads = 500;  // numbers a site: thousands of operations

// The source with a mark for the compiler where the loop body is long (host_compiler.hpp).
std::string with_length(const Job& job, std::string source) {
  const bool long_loop = job.dialect.tasks() && job.body.reads.size() >= kLongReads;
  return (long_loop ? "// vphi: long\n" : "") + std::move(source);
}

// Arguments of a task by name; `arrays` false: only what the finish needs. Where there are many
// instances, those of `instance`.
Code pointers(const Job& job, const Bindings& bindings, std::int64_t partials, bool arrays = true) {
  Code text;
  int at = 0;
  const bool many = job.kernel.instances > 1;
  const auto own = [&](std::int64_t words) {
    return many ? code(" + instance * {}", words) : Code();
  };
  const std::int64_t sites = job.kernel.sites();
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    const kernel::ArrayParam& array = job.kernel.arrays[i];
    const Code type = type_name(array.store);
    if (array.read || !array.next) {
      const char* c = array.written && !array.next ? "" : "const ";
      text += code("{0}{1}* VPHI_RESTRICT {2} = ({0}{1}*)args[{3}]{4};\n", c, type,
                   read_pointer(job, i), at++, own(sites));
    }
    if (array.next)
      text += code("{0}* VPHI_RESTRICT {1} = ({0}*)args[{2}]{3};\n", type, write_pointer(job, i),
                   at++, own(sites));
  }
  if (!arrays) text = {};
  text += code("double* scalars = (double*)args[{}]{};\n", at++,
               own(static_cast<std::int64_t>(bindings.slots.size())));
  if (!job.kernel.reductions.empty())
    text += code("double* partials = (double*)args[{}]{};\n", at, own(partials));
  return text;
}

// Tasks for many instances in C++: each one a share of an instance, or, where there are enough of
// them for all threads, a run of whole instances, whose lattices stay in the caches.
std::uint32_t many_tasks(const Job& job, std::int64_t tasks, Slots& slots) {
  const std::int64_t instances = job.kernel.instances;
  const Code& name = job.body.suffix;
  const bool whole = instances >= std::int64_t{4} * job.target.compute_units;
  slots["end_function"] = job.epilogue() ? fill("end_many_cpp.txt", slots) : "";
  if (!whole) {
    slots["shares_of_task"] = code("vphi_share_{0}(args, task / {1}, task % {1});", name, tasks);
    if (job.epilogue()) slots["finish_function"] = fill("finish_many_cpp.txt", slots);
    return static_cast<std::uint32_t>(instances * tasks);
  }
  const std::int64_t together = std::max<std::int64_t>(1, kSitesPerTask / job.kernel.sites());
  const std::int64_t jobs = (instances + together - 1) / together;
  slots["jobs"] = std::to_string(jobs);
  slots["end_call"] = job.epilogue() ? "vphi_end_" + name + "(args, instance);" : "";
  slots["shares_of_task"] = fill("whole_instances_cpp.txt", slots);
  return static_cast<std::uint32_t>(jobs);
}

program::Kernel emit_scalars(const Job& job, const Bindings& bindings) {
  if (!job.dialect.tasks()) return emit_epilogue_gpu(job, bindings);
  program::Kernel out;
  Slots slots = common_slots(job, 1);
  if (job.kernel.instances > 1) {
    out.grid[0] = static_cast<std::uint32_t>(std::min<std::int64_t>(512, job.kernel.instances));
    slots["tasks"] = std::to_string(out.grid[0]);
    slots["scalar_pointers"] = pointers(job, bindings, 0, false);
    out.source = finished(fill("epilogue_many_cpp.txt", slots));
  } else {
    slots["pointers"] = pointers(job, bindings, 0);
    out.source = finished(fill("epilogue_cpp.txt", slots));
  }
  out.arguments = arguments(job, bindings, false, 0);
  return out;
}

/// Functions that add eight numbers of a row to eight sums, which are one vector.
Code sums_in_lanes(const Job& job) {
  return Code::item("vphi_lanes", "typedef double vphi_lanes __attribute__((vector_size(64)));\n") +
         fill("lanes_sum.txt", {{"real", type_name(job.body.real)}});
}

/// Units that are walked.
std::int64_t units_of(const Job& job, const Loop* loop) {
  const Rows rows(job);
  return loop ? loop->units : rows.row_count() * rows.chunks();
}

/// How many times what is walked the whole lattice is, as a quotient.
std::array<std::int64_t, 2> share_of(const kernel::Planes& planes) {
  if (!planes.second) return {planes.whole, planes.own};
  return {planes.whole * planes.second->whole, planes.own * planes.second->own};
}

/// Tasks of the whole lattice.
std::int64_t all_tasks_of(const Job& job, const Loop* loop) {
  const kernel::Kernel& k = job.kernel;
  const std::int64_t units = units_of(job, loop), wish = loop ? loop->tasks : 0;
  const std::int64_t modulus = k.colours ? k.colours->modulus : 1;
  const bool slabs = !loop || loop->slabs;
  const auto [whole, own] = k.planes ? share_of(*k.planes) : std::array<std::int64_t, 2>{1, 1};
  const std::int64_t all = (slabs ? units : k.walked_sites()) * whole / own;
  const std::int64_t pieces =
      k.colours && !k.reductions.empty() ? kernel::pieces_of_colours(k.whole(), all, modulus) : 1;
  // with planes each slab has as many
  if (!k.planes && !slabs)
    return std::clamp<std::int64_t>(wish > 0 ? wish : k.sites() / kSitesPerTask, 1,
                                    std::min<std::int64_t>(units, 512));
  return kernel::tasks_of_rows(k.whole(), all, wish, modulus, pieces);
}

/// Tasks of the planes that are walked.
std::int64_t tasks_of(const Job& job, const Loop* loop) {
  const std::int64_t all = all_tasks_of(job, loop);
  if (!job.kernel.planes) return all;
  const auto [whole, own] = share_of(*job.kernel.planes);
  return std::max<std::int64_t>(1, all * own / whole);  // a part may be less than a task
}

// The loop over the sites of a row, or over strips of it where the lanes make rounds together.
Code loop_over_row(const Job& job, const Rows& rows, const Code& pragma) {
  const Code results = rows.store() + rows.put();
  if (job.body.loops.empty()) {
    const Code head = code("VPHI_{}\nfor (vphi_index i = 0; i < width; ++i) {{\n", pragma);
    return site_loop(job, {head, "i", 1, rows.gather(), results});
  }
  const std::int64_t lanes = lanes_of_strip(job.body.real);
  const bool whole = rows.constant_width() % lanes == 0 && rows.constant_width() > 0;
  Code end = code("strip + {}", lanes);
  if (!whole) end = code("vphi_select_index({0} < width, {0}, width)", end);
  const Code head = "VPHI_VECTORISE\nfor (vphi_index i = strip; i < end; ++i) {\n";
  return code("for (vphi_index strip = 0; strip < width; strip += {}) {{\n", lanes) +
         indent(code("const vphi_index end = {};\n", end) +
                    site_loop(job, {head, "i - strip", lanes, rows.gather(), results}),
                2) +
         "}\n";
}

// The slots common to all forms of a loop over rows; `rows` is the text of a task, `fold` adds the
// shares.
Slots row_slots(const Job& job, const Loop* loop, std::int64_t tasks) {
  const kernel::Kernel& kernel = job.kernel;
  const Rows rows(job);
  const Groups groups{tasks, 1, 1};
  Slots slots = common_slots(job, 1, &groups);
  slots["tasks"] = std::to_string(tasks);
  slots["units"] = std::to_string(units_of(job, loop));
  slots["below"] = units_below(kernel, units_of(job, loop));
  slots["first_site"] = rows.first_site() > 0 ? code("{} + ", rows.first_site()) : Code();
  slots["chunks"] = std::to_string(rows.chunks());
  slots["row"] = row_in_memory(kernel, code("unit / {}", rows.chunks()));
  slots["chunk"] = std::to_string(rows.chunk());
  slots["nx"] = std::to_string(kernel.extent[0]);
  slots["width"] = rows.width();
  slots["edges"] = loop ? loop->functions : rows.edge_functions();
  slots["buffers"] = rows.buffers();
  slots["coordinates"] =
      sites_before_row(job, code("unit / {}", rows.chunks())) + rows.coordinates();
  slots["row_sums"] = rows.row_sums();
  slots["lanes"] = rows.lanes();
  slots["add_lanes"] = rows.add_lanes();
  slots["shares"] = rows.shares(tasks);
  slots["reductions"] = std::to_string(std::max<std::size_t>(1, kernel.reductions.size()));
  slots["join"] = kernel.reductions.empty() ? "" : join_functions(job);
  slots["suffix"] = "f64";
  slots["real"] = "double";
  slots["compensated"] = kernel.sum == kernel::SumKind::Kahan ? fill("compensated.txt", slots) : "";
  if (job.dialect.tasks()) slots["compensated"] += sums_in_lanes(job);
  slots["fold"] =
      kernel.reductions.empty() ? "const double total[1] = {0.0};" : fill("fold_rows.txt", slots);
  RowPragma pragma;
  if (!loop) pragma = row_pragma(job, slots["choices"] + slots["body"], rows.constant_width());
  if (!loop) slots["site_loop"] = loop_over_row(job, rows, pragma.name);
  slots["choices"] += pragma.definition;
  slots["rows"] = loop ? loop->text(tasks) : fill("rows.txt", slots);
  return slots;
}

}  // namespace

Code row_in_memory(const kernel::Kernel& kernel, const Code& number) {
  if (!rows_apart(kernel)) return number;
  return RowsOfLines(kernel).place(number, 1,
                                   [](std::int64_t v) { return Code(std::to_string(v)); });
}

Code units_below(const kernel::Kernel& kernel, std::int64_t units) {
  if (!kernel.planes || kernel.planes->axis == 0 || kernel.planes->first == 0) return {};
  if (rows_apart(kernel)) return {};
  return code("{} + ", units * kernel.planes->first / kernel.planes->own);
}

std::int64_t row_tasks(const Job& job) { return tasks_of(job, nullptr); }

Stage rows_stage(const Job& job, const Bindings& bindings) {
  Stage stage;
  stage.pointers = array_pointers(job);
  if (!job.per_site()) {
    Slots slots = common_slots(job, 1);
    slots["fold"] = "const double total[1] = {0.0};";
    stage.functions = slots["choices"] + slots["body"];
    stage.text = fill("persistent_rows_end.txt", slots);
    return stage;
  }
  const std::int64_t tasks = tasks_of(job, nullptr);
  Slots slots = row_slots(job, nullptr, tasks);
  slots["threads"] = std::to_string(job.kernel.threads);
  slots["end"] = job.epilogue() ? fill("persistent_rows_end.txt", slots) : "";
  stage.functions = slots["choices"] + slots["around"] + slots["body"] + slots["compensated"] +
                    slots["join"] + slots["edges"];
  stage.text = draw_start(job, bindings, job.kernel.instances > 1 ? "instance" : "0") +
               fill("persistent_rows.txt", slots);
  stage.partials = tasks * static_cast<std::int64_t>(job.kernel.reductions.size());
  return stage;
}

Code place_of_share(const kernel::Kernel& kernel, std::int64_t shares) {
  if (!kernel.planes || !kernel.planes->second || !kernel.colours ||
      kernel.colours->axis != kernel.planes->axis)
    return "share";
  const kernel::Planes& planes = *kernel.planes;
  const std::int64_t together = kernel.colours->modulus;
  const std::int64_t ranks = planes.second->whole / planes.second->own;
  const std::int64_t of_rank = shares / (planes.whole / together * ranks);
  return code(
      "(((share / {0} * {1} + share % {2} / {3}) * {4} + share / {2} % {4}) * {3} + share % {3})",
      of_rank * ranks, together, of_rank, of_rank / together, ranks);
}

Code rows_end_text(const Job& job, std::int64_t shares, const Code& place) {
  Slots slots = common_slots(job, 1);
  slots["reductions"] = std::to_string(job.kernel.reductions.size());
  slots["shares"] = std::to_string(shares);
  slots["place"] = place;
  slots["join"] = join_functions(job);
  slots["fold"] = fill("fold_ranks.txt", slots);
  return fill(job.dialect.tasks() ? "end_of_ranks_cpp.txt" : "end_of_ranks_opencl.txt", slots);
}

program::Kernel emit_rows(const Job& job, const Bindings& bindings, const Loop* loop) {
  const kernel::Kernel& kernel = job.kernel;
  const bool cpp = job.dialect.tasks();
  if (!job.per_site()) return emit_scalars(job, bindings);
  program::Kernel out;
  const std::int64_t tasks = tasks_of(job, loop);
  const std::int64_t partials = tasks * static_cast<std::int64_t>(kernel.reductions.size());
  const Groups groups{tasks, 1, 1};
  Slots slots = row_slots(job, loop, tasks);
  slots["finish_name"] = job.entry + "_finish";
  if (cpp) {
    slots["pointers"] = pointers(job, bindings, partials) +
                        draw_start(job, bindings, kernel.instances > 1 ? "instance" : "0");
    slots["scalar_pointers"] = pointers(job, bindings, partials, false);
  } else {
    slots["instance"] = instance_pointers(job, bindings, partials, job.counts_groups());
  }
  out.partials = partials * kernel.instances;
  out.grid = grid_of(job, groups);
  slots["finish_function"];
  if (cpp && kernel.instances > 1) {
    out.grid[0] = many_tasks(job, tasks, slots);
    slots["entry_function"] = job.inside ? "" : fill("rows_many_entry_cpp.txt", slots);
    out.source = with_length(job, finished(fill("rows_many_cpp.txt", slots)));
  } else {
    if (job.counts_groups())
      slots["finish_function"] = fill(cpp ? "finish_cpp.txt" : "finish_rows_opencl.txt", slots);
    out.source = with_length(job, finished(fill(cpp ? "rows_cpp.txt" : "rows_opencl.txt", slots)));
  }
  if (cpp && !slots["finish_function"].empty()) out.finish = slots["finish_name"].str();
  out.arguments = arguments(job, bindings, !cpp && job.counts_groups(), partials);
  return out;
}

}  // namespace vphi::emit
