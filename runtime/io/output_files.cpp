#include "runtime/io/output_files.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "runtime/io/results.hpp"

namespace vphi::io {

namespace fs = std::filesystem;

namespace {

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// What follows the stem: ".series.csv", ".series2.csv", ".profiles3.csv".
bool is_table(std::string_view rest) {
  if (rest.size() < 6 || rest[0] != '.' || !rest.ends_with(".csv")) return false;
  std::string_view kind = rest.substr(1, rest.size() - 5);
  while (!kind.empty() && std::isdigit(static_cast<unsigned char>(kind.back())) != 0)
    kind.remove_suffix(1);
  const program::OutputRow* row = program::output_of_group(kind);
  return kind == "series" || kind == "plots" || (row != nullptr && row->width > 0);
}

/// "_00000128.silo": one file for each moment.
bool is_moment(std::string_view rest, std::string_view ending) {
  constexpr std::size_t kDigits = 8;
  return rest.size() >= 1 + kDigits + ending.size() && rest[0] == '_' && rest.ends_with(ending) &&
         all_digits(rest.substr(1, rest.size() - 1 - ending.size()));
}

}  // namespace

std::vector<fs::path> files_of_output(const fs::path& folder, const std::string& name) {
  std::vector<fs::path> found;
  const fs::path path = inside(folder, name);
  const std::string ending = path.extension().string(), stem = path.stem().string();
  std::error_code error;
  for (fs::directory_iterator it(path.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (!file.starts_with(stem)) continue;
    const std::string_view rest = std::string_view(file).substr(stem.size());
    bool ours = is_table(rest);
    if (holds_configurations(path))
      ours = is_moment(rest, ending);
    else if (ending == ".silo")
      ours = ours || is_moment(rest, ending) || rest == ".visit";
    else if (ending != ".csv")
      ours = ours || file == path.filename().string() || rest == ".xdmf";
    if (ours) found.push_back(it->path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace vphi::io
