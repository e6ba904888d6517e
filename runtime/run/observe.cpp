#include "runtime/run/observe.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runtime/observe/reduce.hpp"

namespace vphi::runtime {

using program::FieldOutput;
using program::Output;

Observer::Observer(Session& session, const std::string& out, int threads, Onlooker* onlooker,
                   const std::filesystem::path& logs, Ensemble* ensemble,
                   std::function<void(const std::string&)> tell, std::shared_ptr<io::Results> files)
    : session_(session),
      threads_(threads),
      onlooker_(onlooker),
      ensemble_(ensemble),
      expectations_(session.program()),
      times_(session) {
  if (!out.empty() && session.program().axes.empty())
    results_ = files ? std::move(files)
                     : std::make_shared<io::Results>(out, session.program(), logs, std::move(tell));
}

ObserverState Observer::save() const {
  return {series_, last_step_, expectations_.save(), observed_, earlier_};
}

void Observer::restore(const ObserverState& state, std::int64_t generation, const io::Moment& at,
                       const std::vector<std::pair<std::string, std::string>>& marks) {
  series_ = state.series;
  last_step_ = state.last_step;
  observed_ = state.observed;
  earlier_ = state.earlier;
  for (std::size_t i = 0; i < series_.size(); ++i) series_index_[series_[i].name] = i;
  expectations_.restore(state.expectations);
  restored_ = true;
  if (all_files() == nullptr) return;
  for (const std::string& name : all_files()->go_back(generation, at, marks)) rewrite_rows(name);
}

void Observer::rewrite_rows() {
  if (all_files() == nullptr) return;
  std::set<std::string> names;
  for (const Output& output : session_.program().outputs)
    if (!output.scalars.empty()) names.insert(output.file);
  for (const std::string& name : names) rewrite_rows(name);
}

void Observer::rewrite_rows(const std::string& file) {
  if (!results_) return ensemble_->rewrite_rows(file);
  for (const Output& output : session_.program().outputs)
    if (output.file == file && !output.scalars.empty()) rewrite_rows(output);
}

/// A sweep's files belong to its ensemble.
io::Results* Observer::all_files() const {
  return results_ || ensemble_ == nullptr ? results_.get() : ensemble_->results();
}

std::vector<std::byte> Observer::ensemble_state() const {
  return ensemble_ != nullptr ? ensemble_->save() : std::vector<std::byte>{};
}

std::vector<bool> Observer::set_aside() const {
  std::vector<bool> list(static_cast<std::size_t>(session_.program().instances));
  for (std::size_t i = 0; ensemble_ != nullptr && i < list.size(); ++i)
    list[i] =
        ensemble_->failed(ensemble_->first_of(ensemble_->part()) + static_cast<std::int64_t>(i));
  return list;
}

/// The series of an output, into a file that had to start again.
void Observer::rewrite_rows(const Output& output) {
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
    const std::int64_t step = row < columns[0]->steps.size()
                                  ? columns[0]->steps[row]
                                  : static_cast<std::int64_t>(row) * output.every;
    results_->file(output.file).scalars(names, {step, columns[0]->points[row].first}, values);
  }
}

std::vector<std::pair<std::string, std::string>> Observer::mark(std::int64_t generation) {
  return all_files() != nullptr ? all_files()->mark(generation)
                                : std::vector<std::pair<std::string, std::string>>{};
}

void Observer::forget_before(std::int64_t generation) {
  if (all_files() != nullptr) all_files()->forget_before(generation);
}

std::int64_t Observer::next(std::int64_t step) const {
  std::int64_t soonest = -1;
  for (const Output& output : session_.program().outputs) {
    std::int64_t at = -1;
    if (output.every > 0) at = (step / output.every + 1) * output.every;
    if (output.interval > 0) at = step + times_.ahead();
    if (!output.steps.empty()) {
      const auto later = std::ranges::upper_bound(output.steps, step);
      at = later == output.steps.end() ? -1 : *later;
    }
    if (at >= 0 && (soonest < 0 || at < soonest)) soonest = at;
  }
  if (soonest < 0 && ensemble_ != nullptr && ensemble_->follows()) {
    // nothing is written during the run, but errors need windows in time
    constexpr std::int64_t kWindows = 256, kUnknown = 1024;
    const std::int64_t steps = session_.program().steps;
    const std::int64_t window = steps > 0 ? std::max<std::int64_t>(1, steps / kWindows) : kUnknown;
    return (step / window + 1) * window;
  }
  return soonest;
}

