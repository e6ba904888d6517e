// Typesets a name of a model: names of Greek letters become letters, trailing digits and text after
// an underscore become subscripts, primes are kept.
//
// "phi" is a letter, "dphi0" a word with subscript 0, "pi_phi" a letter with a letter below it,
// "re(phi)" a function of a name. Any text is accepted; unknown parts are set upright.
#pragma once

#include <string>
#include <string_view>

namespace vphi::algebra {

struct NameParts {
  std::string function;   ///< "re" of re(phi), else empty
  std::string base;       ///< "phi"
  std::string subscript;  ///< "0", "phi", "em"; empty: none
  int primes = 0;
};
NameParts parts_of(std::string_view name);

/// LaTeX command of a Greek letter ("\\phi") and the letter itself ("φ"); null where it is none.
struct Letter {
  const char* name;
  const char* latex;
  const char* unicode;
};
/// By its name in ASCII or by the letter.
const Letter* greek(std::string_view name);

std::string latex_name(std::string_view name);
std::string mathml_name(std::string_view name);

}  // namespace vphi::algebra
