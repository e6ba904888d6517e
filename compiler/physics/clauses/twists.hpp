// Twisted boundaries of complex fields.
//
// A field phi goes on beyond the n sites of an axis as phi(x + n) = exp(i theta) phi(x), and so do
// its velocity and the momentum that shares its line. What is derived from a sum over all sites has
// no place where the edge is, so that terms with neighbours must be the same with all of these
// phases changed at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/physics/stages/declared.hpp"

namespace vphi::physics {

/// What the averages of a value are of, and last the value where they are leaves.
std::vector<Expr> without_averages(Expr value);

/// Whether a field is one of sites, with ends of its own.
bool has_walls(const StateField& field);

/// Whether a field with these walls has a phase beyond an end of the box.
bool twisted(const Walls& walls);

/// The array read after `times` crossings of the last site along `axis`, at the offset: this part
/// of exp(i times theta) phi.
Expr turned_read(const Declared& d, int array, int axis, std::int64_t times,
                 const std::function<Expr(int)>& load);

/// The value where each field that is antiperiodic along the axis has its other sign.
Expr with_signs(const Declared& d, Expr value, int axis);

/// Whether a value goes on beyond the last site along the axis as it began: where the fields have
/// their phases, and the numbers of the site those beyond.
bool periodic_across_twist(const Declared& d, Expr value, int axis);

/// E0327: a density has terms with neighbours across a twisted end that are another density on the
/// other side of it. `signs`: across an antiperiodic end too.
void check_twists(const Declared& d, Expr density, dsl::Span span, bool signs);

}  // namespace vphi::physics
