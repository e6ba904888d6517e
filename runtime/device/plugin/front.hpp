// One run of clang's front end over virtual files; shared by compilation and audit.
#pragma once

#include <clang/Frontend/FrontendAction.h>
#include <llvm/ADT/SmallVector.h>

#include <string>
#include <utility>
#include <vector>

namespace vphi::plugin {

struct FrontEnd {
  std::vector<std::string> arguments;                      ///< of cc1, the source's name last
  std::vector<std::pair<std::string, std::string>> files;  ///< path and text
  llvm::SmallVectorImpl<char>* output = nullptr;           ///< of actions that write
};

/// False where the arguments or the source have errors; `log` then holds clang's diagnostics.
bool run(const FrontEnd& job, clang::FrontendAction& action, std::string& log);

}  // namespace vphi::plugin
