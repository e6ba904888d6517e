// A changed copy of a model's text in a temporary folder, for checks that run a variant of the
// model. The folder of the model is not changed and may be read-only.
//
// Names of files that the model reads, `table("eos.txt", ...)` and `file("start.h5:phi")`, are
// relative to the folder of the model; in the copy they are absolute. The destructor removes the
// copy.
#pragma once

#include <string>
#include <vector>

#include "dsl/syntax/ast.hpp"
#include "runtime/device/native/process.hpp"

namespace vphi::tools {

/// Replaces the text from `begin` up to `end` by `text`.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

class ModelCopy {
 public:
  /// `edits`: in any order, without overlap, and not of file names. `more`: lines added at the end.
  explicit ModelCopy(const dsl::ModelText& model, std::vector<Edit> edits = {},
                     const std::string& more = {});
  const std::string& path() const { return path_; }

 private:
  runtime::TemporaryFolder folder_;
  std::string path_;
};

}  // namespace vphi::tools