bool Observer::owes(std::int64_t step) const {
  const auto& outputs = session_.program().outputs;
  return observed_ != step &&
         std::any_of(outputs.begin(), outputs.end(), [&](const Output& o) { return due(o, step); });
}

bool Observer::due(const Output& output, std::int64_t step) const {
  if (!output.steps.empty()) return step == 0 || std::ranges::binary_search(output.steps, step);
  if (output.interval > 0) return times_.due(place(output));
  return output.every > 0 && step % output.every == 0;
}

bool Observer::due_at(std::int64_t step) const {
  const auto& outputs = session_.program().outputs;
  return std::ranges::none_of(outputs, &Output::regular) ||
         std::ranges::any_of(outputs, [&](const Output& o) { return due(o, step); });
}

/// The last moment written by an output by time is read from its series; without a series it is the
/// last step at which one was due.
void Observer::resumed(std::int64_t step) {
  const auto& p = session_.program();
  times_.look(step);
  for (const Output& output : p.outputs) {
    if (output.interval <= 0) continue;
    double seen = observed_ == step ? time_of(step) : time_of(step) - p.dt_physical;
    const auto series =
        output.scalars.empty() ? series_index_.end() : series_index_.find(output.scalars[0].name);
    if (series != series_index_.end() && !series_[series->second].points.empty())
      seen = series_[series->second].points.back().first;
    times_.seen(place(output), seen);
  }
}

RowOrder Observer::row_order(const Output& output, std::int64_t step) const {
  const bool regular = due(output, step);
  if (output.interval <= 0) return {regular, 0};
  return {regular, 2 * times_.multiple(place(output)) + (regular ? 1 : 2)};
}

double Observer::time_of(std::int64_t step) const {
  const auto& p = session_.program();
  if (p.time_slot < 0) return static_cast<double>(step) * p.dt_physical;
  const Slot times = session_.slot(p.time_slot);
  double time = times[0];
  for (std::int64_t i = 1; i < times.instances; ++i) time = std::fmax(time, times[i]);
  return time;
}

void Observer::watch() {
  // Scalars that need a transform are as old as the last output, since computing them more often
  // would slow the run down.
  if (session_.program().watch_transforms.empty()) session_.launch(session_.program().watch);
  session_.release_scratch();
}

void Observer::watch_all() {
  const auto& p = session_.program();
  launch(p.watch_before, p.watch_transforms, p.watch);
  session_.release_scratch();
}

/// Launches with what the host does in between.
void Observer::launch(const std::vector<program::Launch>& before,
                      const std::vector<program::Transform>& transforms,
                      const std::vector<program::Launch>& launches) {
  session_.launch(before);
  for (const program::Transform& transform : transforms) session_.project(transform);
  session_.launch(launches);
}

void Observer::observe(std::int64_t step, bool last) {
  const auto& p = session_.program();
  watch_all();
  bool any = false;
  const bool repeated = last && observed_ == step;  // made before the run was to end here
  std::vector<bool> done(p.outputs.size());
  for (std::size_t i = 0; i < p.outputs.size(); ++i) {
    if (done[i]) continue;
    // Clauses of one cadence have their launches with the first of them. Where another one has
    // launches too, a new stage begins: its arrays take the scratch of those before.
    std::vector<const Output*> together;
    for (std::size_t j = i; j < p.outputs.size(); ++j) {
      const Output& other = p.outputs[j];
      const Output& first = p.outputs[i];
      if (other.every != first.every || other.interval != first.interval ||
          other.steps != first.steps || other.after_slot != first.after_slot)
        continue;
      if (j > i && !other.launches.empty()) break;
      done[j] = true;
      // Series and what lies between two moments end with the last state; arrays come at their
      // steps alone.
      const bool ends = !other.scalars.empty() || lies_between(other);
      const bool now = other.regular() ? due(other, step) || (last && ends) : last;
      if (now && !(repeated && other.regular())) together.push_back(&other);
    }
    if (together.empty()) continue;
    any = true;
    observed_ = step;
    for (const Output* output : together) session_.launch(output->averages);
    launch(p.outputs[i].before, p.outputs[i].transforms, p.outputs[i].launches);
    if (p.axes.empty())
      for (const Output* output : together) {
        if (ensemble_ != nullptr)
          ensemble_->errors_into_session(static_cast<std::size_t>(output - p.outputs.data()));
        session_.launch(output->then);
      }
    const io::Moment at{step, time_of(step)};
    for (const Output* output : together) {
      if (ensemble_ != nullptr && !p.axes.empty()) {
        RowOrder row = row_order(*output, step);
        row.regular = row.regular || !last;
        ensemble_->record(place(*output), at, row);
        continue;
      }
      const auto& scalars = session_.scalars();
      if (output->after_slot >= 0 && scalars[output->after_slot] == 0) continue;
      begun_.insert(place(*output));
      record(*output, at, scalars);
      const bool at_its_step = !output->regular() || due(*output, step);
      if (at_its_step || lies_between(*output)) write_fields(*output, at, scalars, !at_its_step);
    }
    for (const Output* output : together) times_.written(place(*output));
    session_.release_scratch();
  }
  if (ensemble_ != nullptr) {
    if (any || last || p.outputs.empty())
      ensemble_->judge({step, time_of(step)}, last);
    else
      ensemble_->follow();
    session_.release_scratch();
    return;
  }
  if (any || last || p.outputs.empty()) {
    session_.launch(p.watch_then);
    const auto& scalars = session_.scalars();
    expectations_.judge(scalars, time_of(step));
    if (onlooker_ != nullptr) onlooker_->checks(expectations_.results());
  }
  session_.release_scratch();
}

