// Errors of boxes: a shape from the command line, and stencils that are wider than the box.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/messages/diagnostic.hpp"

namespace vphi::physics::errors {

using dsl::Diagnostic;
using dsl::Span;

/// `--lattice` names `given` axes, the model's lattice at `lattice` has `axes`.
Diagnostic other_dimensions(Span given_at, int given, int axes, std::int64_t extent, Span lattice);
/// W0314, a warning: neighbours on both sides of a site are one site. `points` along the axis.
Diagnostic wider_than_box(Span span, const std::string& stencil, int points,
                          const std::string& axis, std::int64_t extent, Span lattice);
/// E0315: beyond a mirror lies no image of a site that is not there.
Diagnostic reach_beyond_mirror(Span span, const std::string& stencil, int reach,
                               const std::string& axis, std::int64_t extent, Span lattice);
/// E0318: a list of `given` values for the `axes` of the lattice.
Diagnostic not_one_for_each_axis(Span span, const std::string& option, std::size_t given, int axes);
/// E0320: the distances of neighbouring sites along the axes.
Diagnostic unequal_spacings(Span span, const std::vector<double>& each, bool length);
/// W0321: one length, and axes of different extents; what it makes them.
Diagnostic length_of_one_axis(Span span, const std::vector<double>& lengths);
/// E0319: a term that couples neighbours of `one` and `other`, which differ beyond an edge.
Diagnostic walls_differ(Span span, const std::string& one, const std::string& other,
                        const std::string& axis, Span declared);

}  // namespace vphi::physics::errors
