#include "runtime/io/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <system_error>
#include <utility>

#include "runtime/io/files/chunks.hpp"
#include "runtime/io/hdf5/at_exit.hpp"
#include "runtime/io/surfaces/surface_file.hpp"

#ifdef VPHI_HAVE_HDF5
#include <hdf5.h>
#endif

namespace vphi::io {

namespace fs = std::filesystem;

std::vector<std::string> component_names(const std::string& name,
                                         std::span<const std::int64_t> lengths, bool parts) {
  std::vector<std::string> names{""};
  for (const std::int64_t n : parts ? lengths.first(lengths.size() - 1) : lengths) {
    std::vector<std::string> longer;
    for (const std::string& front : names)
      for (std::int64_t i = 0; i < n; ++i)
        longer.push_back(front + (front.empty() ? "" : ",") + std::to_string(i));
    names = std::move(longer);
  }
  std::vector<std::string> all;
  for (const std::string& indices : names) {
    const std::string one = indices.empty() ? name : name + "[" + indices + "]";
    if (!parts) all.push_back(one);
    if (parts) all.push_back("re(" + one + ")"), all.push_back("im(" + one + ")");
  }
  return all;
}

std::vector<Table> components(const Table& table) {
  const auto own = table.shape.end() - static_cast<std::ptrdiff_t>(table.inner.size());
  const auto names = component_names(table.name, {own, table.shape.end()},
                                     !table.inner.empty() && table.inner.back() == "part");
  std::vector<Table> all;
  for (std::size_t c = 0; c < names.size(); ++c) {
    Table one;
    one.kind = table.kind, one.name = names[c];
    one.shape.assign(table.shape.begin(), own);
    one.precision = table.precision;
    for (std::size_t i = c; i < table.values.size(); i += names.size())
      one.values.push_back(table.values[i]);
    all.push_back(std::move(one));
  }
  return all;
}

void unpack(Table& table) {
  if (!table.raw) return;
  std::size_t count = 1;
  for (auto edge : table.shape) count *= static_cast<std::size_t>(edge);
  const std::byte* from = table.raw.get();
  if (table.precision == program::Precision::F32) {
    const auto* numbers = reinterpret_cast<const float*>(from);
    table.values.assign(numbers, numbers + count);
  } else {
    const auto* numbers = reinterpret_cast<const double*>(from);
    table.values.assign(numbers, numbers + count);
  }
  table.raw.reset();
}

namespace {

bool is_hdf5(const fs::path& path) {
  return path.extension() != ".silo" && !holds_configurations(path) && !holds_surface(path) &&
         path.extension() != ".csv" && have_hdf5();
}

/// A file whose every call is a job of the writer. `under_` is touched by jobs alone.
class QueuedFile : public ResultFile {
 public:
  using Open = std::function<std::unique_ptr<ResultFile>()>;

  QueuedFile(Writer& writer, const Open& open)
      : writer_(writer), under_(std::make_shared<Under>()) {
    writer_.call([&] {
      under_->file = open();
      takes_parts_ = under_->file->takes_parts();
    });
  }
  ~QueuedFile() override {
    Writer::alone([&] { under_->file.reset(); });
  }

  void scalars(std::span<const std::string> names, const Moment& at,
               std::span<const double> values) override {
    post(values.size_bytes(), [names = std::vector(names.begin(), names.end()), at,
                               values = std::vector(values.begin(), values.end())](auto& file) {
      file.scalars(names, at, values);
    });
  }
  void table(Table whole, const Moment& at) override {
    std::size_t bytes = whole.values.size() * sizeof(double);
    if (whole.raw) {
      bytes = whole.precision == program::Precision::F32 ? 4 : 8;
      for (auto edge : whole.shape) bytes *= static_cast<std::size_t>(edge);
    }
    // A job must be copyable; the numbers are not copied.
    auto shared = std::make_shared<Table>(std::move(whole));
    post(bytes, [shared, at](auto& file) { file.table(std::move(*shared), at); });
  }
  bool takes_parts() const override { return takes_parts_; }
  void swept(const Moment& at, std::span<const Swept> values) override {
    std::size_t bytes = 0;
    for (const Swept& value : values)
      bytes += sizeof(double) * (value.values.size() + value.errors.size());
    post(bytes, [at, values = std::vector(values.begin(), values.end())](auto& file) {
      file.swept(at, values);
    });
  }
  void plot(const std::string& name, const std::string& against, std::span<const double> x,
            std::span<const double> y, std::span<const double> error) override {
    post(3 * x.size_bytes(),
         [name, against, x = std::vector(x.begin(), x.end()), y = std::vector(y.begin(), y.end()),
          error = std::vector(error.begin(), error.end())](auto& file) {
           file.plot(name, against, x, y, error);
         });
  }
  void changes(const std::string& lines) override {
    post(lines.size(), [lines](auto& file) { file.changes(lines); });
  }
  void flush() override {
    post(0, [](auto& file) { file.flush(); });
  }
  std::string mark(std::int64_t generation) override {
    std::string text;
    writer_.call([&] { text = under_->file->mark(generation); });
    return text;
  }
  void forget_before(std::int64_t generation) override {
    post(0, [generation](auto& file) { file.forget_before(generation); });
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> list;
    Writer::alone([&] { list = under_->file->notes(); });
    return list;
  }
  std::optional<std::vector<std::string>> files() const override {
    std::optional<std::vector<std::string>> list;
    Writer::alone([&] { list = under_->file->files(); });
    return list;
  }

 private:
  struct Under {
    std::unique_ptr<ResultFile> file;
  };
  template <class Job>
  void post(std::size_t bytes, Job job) {
    writer_.post(bytes, [under = under_, job = std::move(job)] { job(*under->file); });
  }

