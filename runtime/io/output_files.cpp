#include "runtime/io/output_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "runtime/io/result_groups.hpp"
#include "runtime/io/results.hpp"
#include "runtime/io/surfaces/surface_file.hpp"

namespace vphi::io {

namespace fs = std::filesystem;

namespace {

/// What follows the stem: ".series.csv", ".series2.csv", ".profiles3.csv".
bool is_table(std::string_view rest) {
  if (!rest.starts_with('.') || std::ranges::count(rest, '.') != 2) return false;
  const std::string kind = csv_group(rest);
  const program::OutputRow* row = program::output_of_group(kind);
  return kind == kSeriesGroup || kind == kPlotsGroup || (row != nullptr && row->width > 0);
}

/// What follows the stem of a surface's file: "_event=3.music", "_b=7_event=3.music".
bool is_of_instance(std::string_view rest, std::string_view ending) {
  if (!rest.starts_with('_') || !rest.ends_with(ending)) return false;
  const std::string_view middle = rest.substr(1, rest.size() - ending.size() - 1);
  return middle.find('=') != std::string_view::npos && !middle.starts_with('=');
}

}  // namespace

fs::path file_of_moment(const fs::path& stem, std::int64_t step, const std::string& ending) {
  return fmt::format("{}_{:08}{}", stem.string(), step, ending);
}

std::optional<std::int64_t> step_in(std::string_view file, std::string_view stem,
                                    std::string_view ending) {
  constexpr std::size_t kLeast = 8, kMost = 18;  // digits
  if (!file.starts_with(stem) || !file.ends_with(ending)) return std::nullopt;
  if (file.size() < stem.size() + ending.size() + 1 || file[stem.size()] != '_')
    return std::nullopt;
  file.remove_prefix(stem.size() + 1);
  file.remove_suffix(ending.size());
  const bool digits = file.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits || file.size() < kLeast || file.size() > kMost) return std::nullopt;
  return std::stoll(std::string(file));
}

std::set<std::int64_t> moments_kept(const fs::path& stem, const std::string& ending,
                                    std::int64_t last) {
  const fs::path folder = stem.parent_path().empty() ? fs::path(".") : stem.parent_path();
  std::set<std::int64_t> steps;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto step = step_in(entry.path().filename().string(), stem.filename().string(), ending);
    std::error_code ignored;
    if (step && *step > last)
      fs::remove(entry.path(), ignored);
    else if (step)
      steps.insert(*step);
  }
  return steps;
}

std::string csv_group(std::string_view file) {
  constexpr std::string_view kEnding = ".csv";
  if (!file.ends_with(kEnding)) return {};
  file.remove_suffix(kEnding.size());
  while (!file.empty() && std::isdigit(static_cast<unsigned char>(file.back())) != 0)
    file.remove_suffix(1);
  const auto dot = file.rfind('.');
  return dot == std::string_view::npos ? std::string() : std::string(file.substr(dot + 1));
}

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
      ours = step_in(file, stem, ending).has_value();
    else if (holds_surface(path))
      ours = file == path.filename().string() || is_of_instance(rest, ending);
    else if (ending == ".silo")
      ours = ours || step_in(file, stem, ending) || rest == ".visit";
    else if (ending != ".csv")
      ours = ours || file == path.filename().string() || rest == ".xdmf";
    if (ours) found.push_back(it->path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace vphi::io
