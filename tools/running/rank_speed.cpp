#include "tools/running/rank_speed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "embed/rank_choice.hpp"
#include "embed/ranks.hpp"
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

std::string rank_speed_text(const std::string& path, CompileOptions options, int ranks,
                            const std::string& cut) {
  const runtime::Cluster& cluster = runtime::usual_cluster();
  auto target = default_target("cuda");
  target.compute_units = cluster.units;
  options.ranks = 1;
  const Compilation whole = compile_model(path, options, target);
  const Compilation share = embed::compile_for_ranks(path, options, target, ranks, cut);
  if (!whole.program || !share.program || share.program->cut.axis < 0) return {};
  const runtime::Traffic traffic = runtime::traffic_of_step(*share.program);
  const auto one = runtime::step_of_rank(*whole.program, 1, cluster),
             many = runtime::step_of_rank(*share.program, ranks, cluster);
  const std::string axes = embed::two_axes(*share.program, ranks);
  return fmt::format(
      "           a step sends {} of {} and {} of sums a rank, in {:.3g} exchanges{}\n"
      "           on {} {}{} at their limits: {} in kernels and {} in exchanges, {:.3g} times as "
      "fast as one{}\n",
      size_text(traffic.planes), share.program->cut.axis == 0 ? "sites" : "planes",
      size_text(traffic.sums), traffic.exchanges,
      traffic.beside > 0 ? fmt::format(", {:.3g} of them beside a launch, which hides {}",
                                       traffic.beside, milliseconds(many.hidden))
                         : "",
      ranks, cluster.name, axes.empty() ? "" : fmt::format(" that cut {}", axes),
      milliseconds(many.kernels), milliseconds(many.exchanges), one.all() / many.all(),
      share.program->solves.empty() ? "" : "; iterations of solves are not counted");
}

std::string rank_table_text(const std::string& path, const CompileOptions& options) {
  constexpr int kMost = 512;
  const auto list = embed::modelled_ranks(path, options, kMost);
  if (list.empty()) return {};
  const bool two = std::ranges::any_of(list, [](const auto& one) { return !one.cut.empty(); });
  std::string text = fmt::format(
      "  ranks    on {} at their limits, as many as can share the model:\n"
      "           {:>5}  {:>10}  {:>13}  {:>13}{}\n",
      runtime::usual_cluster().name, "ranks", "a step, ms", "times as fast", "MB for each",
      two ? "  cut" : "");
  for (const embed::ModelledRanks& one : list)
    text +=
        fmt::format("           {:>5}  {:>10.4g}  {:>13.3g}  {:>13.1f}{}\n", one.ranks,
                    1e3 * one.step.all(), list[0].step.all() / one.step.all(),
                    static_cast<double>(one.memory) / 1e6, one.cut.empty() ? "" : "  " + one.cut);
  return text +
         fmt::format("           the fastest: --ranks {}{}\n", embed::fastest(list).ranks,
                     list[0].solves_uncounted ? "; iterations of solves are not counted" : "");
}

}  // namespace vphi::tools
