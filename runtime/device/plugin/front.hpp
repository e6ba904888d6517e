// One run of clang's front end on virtual files, for compilation and audit.
#pragma once

#include <clang/Frontend/FrontendAction.h>
#include <llvm/ADT/SmallVector.h>

#include <string>
#include <utility>
#include <vector>

namespace vphi::plugin {

struct FrontEnd {
  /// Arguments of cc1, the name of the source last.
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> files;  ///< path and text
  llvm::SmallVectorImpl<char>* output = nullptr;           ///< output of actions that write
};

/// False where the arguments or the source have errors; `log` then holds clang's diagnostics.
bool run(const FrontEnd& job, clang::FrontendAction& action, std::string& log);

}  // namespace vphi::plugin
