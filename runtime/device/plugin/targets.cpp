#include "runtime/device/plugin/targets.hpp"

#include <llvm/Support/TargetSelect.h>

#include <mutex>

namespace vphi::plugin {

void register_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

}  // namespace vphi::plugin
