// A changed copy of a model's text in a folder of its own, for checks that run the model otherwise
// than it stands. The user's folder is left as it is, and may be one that nobody can write to.
//
// Names of files that are read, `table("eos.txt", ...)` and `file("start.h5:phi")`, mean the folder
// of the model; in the copy they are absolute. The copy is removed at the end of its life.
#pragma once

#include <string>
#include <vector>

#include "dsl/syntax/ast.hpp"
#include "runtime/device/native/process.hpp"

namespace vphi::tools {

/// What stands from `begin` up to `end` becomes `text`.
struct Edit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

class ModelCopy {
 public:
  /// `edits` in any order, none within another, none of a name of a file; `more`: lines at the end.
  explicit ModelCopy(const dsl::ModelText& model, std::vector<Edit> edits = {},
                     const std::string& more = {});
  const std::string& path() const { return path_; }

 private:
  runtime::TemporaryFolder folder_;
  std::string path_;
};

}  // namespace vphi::tools
