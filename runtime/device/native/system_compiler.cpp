#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "runtime/device/library.hpp"
#include "runtime/device/native/host_compiler.hpp"
#include "runtime/device/native/process.hpp"

namespace vphi::runtime {
namespace {

// GCC takes vector versions of the functions of libm only from declarations that promise them;
// glibc's own header does so under -ffast-math alone. One list, for x86-64 and glibc.
constexpr std::string_view kVectorFunctions = R"(
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <cmath>
#ifdef __GLIBC__
extern "C" {
#define VPHI_VECTOR1(name) \
  __attribute__((simd("notinbranch"), const)) double name(double) noexcept; \
  __attribute__((simd("notinbranch"), const)) float name##f(float) noexcept;
VPHI_VECTOR1(exp) VPHI_VECTOR1(log) VPHI_VECTOR1(sin) VPHI_VECTOR1(cos)
#undef VPHI_VECTOR1
__attribute__((simd("notinbranch"), const)) double pow(double, double) noexcept;
__attribute__((simd("notinbranch"), const)) float powf(float, float) noexcept;
}
#endif
#endif
)";

/// A shared object in an anonymous file. The descriptor stays open while the library is loaded:
/// dlopen compares names, and a reused descriptor number would name an older library.
class SharedObject : public HostCode {
 public:
  explicit SharedObject(std::string_view bytes) : fd_(memfd_create("vphi-kernel", MFD_CLOEXEC)) {
    std::string why;
    bool whole = fd_ >= 0;
    while (whole && !bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      whole = n > 0;
      if (whole) bytes.remove_prefix(std::size_t(n));
    }
    if (whole)
      library_ =
          Library::open({"/proc/self/fd/" + std::to_string(fd_)}, Library::Close::AtEnd, &why);
    if (library_) return;
    if (fd_ >= 0) ::close(fd_);
    throw DeviceError("Compiled code could not be loaded into the process.", why);
  }
  ~SharedObject() override {
    library_.reset();
    ::close(fd_);
  }
  void* symbol(const std::string& name) const override { return library_->symbol(name.c_str()); }

 private:
  int fd_;
  std::optional<Library> library_;
};

class SystemCompiler : public HostCompiler {
 public:
  SystemCompiler(std::string command, std::string version)
      : command_(std::move(command)), version_(std::move(version)) {
    flags_ = {"-std=c++20",
              "-O3",
              "-march=native",
              "-fno-math-errno",
              "-fno-trapping-math",
              "-fPIC",
              "-shared",
              "-fno-semantic-interposition",
              "-fno-exceptions",
              "-fno-rtti",
              "-w"};
    if (has_avx512()) flags_.push_back("-mprefer-vector-width=512");
  }

  std::string name() const override { return version_ + " (" + command_ + ")"; }

  std::string identity() const override {
    std::ostringstream all;
    all << "system|" << command_ << "|" << version_ << "|" << processor_identity() << "|"
        << kVectorFunctions;
    for (const std::string& flag : flags_) all << "|" << flag;
    return all.str();
  }

  std::string compile(const std::string& source, bool contract) const override {
    const TemporaryFolder folder;
    const std::string in = folder.path() + "/kernel.cpp", out = folder.path() + "/kernel.so";
    std::ofstream file(in, std::ios::binary);
    file << kVectorFunctions << "#line 1 \"kernel\"\n" << source;
    file.close();
    if (folder.path().empty() || !file)
      throw DeviceError(
          "No temporary file could be written for the C++ compiler; set TMPDIR to a "
          "folder with free space.");
    std::vector<std::string> call{command_};
    call.insert(call.end(), flags_.begin(), flags_.end());
    if (source.starts_with("// vphi: long\n") || source.ends_with("// vphi: seldom\n"))
      call.push_back("-O1");  // see host_compiler.hpp
    const bool within = source.find("// vphi: contract=expression") != std::string::npos;
    call.push_back(!contract ? "-ffp-contract=off"
                   : within  ? "-ffp-contract=on"
                             : "-ffp-contract=fast");
    call.insert(call.end(), {"-o", out, in, "-lm"});
    const ProcessResult result = run_process(call);
    std::ifstream object(out, std::ios::binary);
    if (result.status != 0 || !object)
      throw DeviceError("The C++ compiler " + command_ + " did not accept a generated kernel.",
                        result.output);
    std::ostringstream bytes;
    bytes << object.rdbuf();
    return bytes.str();
  }

  std::unique_ptr<HostCode> load(std::string_view object) const override {
    return std::make_unique<SharedObject>(object);
  }

 private:
  std::string command_, version_;
  std::vector<std::string> flags_;
};

}  // namespace

std::unique_ptr<HostCompiler> open_system_compiler(std::string* why) {
  std::vector<std::string> commands;
  if (const char* own = std::getenv("VPHI_CXX"); own && *own)
    commands = {own};
  else
    commands = {"c++", "g++", "clang++"};
  for (const std::string& command : commands) {
    const ProcessResult result = run_process({command, "--version"});
    if (result.status == 0)
      return std::make_unique<SystemCompiler>(command,
                                              result.output.substr(0, result.output.find('\n')));
  }
  if (why) *why = "no C++ compiler (" + commands.front() + ") answers: apt-get install g++";
  return nullptr;
}

}  // namespace vphi::runtime
