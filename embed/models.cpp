#include "embed/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "dsl/messages/suggest.hpp"
#include "embed/error.hpp"
#include "runtime/device/library.hpp"

namespace vphi::embed {

namespace fs = std::filesystem;

namespace {

std::mutex& folder_lock() {
  static std::mutex lock;
  return lock;
}

std::string& folder_of_embedder() {
  static std::string folder;
  return folder;
}

std::string named_folder() {
  const std::lock_guard guard(folder_lock());
  return folder_of_embedder();
}

/// The folders of models: named by the environment or by the program that embeds vphi, beside the
/// command, in the source tree of the build.
std::vector<fs::path> model_folders() {
  std::vector<fs::path> folders;
  if (const char* named = std::getenv("VPHI_MODELS")) folders.emplace_back(named);
  if (const std::string named = named_folder(); !named.empty()) folders.emplace_back(named);
  if (const fs::path here = runtime::program_folder(); !here.empty())
    for (const char* relative : {"models", "../models", "../share/vphi/models"})
      folders.push_back(here / relative);
  if (const fs::path source = VPHI_MODELS_FOLDER; !source.empty()) folders.push_back(source);
  return folders;
}

}  // namespace

void set_models_folder(const std::string& folder) {
  const std::lock_guard guard(folder_lock());
  folder_of_embedder() = folder;
}

std::vector<std::pair<std::string, std::string>> shipped_models() {
  std::map<std::string, std::string> found;
  for (const fs::path& folder : model_folders()) {
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
      const fs::path& path = it->path();
      if (path.extension() != ".vphi" || path.parent_path().filename() == "std") continue;
      found.try_emplace(path.stem().string(), path.string());
    }
    if (!found.empty()) break;
  }
  return {found.begin(), found.end()};
}

std::optional<std::string> try_model(const std::string& argument) {
  std::error_code error;
  if (fs::exists(argument, error) && !fs::is_directory(argument, error)) return argument;
  if (argument.find('/') != std::string::npos) return std::nullopt;
  for (const auto& [name, path] : shipped_models())
    if (argument == name || argument == name + ".vphi") return path;
  return std::nullopt;
}

namespace {

/// Model files beside the wanted one, as they would be written on the command line.
std::vector<std::string> neighbours(const fs::path& wanted) {
  std::vector<std::string> out;
  std::error_code error;
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".vphi")
      out.push_back((wanted.has_parent_path() ? it->path() : it->path().filename()).string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::string find_model(const std::string& argument, const std::vector<std::string>& words) {
  if (const auto found = try_model(argument)) return *found;
  std::error_code error;
  if (fs::is_directory(argument, error))
    throw Error(fmt::format("`{}` is a folder, not a model file", argument));
  const std::string message = fmt::format("there is no model file `{}`", argument);
  if (argument == "-") throw Error(message, "/dev/stdin is the standard input");
  const std::vector<std::string> beside = neighbours(argument);
  const std::string with_ending = argument + ".vphi";
  for (const std::string& file : {with_ending, dsl::suggest(with_ending, beside).value_or(""),
                                  dsl::suggest(argument, beside).value_or("")})
    if (std::find(beside.begin(), beside.end(), file) != beside.end())
      throw Error(message, fmt::format("did you mean `{}`?", file));
  std::vector<std::string> names;
  for (const auto& [name, path] : shipped_models()) names.push_back(name);
  if (const auto near = dsl::suggest(fs::path(argument).stem().string(), names))
    throw Error(message, fmt::format("did you mean the shipped model `{}`?", *near));
  if (const auto near = dsl::suggest(argument, words))
    throw Error(message, fmt::format("did you mean the word `{}` of the language?", *near));
  throw Error(message,
              "`vphi new` writes a model to start from; docs/models.md lists the shipped ones");
}

}  // namespace vphi::embed
