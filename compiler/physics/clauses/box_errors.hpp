// Messages about the lattice: its shape, spacings and boundaries, and stencils that are wider than
// the box.
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
/// W0314, a warning: the stencil reaches the same site from both sides. `points`: its points along
/// the axis.
Diagnostic wider_than_box(Span span, const std::string& stencil, int points,
                          const std::string& axis, std::int64_t extent, Span lattice);
/// E0315: the stencil reaches further than the box whose image a reflecting boundary shows.
Diagnostic reach_beyond_mirror(Span span, const std::string& stencil, int reach,
                               const std::string& axis, std::int64_t extent, Span lattice);
/// E0318: a list has `given` values, the lattice has `axes` axes.
Diagnostic not_one_for_each_axis(Span span, const std::string& option, std::size_t given, int axes);
/// E0320: the spacings along the axes differ; `each` are the spacings.
/// `stretches`: a metric may stretch the axes of the model, which has none yet.
Diagnostic unequal_spacings(Span span, const std::vector<double>& each, bool length,
                            bool stretches);
/// W0321: one length is given for axes of different extents; `lengths` are the resulting lengths.
Diagnostic length_of_one_axis(Span span, const std::vector<double>& lengths);
/// E0901 with the way that there is: a layer in the equations.
Diagnostic absorbing_boundary(Span span);
/// E0319: a term couples neighbours of `one` and `other`, whose boundaries differ.
Diagnostic walls_differ(Span span, const std::string& one, const std::string& other,
                        const std::string& axis, Span declared);
/// E0333: a spinor has a sign or a phase across an end that no link crosses.
Diagnostic phase_on_open_axis(Span span, const std::string& spinor, const std::string& axis,
                              const std::string& links, Span declared);
/// E0327: terms with neighbours are others where the phases of twisted fields change, or with
/// `sign` the signs of antiperiodic ones.
Diagnostic twist_seen(Span span, const std::string& field, const std::string& axis, bool sign,
                      Span declared);
/// E0328: a field without phase is twisted.
Diagnostic twist_of_real(Span span, const std::string& field, const std::string& axis);
/// E0328: the lattice, whose fields may be real, is twisted.
Diagnostic twist_of_lattice(Span span);
/// E0329: waves of a value that jumps in its phase from the last site to the first.
Diagnostic twisted_waves(Span span, const std::string& what, const std::string& field,
                         const std::string& axis);
/// E0329: a start by waves in a box with a twisted field.
Diagnostic twisted_start(Span span, const std::string& what);
/// E0329: a start by the waves of a periodic box, of a field that has others.
Diagnostic waves_of_open_box(Span span, const std::string& what, const std::string& field,
                             Span declared);
/// E0330: at a `neumann` or `outflow` end of a field a sum over the box has another derivative than
/// the equation of the inside.
Diagnostic sum_at_end(Span span, const std::string& field, const std::string& axis, Span declared);
/// E0331: a shift of the end of `axis` along what is no other axis.
Diagnostic shift_along(Span span, const std::string& along, const std::string& axis);
/// E0331: a shift by more than `most` sites.
Diagnostic shift_too_far(Span span, std::int64_t most);
/// E0331: along `along`, where the shift of the end of `axis` moves on, is an end or a shift.
Diagnostic shift_meets_end(Span span, const std::string& along, const std::string& axis);
/// E0331: one field is shifted.
Diagnostic shift_of_field(Span span);
/// E0331: a field has an end of its own where the lattice is shifted.
Diagnostic own_end_of_shift(Span span, const std::string& axis);
/// E0332: `what` knows no shifted ends.
Diagnostic shifted_box(Span span, const std::string& what, Span lattice);

}  // namespace vphi::physics::errors
