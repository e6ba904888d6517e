#include "tools/error_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "tools/finer_model.hpp"
#include "tools/model.hpp"

namespace vphi::tools {

using runtime::RunError;

std::vector<Uncertain> error_check(const std::string& path, CompileOptions options,
                                   runtime::Device& device, const runtime::RunResult& coarse,
                                   const runtime::RunOptions& how) {
  if (!coarse.axes.empty())
    throw RunError("E0901", "--error-check of a sweep is not in this version",
                   "one value of the sweep: --set NAME=VALUE");
  const FinerModel finer(path, 2, true);
  if (finer.path().empty())
    throw RunError("E0807", "the model has no `dt` that could be halved", "evolve ..., dt = ...");
  options.steps = 2 * coarse.steps;
  options.until.clear();
  Compilation c = compile_model(finer.path().string(), options, target_of(device.info()));
  if (!c.program) {
    report(c);
    throw RunError("E0843", "the model does not compile at half the step");
  }
  if (c.system && c.system->noise.kind != physics::NoiseClass::None)
    throw RunError("E0901",
                   "--error-check of a model with noise is not in this version: at half the step "
                   "the noise would be another path",
                   "`vphi run` with several seeds shows how results scatter");
  program::Program& program = *c.program;
  for (auto& output : program.outputs) output.every *= 2;  // at the same times
  runtime::RunOptions again;
  again.threads = how.threads;
  again.interrupt = how.interrupt;
  again.progress = how.progress, again.progress_interval = how.progress_interval;
  const runtime::RunResult fine = runtime::run(program, device, again);
  if (fine.interrupted) throw RunError("E0807", "the run at half the step was interrupted");
  if (std::abs(fine.time - coarse.time) > 1e-9 * std::abs(coarse.time))
    throw RunError("E0807",
                   fmt::format("the run at half the step ended at t = {:.8g}, not at {:.8g}",
                               fine.time, coarse.time),
                   "does the model's dt depend on its state?");
  std::vector<Uncertain> list;
  for (const auto& series : coarse.series) {
    const auto* other = fine.find(series.name);
    if (other == nullptr) continue;
    Uncertain u{series.name, 0, 0, 0, 0, {}};
    std::size_t k = 0;
    for (const auto& [t, value] : series.points) {
      const double near = 1e-9 * std::max(std::abs(t), std::abs(coarse.time) * 1e-3);
      while (k < other->points.size() && other->points[k].first < t - near) ++k;
      if (k == other->points.size()) break;
      if (other->points[k].first > t + near) continue;
      const double difference = std::abs(value - other->points[k].second);
      u.differences.emplace_back(t, difference);
      u.scale = std::max(u.scale, std::abs(value));
      if (difference > u.largest) u.largest = difference, u.at = t;
      u.last = difference;
    }
    if (!u.differences.empty()) list.push_back(std::move(u));
  }
  return list;
}

std::string write_errors(const std::string& out, const std::string& model,
                         const std::vector<Uncertain>& errors) {
  const auto path = std::filesystem::path(out) / (model + ".error_check.csv");
  std::ofstream file(path);
  file << "name,t,difference\n";
  for (const auto& u : errors) {
    const bool quoted = u.name.find_first_of(",\"") != std::string::npos;
    const std::string name = quoted ? fmt::format("\"{}\"", u.name) : u.name;
    for (const auto& [t, difference] : u.differences)
      file << fmt::format("{},{},{}\n", name, t, difference);
  }
  if (!file.flush()) throw io::ResultsError(fmt::format("{} cannot be written", path.string()));
  return path.string();
}

const Uncertain* find(const std::vector<Uncertain>& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Uncertain& u) { return u.name == name; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace vphi::tools
