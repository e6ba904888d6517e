// The reference of the language as Markdown, from the tables that the compiler itself reads.
#pragma once

#include <string>

#include "dsl/words/clauses.hpp"

namespace vphi::tools {

/// Clauses with their options, functions, names that constructs give, types, units, and the texts
/// of the library with their documentation. The file docs/reference.md is this text.
std::string reference();
/// The kind of value of an option in words: "a number above 0".
std::string option_takes(const dsl::OptionRule& option);
/// " (needed)", " (needed without `tol`)", or nothing.
std::string option_need(const dsl::OptionRule& option);

}  // namespace vphi::tools
