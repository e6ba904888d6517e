#include "runtime/run/ranks/cut_model.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "program/parts.hpp"
#include "runtime/run/ranks/ghosts.hpp"
#include "runtime/run/ranks/joint_sums.hpp"

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

/// That a rank sends of a halo.
double bytes_of_halo(const program::Program& p, const program::Halo& halo) {
  const auto& buffer = p.buffers[static_cast<std::size_t>(halo.buffer)];
  // to all other ranks it sends about as much as it gets from them
  const bool to_all = p.cut.all || std::max<std::int64_t>(halo.depth[0], halo.depth[1]) > p.cut.own;
  const std::int64_t planes =
      to_all ? p.cut.whole - p.cut.own : std::int64_t{halo.depth[0]} + halo.depth[1];
  const auto plane = static_cast<double>(plane_bytes(p, buffer.precision));
  const program::Cut::Second& second = p.cut.second;
  if (second.ranks == 1) return static_cast<double>(planes) * plane;
  // own lines of planes, and of all planes the lines beside them
  const double line =
      plane / static_cast<double>(p.extent[static_cast<std::size_t>(p.cut.axis - 1)]);
  const auto lines = static_cast<double>(halo.beside[0] + halo.beside[1]);
  return line * (static_cast<double>(planes) * static_cast<double>(second.own) +
                 lines * static_cast<double>(planes + p.cut.own));
}

/// The share of the sites that it sends.
double share_of_classes(const program::Program& p, const program::Halo& halo) {
  return halo.classes == 0 ? 1 : static_cast<double>(std::popcount(halo.classes)) / p.order.modulus;
}

struct OneExchange {
  double number = 1, planes = 0, sums = 0;  ///< Traffic
  int rest = -1;                            ///< kernel that is computed meanwhile; -1: none is
};

/// The exchanges of a list of launches, as Session::issue makes them.
class ExchangesOf {
 public:
  explicit ExchangesOf(const program::Program& p) : p_(p) {}

  std::vector<OneExchange> operator()(const std::vector<Launch>& list) {
    std::size_t gathered = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i >= gathered) {
        gathered = end_of_joint(p_, list, i);
        for (std::size_t one = i; one < gathered; ++one) before(list[one]);
      }
      const auto& kernel = p_.kernels[static_cast<std::size_t>(list[i].kernel)];
      go(part_of(kernel) == program::Part::Rest ? list[i].kernel : -1);
      maps(list[i]);
      for (const program::Halo& halo : list[i].halos)
        wanted_.planes += bytes_of_halo(p_, halo) * share_of_classes(p_, halo), wants_ = true;
    }
    go(-1);
    return std::move(made_);
  }

 private:
  void before(const Launch& launch) {
    for (const Argument& a : p_.kernels[static_cast<std::size_t>(launch.kernel)].arguments) {
      if (a.kind == Argument::Kind::Whole) wanted_.planes += bytes_to_all(p_, a), wants_ = true;
      if (a.kind != Argument::Kind::Gathered) continue;
      const auto sums = p_.kernels[static_cast<std::size_t>(a.index)].for_ranks();
      wanted_.sums += static_cast<double>(sums) * sizeof(double);
      wants_ = true;
    }
  }

  void maps(const Launch& launch) {
    for (const int map : launch.maps) {
      const auto& of = p_.maps[static_cast<std::size_t>(map)];
      const auto arrays = static_cast<double>(of.from.size() + of.to.size());
      made_.push_back({arrays * (p_.cut.second.ranks > 1 ? 2 : 1), arrays * dealt_bytes(p_)});
    }
  }

  void go(int rest) {
    if (wants_) made_.push_back({1, wanted_.planes, wanted_.sums, rest});
    wanted_ = {}, wants_ = false;
  }

  const program::Program& p_;
  std::vector<OneExchange> made_;
  OneExchange wanted_;
  bool wants_ = false;
};

/// Calls `see` with each exchange of the steps that repeat; their number comes back.
double each_exchange(const program::Program& p,
                     const std::function<void(const OneExchange&)>& see) {
  const auto steps = steps_of(p);
  for (const auto& step : steps) {
    for (const OneExchange& one : ExchangesOf(p)(step)) see(one);
  }
  return static_cast<double>(steps.size());
}

}  // namespace

Traffic traffic_of_step(const program::Program& p) {
  Traffic traffic;
  const double steps = each_exchange(p, [&](const OneExchange& one) {
    traffic.exchanges += one.number, traffic.beside += one.rest >= 0 ? one.number : 0;
    traffic.planes += one.planes, traffic.sums += one.sums;
  });
  traffic.exchanges /= steps, traffic.beside /= steps;
  traffic.planes /= steps, traffic.sums /= steps;
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
  const Link& link = ranks > cluster.gpus_a_machine ? cluster.between : cluster.inside;
  const double steps = each_exchange(of_a_rank, [&](const OneExchange& one) {
    const double seconds =
        one.number * link.seconds + (one.planes + one.sums * (ranks - 1)) / link.rate;
    double meanwhile = 0;
    if (one.rest >= 0)
      meanwhile = limits(of_a_rank.kernels[static_cast<std::size_t>(one.rest)], cluster.ceilings,
                         cluster.units)
                      .longest();
    step.hidden += std::min(seconds, meanwhile);
    step.exchanges += seconds - std::min(seconds, meanwhile);
  });
  step.hidden /= steps, step.exchanges /= steps;
  return step;
}

}  // namespace vphi::runtime
