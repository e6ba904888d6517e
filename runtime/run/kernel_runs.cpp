// The device's report on each kernel, and the time of each kernel of a step by itself.
#include <algorithm>

#include "runtime/run/launch_time.hpp"
#include "runtime/run/run.hpp"

namespace vphi::runtime {
namespace {

constexpr double kEnough = 0.02;  ///< seconds of launches that suffice for a measurement
constexpr int kMostRuns = 50;

}  // namespace

double launch_seconds(Session& session, const program::Launch& launch) {
  Device& device = session.device();
  const auto timed = [&](int count) {
    const std::vector<program::Launch> list(static_cast<std::size_t>(count), launch);
    session.synchronise();
    const int start = device.mark();
    session.launch(list);
    const int end = device.mark();
    session.synchronise();
    return device.seconds_between(start, end);
  };
  timed(1);  // memory and code are loaded from now on
  const double once = std::max(timed(1), 1e-9);
  const int count = static_cast<int>(std::clamp(kEnough / once, 1.0, double{kMostRuns}));
  return count == 1 ? once : timed(count) / count;
}

std::vector<KernelRun> kernel_runs(Session& session, bool timed) {
  const auto& p = session.program();
  std::vector<KernelRun> runs(p.kernels.size());
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const KernelReport report = session.report(static_cast<int>(k));
    runs[k].registers = report.registers;
    runs[k].spilled_bytes = report.spilled_bytes;
  }
  if (!timed || p.step.size() < 2) return runs;
  for (program::Launch launch : p.with_iterations(p.step)) {
    if (runs[launch.kernel].seconds > 0) continue;
    launch.solve = -1;  // its iterations are launches of their own here
    launch.maps.clear();
    runs[launch.kernel].seconds = launch_seconds(session, launch);
  }
  return runs;
}

}  // namespace vphi::runtime