bool Observer::lies_between(const Output& output) {
  return std::ranges::any_of(output.fields, &FieldOutput::in_time);
}

io::ResultFile* Observer::file(const Output& output) {
  return results_ && !output.file.empty() ? &results_->file(output.file) : nullptr;
}

namespace {

/// Scalars of a run without axes, with the errors of those that have one.
std::vector<io::Swept> uncertain(const Output& output, const std::vector<double>& scalars) {
  std::vector<io::Swept> all;
  for (const auto& scalar : output.scalars) {
    io::Swept one{scalar.name, {}, {scalars[scalar.slot]}, {}};
    if (scalar.error_slot >= 0) one.errors = {scalars[scalar.error_slot]};
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

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
    Series& series = series_[place->second];
    series.points.emplace_back(at.time, values.back());
    series.steps.push_back(at.step);
    if (scalar.error_slot >= 0) series.errors.push_back({scalars[scalar.error_slot]});
  }
  if (auto* target = file(output)) {
    if (std::ranges::any_of(output.scalars, [](const auto& s) { return s.error_slot >= 0; }))
      target->swept(at, uncertain(output, scalars));
    else
      target->scalars(names, at, values);
  }
  if (onlooker_ != nullptr) onlooker_->scalars(names, at, values);
}

namespace {

/// Of the whole lattice, slowest axis first.
std::vector<std::int64_t> sites_of(const program::Program& p) {
  return {p.extent.rend() - p.dims, p.extent.rend()};
}

}  // namespace

observe::ReadBuffer Observer::read() {
  return {[&](int buffer) { return session_.read(buffer); },
          [&](int buffer, std::size_t first, std::size_t count) {
            return session_.read_sites(buffer, first, count);
          }};
}

/// Of a lattice that ranks share no host has a whole array, where the file takes parts.
bool Observer::in_parts(const io::ResultFile& to, const FieldOutput& field) const {
  return session_.shares_lattice() && to.takes_parts() && observe::takes_all_sites(field) &&
         io::parts_of_sites(sites_of(session_.program())).size() > 1;
}

/// Copies the field as it is in the device's memory; the writer's thread packs it while the run
/// goes on.
void Observer::snapshot(io::ResultFile& to, const FieldOutput& field, const io::Moment& at) {
  const auto& p = session_.program();
  const observe::ReadBuffer read = this->read();
  if (in_parts(to, field)) {
    for (const io::Table::Part& part : io::parts_of_sites(sites_of(p)))
      to.table(observe::reduce_part(p, field, read, part), at);
    return;
  }
  if (!field.more.empty() || field.scale != 1 || field.offset != 0 ||
      !observe::takes_all_sites(field))
    return to.table(observe::reduce(p, field, read, {}, threads_), at);
  io::Table table;
  table.kind = field.kind, table.name = field.name;
  table.precision = p.buffers[field.buffer].precision;
  table.shape = sites_of(p);
  table.raw = session_.read_block(field.buffer);
  to.table(std::move(table), at);
}

void Observer::write_fields(const Output& output, const io::Moment& at,
                            const std::vector<double>& scalars, bool between_alone) {
  auto* target = file(output);
  const bool attended = onlooker_ != nullptr && onlooker_->attending();
  if (target == nullptr && !attended) return;
  const observe::ReadBuffer read = this->read();
  for (std::size_t i = 0; i < output.fields.size(); ++i) {
    const FieldOutput& field = output.fields[i];
    if (between_alone && !field.in_time) continue;
    if (field.kind == FieldOutput::Kind::Snapshot) {
      if (target != nullptr) snapshot(*target, field, at);
      continue;
    }
    const auto sums = session_.bin_sums(place(output), i);
    std::optional<io::Table> table = field.in_time
                                         ? between({place(output), i}, field, at, scalars)
                                         : observe::reduce(session_.program(), field, read, scalars,
                                                           threads_, sums ? &*sums : nullptr);
    if (!table) continue;
    if (table->row().shape == program::OutputShape::Elements)
      count_surface({place(output), i}, *table);
    if (attended) onlooker_->table(*table, at);
    if (target != nullptr) target->table(*std::move(table), at);
  }
}

std::optional<io::Table> Observer::between(std::pair<std::size_t, std::size_t> key,
                                           const FieldOutput& field, const io::Moment& at,
                                           const std::vector<double>& scalars) {
  const auto read = [&](int buffer) { return session_.read(buffer); };
  observe::Arrays now =
      observe::FilledOutput{session_.program(), field, read, scalars, threads_}.arrays(at.time);
  std::optional<io::Table> table;
  const auto found = earlier_.find(key);
  if (found != earlier_.end() && found->second.values.size() == now.values.size() &&
      found->second.values[0].size() == now.values[0].size()) {
    if (!(found->second.time < at.time)) return {};  // the same moment once more
    table = observe::reduce_between(session_.program(), field, found->second, now, threads_);
  }
  earlier_[key] = std::move(now);
  return table;
}

std::vector<std::string> Observer::files() const {
  return results_ ? results_->files() : std::vector<std::string>{};
}

std::vector<std::string> Observer::notes() const {
  std::vector<std::string> all = results_ ? results_->notes() : std::vector<std::string>{};
  if (std::string late = times_.note(); !late.empty()) all.push_back(std::move(late));
  if (ensemble_ != nullptr) return all;
  if (!restored_) add_surface_notes(all);
  for (const Output& output : session_.program().outputs)
    if (output.after_slot >= 0 && never_begun(output))
      all.push_back(fmt::format(
          "`{}` was not written: its `after` held at none of its steps",
          output.scalars.empty() ? output.fields.front().name : output.scalars.front().name));
  return all;
}

void Observer::count_surface(std::pair<std::size_t, std::size_t> key, const io::Table& table) {
  SurfaceCount& count = surfaces_[key];
  count.elements += table.shape.front();
  for (const auto& [name, value] : table.numbers) {
    if (name == "edge") count.at_edge += std::llround(value);
    if (name == "above") count.above = std::llround(value);
    if (name == "level") count.level = value;
  }
}

void Observer::add_surface_notes(std::vector<std::string>& to) const {
  for (const auto& [key, count] : surfaces_) {
    const FieldOutput& field = session_.program().outputs[key.first].fields[key.second];
    if (count.elements == 0) {
      to.push_back(fmt::format("`{}` is empty: all values were {} the level, {:.6g}", field.name,
                               count.above == 0 ? "below" : "above", count.level));
    } else if (field.in_time && count.above > 0) {
      to.push_back(
          fmt::format("`{}` is not closed: {} sites are above the level, {:.6g}, at the "
                      "end of the run",
                      field.name, count.above, count.level));
    } else if (field.in_time && count.at_edge > 0) {
      to.push_back(fmt::format("`{}` is not closed: it reaches an open end of the box in {} places",
                               field.name, count.at_edge));
    }
  }
}

bool Observer::never_begun(const Output& output) const {
  if (begun_.contains(place(output))) return false;
  if (output.scalars.empty()) return !output.fields.empty() && !restored_;
  return !series_index_.contains(output.scalars.front().name);
}

void Observer::flush() {
  if (all_files() != nullptr) all_files()->flush();
}

void Observer::finish() {
  if (results_) results_->finish();
}

}  // namespace vphi::runtime
