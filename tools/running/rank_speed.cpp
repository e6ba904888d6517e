#include "tools/running/rank_speed.hpp"

#include <fmt/format.h>

#include "runtime/run/ranks/cut_model.hpp"
#include "tools/model.hpp"

namespace vphi::tools {

namespace {

std::string size_text(double bytes) {
  if (bytes < 1e3) return fmt::format("{:.0f} B", bytes);
  return bytes < 1e6 ? fmt::format("{:.1f} kB", bytes / 1e3)
                     : fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string milliseconds(double seconds) { return fmt::format("{:.3g} ms", 1e3 * seconds); }

}  // namespace

std::string rank_speed_text(const std::string& path, CompileOptions options, int ranks) {
  const runtime::Cluster& cluster = runtime::usual_cluster();
  auto target = default_target("cuda");
  target.compute_units = cluster.units;
  options.ranks = 1;
  const Compilation whole = compile_model(path, options, target);
  options.ranks = ranks, options.rank = 0;
  const Compilation share = compile_model(path, options, target);
  if (!whole.program || !share.program || share.program->cut.axis < 0) return {};
  const runtime::Traffic traffic = runtime::traffic_of_step(*share.program);
  const auto one = runtime::step_of_rank(*whole.program, 1, cluster),
             many = runtime::step_of_rank(*share.program, ranks, cluster);
  return fmt::format(
      "           a step sends {} of {} and {} of sums a rank, in {:.3g} exchanges\n"
      "           on {} {} at their limits: {} in kernels and {} in exchanges, {:.3g} times as "
      "fast as one{}\n",
      size_text(traffic.planes), share.program->cut.axis == 0 ? "sites" : "planes",
      size_text(traffic.sums), traffic.exchanges, ranks, cluster.name, milliseconds(many.kernels),
      milliseconds(many.exchanges), one.all() / many.all(),
      share.program->solves.empty() ? "" : "; iterations of solves are not counted");
}

}  // namespace vphi::tools
