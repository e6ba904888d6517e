// Loads object files as code of this process, by ORC. Each object has its own symbol table and sees
// libm, libmvec and the C library alone.
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <mutex>

#include "runtime/device/plugin/guard.hpp"
#include "runtime/device/plugin/targets.hpp"

namespace {

namespace orc = llvm::orc;

struct Session {
  std::unique_ptr<orc::LLJIT> jit;
  orc::JITDylib* libraries = nullptr;
  std::string error;
  std::mutex lock;
  std::string reports;  ///< messages of ORC besides its errors: which symbol is missing

  std::string take_reports() {
    const std::scoped_lock guard(lock);
    return std::exchange(reports, {});
  }
};

void open_session(Session& session) {
  vphi::plugin::register_targets();
  // The generic platform would compile support code at every start; kernels have no constructors.
  auto jit = orc::LLJITBuilder().setPlatformSetUp(orc::setUpInactivePlatform).create();
  if (!jit) {
    session.error = llvm::toString(jit.takeError());
    return;
  }
  session.jit = std::move(*jit);
  session.jit->getExecutionSession().setErrorReporter([&session](llvm::Error error) {
    const std::scoped_lock guard(session.lock);
    session.reports += "\n" + llvm::toString(std::move(error));
  });
  auto library = session.jit->createJITDylib("libraries");
  if (!library) {
    session.error = llvm::toString(library.takeError());
    return;
  }
  session.libraries = &*library;
  const char prefix = session.jit->getDataLayout().getGlobalPrefix();
  for (const char* name : {"libmvec.so.1", "libm.so.6", "libc.so.6"}) {
    auto generator = orc::DynamicLibrarySearchGenerator::Load(name, prefix);
    if (generator)
      session.libraries->addGenerator(std::move(*generator));
    else
      llvm::consumeError(generator.takeError());  // no libmvec outside glibc and x86-64, aarch64
  }
}

// Never destroyed: code may run until the process ends, after the destructors of statics.
Session& session() {
  static Session& one = []() -> Session& {
    auto made = std::make_unique<Session>();
    open_session(*made);
    return *made.release();
  }();
  return one;
}

std::string unique_name() {
  static std::atomic<unsigned> next{0};
  return "kernel" + std::to_string(next++);
}

}  // namespace

struct VphiCode {
  orc::JITDylib* dylib = nullptr;
};

namespace {

struct Job {
  llvm::StringRef object;
  VphiCode* code = nullptr;
  std::string error;

  void operator()() {
    Session& s = session();
    if (!s.jit || !s.libraries) {
      error = s.error;
      return;
    }
    auto dylib = s.jit->createJITDylib(unique_name());
    if (!dylib) {
      error = llvm::toString(dylib.takeError());
      return;
    }
    dylib->addToLinkOrder(*s.libraries);
    auto problem =
        s.jit->addObjectFile(*dylib, llvm::MemoryBuffer::getMemBufferCopy(object, "kernel"));
    if (problem) {
      error = llvm::toString(std::move(problem));
      llvm::consumeError(s.jit->getExecutionSession().removeJITDylib(*dylib));
      return;
    }
    code = std::make_unique<VphiCode>(VphiCode{&*dylib}).release();
  }
};

struct Lookup {
  orc::JITDylib* dylib;
  const char* name;
  void* address = nullptr;
  std::string error;

  void operator()() {
    auto found = session().jit->lookup(*dylib, name);
    if (found)
      address = found->toPtr<void*>();
    else
      error = llvm::toString(found.takeError()) + session().take_reports();
  }
};

}  // namespace

extern "C" {

VphiCode* vphi_plugin_load(const char* object, std::size_t size, VphiText* log) {
  Job job{llvm::StringRef(object, size), nullptr, {}};
  std::string crash;
  const bool whole = vphi::plugin::guarded(job, &crash);
  if (whole && job.code) return job.code;
  *log = vphi::plugin::own(whole ? job.error : crash);
  return nullptr;
}

void* vphi_plugin_symbol(VphiCode* code, const char* name, VphiText* log) {
  Lookup lookup{code->dylib, name, nullptr, {}};
  std::string crash;
  const bool whole = vphi::plugin::guarded(lookup, &crash);
  if (whole && lookup.address) return lookup.address;
  *log = vphi::plugin::own(whole ? lookup.error : crash);
  return nullptr;
}

void vphi_plugin_unload(VphiCode* code) {
  const std::unique_ptr<VphiCode> owner(code);
  if (auto error = session().jit->getExecutionSession().removeJITDylib(*owner->dylib))
    llvm::consumeError(std::move(error));
}
}
