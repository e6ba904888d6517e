// Kernels that differ by their names alone are compiled once.
//
// A model has many kernels of one form: the same solve for two accuracies, the same update of ten
// fields. Their texts differ by names and by the places of their scalars, `scalars[12]`. The form
// of a text has numbers in the place of its own names, and no remarks; equal forms have the same
// machine code. Where a form has its places in a table, `vphi_places[3]`, each kernel loads the
// code for itself and fills the table.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vphi::runtime {

/// Name of the table of places, an array of `long` in the compiled code.
inline constexpr const char* kPlacesTable = "vphi_places";

struct SharedText {
  std::string text;
  std::map<std::string, std::string, std::less<>> names;  ///< old to new, of functions too
  std::vector<long> places;  ///< contents of the table; empty where the text has its own numbers

  /// The name that a function of the kernel has in `text`; its own where it was not renamed.
  std::string name(const std::string& own) const;
};

/// The form of C++ source that includes nothing. `with_table`: places of scalars are read from the
/// table. Lines of the preprocessor and remarks `// vphi: ...` stay as they are.
SharedText shared_text(std::string_view source, bool with_table);

/// The texts to compile for these sources: the form with the table where that makes two sources
/// equal which differ without it, the form with numbers otherwise. Sources shorter than 4096
/// characters, which are compiled in some milliseconds, and those with an #include are left alone.
std::vector<SharedText> shared_texts(const std::vector<std::string_view>& sources, int threads);

}  // namespace vphi::runtime
