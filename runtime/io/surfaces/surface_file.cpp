#include "runtime/io/surfaces/surface_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "program/surface_formats.hpp"
#include "runtime/io/output_files.hpp"

namespace vphi::io {
namespace {

namespace fs = std::filesystem;

using Writer = std::string (*)(const SurfaceElement&);

struct RowWriter {
  std::string_view word;
  Writer write;
};
constexpr RowWriter kWriters[] = {{"music", music_row}, {"vhlle", vhlle_row}, {"osu", osu_row}};
static_assert(std::ranges::equal(kWriters, program::kSurfaceFormats, {}, &RowWriter::word,
                                 &program::SurfaceFormat::word));

const RowWriter* writer_of(const fs::path& path) {
  const std::string ending = path.extension().string();
  const auto found = std::ranges::find_if(
      kWriters, [&](const RowWriter& writer) { return ending == fmt::format(".{}", writer.word); });
  return found == std::end(kWriters) ? nullptr : found;
}

class SurfaceFile : public ResultFile {
 public:
  SurfaceFile(const fs::path& path, const program::Program& program, const Keep& keep)
      : path_(path), write_(writer_of(path)->write), of_sweep_(!program.axes.empty()) {
    if (keep.generation) go_back(keep.mark);
    // also where no element follows
    if (!of_sweep_) append("", "");
  }

  void scalars(std::span<const std::string>, const Moment&, std::span<const double>) override {}
  void swept(const Moment&, std::span<const Swept>) override {}
  void plot(const std::string&, const std::string&, std::span<const double>,
            std::span<const double>, std::span<const double>) override {}

  void table(Table whole, const Moment&) override {
    const std::size_t width = whole.columns.size();
    std::string rows;
    for (std::size_t at = 0; width > 0 && at < whole.values.size(); at += width)
      rows += write_(surface_element(whole.columns, std::span(whole.values).subspan(at, width)));
    append(whole.instance, rows);
  }
  void flush() override {}
  /// A line for each file: its length and, of a sweep, the instance.
  std::string mark(std::int64_t) override {
    std::string lines;
    for (const auto& [instance, length] : lengths_)
      lines += fmt::format("{}{}\n", length, of_sweep_ ? " " + instance : "");
    return lines;
  }
  std::optional<std::vector<std::string>> files() const override {
    std::vector<std::string> list;
    for (const auto& [instance, length] : lengths_)
      list.push_back(path_of_instance(path_, instance).string());
    return list;
  }

 private:
  [[noreturn]] static void fail(const fs::path& path, const std::string& why) {
    throw ResultsError(fmt::format("{} cannot be written: {}", path.string(), why));
  }

  void append(const std::string& instance, const std::string& rows) {
    const auto [known, fresh] = lengths_.try_emplace(instance, 0);
    const fs::path path = path_of_instance(path_, instance);
    std::ofstream file(path, std::ios::binary | (fresh ? std::ios::trunc : std::ios::app));
    file << rows;
    file.close();
    if (!file) fail(path, "the disk refuses");
    known->second += rows.size();
  }

  void go_back(const std::string& mark) {
    std::istringstream lines(mark);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t gap = line.find(' ');
      lengths_[gap == std::string::npos ? "" : line.substr(gap + 1)] = std::stoull(line);
    }
    for (const fs::path& path : files_of_output(path_.parent_path(), path_.filename().string()))
      if (std::ranges::none_of(lengths_, [&](const auto& known) {
            return path == path_of_instance(path_, known.first);
          })) {
        std::error_code ignored;
        fs::remove(path, ignored);
      }
    for (const auto& [instance, length] : lengths_) {
      const fs::path path = path_of_instance(path_, instance);
      std::error_code error;
      if (fs::file_size(path, error) < length || error)
        throw ResultsError(fmt::format("{} is shorter than it was", path.string()));
      fs::resize_file(path, length, error);
      if (error) fail(path, error.message());
    }
  }

