// Prints syntax trees in the canonical style, for to_text and the formatter.
#pragma once

#include <string>

#include "dsl/syntax/parse.hpp"

namespace vphi::dsl {

/// The spelling to print. `written` is the spelling in the model where it differs from `ascii`,
/// otherwise empty.
std::string spelled(const std::string& ascii, const std::string& written, Spelling spelling);

std::string print(const Expr& expr, Spelling spelling);
std::string print(const Head& head, Spelling spelling);
/// The shape of a lattice: `24^3 * 48`.
std::string print_shape(const Expr& expr, Spelling spelling);

}  // namespace vphi::dsl
