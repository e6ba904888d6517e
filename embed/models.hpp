// Where models lie: a path, a file with ".vphi" behind its name, or a shipped model by name.
//
// Shipped models are looked for in $VPHI_MODELS, then in the folder that `set_models_folder` has
// named, beside the program, and in the tree that it was built in. Throws Error (E0810).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vphi::embed {

/// A folder of shipped models that lies beside whoever embeds vphi; for the whole process.
void set_models_folder(const std::string& folder);

/// The file for an argument: a path, or the name of a shipped model ("preheating"). Nothing where
/// there is no such file.
std::optional<std::string> try_model(const std::string& argument);
/// The same, but throws Error with a suggestion where there is none: a file of the folder, a
/// shipped model, or one of `words`.
std::string find_model(const std::string& argument, const std::vector<std::string>& words = {});
/// Name and path of each shipped model, by name.
std::vector<std::pair<std::string, std::string>> shipped_models();

}  // namespace vphi::embed
