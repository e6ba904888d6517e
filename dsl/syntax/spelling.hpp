// Two spellings of one name: `φ` and `phi`.
//
// The parser stores the ASCII spelling, so every later stage sees one name; the formatter prints
// whichever the user asked for.
#pragma once

#include <string>
#include <string_view>

namespace vphi::dsl {

/// ASCII spelling: `φ` -> phi, `∂` -> d, `φ₀` -> phi0, other letters -> uXXXX. ASCII stays.
std::string canonical(std::string_view name);

/// Unicode spelling of an ASCII name: Greek names between `_` become letters, `phi0` -> `φ0`.
std::string unicode_spelling(std::string_view name);

}  // namespace vphi::dsl
