// Kinds of files that hold links: `every 10 sweeps: U -> ildg("conf")`.
#pragma once

#include <string_view>

namespace vphi::dsl {

struct LinkFile {
  std::string_view word;  ///< of the writer, and the ending of its files
  bool su3_alone;         ///< the format holds links of SU(3), and of no other group
  bool even_extents;      ///< and lattices of four even extents
};

inline constexpr LinkFile kLinkFiles[] = {{"ildg", false, false},
                                          {"nersc", false, false},
                                          {"openqcd", true, true},
                                          {"milc", true, false}};

/// Files of spinors, `at end: snapshot(S[0,0]) -> scidac("columns")`: the word and the ending.
inline constexpr std::string_view kSpinorFile = "scidac";

/// Null: no kind of file has this word.
constexpr const LinkFile* find_link_file(std::string_view word) {
  for (const LinkFile& kind : kLinkFiles)
    if (kind.word == word) return &kind;
  return nullptr;
}

}  // namespace vphi::dsl
