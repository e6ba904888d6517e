#include "tools/oracle/error_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "compiler/coarse_path.hpp"
#include "tools/model.hpp"
#include "tools/oracle/finer_model.hpp"

namespace vphi::tools {

using runtime::RunError;

namespace {

/// Values of a series at one time: one, or one for each place along the axes of a sweep.
std::vector<double> values_of(const runtime::Series& series, std::size_t row) {
  return series.values.empty() ? std::vector{series.points[row].second} : series.values[row];
}

double time_of(const runtime::Series& series, std::size_t row) {
  return series.times.empty() ? series.points[row].first : series.times[row];
}

/// The largest difference among places that have a value in both.
void compare(Uncertain& u, double at, const std::vector<double>& coarse,
             const std::vector<double>& fine) {
  double largest = 0;
  for (std::size_t i = 0; i < coarse.size() && i < fine.size(); ++i) {
    const double difference = std::abs(coarse[i] - fine[i]);
    if (std::isnan(difference)) continue;
    largest = std::max(largest, difference);
    u.scale = std::max(u.scale, std::abs(coarse[i]));
  }
  u.differences.emplace_back(at, largest);
  if (largest > u.largest) u.largest = largest, u.at = at;
  u.last = largest;
}

/// A run without files, at the same times as the one that was asked for.
runtime::RunResult rerun(const embed::Compiled& made, const SecondRun& again,
                         const runtime::RunOptions& how) {
  runtime::RunOptions options;
  options.threads = how.threads;
  options.interrupt = how.interrupt;
  options.progress = how.progress, options.progress_interval = how.progress_interval;
  runtime::RunResult result = again.run(made, options);
  if (result.interrupted) throw RunError("E0807", "the run at half the step was interrupted");
  return result;
}

/// The outputs of a run at half the step, at the times of `coarse`.
void at_the_same_times(program::Program& finer, const runtime::RunResult& coarse) {
  for (auto& output : finer.outputs) {
    output.every *= 2;
    if (output.interval <= 0) continue;
    output.interval = 0;
    for (const auto& scalar : output.scalars)
      if (const auto* rows = coarse.find(scalar.name); rows != nullptr && output.steps.empty())
        for (const std::int64_t step : rows->steps) output.steps.push_back(2 * step);
  }
}

bool noisy(const Compilation& c) {
  return c.system && c.system->noise.kind != physics::NoiseClass::None;
}

}  // namespace

ErrorCheck error_check(const std::string& path, CompileOptions options, const SecondRun& again,
                       const runtime::RunResult& shown, const runtime::RunOptions& how) {
  const auto finer = finer_model(path, 2, true);
  if (!finer)
    throw RunError("E0807", "the model has no `dt` that could be halved", "evolve ..., dt = ...");
  CompileOptions half = options;
  half.steps = 2 * shown.steps;
  half.until.clear();
  embed::Compiled halved = again.compile(finer->path(), half);
  Compilation& c = *halved.compilation;
  if (!c.program) {
    report(c);
    throw RunError("E0843", "the model does not compile at half the step");
  }
  // With noise the run at the model's step is made again on the Brownian path of the finer one.
  runtime::RunResult same_path;
  if (noisy(c)) {
    options.steps = shown.steps;
    options.until.clear();
    const embed::Compiled coarse = again.compile(path, options, compile_coarse);
    if (!coarse.compilation->program)
      throw RunError("E0901",
                     "--error-check with two- or three-point noise is not in this version: their "
                     "sums are no such numbers",
                     "accuracy = strong");
    same_path = rerun(coarse, again, how);
  }
  const runtime::RunResult& coarse = noisy(c) ? same_path : shown;
  at_the_same_times(*c.program, coarse);
  if (halved.whole) at_the_same_times(*halved.whole, coarse);
  if (halved.other_planes) at_the_same_times(*halved.other_planes, coarse);
  const runtime::RunResult fine = rerun(halved, again, how);
  if (fine.steps != 2 * coarse.steps)
    throw RunError("E0807",
                   fmt::format("the run at half the step ended after {} steps, not after {}",
                               fine.steps, 2 * coarse.steps),
                   "does it stop by a condition of its own, or did instances of a sweep fail?");
  ErrorCheck checked;
  std::vector<Uncertain>& list = checked.list;
  for (const auto& series : coarse.series) {
    const auto* other = fine.find(series.name);
    if (other == nullptr) continue;
    Uncertain u{series.name, 0, 0, 0, 0, {}};
    std::size_t k = 0;
    for (std::size_t row = 0; row < series.steps.size(); ++row) {
      const std::int64_t step = 2 * series.steps[row];
      while (k < other->steps.size() && other->steps[k] < step) ++k;
      if (k == other->steps.size()) break;
      if (other->steps[k] != step) continue;
      const double t = time_of(series, row);
      checked.time_difference = std::max(checked.time_difference, std::abs(time_of(*other, k) - t));
      compare(u, t, values_of(series, row), values_of(*other, k));
    }
    if (!u.differences.empty()) list.push_back(std::move(u));
  }
  for (const runtime::Plot& plot : coarse.plots)
    for (const runtime::Plot& other : fine.plots) {
      if (other.name != plot.name || other.against != plot.against) continue;
      Uncertain u{fmt::format("{} against {}", plot.name, plot.against), 0, 0, 0, 0, {}};
      for (std::size_t i = 0; i < plot.x.size() && i < other.y.size(); ++i)
        compare(u, plot.x[i], {plot.y[i]}, {other.y[i]});
      u.last = u.largest;
      list.push_back(std::move(u));
      break;
    }
  if (checked.time_difference < 1e-9 * std::abs(coarse.time))
    checked.time_difference = 0;  // rounding of the sum
  return checked;
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
