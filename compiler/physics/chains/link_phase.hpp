// The value that a link starts from: an element of its group, or an error.
#pragma once

#include "compiler/gauge/matrix.hpp"
#include "compiler/physics/lower/values.hpp"
#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

/// How far a link of a formula may be from the group: |(U adj(U) - 1)_ij| and |det U - 1|.
constexpr double kFarFromGroup = 1e-6;

/// E0718 where the number is not exp(1i*angle): then the angle is not defined.
void check_phase(const Space& d, const StateField& links, const Component& value, dsl::Span span);

/// The same of a matrix for links of SU(n). A formula is evaluated at all sites and values of the
/// sweep that it depends on, or at 4096 of them spread over these; other fields and random numbers
/// in it take any value. What passes is returned, a formula with its rows made orthonormal, so that
/// sites in between are in the group as well.
gauge::Matrix checked_link(const Space& d, const StateField& links, const Value& value,
                           dsl::Span span);

}  // namespace vphi::physics
