// Reads models, from files or as texts, and the texts of the library.
//
// The texts of models/std are embedded in the program; the environment variable VPHI_STD names a
// folder that is read instead. Can fail: a file that is missing, cannot be read, or is no text; a
// `--set` of a name that is no parameter.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/resolve.hpp"
#include "dsl/syntax/ast.hpp"

namespace vphi::dsl {

/// A model as it is given: a file, or its text under a name.
struct ModelSource {
  ModelSource(const char* path) : name(path) {}
  ModelSource(std::string path) : name(std::move(path)) {}
  /// Messages show `name`. Tables and files that the text reads are in the folder at the beginning
  /// of the name, as if it were the path of a file ("runs/cell": in `runs`).
  static ModelSource of_text(std::string name, std::string text) {
    ModelSource source(std::move(name));
    source.text = std::move(text);
    return source;
  }

  std::string name;
  std::optional<std::string> text;  ///< none: the file at `name`
};

/// Parses the model. The result always has a source, empty where reading failed.
ModelText load_model(const ModelSource& model, Diagnostics& diagnostics);

/// The library texts, file numbers from 1 on.
std::vector<ModelText> load_library(Diagnostics& diagnostics);

/// `--set NAME=EXPR`: replaces the value of a param, or the values of a swept name; a single value
/// selects one instance along that axis. The texts of the new values are appended to `library`,
/// with file numbers after the others, so that messages can show them.
void apply_overrides(ModelText& model, std::vector<ModelText>& library,
                     const std::vector<std::pair<std::string, std::string>>& set,
                     Diagnostics& diagnostics);

/// Makes params with these names axes of a sweep with one value, which is not folded into constants
/// (CompileOptions::free).
void apply_free(ModelText& model, const std::vector<std::string>& names, Diagnostics& diagnostics);

/// `--until EXPR`: replaces or adds `until` in the model's `evolve`, so that it is read and checked
/// as a line of the model. Without an `evolve` it is only added to `library`.
void apply_end(ModelText& model, std::vector<ModelText>& library, const std::string& until,
               Diagnostics& diagnostics);

/// Adds a text from the command line, which messages show as `name` ("--lattice"). It is appended
/// to `library` and gets the next file number.
std::shared_ptr<const Source> add_text(std::vector<ModelText>& library, const std::string& name,
                                       const std::string& text);

}  // namespace vphi::dsl
