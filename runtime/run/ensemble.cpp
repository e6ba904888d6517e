#include "runtime/run/ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "program/axes.hpp"
#include "program/stop_criterion.hpp"
#include "runtime/device/native/thread_pool.hpp"
#include "runtime/run/averaged_class.hpp"
#include "runtime/run/starts/transpose.hpp"

namespace vphi::runtime {

using program::Output;
using program::Program;
using program::Statistic;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::int64_t parts_of(const Program& p) {
  return (p.all_instances() + p.instances - 1) / p.instances;
}

/// Windows in time that are kept, for so many averages: 64 MB at most, and never fewer than give an
/// error to an eighth.
std::size_t windows_for(std::int64_t averages) {
  constexpr std::int64_t kAll = std::int64_t{1} << 22, kLeast = 32, kMost = 4096;
  return static_cast<std::size_t>(
      std::clamp(kAll / std::max<std::int64_t>(averages, 1), kLeast, kMost));
}

}  // namespace

Ensemble::Ensemble(const Program& program, io::Results* results, Onlooker* onlooker)
    : program_(program),
      results_(results),
      fields_(program, results, parts_of(program), onlooker),
      surfaces_(program, results, onlooker),
      parts_(parts_of(program)),
      promises_(program.expectations.size()) {
  const std::int64_t all = program.all_instances();
  waiting_.resize(program.outputs.size());
  for (auto& parts : waiting_) parts.resize(static_cast<std::size_t>(parts_));
  last_watch_.resize(static_cast<std::size_t>(parts_));
  for (std::size_t i = 0; i < promises_.size(); ++i) {
    if (program.expectations[i].kind == program::Expectation::Kind::Condition) continue;
    for (auto* list : {&promises_[i].largest_change, &promises_[i].largest_scale})
      list->assign(static_cast<std::size_t>(all), 0.0);
    promises_[i].first.assign(static_cast<std::size_t>(all), kNone);
  }
  for (const Statistic& s : program.watch_statistics) timed_.push_back({&s, over_time(s)});
  for (const Output& output : program.outputs)
    for (const Statistic& s : output.statistics)
      if (!output.regular() && over_time(s) && s.error_slot >= 0) timed_.push_back({&s, true});
  times_.resize(timed_.size());
  for (std::size_t s = 0; s < times_.size(); ++s)
    if (timed_[s].on) times_[s].resize(static_cast<std::size_t>(all));
  most_windows_ = windows_for(all * static_cast<std::int64_t>(timed_.size()));
}

std::int64_t Ensemble::count_of(std::int64_t part) const {
  return std::min(program_.instances, program_.all_instances() - first_of(part));
}

void Ensemble::begin(std::int64_t part, Session& session) {
  part_ = part;
  session_ = &session;
}

std::vector<double> Table::row(std::int64_t instance) const {
  std::vector<double> own(width);
  for (std::size_t slot = 0; slot < width; ++slot) own[slot] = at(instance, static_cast<int>(slot));
  return own;
}

void Table::transpose_by_instance() {
  if (column == 0) return;
  std::vector<double> transposed(values.size());
  transpose(values, width, column, transposed, usable_threads());
  transposed.resize(static_cast<std::size_t>(instances) * width);
  values = std::move(transposed);
  column = 0;
}

/// The scalars of this part. They are ordered by slot where the session has them so and there is
/// one part.
Table Ensemble::block() {
  Table table;
  table.width = program_.scalars.size();
  table.instances = count_of(part_);  // without the copies that pad the last part
  table.values = std::exchange(spare_, {});
  if (parts_ == 1 && program::scalars_by_slot(program_)) {
    table.column = static_cast<std::size_t>(program_.instances);
    table.values.resize(table.width * table.column);
    for (std::size_t slot = 0; slot < table.width; ++slot)
      std::copy_n(session_->slot(static_cast<int>(slot)).first, table.column,
                  table.values.data() + slot * table.column);
  } else {
    table.values = session_->scalars();
    table.values.resize(static_cast<std::size_t>(table.instances) * table.width);
  }
  const std::int64_t first = first_of(part_);
  for (auto it = failed_.lower_bound(first);
       it != failed_.end() && it->first < first + table.instances; ++it)
    for (std::size_t slot = 0; slot < table.width; ++slot)
      table.at(it->first - first, static_cast<int>(slot)) = kNone;
  return table;
}

// ---- rows -------------------------------------------------------------------------------------

void Ensemble::record(std::size_t output, const io::Moment& at, RowOrder order) {
  const Output& o = program_.outputs[output];
  Table table = block();
  if (o.after_slot >= 0) {
    bool any = false;
    for (std::int64_t i = 0; i < table.instances; ++i) any = any || table.at(i, o.after_slot) != 0;
    if (!any) return;
    for (std::int64_t i = 0; i < table.instances; ++i) {
      if (table.at(i, o.after_slot) != 0) continue;
      for (const auto& s : o.statistics) table.at(i, s.slot) = kNone;
      for (const auto& scalar : o.scalars) table.at(i, scalar.slot) = kNone;
    }
  }
  record_fields(output, at, order, table);
  if (parts_ == 1) {
    finish_row(output, at, table);
    spare_ = std::move(table.values);
    return;
  }
  Waiting& waiting = waiting_[output][static_cast<std::size_t>(part_)];
  if (!waiting.rows.empty() && waiting.rows.back().at.step == at.step) return;
  waiting.rows.push_back({at, order});
  waiting.tables.push_back(std::move(table));
}

