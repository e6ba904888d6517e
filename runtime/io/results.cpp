#include "runtime/io/results.hpp"

#include <fmt/format.h>

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

Results::Results(fs::path folder, const program::Program& program)
    : folder_(std::move(folder)), program_(program) {
  for (const auto& output : program.outputs)
    if (!output.file.empty()) inside(folder_, output.file);
}

Results::~Results() = default;

ResultFile& Results::file(const std::string& name) {
  auto& file = files_[name];
  if (file) return *file;
  const fs::path path = inside(folder_, name);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    throw ResultsError(fmt::format("the output folder {} cannot be made: {}",
                                   path.parent_path().string(), error.message()));
  const bool csv = path.extension() == ".csv" || !have_hdf5();
  file = csv ? open_csv(path, program_) : open_hdf5(path, program_);
  return *file;
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
  std::vector<std::string> list;
  for (const auto& [name, file] : files_)
    for (auto& note : file->notes()) list.push_back(std::move(note));
  return list;
}

}  // namespace vphi::io
