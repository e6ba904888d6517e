#include "embed/rank_choice.hpp"

#include <algorithm>

#include "embed/ranks.hpp"
#include "embed/target.hpp"
#include "runtime/device/device.hpp"
#include "runtime/run/session.hpp"

namespace vphi::embed {

std::vector<ModelledRanks> modelled_ranks(const dsl::ModelSource& model,
                                          const CompileOptions& options, int most) {
  const runtime::Cluster& cluster = runtime::usual_cluster();
  emit::TargetInfo target = default_target("cuda");
  target.compute_units = cluster.units;
  std::vector<ModelledRanks> list;
  for (int ranks = 1; ranks <= most; ranks = ranks == most ? most + 1 : std::min(2 * ranks, most)) {
    const Compilation c = compile_for_ranks(model, options, target, ranks);
    if (!c.program && ranks == 1) return {};
    if (!c.program) continue;
    list.push_back({ranks, two_axes(*c.program, ranks),
                    runtime::step_of_rank(*c.program, ranks, cluster),
                    runtime::memory_needed(*c.program).peak, !c.program->solves.empty()});
  }
  return list;
}

const ModelledRanks& fastest(const std::vector<ModelledRanks>& list, std::size_t free) {
  const ModelledRanks* best = nullptr;
  for (const ModelledRanks& one : list) {
    if (free > 0 && one.memory > free) continue;
    if (best == nullptr || one.step.all() < best->step.all()) best = &one;
  }
  return best != nullptr ? *best : list.back();
}

std::vector<std::string> fastest_devices(const dsl::ModelSource& model,
                                         const CompileOptions& options, const std::string& device) {
  const auto there = runtime::list_devices();
  const bool any = device == "auto" || device == "cuda";
  const bool cuda = std::ranges::any_of(there, [](const auto& i) { return i.id == "cuda:0"; });
  std::vector<std::string> devices = devices_of_ranks(any && cuda ? "cuda:all" : device, 0);
  std::size_t free = 0;
  for (const runtime::DeviceInfo& info : there) {
    if (std::ranges::find(devices, info.id) == devices.end()) continue;
    if (info.is_cpu) return {devices[0]};
    free = free == 0 ? info.memory_free : std::min(free, info.memory_free);
  }
  if (devices.size() == 1) return devices;
  const auto list = modelled_ranks(model, options, static_cast<int>(devices.size()));
  if (list.empty()) return {devices[0]};  // its errors are found again
  devices.resize(static_cast<std::size_t>(fastest(list, free).ranks));
  return devices;
}

}  // namespace vphi::embed
