// Reading model files and the library texts.
//
// The texts of models/std are part of the program; the environment variable VPHI_STD names a
// folder that is read instead. Can fail: a file that is missing, cannot be read, or is not a
// text; a `--set` of a name that is not a parameter.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/resolve.hpp"
#include "dsl/syntax/ast.hpp"

namespace vphi::dsl {

/// Parses the file at `path`. The result always has a source, empty where reading failed.
ModelText load_model(const std::string& path, Diagnostics& diagnostics);

/// The library texts, file numbers from 1 on.
std::vector<ModelText> load_library(Diagnostics& diagnostics);

/// `--set NAME=EXPR`: replaces the value of a param, or the values of a swept name; a single value
/// picks one instance along that axis. The texts of the new values get file numbers
/// behind the library's; they are appended to `library` so that messages can show them.
void apply_overrides(ModelText& model, std::vector<ModelText>& library,
                     const std::vector<std::pair<std::string, std::string>>& set,
                     Diagnostics& diagnostics);

/// `--until EXPR`: replaces the `until` of the model's `evolve`, or gives it one, so that it is
/// read and checked like a line of the model. Without an `evolve` it is only added to
/// `library`.
void apply_end(ModelText& model, std::vector<ModelText>& library, const std::string& until,
               Diagnostics& diagnostics);

/// A text from the command line, shown in messages as `name`: `--lattice`. Gets a file number
/// behind those of `library`, to which it is appended.
std::shared_ptr<const Source> add_text(std::vector<ModelText>& library, const std::string& name,
                                       const std::string& text);

}  // namespace vphi::dsl
