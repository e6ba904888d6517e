#include "runtime/device/plugin/guard.hpp"

#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>

#include <mutex>

namespace vphi::plugin {
namespace {

constexpr unsigned kStack = 64u << 20;  // clang recurses over expressions

thread_local std::string* fatal_text = nullptr;

void on_fatal_error(void*, const char* reason, bool) {
  if (fatal_text) *fatal_text = reason;
  // Jumps back to RunSafely; without a guard on this thread LLVM goes on to end the process.
  if (auto* recovery = llvm::CrashRecoveryContext::GetCurrent()) recovery->HandleExit(70);
}

}  // namespace

bool guarded(void (*body)(void*), void* user, std::string* why) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::CrashRecoveryContext::Enable();
    llvm::install_fatal_error_handler(on_fatal_error);
  });
  std::string fatal;
  llvm::CrashRecoveryContext recovery;
  const bool whole = recovery.RunSafelyOnThread(
      [&] {
        fatal_text = &fatal;
        body(user);
        fatal_text = nullptr;
      },
      kStack);
  if (!whole && why)
    *why = fatal.empty()
               ? "LLVM crashed (signal or exit code " + std::to_string(recovery.RetCode) + ")"
               : "LLVM: " + fatal;
  return whole;
}

}  // namespace vphi::plugin
