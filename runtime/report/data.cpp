#include "runtime/report/data.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/report/encode.hpp"

namespace vphi::report {

using nlohmann::json;

namespace {

constexpr std::size_t kMostPoints = 8000, kFewestPoints = 200;  ///< of a curve
constexpr double kTextPerByte = 4.0 / 3;                        ///< base64
constexpr int kLargestEdge = 640, kSmallestEdge = 64;           ///< of a picture
constexpr std::size_t kMostFrames = 240;

/// The arrays of the page; equal ones are stored once.
class Pool {
 public:
  std::size_t add(std::span<const double> values) {
    json code = encode(values);
    const std::string key = code.dump();
    const auto [place, fresh] = places_.try_emplace(key, arrays_.size());
    if (fresh) arrays_.push_back(std::move(code));
    return place->second;
  }
  json take() { return std::move(arrays_); }

 private:
  json arrays_ = json::array();
  std::map<std::string, std::size_t> places_;
};

template <class T>
std::vector<T> pick(const std::vector<T>& values, const std::vector<std::size_t>& kept) {
  std::vector<T> list;
  for (const std::size_t i : kept)
    if (i < values.size()) list.push_back(values[i]);
  return list;
}

json curve(Pool& pool, const Series& s, std::size_t run, std::size_t most) {
  const auto kept = decimate(s.y, most);
  json c = {{"run", run}, {"x", pool.add(pick(s.x, kept))}, {"y", pool.add(pick(s.y, kept))}};
  if (!s.error.empty()) c["e"] = pool.add(pick(s.error, kept));
  return c;
}

std::string label(const std::string& name, std::size_t run, std::span<const Report* const> runs) {
  return runs.size() > 1 ? name + " (" + runs[run]->name + ")" : name;
}

json table_data(Pool& pool, const Table& table, const Report& report, std::size_t most_values) {
  static constexpr const char* kinds[] = {"spectrum", "histogram", "profile"};
  const auto [x_name, y_name] = axis_names(table, report);
  json t = {{"kind", kinds[static_cast<int>(table.kind)]}, {"xn", x_name}, {"yn", y_name}};
  std::size_t longest = 1;
  for (const Frame& f : table.frames) longest = std::max(longest, f.x.size());
  const std::size_t frames = std::clamp<std::size_t>(most_values / longest, 4, kMostFrames);
  t["frames"] = json::array();
  for (const std::size_t i : spread(table.frames.size(), frames)) {
    const Frame& f = table.frames[i];
    json frame = {{"t", f.time}, {"step", f.step}, {"x", pool.add(f.x)}, {"y", pool.add(f.y)}};
    if (!f.other.empty()) frame["o"] = pool.add(f.other);
    t["frames"].push_back(std::move(frame));
  }
  return t;
}

/// Frames and pixels share the budget: the number of pixels is reduced before the frames are fewer
/// than 24.
json picture_data(const Picture& picture, const Report& report, std::size_t bytes) {
  const std::string unit = picture.slice && !report.length_unit.empty()
                               ? " [" + report.length_unit + "]"
                               : std::string();
  const std::string x_name = picture.x_name + unit, y_name = picture.y_name + unit;
  const auto pixels = static_cast<double>(bytes) / (2 * kTextPerByte);
  const std::size_t count = std::min(picture.planes.size(), kMostFrames);
  const auto edge_of = [&](std::size_t frames) {
    return static_cast<int>(
        std::sqrt(pixels / static_cast<double>(std::max<std::size_t>(frames, 1))));
  };
  std::size_t frames = count;
  while (frames > 24 && edge_of(frames) < 160) --frames;
  while (frames > 3 && edge_of(frames) < kSmallestEdge) --frames;
  const int edge = std::clamp(edge_of(frames), kSmallestEdge, kLargestEdge);
  json p = {{"name", picture.name},
            {"xn", x_name},
            {"yn", y_name},
            {"x", {picture.x_low, picture.x_high}},
            {"y", {picture.y_low, picture.y_high}},
            {"frames", json::array()}};
  for (const std::size_t i : spread(picture.planes.size(), frames))
    p["frames"].push_back(encode(shrink(picture.planes[i], edge)));
  return p;
}

}  // namespace

std::pair<std::string, std::string> axis_names(const Table& table, const Report& report) {
  const std::string& unit = report.length_unit;
  const std::string y = table.y_name;
  if (table.kind == Table::Kind::Spectrum) {
    // lengths in 1/GeV make wave numbers in GeV
    const std::string inverse = unit.starts_with("1/") ? unit.substr(2) : "1/" + unit;
    return {unit.empty() ? "k" : "k [" + inverse + "]", y.empty() ? "P" : y};
  }
  if (table.kind == Table::Kind::Histogram) return {table.name, y.empty() ? "count" : y};
  const std::string x = table.x_name.empty() ? "x" : table.x_name;
  return {unit.empty() ? x : x + " [" + unit + "]", y};
}

namespace {

/// What one of its kind may take: two fifths for curves, a fifth for tables, the rest for pictures;
/// 16 bytes a point.
struct Allotted {
  std::size_t points = 0;  ///< of a curve
  std::size_t values = 0;  ///< of a table
  std::size_t picture_bytes = 0;
};
Allotted allotted(std::span<const Report* const> runs, const Budget& budget) {
  std::size_t curves = 0, tables = 0, pictures = 0;
  for (const Report* r : runs) {
    curves += r->series.size() + r->checks.size();
    tables += r->tables.size();
    for (const Picture& p : r->pictures) pictures += p.planes.empty() ? 0 : 1;
  }
  const auto each = [&](double part, double bytes, std::size_t count) {
    return static_cast<std::size_t>(static_cast<double>(budget.bytes) * part / bytes /
                                    static_cast<double>(std::max<std::size_t>(count, 1)));
  };
  return {std::clamp(each(0.4, 16 * kTextPerByte, curves), kFewestPoints, kMostPoints),
          each(0.2, 24 * kTextPerByte, tables), each(0.4, 1, pictures)};
}

/// Figures of values along something, with a curve for each run and instance.
json series_data(Pool& pool, std::span<const Report* const> runs, std::size_t most) {
  json figures = json::array();
  std::map<std::string, std::size_t> places;
  for (std::size_t run = 0; run < runs.size(); ++run)
    for (const Series& s : runs[run]->series) {
      if (s.x.empty()) continue;
      const std::string along = s.along == "t" ? runs.front()->time_name : s.along;
      const auto [place, fresh] = places.try_emplace(s.name + '\0' + along, figures.size());
      if (fresh) figures.push_back({{"name", s.name}, {"along", along}, {"curves", json::array()}});
      json& entry = figures[place->second];
      json c = curve(pool, s, run, most);
      if (!s.curve.empty()) c["name"] = s.curve;
      // the last row of a sweep, and a plot of it at the end, may be the same numbers
      const auto same =
          std::find_if(entry["curves"].begin(), entry["curves"].end(), [&](const json& known) {
            return !s.of_instance() && known["run"] == c["run"] && known["x"] == c["x"] &&
                   known["y"] == c["y"];
          });
      if (same == entry["curves"].end())
        entry["curves"].push_back(std::move(c));
      else if (c.contains("e"))
        (*same)["e"] = c["e"];
      entry["single"] = s.x.size() == 1 && (fresh || entry["single"] == true);
    }
  return figures;
}

json check_data(Pool& pool, const Check& check, std::size_t run, std::size_t most) {
  Series history;
  for (const auto& [t, value] : check.history) history.x.push_back(t), history.y.push_back(value);
  json c = curve(pool, history, run, most);
  c["bound"] = check.bound;
  return c;
}

}  // namespace

json page_data(std::span<const Report* const> runs, const Budget& budget) {
  Pool pool;
  json data;
  data["runs"] = json::array();
  for (const Report* r : runs) data["runs"].push_back(r->name);
  data["time"] = runs.front()->time_name;
  data["unit"] = runs.front()->unit.empty() ? "step" : runs.front()->unit;
  const Allotted most = allotted(runs, budget);
  data["series"] = series_data(pool, runs, most.points);
  data["tables"] = json::array();
  data["pictures"] = json::array();
  data["checks"] = json::array();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const Table& table : runs[run]->tables) {
      json t = table_data(pool, table, *runs[run], most.values);
      t["name"] = label(table.name, run, runs);
      data["tables"].push_back(std::move(t));
    }
    for (const Picture& picture : runs[run]->pictures) {
      if (picture.planes.empty()) continue;
      json p = picture_data(picture, *runs[run], most.picture_bytes);
      p["name"] = label(picture.name, run, runs);
      data["pictures"].push_back(std::move(p));
    }
    for (const Check& check : runs[run]->checks) {
      json c = check_data(pool, check, run, most.points);
      c["text"] = label(check.text, run, runs);
      data["checks"].push_back(std::move(c));
    }
  }
  data["arrays"] = pool.take();
  return data;
}

json frame_data(const Frame& f) {
  json frame = {{"t", f.time}, {"step", f.step}, {"x", encode(f.x)}, {"y", encode(f.y)}};
  if (!f.other.empty()) frame["o"] = encode(f.other);
  return frame;
}

std::string script_text(const json& data) {
  const std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  // Outside of strings JSON has no `<`; inside, "<!--" and "</script" must not end the element.
  for (const char c : text) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace vphi::report
