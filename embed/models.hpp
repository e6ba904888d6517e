// Finds models: by a path, by a path without ".vphi", or a shipped model by name.
//
// Shipped models are searched in $VPHI_MODELS, then in the folder of `set_models_folder`, beside
// the program, and in the source tree of its build. Throws Error (E0810).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vphi::embed {

/// Sets a folder of shipped models for the whole process, for programs that embed vphi.
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
