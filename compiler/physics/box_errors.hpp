// Errors of boxes: a shape from the command line, and stencils that are wider than the box.
#pragma once

#include <cstdint>
#include <string>

#include "dsl/diagnostic.hpp"

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

}  // namespace vphi::physics::errors
