#include "tools/commands/portable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "program/json.hpp"
#include "runtime/device/sha256.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/session.hpp"
#include "tools/running/resume.hpp"

namespace vphi::tools {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using program::Target;
using runtime::RunError;

namespace {

constexpr int kFormat = 1;  ///< of what stands around the program; that has a format of its own
constexpr const char* kAgain = "`vphi emit MODEL --to program -o FILE` makes it again";

/// "cuda", "opencl on an NVIDIA GPU".
std::string device_text(Target target, bool is_cpu, bool nvidia) {
  std::string text = name_of(target);
  if (target == Target::OpenCL)
    text += is_cpu ? " on a processor" : nvidia ? " on an NVIDIA GPU" : " on a GPU";
  return text;
}

/// The options that a program is made with, the size of its batches among them.
std::vector<std::pair<std::string, std::string>> whole_call_of(const ModelOptions& options) {
  auto call = call_of(options);
  if (options.batch > 0) call.emplace_back("--batch", std::to_string(options.batch));
  return call;
}

std::string checksum(const Json& all) {
  Json rest = all;
  rest.erase("sha256");
  return runtime::hex(runtime::sha256(rest.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

/// Every file that a program reads.
template <class Change>
void for_each_file(program::Program& program, const Change& change) {
  for (program::Buffer& buffer : program.buffers)
    if (!buffer.file.empty()) change(buffer.file);
  for (program::RandomField& random : program.random)
    if (random.kind == program::RandomField::Kind::File ||
        random.kind == program::RandomField::Kind::Link)
      change(random.file);
}

/// "path:set" and "path:column" name a part of the file; a name may hold colons itself.
bool is_there(std::string name) {
  std::error_code error;
  for (;;) {
    if (fs::is_regular_file(name, error)) return true;
    const auto colon = name.rfind(':');
    if (colon == std::string::npos) return false;
    name.resize(colon);
  }
}

[[noreturn]] void no_program(const std::string& path, const std::string& what,
                             const std::string& hint = kAgain) {
  throw RunError("E0840", fmt::format("{} {}", path, what), hint);
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) no_program(path, "cannot be read", "is it a file that you may read?");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The object in the file; throws where its format is unknown or its checksum is wrong.
Json sound_object(const std::string& path) {
  const Json all = Json::parse(text_of(path), nullptr, false);
  if (all.is_discarded()) no_program(path, "is no program file, or is cut off: it is not JSON");
  if (!all.is_object() || !all.contains("vphi_portable")) {
    if (all.is_object() && all.contains("vphi_program"))
      no_program(path, "is what `--to json` writes, a program to read and not one to run",
                 "`vphi emit MODEL --to program -o FILE` writes one to run");
    no_program(path, "is JSON, but not a program file",
               "`vphi emit MODEL --to program -o FILE` writes one");
  }
  if (all["vphi_portable"] != kFormat)
    no_program(path,
               fmt::format("has format {} of program files, and this vphi reads format {}",
                           all["vphi_portable"].dump(), kFormat),
               "`vphi emit MODEL --to program -o FILE` of this vphi makes it again");
  if (!all.contains("sha256") || all["sha256"] != checksum(all))
    no_program(path, "was damaged or changed: its checksum is wrong");
  return all;
}

}  // namespace

bool is_program_file(const std::string& path) {
  if (path.ends_with(".json")) return true;
  std::ifstream in(path, std::ios::binary);
  char first = ' ';
  return in >> first && first == '{';
}

std::string portable_text(const Compilation& compilation, const emit::TargetInfo& made_for,
                          const std::string& model, const ModelOptions& options,
                          const fs::path& folder) {
  program::Program program = *compilation.program;
  for_each_file(program, [&](std::string& file) {
    if (folder.empty()) return;
    const std::string near = fs::path(file).lexically_relative(folder).string();
    if (!near.empty() && !near.starts_with("..")) file = near;
  });
  const RunIdentity identity = identity_of(model, options);
  Json all = {{"vphi_portable", kFormat},
              {"vphi", VPHI_VERSION},
              {"model", identity.model},
              {"device",
               {{"kind", name_of(made_for.target)},
                {"is_cpu", made_for.is_cpu},
                {"nvidia", made_for.nvidia},
                {"compute_units", made_for.compute_units},
                {"local_bytes", made_for.local_bytes}}},
              {"call", whole_call_of(options)},
              {"physics", identity.physics},
              {"options", identity.options},
              {"notes", notes_for_results(compilation)},
              {"endless", endless(compilation)},
              {"program", Json::parse(program::to_json(program, -1))}};
  all["sha256"] = checksum(all);
  return all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

PortableProgram read_portable(const std::string& path) {
  const Json all = sound_object(path);
  PortableProgram made;
  made.path = path;
  try {
    made.program = program::from_json(all.at("program").dump());
    const Json& device = all.at("device");
    made.made_for.target = made.program.target;
    device.at("is_cpu").get_to(made.made_for.is_cpu);
    device.at("nvidia").get_to(made.made_for.nvidia);
    device.at("compute_units").get_to(made.made_for.compute_units);
    device.at("local_bytes").get_to(made.made_for.local_bytes);
    all.at("call").get_to(made.call);
    all.at("notes").get_to(made.notes);
    all.at("endless").get_to(made.endless);
    made.identity = {made.program.model, fs::absolute(path).lexically_normal().string(),
                     all.at("physics"), all.at("options").get<std::vector<std::string>>()};
  } catch (const program::ProgramError& error) {
    no_program(path, fmt::format("is no program for this vphi: {}", error.what()));
  } catch (const Json::exception& error) {
    no_program(path, fmt::format("is no program for this vphi: {}", error.what()));
  }
  const fs::path folder = fs::absolute(path).parent_path();
  for_each_file(made.program, [&](std::string& file) {
    file = (folder / file).lexically_normal().string();
    if (!is_there(file))
      throw RunError("E0841", fmt::format("{} reads {}, which is not here", path, file),
                     "put it there; files below the folder of the program file move with it, so "
                     "`vphi emit MODEL --to program -o FOLDER/FILE` beside them makes one that can "
                     "be copied");
  });
  return made;
}

std::string device_of(const PortableProgram& portable, const std::string& asked) {
  const emit::TargetInfo& made = portable.made_for;
  const std::string kind = name_of(made.target);
  if (asked == "auto") {
    if (made.target == Target::OpenCL)
      for (const runtime::DeviceInfo& device : runtime::list_devices())
        if (device.target == made.target && device.is_cpu == made.is_cpu &&
            device.nvidia == made.nvidia)
          return device.id;
    return kind;
  }
  if (asked.substr(0, asked.find(':')) != kind)
    throw RunError(
        "E0803",
        fmt::format("{} was made for {}, not for {}", portable.path,
                    device_text(made.target, made.is_cpu, made.nvidia), asked),
        fmt::format("`vphi emit MODEL --to program --device {}` makes one for it, or run "
                    "this one without --device",
                    asked));
  return asked;
}

std::vector<std::string> check_device(const PortableProgram& portable,
                                      const runtime::DeviceInfo& device) {
  const emit::TargetInfo& made = portable.made_for;
  const program::Program& program = portable.program;
  const std::string again =
      fmt::format("`vphi emit MODEL --to program --device {}` there makes one for it", device.id);
  const bool other = device.target != made.target ||
                     (made.target == Target::OpenCL &&
                      (device.is_cpu != made.is_cpu || device.nvidia != made.nvidia));
  if (other)
    throw RunError("E0803",
                   fmt::format("{} was made for {}, and {} is {}", portable.path,
                               device_text(made.target, made.is_cpu, made.nvidia), device.name,
                               device_text(device.target, device.is_cpu, device.nvidia)),
                   again);
  for (const program::Kernel& kernel : program.kernels) {
    if (made.target != Target::Native && kernel.shared_bytes > device.local_bytes)
      throw RunError(
          "E0803",
          fmt::format("kernel {} of {} takes {} bytes of local memory, and {} has {}", kernel.name,
                      portable.path, kernel.shared_bytes, device.name, device.local_bytes),
          again);
    if (kernel.together && device.compute_units < made.compute_units)
      throw RunError("E0803",
                     fmt::format("kernel {} of {} needs {} multiprocessors at once, and {} has {}",
                                 kernel.name, portable.path, made.compute_units, device.name,
                                 device.compute_units),
                     again);
  }
  const std::int64_t most = runtime::largest_batch(program, device.memory_free);
  if (program.instances > 1 && device.memory_free > 0 && most < program.instances)
    throw RunError("E0802",
                   fmt::format("{} takes {} instances of its sweep at once, and {} are what the "
                               "memory of {} holds",
                               portable.path, program.instances, most, device.name),
                   fmt::format("`vphi emit MODEL --to program --batch {}` makes one that fits",
                               std::max<std::int64_t>(1, most)));
  std::vector<std::string> notes;
  if (device.compute_units != made.compute_units)
    notes.push_back(fmt::format(
        "{} was made for {} compute units and {} has {}: what is compiled here differs from it in "
        "speed, and in results by rounding",
        portable.path, made.compute_units, device.name, device.compute_units));
  if (program.compiler_version != VPHI_VERSION)
    notes.push_back(fmt::format("{} was made by vphi {}, and this is {}", portable.path,
                                program.compiler_version, VPHI_VERSION));
  return notes;
}

void refuse_model_options(const ModelOptions& given, const std::string& path) {
  const auto call = whole_call_of(given);
  if (call.empty()) return;
  const std::string option = call[0].first + " " + call[0].second;
  throw UsageError(
      fmt::format("`{}` would change the program, and {} is compiled already", option, path),
      fmt::format("`vphi emit MODEL --to program {} -o FILE` makes one with it", option));
}

}  // namespace vphi::tools
