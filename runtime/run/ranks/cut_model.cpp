#include "runtime/run/ranks/cut_model.hpp"

#include <algorithm>

#include "runtime/run/ranks/ghosts.hpp"

namespace vphi::runtime {
namespace {

using program::Argument;
using program::Launch;

/// The steps that repeat, one list of launches each.
std::vector<std::vector<Launch>> steps_of(const program::Program& p) {
  if (p.cycle.empty()) return {p.step};
  return {p.cycle.begin(), p.cycle.end()};
}

/// That a rank sends to the others of one array whose columns are dealt (fft/shared_fft.hpp): modes
/// of its planes in f64, or the sites of a row.
double dealt_bytes(const program::Program& p) {
  const auto extent = p.whole_extent();
  const auto sites = static_cast<double>(extent[0] * extent[1] * extent[2]);
  const auto whole = static_cast<double>(p.cut.whole), own = static_cast<double>(p.cut.own);
  if (p.cut.axis == 0) return (whole - own) * sizeof(double);
  const double modes =
      sites / static_cast<double>(extent[0]) * (static_cast<double>(extent[0] / 2) + 1);
  const auto beside = static_cast<double>(p.cut.second.ranks);
  const double share = own / whole / beside;
  // lines of shared planes become whole planes before
  const double lines = sizeof(double) * sites * share * (beside - 1) / beside;
  return 2 * sizeof(double) * modes * share * (1 - share) + lines;
}

/// That a rank sends of an array which all ranks gather: about its share to each of the others, as
/// much as it gets from them.
double bytes_to_all(const program::Program& p, const Argument& whole) {
  const double share = static_cast<double>(p.cut.own) / static_cast<double>(p.cut.whole) /
                       static_cast<double>(p.cut.second.ranks);
  return static_cast<double>(whole.bytes) * (1 - share);
}

}  // namespace

Traffic traffic_of_step(const program::Program& p) {
  Traffic traffic;
  const auto steps = steps_of(p);
  for (const auto& step : steps) {
    bool planes_wait = false;  // they go with what the next launch wants
    for (const Launch& launch : step) {
      const auto& kernel = p.kernels[static_cast<std::size_t>(launch.kernel)];
      bool wants = planes_wait;
      for (const Argument& a : kernel.arguments) {
        if (a.kind == Argument::Kind::Whole) traffic.planes += bytes_to_all(p, a), wants = true;
        if (a.kind != Argument::Kind::Gathered) continue;
        const auto sums = p.kernels[static_cast<std::size_t>(a.index)].for_ranks();
        traffic.sums += static_cast<double>(sums) * sizeof(double);
        wants = true;
      }
      traffic.exchanges += wants ? 1 : 0;
      for (const int map : launch.maps) {
        const auto& of = p.maps[static_cast<std::size_t>(map)];
        const auto arrays = static_cast<double>(of.from.size() + of.to.size());
        traffic.exchanges += arrays * (p.cut.second.ranks > 1 ? 2 : 1);
        traffic.planes += arrays * dealt_bytes(p);
      }
      planes_wait = !launch.halos.empty();
      for (const program::Halo& halo : launch.halos) {
        const auto& buffer = p.buffers[static_cast<std::size_t>(halo.buffer)];
        // to all other ranks it sends about as much as it gets from them
        const bool to_all =
            p.cut.all || std::max<std::int64_t>(halo.depth[0], halo.depth[1]) > p.cut.own;
        const std::int64_t planes =
            to_all ? p.cut.whole - p.cut.own : std::int64_t{halo.depth[0]} + halo.depth[1];
        const auto plane = static_cast<double>(plane_bytes(p, buffer.precision));
        const program::Cut::Second& second = p.cut.second;
        if (second.ranks == 1) {
          traffic.planes += static_cast<double>(planes) * plane;
          continue;
        }
        // own lines of planes, and of all planes the lines beside them
        const double line =
            plane / static_cast<double>(p.extent[static_cast<std::size_t>(p.cut.axis - 1)]);
        const auto lines = static_cast<double>(halo.beside[0] + halo.beside[1]);
        traffic.planes += line * (static_cast<double>(planes) * static_cast<double>(second.own) +
                                  lines * static_cast<double>(planes + p.cut.own));
      }
    }
    traffic.exchanges += planes_wait ? 1 : 0;
  }
  const auto count = static_cast<double>(steps.size());
  traffic.exchanges /= count, traffic.planes /= count, traffic.sums /= count;
  return traffic;
}

const Cluster& usual_cluster() {
  static const Cluster h200{
      .name = "H200",
      .units = 132,
      .gpus_a_machine = 8,
      .ceilings = {.copy = 4.25e12,
                   .caches = {},
                   .f32 = 64e12,
                   .f64 = 33e12,
                   .special32 = 4.06e12,
                   .special64 = 8.3e11,
                   .launch = 0.64e-6},
      .inside = {.seconds = 6e-6, .rate = 0.32e12},
      .between = {.seconds = 15e-6, .rate = 45e9},
  };
  return h200;
}

StepOfRank step_of_rank(const program::Program& of_a_rank, int ranks, const Cluster& cluster) {
  StepOfRank step;
  step.kernels = step_limits(of_a_rank, cluster.ceilings, {cluster.units}).seconds;
  if (ranks == 1 || of_a_rank.cut.axis < 0) return step;
  const Traffic traffic = traffic_of_step(of_a_rank);
  const Link& link = ranks > cluster.gpus_a_machine ? cluster.between : cluster.inside;
  step.exchanges =
      traffic.exchanges * link.seconds + (traffic.planes + traffic.sums * (ranks - 1)) / link.rate;
  return step;
}

}  // namespace vphi::runtime
