#include "runtime/device/plugin/front.hpp"

#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/device/plugin/headers.hpp"

namespace vphi::plugin {

bool run(const FrontEnd& job, clang::FrontendAction& action, std::string& log) {
  llvm::raw_string_ostream messages(log);
  llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(messages, options.get());
  clang::DiagnosticsEngine early(new clang::DiagnosticIDs, options, &printer, false);

  std::vector<const char*> pointers;
  for (const std::string& one : job.arguments) pointers.push_back(one.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, early)) return false;

  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> files(new llvm::vfs::InMemoryFileSystem);
  for (const auto& [path, text] : job.files)
    files->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text));
  for (const Header& header : kHeaders)
    files->addFile(std::string("/vphi/include/") + header.name, 0,
                   llvm::MemoryBuffer::getMemBuffer(header.text));

  clang::CompilerInstance instance;
  instance.setInvocation(invocation);
  instance.setVerboseOutputStream(llvm::nulls());  // "1 error generated."
  instance.createDiagnostics(&printer, false);
  instance.setFileManager(new clang::FileManager(clang::FileSystemOptions(), files));
  if (job.output)
    instance.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(*job.output));
  return instance.ExecuteAction(action) && !instance.getDiagnostics().hasErrorOccurred();
}

}  // namespace vphi::plugin
