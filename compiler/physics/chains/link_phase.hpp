// Checks that the initial value of a link is an element of its group.
#pragma once

#include "compiler/gauge/matrix.hpp"
#include "compiler/physics/lower/values.hpp"
#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

/// How far a link of a formula may be from the group: |(U adj(U) - 1)_ij| and |det U - 1|.
constexpr double kFarFromGroup = 1e-6;

/// E0718 where the value is not of the form exp(1i*angle).
void check_phase(const Space& d, const StateField& links, const Component& value, dsl::Span span);

/// The same check for the matrix of a link of SU(n). A formula is evaluated at all sites and values
/// of the sweep that it depends on, or at a sample of 4096 of them; other fields and random numbers
/// in it are given arbitrary values. Returns the matrix; the rows of a formula are made
/// orthonormal, so that sites that were not checked are in the group as well.
gauge::Matrix checked_link(const Space& d, const StateField& links, const Value& value,
                           dsl::Span span);

}  // namespace vphi::physics
