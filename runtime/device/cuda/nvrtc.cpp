#include "runtime/device/cuda/nvrtc.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "runtime/device/device.hpp"
#include "runtime/device/library.hpp"
#include "runtime/device/native/host_compiler.hpp"

namespace vphi::runtime {
namespace {

// NVIDIA, NVRTC documentation, "Basic Usage": result 0 is success, programs are opaque pointers.
using Program = struct ProgramTag*;
using Result = int;
constexpr Result kCompilationError = 6;

struct Api {
  Result (*Version)(int*, int*) = nullptr;
  Result (*CreateProgram)(Program*, const char*, const char*, int, const char* const*,
                          const char* const*) = nullptr;
  Result (*DestroyProgram)(Program*) = nullptr;
  Result (*CompileProgram)(Program, int, const char* const*) = nullptr;
  Result (*GetProgramLogSize)(Program, std::size_t*) = nullptr;
  Result (*GetProgramLog)(Program, char*) = nullptr;
  Result (*GetCUBINSize)(Program, std::size_t*) = nullptr;
  Result (*GetCUBIN)(Program, char*) = nullptr;
  Result (*GetPTXSize)(Program, std::size_t*) = nullptr;
  Result (*GetPTX)(Program, char*) = nullptr;
  Result (*GetNumSupportedArchs)(int*) = nullptr;
  Result (*GetSupportedArchs)(int*) = nullptr;
  const char* (*GetErrorString)(Result) = nullptr;
};

struct Loaded {
  Api api;
  std::string version, why;
  std::vector<int> architectures;
};

bool bind_all(const Library& library, Api& api) {
  return library.bind(api.Version, "nvrtcVersion") &&
         library.bind(api.CreateProgram, "nvrtcCreateProgram") &&
         library.bind(api.DestroyProgram, "nvrtcDestroyProgram") &&
         library.bind(api.CompileProgram, "nvrtcCompileProgram") &&
         library.bind(api.GetProgramLogSize, "nvrtcGetProgramLogSize") &&
         library.bind(api.GetProgramLog, "nvrtcGetProgramLog") &&
         library.bind(api.GetCUBINSize, "nvrtcGetCUBINSize") &&
         library.bind(api.GetCUBIN, "nvrtcGetCUBIN") &&
         library.bind(api.GetPTXSize, "nvrtcGetPTXSize") &&
         library.bind(api.GetPTX, "nvrtcGetPTX") &&
         library.bind(api.GetNumSupportedArchs, "nvrtcGetNumSupportedArchs") &&
         library.bind(api.GetSupportedArchs, "nvrtcGetSupportedArchs") &&
         library.bind(api.GetErrorString, "nvrtcGetErrorString");
}

Loaded load() {
  Loaded result;
  for (const std::string& name : cuda_library_files({"libnvrtc.so.13", "libnvrtc.so.12"})) {
    const auto library = Library::open({name}, Library::Close::Never, &result.why);
    if (!library || !bind_all(*library, result.api)) continue;
    int major = 0, minor = 0, count = 0;
    if (result.api.Version(&major, &minor) != 0) continue;
    if (result.api.GetNumSupportedArchs(&count) == 0 && count > 0) {
      result.architectures.resize(std::size_t(count));
      result.api.GetSupportedArchs(result.architectures.data());
      std::sort(result.architectures.begin(), result.architectures.end());
    }
    // The version has two numbers only; size tells patch releases apart in the cache's key.
    std::error_code ignored;
    const std::string file = library->path();
    const auto size = std::filesystem::file_size(file, ignored);
    result.version = "NVRTC " + std::to_string(major) + "." + std::to_string(minor) + " (" + file +
                     (ignored ? "" : ", " + std::to_string(size) + " bytes") + ")";
    return result;
  }
  result.why =
      "NVIDIA's run-time compiler is missing: install the package cuda-nvrtc-13-0 (or "
      "cuda-nvrtc-12-X) from NVIDIA's repository, or nvidia-cuda-nvrtc beside the Python package, "
      "or set CUDA_HOME\n" +
      result.why;
  return result;
}

const Loaded& nvrtc() {
  static const Loaded loaded = load();
  return loaded;
}

/// One program under compilation.
class Compilation {
 public:
  explicit Compilation(const Api& api, const std::string& source) : api_(api) {
    const Result code =
        api_.CreateProgram(&program_, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
    if (code != 0) fail("take source", code);
  }
  ~Compilation() {
    if (program_) api_.DestroyProgram(&program_);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  Result compile(const std::vector<std::string>& options) {
    std::vector<const char*> list;
    for (const std::string& option : options) list.push_back(option.c_str());
    return api_.CompileProgram(program_, int(list.size()), list.data());
  }
  std::string log() const { return text(api_.GetProgramLogSize, api_.GetProgramLog); }
  std::string cubin() const { return text(api_.GetCUBINSize, api_.GetCUBIN); }
  std::string ptx() const { return text(api_.GetPTXSize, api_.GetPTX); }

  [[noreturn]] void fail(const std::string& what, Result code) const {
    throw DeviceError("NVIDIA's compiler failed to " + what + " (" + api_.GetErrorString(code) +
                      ").");
  }

 private:
  std::string text(Result (*size_of)(Program, std::size_t*), Result (*get)(Program, char*)) const {
    std::size_t size = 0;
    if (size_of(program_, &size) != 0 || size == 0) return {};
    std::string bytes(size, '\0');
    if (get(program_, bytes.data()) != 0) return {};
    return bytes;
  }
  const Api& api_;
  Program program_ = nullptr;
};

}  // namespace

std::vector<std::string> cuda_package_folders(const std::string& package) {
  std::vector<std::string> folders;
  std::error_code error;
  const auto nvidia = std::filesystem::path(package).parent_path() / "nvidia";
  for (std::filesystem::directory_iterator it(nvidia, error), end; !error && it != end;
       it.increment(error))
    if (std::filesystem::is_directory(it->path() / "lib", error))
      folders.push_back((it->path() / "lib").string() + "/");
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::string> cuda_library_files(std::initializer_list<const char*> names) {
  std::vector<std::string> folders{""};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable); value && *value)
      folders.push_back(std::string(value) + "/lib64/");
  folders.push_back("/usr/local/cuda/lib64/");
  folders.push_back("/usr/local/cuda/targets/x86_64-linux/lib/");
  for (std::string& folder : cuda_package_folders(program_folder()))
    folders.push_back(std::move(folder));
  std::vector<std::string> files;
  for (const char* name : names)
    for (const std::string& folder : folders) files.push_back(folder + name);
  return files;
}

std::string nvrtc_version(std::string* why) {
  if (why) *why = nvrtc().why;
  return nvrtc().version;
}

std::string nvrtc_more_options() {
  const char* more = std::getenv("VPHI_NVRTC_OPTIONS");
  return more ? more : "";
}

std::string nvrtc_compile(const std::string& source, const std::string& arch, std::string* log) {
  if (nvrtc().version.empty())
    throw DeviceError(
        "CUDA source cannot be compiled: NVRTC is not installed (package "
        "cuda-nvrtc-13-0 of NVIDIA's repository, or set CUDA_HOME).",
        nvrtc().why);
  Compilation compilation(nvrtc().api, source);
  std::vector<std::string> options{"--gpu-architecture=" + arch, "--std=c++17", "-default-device",
                                   contraction_allowed(source) ? "--fmad=true" : "--fmad=false",
                                   "--ptxas-options=-v"};
  std::istringstream more(nvrtc_more_options());
  for (std::string option; more >> option;) options.push_back(option);
  const Result code = compilation.compile(options);
  std::string text = compilation.log();
  while (!text.empty() && text.back() == '\0') text.pop_back();
  if (log) *log = text;
  if (code == kCompilationError)
    throw DeviceError("NVIDIA's compiler did not accept a generated kernel.", text);
  if (code != 0) compilation.fail("compile for " + arch, code);
  std::string bytes = arch.starts_with("sm_") ? compilation.cubin() : compilation.ptx();
  if (bytes.empty()) throw DeviceError("NVIDIA's compiler gave no code for " + arch + ".", text);
  return bytes;
}

std::string nvrtc_architecture(int major, int minor) {
  const int wanted = 10 * major + minor;
  const auto& known = nvrtc().architectures;
  if (known.empty() || std::binary_search(known.begin(), known.end(), wanted))
    return "sm_" + std::to_string(wanted);
  const auto above = std::upper_bound(known.begin(), known.end(), wanted);
  return "compute_" + std::to_string(above == known.begin() ? wanted : *std::prev(above));
}

}  // namespace vphi::runtime
