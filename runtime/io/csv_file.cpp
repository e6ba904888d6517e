// Series and tables as comma-separated text.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "runtime/io/files/undo_file.hpp"
#include "runtime/io/result_groups.hpp"
#include "runtime/io/results.hpp"

namespace vphi::io {
namespace {

namespace fs = std::filesystem;

/// RFC 4180: quotes around names with commas or quotes.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

class CsvFile : public ResultFile {
 public:
  CsvFile(const fs::path& path, const program::Program& program, const Keep& keep)
      : program_(program), stem_(path) {
    stem_.replace_extension();
    if (keep.generation) go_back(keep.mark);
  }

  void scalars(std::span<const std::string> names, const Moment& at,
               std::span<const double> values) override {
    std::string header = "step,t";
    for (const auto& name : names) header += ',' + field(name);
    Table& table = table_of(kSeriesGroup, header);
    if (table.last_step == at.step) return;  // written before the run was cut off
    table.last_step = at.step;
    std::string row = fmt::format("{},{}", at.step, at.time);
    for (double value : values) row += fmt::format(",{}", value);
    table.stream << row << '\n';
  }

  /// Tables with columns become text of their own; maps and fields need HDF5.
  void table(io::Table from, const Moment& at) override {
    if (from.columns.empty() || !from.leading.empty()) {
      if (!left_out_.empty()) return;
      left_out_ = fmt::format(
          "`{}` and other arrays are not written: that takes HDF5 (apt-get install libhdf5-dev) "
          "and a file name that ends in .h5",
          from.name);
      return;
    }
    std::string header = "name,step,t";
    for (const auto& column : from.columns) header += ',' + field(column);
    std::ofstream& stream = table_of(from.group(), header).stream;
    for (std::size_t i = 0; i < from.values.size(); i += from.columns.size()) {
      std::string row = fmt::format("{},{},{}", field(from.name), at.step, at.time);
      for (std::size_t c = 0; c < from.columns.size(); ++c)
        row += fmt::format(",{}", from.values[i + c]);
      stream << row << '\n';
    }
  }

  /// Long form: a row for each place along the axes.
  void swept(const Moment& at, std::span<const Swept> values) override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::vector<int>& axes = values[i].axes;
      const bool known =
          std::any_of(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const Swept& other) { return other.axes == axes; });
      if (known) continue;
      std::vector<const Swept*> together;
      for (const Swept& other : values)
        if (other.axes == axes) together.push_back(&other);
      std::string header = "step,t";
      for (const int a : axes) header += ',' + field(axis(a).name);
      for (const Swept* v : together) {
        header += ',' + field(v->name);
        if (!v->errors.empty()) header += ',' + field("sigma(" + v->name + ")");
      }
      Table& table = table_of(kSeriesGroup, header);
      if (table.last_step == at.step) continue;
      table.last_step = at.step;
      for (std::size_t cell = 0; cell < values[i].values.size(); ++cell) {
        std::string row = fmt::format("{},{}", at.step, at.time), places;
        std::size_t rest = cell;
        for (std::size_t k = axes.size(); k-- > 0;) {
          const auto& list = axis(axes[k]).values;
          places = fmt::format(",{}", list[rest % list.size()]) + places;
          rest /= list.size();
        }
        row += places;
        for (const Swept* v : together) {
          row += fmt::format(",{}", v->values[cell]);
          if (!v->errors.empty()) row += fmt::format(",{}", v->errors[cell]);
        }
        table.stream << row << '\n';
      }
    }
  }

  void plot(const std::string& name, const std::string& against, std::span<const double> x,
            std::span<const double> y, std::span<const double> error) override {
    if (!plots_.is_open()) {
      plots_.open(fmt::format("{}.{}.csv", stem_.string(), kPlotsGroup));
      check(plots_);
      plots_ << "name,against,x,y,sigma\n";
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      plots_ << fmt::format("{},{},{},{},{}\n", field(name), field(against), x[i], y[i],
                            error.empty() ? std::string() : fmt::format("{}", error[i]));
    check(plots_.flush());
  }

  void flush() override {
    for (auto& [key, table] : tables_) check(table.stream.flush());
  }

  /// Tables only grow, so their lengths describe their state. The mark has a line for each table:
  /// length, ending, step of the last row, group and header, separated by tabs.
  std::string mark(std::int64_t) override {
    flush();
    std::string text;
    for (auto& [key, table] : tables_) text += line(table, key);
    return text;
  }

  std::vector<std::string> notes() const override {
    return left_out_.empty() ? std::vector<std::string>{} : std::vector{left_out_};
  }

 private:
  struct Table {
    std::ofstream stream;
    std::string ending;
    std::int64_t last_step = -1;
  };

  const program::Axis& axis(int number) const {
    return program_.axes[static_cast<std::size_t>(number)];
  }

  /// Each header of a group has a file of its own, so that clauses with other names and times write
  /// other files.
  Table& table_of(const std::string& group, const std::string& header) {
    const std::string front = group + ": ";
    auto [place, fresh] = tables_.try_emplace(front + header);
    if (fresh) {
      const auto same = std::ranges::count_if(
          tables_, [&](const auto& other) { return other.first.starts_with(front); });
      const std::string number = same == 1 ? "" : std::to_string(same);
      open(place->second, "." + group + number + ".csv");
      place->second.stream << header << '\n';
    }
    return place->second;
  }

  void open(Table& table, const std::string& ending) const {
    table.ending = ending;
    table.stream.open(stem_.string() + ending);
    check(table.stream);
  }

  std::string line(Table& table, const std::string& key) const {
    const auto length = static_cast<std::int64_t>(table.stream.tellp());
    sync_file(stem_.string() + table.ending);
    return fmt::format("{}\t{}\t{}\t{}\n", length, table.ending, table.last_step, key);
  }

  void go_back(const std::string& mark) {
    std::istringstream lines(mark);
    for (std::string length_text, ending, step, key;
         std::getline(lines, length_text, '\t') && std::getline(lines, ending, '\t') &&
         std::getline(lines, step, '\t') && std::getline(lines, key);) {
      const auto length = static_cast<std::uintmax_t>(std::stoull(length_text));
      Table& table = tables_[key];
      table.ending = ending;
      table.last_step = std::stoll(step);
      const std::string path = stem_.string() + table.ending;
      std::error_code error;
      const auto size = fs::file_size(path, error);
      if (error || size < length)
        throw ResultsError(fmt::format("{} is shorter than it was at the checkpoint", path));
      fs::resize_file(path, length, error);
      if (error) throw ResultsError(fmt::format("{} cannot be cut: {}", path, error.message()));
      table.stream.open(path, std::ios::app);
      check(table.stream);
      table.stream.seekp(0, std::ios::end);
    }
  }

  void check(const std::ostream& stream) const {
    if (!stream) throw ResultsError(fmt::format("{} cannot be written", stem_.string()));
  }

  const program::Program& program_;
  fs::path stem_;
  std::ofstream plots_;
  std::map<std::string, Table> tables_;  ///< "GROUP: HEADER" -> its file
  std::string left_out_;
};

}  // namespace

std::unique_ptr<ResultFile> open_csv(const fs::path& path, const program::Program& program,
                                     const Keep& keep) {
  return std::make_unique<CsvFile>(path, program, keep);
}

}  // namespace vphi::io
