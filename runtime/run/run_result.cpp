// Access to the results of a run by name.
#include <algorithm>

#include "runtime/run/run.hpp"

namespace vphi::runtime {

using program::Program;

bool RunResult::all_expected() const {
  return std::all_of(expectations.begin(), expectations.end(), [](const auto& e) { return e.ok; });
}

const Series* RunResult::find(const std::string& name) const {
  const auto found =
      std::find_if(series.begin(), series.end(), [&](const Series& s) { return s.name == name; });
  return found == series.end() ? nullptr : &*found;
}

std::optional<double> RunResult::scalar(const std::string& name) const {
  for (const auto& [key, value] : scalars)
    if (key == name) return value;
  return std::nullopt;
}

double bytes_per_site(const Program& program) {
  double bytes = 0;
  for (const auto& launch : program.step) bytes += program.kernels[launch.kernel].bytes;
  return bytes;
}

}  // namespace vphi::runtime
