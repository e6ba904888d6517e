#include "tools/oracle/precision_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include "runtime/run/number_text.hpp"

#include "tools/model.hpp"

namespace vphi::tools {

using runtime::RunError;

void SpectrumKeeper::scalars(std::span<const std::string> names, const io::Moment& at,
                             std::span<const double> values) {
  if (next_ != nullptr) next_->scalars(names, at, values);
}

void SpectrumKeeper::table(const io::Table& table, const io::Moment& at) {
  if (table.kind == program::OutputKind::Spectrum) {
    Row row{table.name, at, {}};
    const std::vector<double>& v = table.values;  // k, P, Delta, modes
    for (std::size_t i = 0; i + 3 < v.size(); i += 4)
      row.bins.push_back({v[i], v[i + 1], v[i + 3]});
    rows_.push_back(std::move(row));
  }
  if (relayed()) next_->table(table, at);
}

void SpectrumKeeper::checks(const std::vector<runtime::ExpectationResult>& results) {
  if (next_ != nullptr) next_->checks(results);
}

runtime::Wish SpectrumKeeper::between(const runtime::Progress& now) {
  return next_ != nullptr ? next_->between(now) : runtime::Wish::GoOn;
}

bool PrecisionCheck::passed() const {
  return std::ranges::all_of(rows, [&](const Compared& row) { return row.difference <= allowed; });
}

namespace {

/// Values of a series at one output: one, or one for each place along the axes of a sweep.
std::vector<double> row_values(const runtime::Series& series, std::size_t row) {
  return series.values.empty() ? std::vector{series.points[row].second} : series.values[row];
}

double row_time(const runtime::Series& series, std::size_t row) {
  return series.times.empty() ? series.points[row].first : series.times[row];
}

/// The relative difference: infinite where one of the numbers is NaN, 0 where both are.
double relative(double a, double b, double scale) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double difference = std::fabs(a - b) / scale;
  return std::isnan(difference) ? INFINITY : difference;
}

void take_worse(Compared& worst, double difference, double time, double k, double shown,
                double other, bool shown_is_f32) {
  if (!(difference > worst.difference)) return;
  worst.difference = difference, worst.time = time, worst.k = k;
  worst.f32 = shown_is_f32 ? shown : other;
  worst.f64 = shown_is_f32 ? other : shown;
}

Compared compare(const runtime::Series& shown, const runtime::Series& other, bool shown_is_f32) {
  Compared worst;
  worst.name = shown.name;
  const runtime::Series& f64 = shown_is_f32 ? other : shown;
  double least = INFINITY, most = -INFINITY;
  for (std::size_t row = 0; row < f64.steps.size(); ++row) {
    for (const double value : row_values(f64, row)) {
      if (!std::isfinite(value)) continue;
      least = std::fmin(least, value), most = std::fmax(most, value);
    }
  }
  worst.of_largest = least < 0 && most > 0;
  const double largest = std::fmax(-least, most);
  std::size_t k = 0;
  for (std::size_t row = 0; row < shown.steps.size(); ++row) {
    while (k < other.steps.size() && other.steps[k] < shown.steps[row]) ++k;
    if (k == other.steps.size()) break;
    if (other.steps[k] != shown.steps[row]) continue;
    const std::vector<double> a = row_values(shown, row), b = row_values(other, k);
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const double scale = worst.of_largest ? largest : std::fabs(shown_is_f32 ? b[i] : a[i]);
      take_worse(worst, relative(a[i], b[i], scale), row_time(shown, row), -1, a[i], b[i],
                 shown_is_f32);
    }
  }
  return worst;
}

void compare_spectra(PrecisionCheck& check, const SpectrumKeeper& shown,
                     const SpectrumKeeper& other, bool shown_is_f32) {
  std::map<std::string, Compared> worst;
  for (const SpectrumKeeper::Row& a : shown.rows()) {
    const auto b = std::ranges::find_if(other.rows(), [&](const SpectrumKeeper::Row& row) {
      return row.name == a.name && row.at.step == a.at.step;
    });
    if (b == other.rows().end()) continue;
    Compared& row = worst[a.name];
    row.name = a.name;
    for (std::size_t i = 0; i < std::min(a.bins.size(), b->bins.size()); ++i) {
      if (a.bins[i].modes == 0) continue;
      const double x = a.bins[i].power, y = b->bins[i].power;
      take_worse(row, relative(x, y, std::fabs(shown_is_f32 ? y : x)), a.at.time, a.bins[i].k, x, y,
                 shown_is_f32);
    }
  }
  for (auto& [name, row] : worst) check.rows.push_back(std::move(row));
}

}  // namespace

PrecisionCheck precision_check(const std::string& path, CompileOptions options,
                               const Compilation& model, const SecondRun& again,
                               const runtime::RunResult& shown, const SpectrumKeeper& spectra,
                               const runtime::RunOptions& how, double allowed) {
  const physics::Numerics& numerics = model.system->numerics;
  const bool f32 = numerics.real == program::Precision::F32 ||
                   numerics.store == program::Precision::F32 || !numerics.stores.empty();
  PrecisionCheck check;
  check.shown = f32 ? "f32" : "f64";
  check.allowed = allowed;
  options.precision = f32 ? "f64" : "f32";
  options.steps = shown.steps;
  options.until.clear();
  const embed::Compiled made = again.compile(path, options);
  if (!made.compilation->program) {
    report(*made.compilation);
    throw RunError("E0843", fmt::format("the model does not compile in {}", options.precision));
  }
  SpectrumKeeper kept;
  runtime::RunOptions second;
  second.threads = how.threads;
  second.interrupt = how.interrupt;
  second.progress = how.progress, second.progress_interval = how.progress_interval;
  second.onlooker = &kept;
  second.steps = shown.steps;
  const runtime::RunResult other = again.run(made, second);
  if (other.interrupted)
    throw RunError("E0807", fmt::format("the run in {} was interrupted", options.precision));
  for (const runtime::Series& series : shown.series)
    if (const runtime::Series* partner = other.find(series.name))
      check.rows.push_back(compare(series, *partner, f32));
  compare_spectra(check, spectra, kept, f32);
  return check;
}

void print_precision(const PrecisionCheck& check) {
  std::size_t width = 8;
  for (const Compared& row : check.rows) width = std::max(width, row.name.size());
  fmt::print("  f32 against f64, the worst relative difference of each output:\n");
  fmt::print("    {:<{}}  {:>10}  {:>10}  {:>10}  {:>14}  {:>14}\n", "", width, "difference",
             "at t", "at k", "f32", "f64");
  for (const Compared& row : check.rows) {
    const std::string k = row.k < 0 ? "" : fmt::format("{:.4g}", row.k);
    fmt::print("    {:<{}}  {:>10}  {:>10.4g}  {:>10}  {:>14}  {:>14}{}{}\n", row.name, width,
               runtime::number_text(row.difference, 2), row.time, k,
               runtime::number_text(row.f32, 7), runtime::number_text(row.f64, 7),
               row.of_largest ? "  (of its largest value)" : "",
               row.difference > check.allowed ? "  TOO LARGE" : "");
  }
}

}  // namespace vphi::tools
