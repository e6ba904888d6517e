// Two spellings of one name: `φ` and `phi`.
//
// The parser stores the ASCII spelling, so every later stage has one name; the formatter prints the
// requested spelling.
#pragma once

#include <string>
#include <string_view>

namespace vphi::dsl {

/// ASCII spelling: `φ` -> phi, `∂` -> d, `φ₀` -> phi0, other letters -> uXXXX. ASCII is unchanged.
std::string canonical(std::string_view name);

/// Unicode spelling of an ASCII name: Greek names between `_` become letters, `phi0` -> `φ0`.
std::string unicode_spelling(std::string_view name);

}  // namespace vphi::dsl
