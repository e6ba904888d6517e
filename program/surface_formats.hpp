// Formats of freeze-out surfaces that other programs read: `-> music("gold", T = T, ...)`. A row
// here and a file of runtime/io/surfaces make a format. The arguments of a writer say what the
// elements of a surface in proper time, the plane and perhaps the rapidity carry:
//
//   T     temperature                            mu   chemical potential of baryons
//   eps   energy density, p pressure             Pi   bulk stress
//   v     velocity, a component for each axis of the lattice, in the orthonormal frame
//   pi    shear stress in that frame: xx, xy, yy of a plane; xx, xy, xz, yy, yz of a box, where zz
//         follows from the trace
//
// What a format has a place for and the model does not give is 0 in its files.
#pragma once

#include <string_view>

namespace vphi::program {

struct SurfaceFormat {
  std::string_view word;        ///< of the writer, and the ending of its files
  std::string_view needs, may;  ///< names of arguments, separated by blanks
  bool plane_alone = false;     ///< the format has no rapidity
};

inline constexpr SurfaceFormat kSurfaceFormats[] = {
    {"music", "T eps p v", "mu pi Pi"},
    {"vhlle", "T v", "mu pi Pi"},
    {"osu", "v", "pi Pi", true},
};

/// Null: no format has this word.
constexpr const SurfaceFormat* find_surface_format(std::string_view word) {
  for (const SurfaceFormat& format : kSurfaceFormats)
    if (format.word == word) return &format;
  return nullptr;
}

}  // namespace vphi::program