  Writer& writer_;
  std::shared_ptr<Under> under_;
  bool takes_parts_ = false;
};

}  // namespace

std::vector<Table::Part> parts_of_sites(std::span<const std::int64_t> sites) {
  const std::int64_t rows = sites.size() > 2 ? kChunkOfSites : kChunkOfPlanes;
  std::int64_t all = 1;
  for (const std::int64_t edge : sites) all *= edge;
  if (all < kLargeTable || sites.front() <= rows) return {{0, sites.front()}};
  std::vector<Table::Part> parts;
  for (std::int64_t first = 0; first < sites.front(); first += rows)
    parts.push_back({first, std::min(rows, sites.front() - first)});
  return parts;
}

bool takes_parts(const fs::path& name) { return is_hdf5(name); }

fs::path inside(const fs::path& folder, const std::string& name) {
  const fs::path relative(name);
  bool fine = !name.empty() && relative.is_relative() && !relative.filename().empty();
  for (const auto& part : relative) fine = fine && part != ".." && part != ".";
  for (unsigned char c : name) fine = fine && c >= 0x20 && c != 0x7f && c != '\\';
  if (!fine)
    throw ResultsError(fmt::format(
        "\"{}\" cannot be a result file: names are relative and stay inside the output folder",
        name));
  return folder / relative;
}

Results::Results(fs::path folder, const program::Program& program, fs::path logs,
                 std::function<void(const std::string&)> tell)
    : folder_(std::move(folder)),
      logs_(std::move(logs)),
      program_(program),
      tell_(std::move(tell)),
      writer_(std::make_unique<Writer>()) {
  for (const auto& output : program.outputs)
    if (!output.file.empty()) inside(folder_, output.file);
}

Results::~Results() {
  try {
    writer_->wait();
  } catch (const std::exception&) {
    // reported below if it has not been reported before
  }
  const std::string untold = writer_->untold();
  writer_.reset();
  // The run has ended by another error, which its owner reports; this one must not get lost.
  if (!untold.empty() && tell_) tell_("results are not complete: " + untold);
  files_.clear();
}

ResultFile& Results::file(const std::string& name) {
  const auto found = files_.find(name);
  if (found != files_.end()) return *found->second;
  ResultFile& fresh = *(files_[name] = open(name, {}));
  if (!changes_.empty()) fresh.changes(changes_);
  return fresh;
}

void Results::add_change(const std::string& line) {
  changes_ += (changes_.empty() ? "" : "\n") + line;
  for (auto& [name, file] : files_) file->changes(changes_);
}

std::unique_ptr<ResultFile> Results::open(const std::string& name, Keep keep) {
  return std::make_unique<QueuedFile>(*writer_, [&] { return open_now(name, keep); });
}

std::unique_ptr<ResultFile> Results::open_now(const std::string& name, Keep keep) const {
  const fs::path path = inside(folder_, name);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    throw ResultsError(fmt::format("the output folder {} cannot be made: {}",
                                   path.parent_path().string(), error.message()));
  keep.name = name;
  if (!logs_.empty()) {
    std::string stem = name;
    std::replace(stem.begin(), stem.end(), '/', '|');
    keep.logs = logs_ / stem;
  }
  if (path.extension() == ".silo") return open_silo(path, program_, keep);
  if (holds_configurations(path)) return open_configurations(path, program_, keep);
  if (holds_surface(path)) return open_surface(path, program_, keep);
  return is_hdf5(path) ? open_hdf5(path, program_, keep) : open_csv(path, program_, keep);
}

std::vector<std::pair<std::string, std::string>> Results::mark(std::int64_t generation) {
  std::vector<std::pair<std::string, std::string>> marks;
  for (auto& [name, file] : files_) marks.emplace_back(name, file->mark(generation));
  return marks;
}

void Results::forget_before(std::int64_t generation) {
  for (auto& [name, file] : files_) file->forget_before(generation);
}

std::vector<std::string> Results::go_back(
    std::int64_t generation, const Moment& at,
    const std::vector<std::pair<std::string, std::string>>& marks) {
  std::vector<std::string> lost;
  for (const auto& [name, mark] : marks) {
    try {
      files_[name] = open(name, {{}, {}, generation, mark, at});
    } catch (const ResultsError& error) {
      const fs::path path = inside(folder_, name);
      std::error_code ignored;
      fs::path aside = path;
      aside += ".damaged";
      const bool there = fs::exists(path, ignored);
      if (there) fs::rename(path, aside, ignored);
      notes_.push_back(
          fmt::format("{}: a new file starts{}", error.what(),
                      there ? fmt::format(", the old one is {}", aside.string()) : ""));
      files_[name] = open(name, {});
      lost.push_back(name);
    }
  }
  return lost;
}

void Results::flush() {
  for (auto& [name, file] : files_) file->flush();
}

void Results::finish() {
  flush();
  writer_->wait();
}

std::vector<std::string> Results::files() const {
  std::vector<std::string> list;
  for (const auto& [name, file] : files_) {
    if (auto several = file->files())
      std::ranges::move(*several, std::back_inserter(list));
    else
      list.push_back((folder_ / name).string());
  }
  return list;
}

std::vector<std::string> Results::notes() const {
  std::vector<std::string> list = notes_;
  for (const auto& [name, file] : files_)
    for (auto& note : file->notes()) list.push_back(std::move(note));
  return list;
}

void leave_files_at_exit() {
#ifdef VPHI_HAVE_HDF5
  H5dont_atexit();
#endif
}

}  // namespace vphi::io
