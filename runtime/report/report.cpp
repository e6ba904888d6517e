#include "runtime/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "runtime/report/encode.hpp"
#include "runtime/run/chain_averages.hpp"
#include "runtime/run/session.hpp"

namespace vphi::report {

using program::Program;

namespace {

constexpr std::size_t kMostHistories = 6;  ///< curves of one scalar of a sweep

/// low, high, count, density.
bool has_bins(const std::vector<std::string>& columns) {
  return columns.size() >= 4 && columns[0] == "low" && columns[1] == "high";
}

}  // namespace

std::pair<std::string, std::string> axes_of(const std::vector<std::string>& columns) {
  if (has_bins(columns)) return {"value", columns[3]};
  return {columns[0], columns[1]};
}

Frame frame_of(const std::vector<std::string>& columns, std::span<const double> values) {
  const bool bins = has_bins(columns);
  const auto delta =
      static_cast<std::size_t>(std::ranges::find(columns, "Delta") - columns.begin());
  Frame frame;
  for (std::size_t i = 0; i + columns.size() <= values.size(); i += columns.size()) {
    const auto row = values.subspan(i, columns.size());
    if (columns[0] == "k" && !(row[0] > 0)) continue;
    frame.x.push_back(bins ? (row[0] + row[1]) / 2 : row[0]);
    frame.y.push_back(row[bins ? 3 : 1]);
    if (delta < row.size()) frame.other.push_back(row[delta]);
  }
  return frame;
}

Table::Kind table_kind(program::OutputShape shape) {
  switch (shape) {
    case program::OutputShape::WaveNumbers:
      return Table::Kind::Spectrum;
    case program::OutputShape::Counts:
      return Table::Kind::Histogram;
    case program::OutputShape::Places:
    case program::OutputShape::Sites:
    case program::OutputShape::Configuration:
    case program::OutputShape::Elements:
      break;
  }
  return Table::Kind::Profile;
}

bool Report::all_ok() const {
  return std::all_of(checks.begin(), checks.end(), [](const Check& c) { return c.ok; });
}

const Series* Report::find(const std::string& series_name) const {
  const auto found = std::find_if(series.begin(), series.end(), [&](const Series& s) {
    return s.name == series_name && !s.of_instance();
  });
  return found == series.end() ? nullptr : &*found;
}

std::string Report::steps_name() const {
  if (unit.empty()) return "Steps";
  return unit == "trajectory" ? "Trajectories" : "Sweeps";
}

double bound_of(const std::string& promise) {
  const std::size_t sign = promise.find_last_of('<');
  if (sign == std::string::npos) return 0;
  const std::string rest = promise.substr(sign + (promise.compare(sign, 2, "<=") == 0 ? 2 : 1));
  char* end = nullptr;
  const double bound = std::strtod(rest.c_str(), &end);
  return end != rest.c_str() && *end == '\0' ? bound : 0;
}

void take_program(Report& report, const Program& p) {
  report.model = p.model;
  report.title = p.title;
  report.text = p.model_text;
  report.seed = p.seed;
  report.unit = runtime::chain_unit(p);
  if (!report.unit.empty()) report.time_name = report.unit;
  report.lattice = runtime::shape_text({p.extent.data(), static_cast<std::size_t>(p.dims)});
  const bool wide = std::any_of(p.buffers.begin(), p.buffers.end(), [](const auto& b) {
    return b.state && b.precision == program::Precision::F64;
  });
  report.precision = wide ? "f64" : "f32";
  report.speed.sites = static_cast<double>(p.sites() * p.instances);
  if (report.parameters.empty())
    for (const auto& [name, value] : p.parameters)
      report.parameters.push_back({name, "", "", value, "", false});
  for (const auto& k : p.kernels)
    report.kernels.push_back(
        {k.name, k.loads, k.stores, k.bytes, k.flops, k.special, -1, -1, 0, false});
  for (const auto& launch : p.step) report.kernels[launch.kernel].in_step = true;
}

void add_swept(Report& report, const std::string& name, const std::vector<SweepAxis>& axes,
               const std::vector<double>& values, const std::vector<double>& errors, double time) {
  std::size_t count = 1;
  for (const SweepAxis& axis : axes) count *= axis.values.size();
  if (axes.empty() || values.size() != count) return;
  if (axes.size() == 1) {
    Series s{name, axes[0].name, axes[0].values, values, {}};
    if (errors.size() == values.size()) s.error = errors;
    s.curve =
        fmt::format("at {} = {:.6g}", report.time_name.substr(0, report.time_name.find(' ')), time);
    report.series.push_back(std::move(s));
    return;
  }
  // the last two axes make a picture; of the others the last place is shown
  const SweepAxis &y = axes[axes.size() - 2], &x = axes.back();
  Picture picture;
  picture.name = name;
  picture.slice = false;
  picture.x_name = x.name, picture.y_name = y.name;
  picture.x_low = x.values.front(), picture.x_high = x.values.back();
  picture.y_low = y.values.front(), picture.y_high = y.values.back();
  Plane plane;
  plane.time = time;
  plane.width = static_cast<int>(x.values.size());
  plane.height = static_cast<int>(y.values.size());
  const std::size_t size = x.values.size() * y.values.size();
  plane.values.assign(values.end() - static_cast<std::ptrdiff_t>(size), values.end());
  picture.planes.push_back(std::move(plane));
  report.pictures.push_back(std::move(picture));
}

void take_fields(Report& report, Report&& file) {
  for (Table& table : file.tables) report.tables.push_back(std::move(table));
  const std::size_t of_run = report.pictures.size();
  for (Picture& picture : file.pictures) {
    const auto end = report.pictures.begin() + static_cast<std::ptrdiff_t>(of_run);
    const bool known = std::any_of(report.pictures.begin(), end, [&](const Picture& p) {
      return !p.slice && !picture.slice && p.name == picture.name && p.x_name == picture.x_name &&
             p.y_name == picture.y_name && !p.planes.empty();
    });
    if (!known) report.pictures.push_back(std::move(picture));
  }
}

std::string place_text(const std::vector<SweepAxis>& axes, std::size_t place) {
  std::string text;
  for (std::size_t d = axes.size(); d-- > 0;) {
    const std::vector<double>& values = axes[d].values;
    text = fmt::format("{} = {:.6g}{}{}", axes[d].name, values[place % values.size()],
                       text.empty() ? "" : ", ", text);
    place /= values.size();
  }
  return text;
}

void add_histories(Report& report, const std::string& name, const std::vector<SweepAxis>& axes,
                   const std::vector<double>& times,
                   const std::vector<std::vector<double>>& values) {
  std::size_t places = 1;
  for (const SweepAxis& axis : axes) places *= axis.values.size();
  if (axes.empty() || times.size() < 2 || times.size() != values.size()) return;
  for (const std::size_t place : spread(places, kMostHistories)) {
    Series s{name, "t", times, {}, {}, place_text(axes, place)};
    for (const auto& row : values) {
      if (row.size() != places) return;
      s.y.push_back(row[place]);
    }
    report.series.push_back(std::move(s));
  }
}

namespace {

std::vector<SweepAxis> pick_axes(const std::vector<runtime::SweptAxis>& axes,
                                 const std::vector<int>& places) {
  std::vector<SweepAxis> list;
  for (const int place : places)
    list.push_back(
        {axes[static_cast<std::size_t>(place)].name, axes[static_cast<std::size_t>(place)].values});
  return list;
}

/// A scalar of a sweep: over time where it has no axis, else its last values along its axes.
void take_swept(Report& report, const std::vector<runtime::SweptAxis>& axes,
                const runtime::Series& series) {
  if (series.values.empty()) return;
  if (series.axes.empty()) {
    Series s;
    s.name = series.name;
    for (std::size_t i = 0; i < series.values.size() && i < series.times.size(); ++i) {
      if (series.values[i].empty()) continue;
      s.x.push_back(series.times[i]);
      s.y.push_back(series.values[i][0]);
      if (i < series.errors.size() && !series.errors[i].empty())
        s.error.push_back(series.errors[i][0]);
    }
    if (s.error.size() != s.y.size()) s.error.clear();
    report.series.push_back(std::move(s));
    return;
  }
  const std::vector<double> errors =
      series.errors.empty() ? std::vector<double>() : series.errors.back();
  const auto own = pick_axes(axes, series.axes);
  add_swept(report, series.name, own, series.values.back(), errors,
            series.times.empty() ? 0 : series.times.back());
  add_histories(report, series.name, own, series.times, series.values);
}

/// What the model of ranks says of a step, beside what it took (run/ranks/cut_model.hpp).
std::string modelled_step(const runtime::RankInfo& rank, const runtime::RunResult& r) {
  const double seconds = r.seconds_a_step();
  if (rank.modelled_for.empty() || seconds == 0) return {};
  return fmt::format(
      "A step took {:.3g} ms. Modelled for {}, at its limits: {:.3g} ms in kernels and {:.3g} ms "
      "in exchanges.",
      1e3 * seconds, rank.modelled_for, 1e3 * rank.modelled_kernels, 1e3 * rank.modelled_exchanges);
}

}  // namespace

void take_result(Report& report, const Program& p, const runtime::RunResult& r) {
  report.device = r.device;
  report.steps = r.steps;
  report.time = r.time;
  report.interrupted = r.interrupted;
  report.files = r.files;
  report.notes.insert(report.notes.end(), r.notes.begin(), r.notes.end());
  report.chain.clear();
  for (const auto& [name, a, early] : r.chain)
    if (a.values > 1)
      report.chain.push_back(
          {name, a.mean, a.error, a.tau_int, a.tau_error, a.values, observe::reason(a.known)});
  report.acceptance = runtime::acceptance_text(r.acceptance);
  report.ranks.clear();
  for (const runtime::RankInfo& rank : r.ranks)
    report.ranks.push_back({fmt::format("{} ({})", rank.device, rank.name), rank.host,
                            rank.instances, static_cast<double>(rank.memory_held), rank.busy,
                            rank.planes, rank.planes_go, modelled_step(rank, r)});
  report.series.clear();
  for (const auto& series : r.series) {
    if (!series.values.empty() || !series.axes.empty()) {
      take_swept(report, r.axes, series);
      continue;
    }
    Series s;
    s.name = series.name;
    for (const auto& [t, value] : series.points) s.x.push_back(t), s.y.push_back(value);
    report.series.push_back(std::move(s));
  }
  for (const auto& plot : r.plots)
    report.series.push_back({plot.name, plot.against, plot.x, plot.y, plot.error,
                             fmt::format("plot against {}", plot.against)});
  for (const auto& failure : r.failures)
    report.warnings.push_back("left out of the sweep: " + failure.where + ": " + failure.message);
  report.checks.clear();
  for (std::size_t i = 0; i < r.expectations.size(); ++i) {
    const auto& e = r.expectations[i];
    const double given = i < p.expectations.size() ? p.expectations[i].bound : 0;
    const double bound = given != 0 ? given : bound_of(e.text);
    report.checks.push_back({e.text, e.ok, e.value, e.time, bound, e.history, e.undecided});
  }
  for (std::size_t k = 0; k < r.kernels.size() && k < report.kernels.size(); ++k) {
    report.kernels[k].registers = r.kernels[k].registers;
    report.kernels[k].spilled_bytes = r.kernels[k].spilled_bytes;
    report.kernels[k].seconds = r.kernels[k].seconds;
  }
  report.speed.seconds = r.performance.seconds;
  report.speed.first_step_seconds = r.performance.first_step_seconds;
  report.speed.site_updates_per_s = r.performance.site_updates_per_s;
  report.speed.device_bytes = static_cast<double>(r.performance.device_bytes);
}

}  // namespace vphi::report
