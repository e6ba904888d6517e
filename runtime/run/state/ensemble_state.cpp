// The state of an Ensemble as bytes of a checkpoint and back, and result files written again from
// it.
#include <fmt/format.h>

#include "runtime/run/ensemble.hpp"
#include "runtime/run/state/checkpoint.hpp"
#include "runtime/run/state/packing.hpp"

namespace vphi::runtime {

std::vector<std::byte> Ensemble::save() const {
  Packer to;
  to.whole(program_.all_instances());
  to.list(series_, [&](const Series& s) {
    to.text(s.name);
    to.points(s.points);
    to.list(s.axes, [&](int axis) { to.whole(axis); });
    to.wholes(s.steps);
    to.reals(s.times);
    to.list(s.values, [&](const auto& row) { to.reals(row); });
    to.list(s.errors, [&](const auto& row) { to.reals(row); });
  });
  to.list(promises_, [&](const Promise& p) {
    to.number(p.ok ? 1 : 0);
    to.real(p.value);
    to.real(p.time);
    to.whole(p.instance);
    for (const auto* list : {&p.first, &p.largest_change, &p.largest_scale}) to.reals(*list);
  });
  to.list(failed_, [&](const auto& one) {
    to.whole(one.first);
    to.text(one.second);
  });
  to.list(notes_, [&](const std::string& note) { to.text(note); });
  to.list(times_, [&](const auto& of_statistic) {
    to.list(of_statistic, [&](const auto& history) { to.points(history); });
  });
  save_parts(to);
  surfaces_.save(to);
  return to.all();
}

void Ensemble::restore(std::span<const std::byte> bytes) {
  Unpacker from(bytes);
  const auto differs = [](const std::string& what) {
    throw RunError("E0853", "the checkpoint does not fit this program: " + what,
                   "resume with the vphi that wrote it, or start over with --restart");
  };
  if (from.whole() != program_.all_instances()) differs("its sweep has another number of values");
  const auto rows = [&] { return from.list<std::vector<double>>(8, [&] { return from.reals(); }); };
  series_ = from.list<Series>(48, [&] {
    Series s;
    s.name = from.text();
    s.points = from.points();
    s.axes = from.list<int>(8, [&] { return static_cast<int>(from.whole()); });
    s.steps = from.wholes();
    s.times = from.reals();
    s.values = rows();
    s.errors = rows();
    for (const int axis : s.axes)
      if (axis < 0 || axis >= static_cast<int>(program_.axes.size())) differs("its axes");
    return s;
  });
  series_index_.clear();
  for (std::size_t i = 0; i < series_.size(); ++i) series_index_[series_[i].name] = i;
  const auto promises = from.list<Promise>(56, [&] {
    Promise p;
    p.ok = from.number() != 0;
    p.value = from.real();
    p.time = from.real();
    p.instance = from.whole();
    for (auto* list : {&p.first, &p.largest_change, &p.largest_scale}) *list = from.reals();
    return p;
  });
  // Expectations that have changed start again; a change is noticed by their number alone.
  bool same = promises.size() == promises_.size();
  for (std::size_t i = 0; same && i < promises.size(); ++i)
    same = promises[i].first.size() == promises_[i].first.size();
  if (same) promises_ = promises;
  failed_.clear();
  for (std::size_t i = from.count(16); i > 0; --i) {
    const std::int64_t instance = from.whole();
    failed_[instance] = from.text();
  }
  notes_.clear();
  for (std::size_t i = from.count(8); i > 0; --i) notes_.insert(from.text());
  using History = std::vector<std::pair<double, double>>;
  const auto times = from.list<std::vector<History>>(
      8, [&] { return from.list<History>(8, [&] { return from.points(); }); });
  same = times.size() == times_.size();
  for (std::size_t i = 0; same && i < times.size(); ++i) same = times[i].size() == times_[i].size();
  if (same) times_ = times;
  restore_parts(from);
  if (!from.empty()) surfaces_.restore(from);  // older files have none
}

void Ensemble::rewrite_rows(const std::string& file) {
  if (results_ == nullptr) return;
  for (const program::Output& output : program_.outputs) {
    if (output.file != file || output.scalars.empty() || output.plot_axis >= 0) continue;
    const auto first = series_index_.find(output.scalars[0].name);
    if (first == series_index_.end()) continue;
    const Series& leader = series_[first->second];
    for (std::size_t row = 0; row < leader.steps.size(); ++row) {
      std::vector<io::Swept> written;
      for (const auto& scalar : output.scalars) {
        const auto found = series_index_.find(scalar.name);
        if (found == series_index_.end()) continue;
        const Series& s = series_[found->second];
        if (row >= s.values.size()) continue;
        written.push_back({s.name, s.axes, s.values[row],
                           row < s.errors.size() ? s.errors[row] : std::vector<double>{}});
      }
      results_->file(file).swept({leader.steps[row], leader.times[row]}, written);
    }
  }
}

}  // namespace vphi::runtime