void Ensemble::record_fields(std::size_t output, const io::Moment& at, RowOrder order,
                             const Table& table) {
  const Output& o = program_.outputs[output];
  if (o.fields.empty()) return;
  SweptPart part{part_, first_of(part_), session_, &table, {}};
  for (std::int64_t i = 0; i < table.instances; ++i)
    part.none.push_back(failed(first_of(part_) + i) ||
                        (o.after_slot >= 0 && table.at(i, o.after_slot) == 0));
  if (!o.regular()) order.regular = true;  // the end is their time
  fields_.add(output, at, order, part);
  surfaces_.add(output, at, order.regular, part);
}

void Ensemble::apply(const std::vector<Statistic>& statistics,
                     const std::vector<program::Launch>& then, Table& all) {
  for (const Statistic& s : statistics) {
    if (over_time(s)) continue;
    const bool of_class = s.member_slot >= 0;
    if (of_class) keep_class(program_, s, all);
    const Averaged averaged = average(program_, s, all);
    const Remaining left(program_, Remaining::all_but(program_, s.axes));
    for (std::int64_t i = 0; i < all.instances; ++i) {
      const auto cell = static_cast<std::size_t>(left.cell(i));
      if (s.result_slot >= 0) all.at(i, s.result_slot) = averaged.value[cell];
      if (s.error_slot >= 0) all.at(i, s.error_slot) = averaged.error[cell];
    }
    const std::int64_t missing =
        *std::max_element(averaged.missing.begin(), averaged.missing.end());
    if (missing > 0 && !of_class && !(reached() && parts_ > 1))  // parts that were not needed
      notes_.insert(fmt::format("averages leave out instances without a value: up to {} of {}",
                                missing, all.instances / left.size()));
  }
  if (then.empty()) return;
  all.transpose_by_instance();
  // the kernels of one batch after the other, on the same device
  const auto batch = static_cast<std::size_t>(program_.instances) * all.width;
  const std::vector<double> kept = session_->scalars();
  for (std::size_t first = 0; first < all.values.size(); first += batch) {
    const std::size_t count = std::min(batch, all.values.size() - first);
    std::vector<double> block = kept;
    std::copy_n(all.values.begin() + static_cast<std::ptrdiff_t>(first), count, block.begin());
    session_->set_scalars(block);
    session_->launch(then);
    block = session_->scalars();
    std::copy_n(block.begin(), count, all.values.begin() + static_cast<std::ptrdiff_t>(first));
  }
  session_->set_scalars(kept);
}

Series& Ensemble::series_of(const std::string& name) {
  const auto [place, fresh] = series_index_.try_emplace(name, series_.size());
  if (fresh) series_.push_back({name, {}, {}, {}, {}, {}});
  return series_[place->second];
}

void Ensemble::finish_row(std::size_t output, const io::Moment& at, Table& all) {
  const Output& o = program_.outputs[output];
  errors_over_time(o.statistics, all);
  apply(o.statistics, o.then, all);
  std::vector<io::Swept> written;
  for (const auto& scalar : o.scalars) {
    const Remaining left(program_, scalar.axes);
    const auto cells = static_cast<std::size_t>(left.size());
    io::Swept values;
    values.name = scalar.name;
    values.axes = scalar.axes;
    values.values.assign(cells, kNone);
    if (scalar.error_slot >= 0) values.errors.assign(cells, kNone);
    for (std::int64_t i = 0; i < all.instances; ++i) {
      // all instances of a cell agree; failed ones are left out
      if (failed(i)) continue;
      const auto cell = static_cast<std::size_t>(left.cell(i));
      values.values[cell] = all.at(i, scalar.slot);
      if (scalar.error_slot >= 0) values.errors[cell] = all.at(i, scalar.error_slot);
    }
    if (o.plot_axis >= 0) {
      const auto& axis = program_.axes[static_cast<std::size_t>(o.plot_axis)];
      Plot plot{scalar.name, axis.name, axis.values, {}, {}};
      // a value that does not differ along the axis is a level line
      const bool level = values.values.size() != axis.values.size();
      for (std::size_t x = 0; x < axis.values.size(); ++x) {
        plot.y.push_back(values.values[level ? 0 : x]);
        if (!values.errors.empty()) plot.error.push_back(values.errors[level ? 0 : x]);
      }
      plots_.push_back(std::move(plot));
    } else {
      Series& series = series_of(scalar.name);
      const bool known = !series.times.empty() && series.steps.back() == at.step;  // two clauses
      if (!known) {
        series.axes = scalar.axes;
        series.steps.push_back(at.step);
        series.times.push_back(at.time);
        if (scalar.axes.empty()) series.points.emplace_back(at.time, values.values[0]);
        series.values.push_back(values.values);
        if (!values.errors.empty()) series.errors.push_back(values.errors);
      }
    }
    written.push_back(std::move(values));
  }
  if (results_ == nullptr || o.file.empty() || written.empty()) return;
  if (o.plot_axis >= 0) {
    for (std::size_t k = 0; k < written.size(); ++k) {
      const Plot& plot = plots_[plots_.size() - written.size() + k];
      results_->file(o.file).plot(plot.name, plot.against, plot.x, plot.y, plot.error);
    }
  } else {
    results_->file(o.file).swept(at, written);
  }
}

