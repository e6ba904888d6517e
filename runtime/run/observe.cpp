#include "runtime/run/observe.hpp"

#include <algorithm>
#include <cmath>

namespace vphi::runtime {

using program::FieldOutput;
using program::Output;

Observer::Observer(Session& session, const std::string& out, int threads, Onlooker* onlooker,
                   const std::filesystem::path& logs, Ensemble* ensemble)
    : session_(session),
      threads_(threads),
      onlooker_(onlooker),
      ensemble_(ensemble),
      expectations_(session.program()) {
  if (!out.empty() && session.program().axes.empty())
    results_ = std::make_unique<io::Results>(out, session.program(), logs);
}

ObserverState Observer::save() const {
  return {series_, last_step_, expectations_.save(), observed_};
}

void Observer::restore(const ObserverState& state, std::int64_t generation, const io::Moment& at,
                       const std::vector<std::pair<std::string, std::string>>& marks) {
  series_ = state.series;
  last_step_ = state.last_step;
  observed_ = state.observed;
  for (std::size_t i = 0; i < series_.size(); ++i) series_index_[series_[i].name] = i;
  expectations_.restore(state.expectations);
  if (!results_) return;
  for (const std::string& name : results_->go_back(generation, at, marks))
    for (const Output& output : session_.program().outputs)
      if (output.file == name && !output.scalars.empty()) write_again(output);
}

/// The series of an output, into a file that had to start again.
void Observer::write_again(const Output& output) {
  std::vector<std::string> names;
  std::vector<const Series*> columns;
  for (const auto& scalar : output.scalars) {
    const auto found = series_index_.find(scalar.name);
    if (found == series_index_.end()) return;
    names.push_back(scalar.name);
    columns.push_back(&series_[found->second]);
  }
  std::vector<double> values(columns.size());
  for (std::size_t row = 0; row < columns[0]->points.size(); ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (row >= columns[i]->points.size()) return;
      values[i] = columns[i]->points[row].second;
    }
    results_->file(output.file)
        .scalars(names,
                 {static_cast<std::int64_t>(row) * output.every, columns[0]->points[row].first},
                 values);
  }
}

std::vector<std::pair<std::string, std::string>> Observer::mark(std::int64_t generation) {
  return results_ ? results_->mark(generation) : std::vector<std::pair<std::string, std::string>>{};
}

void Observer::forget_before(std::int64_t generation) {
  if (results_) results_->forget_before(generation);
}

std::int64_t Observer::next(std::int64_t step) const {
  std::int64_t soonest = -1;
  for (const Output& output : session_.program().outputs) {
    if (output.every <= 0) continue;
    const std::int64_t at = (step / output.every + 1) * output.every;
    if (soonest < 0 || at < soonest) soonest = at;
  }
  return soonest;
}

bool Observer::owes(std::int64_t step) const {
  const auto& outputs = session_.program().outputs;
  return observed_ != step && std::any_of(outputs.begin(), outputs.end(), [&](const Output& o) {
           return o.every > 0 && step % o.every == 0;
         });
}

/// Series end with the last state; arrays come at their steps alone.
bool Observer::due(const Output& output, std::int64_t step, bool last) const {
  if (output.every <= 0) return last;
  return step % output.every == 0 || (last && !output.scalars.empty());
}

double Observer::time_of(const std::vector<double>& scalars, std::int64_t step) const {
  const auto& p = session_.program();
  if (p.time_slot < 0) return static_cast<double>(step) * p.dt_physical;
  double time = scalars[p.time_slot];
  for (std::size_t i = p.scalars.size(); i < scalars.size(); i += p.scalars.size())
    time = std::fmax(time, scalars[i + static_cast<std::size_t>(p.time_slot)]);
  return time;
}

std::vector<double> Observer::watch() {
  session_.launch(session_.program().watch);
  auto scalars = session_.scalars();
  session_.release_scratch();
  return scalars;
}

void Observer::observe(std::int64_t step, bool last) {
  const auto& p = session_.program();
  session_.launch(p.watch);
  bool any = false;
  for (const Output& output : p.outputs) {
    if (!due(output, step, last)) continue;
    any = true;
    observed_ = step;
    session_.launch(output.averages);
    session_.launch(output.launches);
    if (p.axes.empty()) session_.launch(output.then);
    const auto scalars = session_.scalars();
    const io::Moment at{step, time_of(scalars, step)};
    if (ensemble_ != nullptr && !p.axes.empty()) {
      ensemble_->record(static_cast<std::size_t>(&output - p.outputs.data()), at, last);
      session_.release_scratch();
      continue;
    }
    if (output.after_slot < 0 || scalars[output.after_slot] != 0) {
      record(output, at, scalars);
      const bool regular = output.every <= 0 || step % output.every == 0;
      if (regular) write_fields(output, at);
    }
    session_.release_scratch();
  }
  if (ensemble_ != nullptr) {
    if (any || last || p.outputs.empty())
      ensemble_->judge({step, time_of(session_.scalars(), step)}, last);
    session_.release_scratch();
    return;
  }
  if (any || last || p.outputs.empty()) {
    session_.launch(p.watch_then);
    const auto scalars = session_.scalars();
    expectations_.judge(scalars, time_of(scalars, step));
    if (onlooker_ != nullptr) onlooker_->checks(expectations_.results());
  }
  session_.release_scratch();
}

io::ResultFile* Observer::file(const Output& output) {
  return results_ && !output.file.empty() ? &results_->file(output.file) : nullptr;
}

