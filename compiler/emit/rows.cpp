#include "compiler/emit/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/rows_text.hpp"

namespace vphi::emit {
namespace {

constexpr std::int64_t kSitesPerTask = 8192;

// Arguments of a task by name; `arrays` false: only what the finish needs.
std::string pointers(const Job& job, bool arrays = true) {
  std::string text;
  int at = 0;
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    const kernel::ArrayParam& array = job.kernel.arrays[i];
    const std::string type = type_name(array.store);
    if (array.read || !array.next) {
      const char* c = array.written && !array.next ? "" : "const ";
      text += fmt::format("{0}{1}* VPHI_RESTRICT {2} = ({0}{1}*)args[{3}];\n", c, type,
                          read_pointer(job, i), at++);
    }
    if (array.next)
      text += fmt::format("{0}* VPHI_RESTRICT {1} = ({0}*)args[{2}];\n", type,
                          write_pointer(job, i), at++);
  }
  if (!arrays) text.clear();
  text += fmt::format("double* scalars = (double*)args[{}];\n", at++);
  if (!job.kernel.reductions.empty())
    text += fmt::format("double* partials = (double*)args[{}];\n", at);
  return text;
}

}  // namespace

program::Kernel emit_rows(const Job& job, const Bindings& bindings) {
  const kernel::Kernel& kernel = job.kernel;
  const bool cpp = job.language == Language::Cpp;
  program::Kernel out;
  Slots slots = common_slots(job, 1);
  if (!job.per_site()) {
    slots["pointers"] = pointers(job);
    out.source = fill(cpp ? "epilogue_cpp.txt" : "epilogue_gpu.txt", slots);
    out.arguments = arguments(job, bindings, false, 0);
    return out;
  }
  Rows rows(job);
  const std::int64_t units = rows.row_count() * rows.chunks();
  const std::int64_t tasks = std::clamp<std::int64_t>(kernel.sites() / kSitesPerTask, 1,
                                                      std::min<std::int64_t>(units, 512));
  slots["tasks"] = std::to_string(tasks);
  slots["units"] = std::to_string(units);
  slots["chunks"] = std::to_string(rows.chunks());
  slots["chunk"] = std::to_string(rows.chunk());
  slots["nx"] = std::to_string(kernel.extent[0]);
  slots["width"] = rows.width();
  slots["edges"] = rows.edge_functions();
  slots["buffers"] = rows.buffers();
  slots["coordinates"] = rows.coordinates();
  slots["row_sums"] = rows.row_sums();
  slots["gather"] = rows.gather();
  slots["store"] = rows.store();
  slots["put"] = rows.put();
  slots["lanes"] = rows.lanes();
  slots["add_lanes"] = rows.add_lanes();
  slots["shares"] = rows.shares(tasks);
  slots["reductions"] = std::to_string(std::max<std::size_t>(1, kernel.reductions.size()));
  slots["join"] = kernel.reductions.empty() ? "" : join_functions(job);
  slots["suffix"] = "f64";
  slots["real"] = "double";
  slots["compensated"] = kernel.sum == kernel::SumKind::Kahan ? fill("compensated.txt", slots) : "";
  slots["finish_name"] = job.entry + "_finish";
  if (cpp) {
    slots["pointers"] = pointers(job);
    slots["scalar_pointers"] = pointers(job, false);
  }
  out.partials = tasks * static_cast<std::int64_t>(kernel.reductions.size());
  slots["fold"] =
      kernel.reductions.empty() ? "const double total[1] = {0.0};" : fill("fold_rows.txt", slots);
  slots["rows"] = fill("rows.txt", slots);
  slots["finish_function"] =
      !job.epilogue() ? "" : fill(cpp ? "finish_cpp.txt" : "finish_rows_opencl.txt", slots);
  out.source = fill(cpp ? "rows_cpp.txt" : "rows_opencl.txt", slots);
  if (cpp && job.epilogue()) out.finish = slots["finish_name"];
  out.arguments = arguments(job, bindings, !cpp && job.epilogue(), out.partials);
  out.grid = {static_cast<std::uint32_t>(tasks), 1, 1};
  return out;
}

}  // namespace vphi::emit