/// The scalars of the parts that have ended, as they were at their ends.
Table Ensemble::watched() const {
  Table all;
  all.width = program_.scalars.size();
  for (const Table& part : last_watch_) {
    all.instances += part.instances;
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  }
  return all;
}

void Ensemble::end_part(const io::Moment& at) {
  steps_ = std::max(steps_, at.step);
  time_ = std::max(time_, at.time);
  if (parts_ == 1) return;
  if (part_ + 1 < parts_) check_stop_criteria(watched(), at);
  if (part_ + 1 < parts_ && !reached()) return;
  finish_rows();
  fields_.finish();
}

/// With several parts: rows in the order of their steps. A part that ended earlier contributes its
/// last row.
void Ensemble::finish_rows() {
  for (std::size_t output = 0; output < waiting_.size(); ++output) {
    auto& parts = waiting_[output];
    std::int64_t end = -1;
    std::map<std::int64_t, io::Moment> moments;
    for (const Waiting& part : parts)
      for (const Row& row : part.rows) end = std::max(end, row.place());
    for (const Waiting& part : parts)
      for (const Row& row : part.rows) {
        if (!row.order.regular && row.place() != end) continue;
        const auto [place, fresh] = moments.try_emplace(row.place(), row.at);
        if (fresh) continue;
        place->second.step = std::max(place->second.step, row.at.step);
        place->second.time = std::max(place->second.time, row.at.time);
      }
    for (const auto& [place, at] : moments) {
      Table all;
      all.width = program_.scalars.size();
      for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto& rows = parts[p].rows;
        const auto after =
            std::upper_bound(rows.begin(), rows.end(), place,
                             [](std::int64_t s, const Row& row) { return s < row.place(); });
        const std::int64_t count = count_of(static_cast<std::int64_t>(p));
        all.instances += count;
        if (after == rows.begin()) {  // `after` did not hold yet in any of its instances
          all.values.resize(all.values.size() + static_cast<std::size_t>(count) * all.width, kNone);
          continue;
        }
        const Table& table = parts[p].tables[static_cast<std::size_t>(after - rows.begin()) - 1];
        all.values.insert(all.values.end(), table.values.begin(), table.values.end());
      }
      finish_row(output, at, all);
    }
  }
  if (program_.expectations.empty()) return;
  Table all = watched();
  double time = 0;
  if (program_.time_slot >= 0)
    for (std::int64_t i = 0; i < all.instances; ++i)
      time = std::max(time, all.at(i, program_.time_slot));
  judge_whole(all, time);
}

// ---- failures, results ------------------------------------------------------------------------

void Ensemble::fail(std::int64_t instance, const std::string& message) {
  failed_.emplace(instance, message);
}

void Ensemble::into(RunResult& result) const {
  for (const program::Axis& axis : program_.axes)
    result.axes.push_back({axis.name, axis.values, axis.ensemble});
  if (!program_.axes.empty()) {
    result.series = series_;
    result.plots = plots_;
    for (const Series& s : series_)
      if (!s.points.empty()) result.scalars.emplace_back(s.name, s.points.back().second);
  }
  for (std::size_t p = 0; p < promises_.size(); ++p) {
    const Promise& promise = promises_[p];
    if (program::is_stop_criterion(program_.expectations[p])) {
      if (reached()) continue;
      result.notes.push_back(fmt::format("`{}` did not hold before the end: {:.4g}",
                                         program_.expectations[p].text, promise.value));
      continue;
    }
    ExpectationResult e;
    e.text = program_.expectations[p].text;
    e.ok = promise.ok;
    e.value = promise.value;
    e.time = promise.time;
    e.undecided = promise.undecided;
    if (promise.instance >= 0) e.where = program_.where(promise.instance);
    result.expectations.push_back(std::move(e));
  }
  for (const auto& [instance, message] : failed_)
    result.failures.push_back({instance, program_.where(instance), message});
  for (const std::string& note : notes_) result.notes.push_back(note);
  for (const std::string& note : fields_.notes()) result.notes.push_back(note);
  if (reached()) result.notes.push_back(reached_);
  if (parts_ > 1)
    result.notes.push_back(fmt::format("{} instances in {} parts of up to {}",
                                       program_.all_instances(), parts_, program_.instances));
}

}  // namespace vphi::runtime
