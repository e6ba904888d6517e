#include "runtime/report/live.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "runtime/report/encode.hpp"
#include "runtime/report/page.hpp"
#include "runtime/report/read.hpp"

namespace vphi::report {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kAttention{10};  ///< a page asks every second, a hidden one every 5
constexpr std::size_t kMostLiveFrames = 120;
constexpr int kLargestLiveEdge = 320;

/// Every second frame goes, the newest stays.
template <class Frames>
void thin(Frames& frames, std::vector<std::int64_t>& numbers) {
  if (frames.size() <= kMostLiveFrames) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (i % 2 == 0 || i + 1 == frames.size()) {
      if (kept != i) frames[kept] = std::move(frames[i]), numbers[kept] = numbers[i];
      ++kept;
    }
  frames.resize(kept);
  numbers.resize(kept);
}

/// Index of the first thing newer than `since`; numbers ascend.
std::size_t first_after(const std::vector<std::int64_t>& numbers, std::int64_t since) {
  return static_cast<std::size_t>(std::upper_bound(numbers.begin(), numbers.end(), since) -
                                  numbers.begin());
}

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

}  // namespace

LiveRun::LiveRun(Report start, const program::Program& program)
    : program_(program), report_(std::move(start)) {
  report_.series.clear();
  report_.tables.clear();
  report_.pictures.clear();
}

bool LiveRun::attending() const {
  const auto last = last_seen_.load();
  return last != 0 && Clock::now().time_since_epoch() - Clock::duration(last) < kAttention;
}

void LiveRun::scalars(std::span<const std::string> names, const io::Moment& at,
                      std::span<const double> values) {
  const std::lock_guard hold(lock_);
  ++number_;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [place, fresh] = series_places_.try_emplace(names[i], report_.series.size());
    if (fresh) {
      report_.series.emplace_back();
      report_.series.back().name = names[i];
      series_numbers_.emplace_back();
    }
    Series& series = report_.series[place->second];
    if (!series.x.empty() && series.x.back() == at.time) continue;  // two clauses, one name
    series.x.push_back(at.time);
    series.y.push_back(values[i]);
    series_numbers_[place->second].push_back(number_);
  }
}

void LiveRun::keep(Frame frame, Table::Kind kind, const std::string& name, const std::string& x,
                   const std::string& y) {
  const std::lock_guard hold(lock_);
  const std::string key = fmt::format("{}/{}", static_cast<int>(kind), name);
  const auto [place, fresh] = table_places_.try_emplace(key, report_.tables.size());
  if (fresh) {
    Table table;
    table.kind = kind;
    table.name = name;
    table.x_name = x;
    table.y_name = y;
    report_.tables.push_back(std::move(table));
    table_numbers_.emplace_back();
  }
  Table& table = report_.tables[place->second];
  table.frames.push_back(std::move(frame));
  table_numbers_[place->second].push_back(++number_);
  thin(table.frames, table_numbers_[place->second]);
}

void LiveRun::table(const io::Table& from, const io::Moment& at) {
  if (!from.leading.empty()) return;  // of each instance of a sweep
  using program::OutputShape;
  const program::OutputRow& row = from.row();
  if (row.shape == OutputShape::Elements) return;
  if (row.arrays == program::OutputArrays::Whole || from.shape.size() != 2 || from.values.empty())
    return;
  if (from.columns.size() > 1 && row.shape != OutputShape::Sites) {
    Frame frame = frame_of(from.columns, from.values);
    frame.time = at.time;
    frame.step = at.step;
    const auto [x, y] = axes_of(from.columns);
    keep(std::move(frame), table_kind(row.shape), from.name, x, y);
    return;
  }
  if (row.shape != OutputShape::Sites) return;
  Plane plane;
  plane.time = at.time;
  plane.step = at.step;
  plane.width = static_cast<int>(from.shape[1]);
  plane.height = static_cast<int>(from.shape[0]);
  plane.values.assign(from.values.begin(), from.values.end());
  plane = shrink(plane, kLargestLiveEdge);
  const std::lock_guard hold(lock_);
  const auto [place, fresh] = picture_places_.try_emplace(from.name, report_.pictures.size());
  if (fresh) {
    Picture picture;
    picture.name = from.name;
    report_.pictures.push_back(std::move(picture));
    picture_numbers_.emplace_back();
    name_axes(report_, program_);
  }
  Picture& picture = report_.pictures[place->second];
  picture.planes.push_back(std::move(plane));
  picture_numbers_[place->second].push_back(++number_);
  thin(picture.planes, picture_numbers_[place->second]);
}

