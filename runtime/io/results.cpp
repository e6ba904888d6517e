#include "runtime/io/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace vphi::io {

namespace fs = std::filesystem;

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

Results::Results(fs::path folder, const program::Program& program, fs::path logs)
    : folder_(std::move(folder)), logs_(std::move(logs)), program_(program) {
  for (const auto& output : program.outputs)
    if (!output.file.empty()) inside(folder_, output.file);
}

Results::~Results() = default;

ResultFile& Results::file(const std::string& name) {
  auto& file = files_[name];
  if (!file) file = open(name, {});
  return *file;
}

std::unique_ptr<ResultFile> Results::open(const std::string& name, Keep keep) {
  const fs::path path = inside(folder_, name);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    throw ResultsError(fmt::format("the output folder {} cannot be made: {}",
                                   path.parent_path().string(), error.message()));
  if (!logs_.empty()) {
    std::string stem = name;
    std::replace(stem.begin(), stem.end(), '/', '|');
    keep.logs = logs_ / stem;
  }
  const bool csv = path.extension() == ".csv" || !have_hdf5();
  return csv ? open_csv(path, program_, keep) : open_hdf5(path, program_, keep);
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
      files_[name] = open(name, {{}, generation, mark, at});
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

std::vector<std::string> Results::files() const {
  std::vector<std::string> list;
  for (const auto& [name, file] : files_) list.push_back((folder_ / name).string());
  return list;
}

std::vector<std::string> Results::notes() const {
  std::vector<std::string> list = notes_;
  for (const auto& [name, file] : files_)
    for (auto& note : file->notes()) list.push_back(std::move(note));
  return list;
}

}  // namespace vphi::io