void Observer::record(const Output& output, const io::Moment& at,
                      const std::vector<double>& scalars) {
  if (output.scalars.empty()) return;
  std::vector<std::string> names;
  std::vector<double> values;
  for (const auto& scalar : output.scalars) {
    names.push_back(scalar.name);
    values.push_back(scalars[scalar.slot]);
    const auto [place, fresh] = series_index_.try_emplace(scalar.name, series_.size());
    if (fresh) {
      series_.push_back({scalar.name, {}});
      last_step_.push_back(-1);
    }
    if (last_step_[place->second] == at.step) continue;
    last_step_[place->second] = at.step;
    series_[place->second].points.emplace_back(at.time, values.back());
  }
  if (auto* target = file(output)) target->scalars(names, at, values);
  if (onlooker_ != nullptr) onlooker_->scalars(names, at, values);
}

void Observer::array(io::ResultFile* target, const std::string& group, const std::string& name,
                     const io::Moment& at, std::span<const std::int64_t> shape,
                     std::span<const double> values, program::Precision precision) const {
  if (target != nullptr) target->array(group, name, at, shape, values, precision);
  if (onlooker_ != nullptr && onlooker_->attending())
    onlooker_->array(group, name, at, shape, values);
}

/// As it lies in the device's memory: the writer's thread packs it while the run goes on.
void Observer::snapshot(io::ResultFile& to, const FieldOutput& field, const io::Moment& at) {
  const auto& p = session_.program();
  io::Table table;
  table.group = "snapshots", table.name = field.name;
  table.precision = p.buffers[field.buffer].precision;
  table.shape.assign(p.extent.begin(), p.extent.begin() + p.dims);
  std::reverse(table.shape.begin(), table.shape.end());
  if (field.scale == 1 && field.offset == 0) {
    table.raw = session_.read_block(field.buffer);
  } else {
    table.values = session_.read(field.buffer);
    for (double& v : table.values) v = field.scale * v + field.offset;
  }
  to.table(std::move(table), at);
}

void Observer::write_fields(const Output& output, const io::Moment& at) {
  auto* target = file(output);
  const bool attended = onlooker_ != nullptr && onlooker_->attending();
  if (target == nullptr && !attended) return;
  const auto& p = session_.program();
  for (const FieldOutput& field : output.fields) {
    if (field.kind == FieldOutput::Kind::Snapshot) {
      if (target != nullptr) snapshot(*target, field, at);
      continue;
    }
    const auto values = session_.read(field.buffer);
    const auto precision = p.buffers[field.buffer].precision;
    std::vector<std::int64_t> shape(p.extent.begin(), p.extent.begin() + p.dims);
    std::reverse(shape.begin(), shape.end());
    switch (field.kind) {
      case FieldOutput::Kind::Spectrum: {
        const auto bins = io::spectrum(values, p.extent, p.dims, p.dx_physical, threads_);
        if (target != nullptr) target->spectrum(field.name, at, bins);
        if (attended) onlooker_->spectrum(field.name, at, bins);
        break;
      }
      case FieldOutput::Kind::Snapshot:
        break;
      case FieldOutput::Kind::Slice: {
        std::int64_t stride = 1;
        for (int axis = 0; axis < field.axis; ++axis) stride *= p.extent[axis];
        const std::int64_t n = p.extent[field.axis];
        std::vector<double> plane;
        for (std::int64_t i = 0; i < p.sites(); ++i)
          if (i / stride % n == field.plane) plane.push_back(values[i]);
        shape.erase(shape.begin() + (p.dims - 1 - field.axis));
        if (shape.empty()) shape.push_back(1);
        if (attended) onlooker_->array("slices", field.name, at, shape, plane);
        if (target == nullptr) break;
        io::Table table;
        table.group = "slices", table.name = field.name, table.precision = precision;
        table.shape = shape, table.values = std::move(plane);
        const double middle = static_cast<double>(n - 1) / 2;
        table.numbers = {{"axis", field.axis},
                         {"plane", static_cast<double>(field.plane)},
                         {"position", (static_cast<double>(field.plane) - middle) * p.dx_physical}};
        target->table(std::move(table), at);
        break;
      }
      case FieldOutput::Kind::Histogram: {
        const auto h = io::histogram(values, field.bins, field.low, field.high);
        std::vector<double> table;  // centre of the bin, count
        const double width = (h.high - h.low) / field.bins;
        for (std::size_t b = 0; b < h.counts.size(); ++b) {
          table.push_back(h.low + (static_cast<double>(b) + 0.5) * width);
          table.push_back(static_cast<double>(h.counts[b]));
        }
        array(target, "histograms", field.name, at, std::array<std::int64_t, 2>{field.bins, 2},
              table, program::Precision::F64);
        break;
      }
      case FieldOutput::Kind::Profile: {
        const int axis = std::clamp(field.axis, 0, p.dims - 1);
        std::vector<double> table;
        for (const auto& point : io::axis_profile(values, p.extent, axis, p.dx_physical))
          table.insert(table.end(), {point.x, point.mean});
        array(target, "profiles", field.name, at, std::array<std::int64_t, 2>{p.extent[axis], 2},
              table, program::Precision::F64);
        break;
      }
    }
  }
}

std::vector<std::string> Observer::files() const {
  return results_ ? results_->files() : std::vector<std::string>{};
}

std::vector<std::string> Observer::notes() const {
  return results_ ? results_->notes() : std::vector<std::string>{};
}

void Observer::flush() {
  if (results_) results_->flush();
}

void Observer::finish() {
  if (results_) results_->finish();
}

}  // namespace vphi::runtime