  fs::path path_;
  Writer write_;
  bool of_sweep_;
  std::map<std::string, std::uintmax_t> lengths_;  ///< of the files, by instance
};

/// pi^{tt}, pi^{ti} and what the trace leaves open follow from pi^{mn} u_n = 0.
void complete(SurfaceElement& e, std::span<const double> stress, std::size_t axes) {
  auto& pi = e.pi;
  const auto set = [&](std::size_t i, std::size_t k, double value) { pi[i][k] = pi[k][i] = value; };
  const std::array<double, 4> v{0, e.u[1] / e.u[0], e.u[2] / e.u[0], e.u[3] / e.u[0]};
  if (axes == 2) {
    set(1, 1, stress[0]), set(1, 2, stress[1]), set(2, 2, stress[2]);
  } else {
    set(1, 1, stress[0]), set(1, 2, stress[1]), set(1, 3, stress[2]);
    set(2, 2, stress[3]), set(2, 3, stress[4]);
  }
  // sum_i pi^ii = pi^tt = sum_ij pi^ij v_i v_j, in which pi^33 is open
  double rest = 0;
  for (std::size_t i = 1; i < 4; ++i)
    for (std::size_t k = 1; k < 4; ++k) rest += pi[i][k] * v[i] * v[k];
  pi[3][3] = (rest - pi[1][1] - pi[2][2]) / (1 - v[3] * v[3]);
  for (std::size_t i = 1; i < 4; ++i) {
    double along = 0;
    for (std::size_t k = 1; k < 4; ++k) along += pi[i][k] * v[k];
    set(0, i, along);
  }
  for (std::size_t i = 1; i < 4; ++i) pi[0][0] += pi[0][i] * v[i];
}

}  // namespace

SurfaceElement surface_element(std::span<const std::string> columns, std::span<const double> row) {
  SurfaceElement e;
  const auto value = [&](std::string_view name) -> const double* {
    const auto found = std::ranges::find(columns, name);
    return found == columns.end() ? nullptr
                                  : &row[static_cast<std::size_t>(found - columns.begin())];
  };
  constexpr const char* kAxes[] = {"t", "x", "y", "z"};
  std::size_t axes = 0;
  double square = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    if (const double* x = value(kAxes[i])) e.place[i] = *x;
    if (const double* n = value(fmt::format("n_{}", kAxes[i]))) e.normal[i] = *n;
    const double* v = i > 0 ? value(fmt::format("v[{}]", i - 1)) : nullptr;
    if (!v) continue;
    ++axes;
    e.u[i] = *v;
    square += *v * *v;
  }
  e.u[0] = 1 / std::sqrt(1 - square);
  for (std::size_t i = 1; i < 4; ++i) e.u[i] *= e.u[0];
  const auto take = [&](std::string_view name, double& into) {
    if (const double* found = value(name)) into = *found;
  };
  take("T", e.T), take("eps", e.eps), take("p", e.p), take("mu", e.mu), take("Pi", e.Pi);
  e.bulk = value("Pi") != nullptr;
  std::vector<double> stress;
  for (std::size_t i = 0; const double* part = value(fmt::format("pi[{}]", i)); ++i)
    stress.push_back(*part);
  if (!stress.empty()) complete(e, stress, axes);
  return e;
}

bool holds_surface(const fs::path& path) { return writer_of(path) != nullptr; }

fs::path path_of_instance(const fs::path& path, const std::string& instance) {
  if (instance.empty()) return path;
  std::string name = "_" + instance;  // "b = 7, event = 3"
  for (const auto& [from, to] : {std::pair{" = ", "="}, std::pair{", ", "_"}})
    for (std::size_t at = 0; (at = name.find(from, at)) != std::string::npos;)
      name.replace(at, std::string_view(from).size(), to);
  return path.parent_path() / (path.stem().string() + name + path.extension().string());
}

std::unique_ptr<ResultFile> open_surface(const fs::path& path, const program::Program& program,
                                         const Keep& keep) {
  return std::make_unique<SurfaceFile>(path, program, keep);
}

}  // namespace vphi::io
