#include "tools/model.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "dsl/messages/suggest.hpp"
#include "tools/verbs.hpp"

namespace vphi::tools {

namespace fs = std::filesystem;

namespace {

/// The folders of models: named by the environment, beside the command, in the source tree of the
/// build.
std::vector<fs::path> model_folders() {
  std::vector<fs::path> folders;
  if (const char* named = std::getenv("VPHI_MODELS")) folders.emplace_back(named);
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    for (const char* relative : {"models", "../models", "../share/vphi/models"})
      folders.push_back(command.parent_path() / relative);
  folders.emplace_back(VPHI_MODELS_FOLDER);
  return folders;
}

}  // namespace

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
    throw UsageError(fmt::format("`{}` is a folder, not a model file", argument));
  const std::string message = fmt::format("there is no model file `{}`", argument);
  const std::vector<std::string> beside = neighbours(argument);
  const std::string with_ending = argument + ".vphi";
  for (const std::string& file : {with_ending, dsl::suggest(with_ending, beside).value_or(""),
                                  dsl::suggest(argument, beside).value_or("")})
    if (std::find(beside.begin(), beside.end(), file) != beside.end())
      throw UsageError(message, fmt::format("did you mean `{}`?", file));
  std::vector<std::string> names;
  for (const auto& [name, path] : shipped_models()) names.push_back(name);
  if (const auto near = dsl::suggest(fs::path(argument).stem().string(), names))
    throw UsageError(message, fmt::format("did you mean the shipped model `{}`?", *near));
  if (const auto near = dsl::suggest(argument, words))
    throw UsageError(message, fmt::format("did you mean the word `{}` of the language?", *near));
  throw UsageError(
      message, "`vphi new` writes a model to start from; docs/models.md lists the shipped ones");
}

void ModelOptions::declare(CommandLine& line) {
  line.list("--set", "NAME=EXPR", set, "gives a parameter another value; may be repeated")
      .value("--lattice", "SHAPE", lattice, "another lattice: 64^3, 128 * 32")
      .number("--steps", "N", steps, 0, "ends after N steps")
      .value("--until", "EXPR", until, "ends when EXPR holds: 't > 16/m'")
      .choice("--precision", {"f32", "f64"}, precision, "of fields and their arithmetic")
      .value("--seed", "N", seed, "of all random numbers")
      .number("--batch", "N", batch, 1,
              "instances of a sweep at once (default: what memory holds)");
}

CompileOptions ModelOptions::compile_options() const {
  CompileOptions options;
  for (const std::string& text : set) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
      throw UsageError(fmt::format("--set takes NAME=EXPR, not `{}`", text));
    options.set.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  options.lattice = lattice;
  options.until = until;
  options.steps = steps;
  options.precision = precision;
  options.batch = batch;
  if (!seed.empty()) {
    std::uint64_t number = 0;
    const char* end = seed.data() + seed.size();
    const auto [at, error] = std::from_chars(seed.data(), end, number);
    if (error != std::errc() || at != end)
      throw UsageError(
          fmt::format("--seed takes a whole number from 0 to 2^64 - 1, not `{}`", seed));
    options.seed = number;
  }
  return options;
}

emit::TargetInfo target_of(const runtime::DeviceInfo& device) {
  emit::TargetInfo target;
  target.target = device.target;
  target.is_cpu = device.is_cpu;
  target.nvidia = device.nvidia;
  target.compute_units = device.compute_units;
  target.local_bytes = device.local_bytes;
  return target;
}

emit::TargetInfo default_target(const std::string& kind) {
  emit::TargetInfo target;
  target.target = program::target_named(kind).value_or(program::Target::Native);
  const auto is = [&](program::Target one) { return target.target == one; };
  target.is_cpu = is(program::Target::Native);
  target.nvidia = is(program::Target::Cuda);
  if (is(program::Target::OpenCL)) target.local_bytes = 48 * 1024;
  if (target.is_cpu) target.compute_units = 1;
  if (is(program::Target::Hip)) {  // an MI210
    target.compute_units = 104;
    target.local_bytes = 64 * 1024;
  }
  return target;
}

void print_error(const std::string& code, const std::string& message, const std::string& hint) {
  std::fflush(stdout);
  fmt::print(stderr, "error[{}]: {}\n", code, message);
  if (!hint.empty()) fmt::print(stderr, "   = {}\n", hint);
}

bool terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

bool report(const Compilation& compilation, std::FILE* to) {
  if (!compilation.diagnostics.all().empty()) {
    dsl::RenderOptions options;
    options.colour = terminal(to) && std::getenv("NO_COLOR") == nullptr;
    const auto text =
        dsl::render_text(compilation.diagnostics, compilation.resolved.sources(), options);
    std::fwrite(text.data(), 1, text.size(), to);
  }
  return compilation.diagnostics.has_errors();
}

bool endless(const Compilation& compilation) {
  return compilation.program && compilation.program->steps < 0 && compilation.system &&
         !compilation.system->until;
}

int refused(const Compilation& compilation, bool json) {
  if (json)
    fmt::print("{{\"ok\": false, \"diagnostics\": {}}}\n",
               dsl::render_json(compilation.diagnostics, compilation.resolved.sources()));
  return kUserError;
}

}  // namespace vphi::tools
