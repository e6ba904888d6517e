// Compiles C++ source to an object file, by clang in this process. No file of the disk is read or
// written: the source and the few headers it may include are virtual.
#include <clang/Basic/Version.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <vector>

#include "runtime/device/plugin/front.hpp"
#include "runtime/device/plugin/guard.hpp"
#include "runtime/device/plugin/headers.hpp"
#include "runtime/device/plugin/targets.hpp"

namespace {

using Strings = std::vector<std::string>;

Strings features() {
  Strings list;
#if LLVM_VERSION_MAJOR >= 19
  const auto map = llvm::sys::getHostCPUFeatures();
#else
  llvm::StringMap<bool> map;
  llvm::sys::getHostCPUFeatures(map);
#endif
  bool wide = false;
  for (const auto& feature : map) {
    list.push_back((feature.second ? "+" : "-") + feature.first().str());
    wide = wide || (feature.second && feature.first() == "avx512f");
  }
  std::sort(list.begin(), list.end());
  if (wide) list.push_back("512");  // see arguments()
  return list;
}

/// `quickly`: -O1, for a kernel that runs now and then, and for one of thousands of operations,
/// where -O2 took a third longer and gave the same instructions but for their order. Otherwise -O2:
/// for stencil sweeps -O3 gave no faster code (2.36 ns a site against 2.20) and took half as long
/// again to compile. 512-bit vectors (`wide`) gave 12 % there. Loops that ask for vectors get them
/// in both. `contract`: "fast", "on" (within an expression, so that its bits do not depend on what
/// stands around it) or "off".
Strings arguments(const char* contract, bool quickly, bool wide) {
  Strings list{"-triple",
               llvm::sys::getProcessTriple(),
               "-emit-obj",
               "-x",
               "c++",
               "-std=c++20",
               quickly ? "-O1" : "-O2",
               "-w",
               "-discard-value-names",  // 4 % of the time; the code is the same
               "-mrelocation-model",
               "pic",
               "-pic-level",
               "2",
               "-mframe-pointer=none",
               "-fveclib=libmvec",
               "-nostdsysteminc",
               "-nobuiltininc",
               "-internal-isystem",
               "/vphi/include",
               std::string("-ffp-contract=") + contract,
               "-target-cpu",
               llvm::sys::getHostCPUName().str()};
  for (const std::string& feature : features()) {
    if (feature == "512") {
      if (wide) list.push_back("-mprefer-vector-width=512");
    } else {
      list.push_back("-target-feature");
      list.push_back(feature);
    }
  }
  if (!quickly) list.insert(list.end(), {"-vectorize-loops", "-vectorize-slp"});
  list.push_back("/vphi/kernel.cpp");
  return list;
}

/// Whether it calls a function of the vector library, of which the compiler knows vectors of at
/// most 256 bits. In wider ones it calls the function once for each number: a recovery with 22
/// powers took three times as long.
bool calls_functions(llvm::StringRef source) {
  for (const char* name : {"pow", "exp", "log", "sin", "cos"})
    for (const char* kind : {"(", "f("})
      if (source.contains(std::string("__builtin_") + name + kind)) return true;
  return false;
}

struct Job {
  llvm::StringRef source;
  bool contract = true;
  std::string object, log;
  bool good = false;

  void operator()() {
    vphi::plugin::register_targets();
    llvm::SmallString<0> bytes;
    const bool quickly =
        source.starts_with("// vphi: long\n") || source.rtrim().ends_with("// vphi: seldom");
    const bool within = source.contains("// vphi: contract=expression");
    Strings list = arguments(!contract ? "off"
                             : within  ? "on"
                                       : "fast",
                             quickly, !calls_functions(source));
    list.insert(list.begin(), "-disable-llvm-verifier");  // 4 % of the time; the code is the same
    const vphi::plugin::FrontEnd front{
        std::move(list), {{"/vphi/kernel.cpp", source.str()}}, &bytes};
    clang::EmitObjAction action;
    good = vphi::plugin::run(front, action, log) && !bytes.empty();
    object.assign(bytes.begin(), bytes.end());
  }
};

}  // namespace

extern "C" {

int vphi_plugin_version() { return VPHI_PLUGIN_VERSION; }

void vphi_plugin_free(VphiText text) { std::free(text.data); }

const char* vphi_plugin_compiler() { return "clang " CLANG_VERSION_STRING; }

VphiText vphi_plugin_identity() {
  std::string text = clang::getClangFullVersion();
  for (bool contract : {true, false})
    for (bool quickly : {false, true})
      for (const std::string& argument : arguments(contract ? "fast" : "off", quickly, true))
        text += "|" + argument;
  text += "|256 bits with functions";
  for (const vphi::plugin::Header& header : vphi::plugin::kHeaders) text += header.text;
  return vphi::plugin::own(text);
}

int vphi_plugin_compile(const char* source, std::size_t size, int contract, VphiText* object,
                        VphiText* log) {
  Job job{llvm::StringRef(source, size), contract != 0, {}, {}, false};
  std::string crash;
  const bool whole = vphi::plugin::guarded(job, &crash);
  if (whole && job.good) {
    *object = vphi::plugin::own(job.object);
    return 0;
  }
  // After a crash the job's strings may be half written: only the guard's text is read.
  *log = vphi::plugin::own(whole ? job.log : crash);
  return 1;
}
}