void LiveRun::checks(const std::vector<runtime::ExpectationResult>& results) {
  const std::lock_guard hold(lock_);
  ++number_;
  report_.checks.resize(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& r = results[i];
    Check& check = report_.checks[i];
    check.text = r.text;
    check.ok = r.ok;
    check.value = r.value;
    check.time = r.time;
    const double given = i < program_.expectations.size() ? program_.expectations[i].bound : 0;
    check.bound = given != 0 ? given : bound_of(r.text);
    for (std::size_t j = check.history.size(); j < r.history.size(); ++j)
      check.history.push_back(r.history[j]);
  }
}

runtime::Wish LiveRun::between(const runtime::Progress& now) {
  const runtime::Wish wish = wish_;
  const std::lock_guard hold(lock_);
  progress_ = now;
  state_ = wish == runtime::Wish::Pause ? "paused" : "running";
  return wish;
}

void LiveRun::finish(bool stopped) {
  const std::lock_guard hold(lock_);
  state_ = stopped ? "stopped" : "finished";
  if (progress_.steps < 0) progress_.steps = progress_.step;
  end_told_ = false;
}

void LiveRun::wish(runtime::Wish wish) {
  // a run that is to stop is not asked to go on again
  if (wish_ != runtime::Wish::Stop) wish_ = wish;
}

std::string LiveRun::shape() const {
  return fmt::format("{}-{}-{}", report_.series.size(), report_.tables.size(),
                     report_.pictures.size());
}

std::string LiveRun::page() {
  seen();
  Report now;
  LivePage live;
  {
    const std::lock_guard hold(lock_);
    now = report_;
    now.steps = progress_.step;
    now.time = progress_.time;
    live.since = number_;
    live.shape = shape();
  }
  return report::page(now, {}, &live);
}

json LiveRun::news(std::int64_t since) {
  seen();
  const std::lock_guard hold(lock_);
  json out = {{"since", number_}, {"shape", shape()}};
  out["progress"] = {{"state", state_},
                     {"step", progress_.step},
                     {"steps", progress_.steps},
                     {"time", number_or_null(progress_.time)},
                     {"left", number_or_null(progress_.seconds_left)},
                     {"rate", number_or_null(progress_.site_updates_per_s)}};
  out["series"] = json::array();
  for (std::size_t i = 0; i < report_.series.size(); ++i) {
    const std::size_t from = first_after(series_numbers_[i], since);
    const Series& s = report_.series[i];
    if (from == s.x.size()) continue;
    out["series"].push_back({{"index", i},
                             {"x", encode(std::span(s.x).subspan(from))},
                             {"y", encode(std::span(s.y).subspan(from))}});
  }
  out["tables"] = json::array();
  for (std::size_t i = 0; i < report_.tables.size(); ++i) {
    const auto& frames = report_.tables[i].frames;
    const std::size_t from = first_after(table_numbers_[i], since);
    if (from == frames.size()) continue;
    json list = json::array();
    for (std::size_t f = from; f < frames.size(); ++f) list.push_back(frame_data(frames[f]));
    out["tables"].push_back({{"index", i}, {"frames", std::move(list)}});
  }
  out["pictures"] = json::array();
  for (std::size_t i = 0; i < report_.pictures.size(); ++i) {
    const auto& planes = report_.pictures[i].planes;
    const std::size_t from = first_after(picture_numbers_[i], since);
    if (from == planes.size()) continue;
    json list = json::array();
    for (std::size_t f = from; f < planes.size(); ++f) list.push_back(encode(planes[f]));
    out["pictures"].push_back({{"index", i}, {"frames", std::move(list)}});
  }
  out["checks"] = json::array();
  for (std::size_t i = 0; i < report_.checks.size(); ++i)
    out["checks"].push_back({{"index", i}, {"ok", report_.checks[i].ok}});
  end_told_ = state_ == "finished" || state_ == "stopped";
  return out;
}

void LiveRun::wait_for_last_look(std::chrono::milliseconds most) {
  const auto until = Clock::now() + most;
  while (attending() && Clock::now() < until) {
    {
      const std::lock_guard hold(lock_);
      if (end_told_) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace vphi::report
