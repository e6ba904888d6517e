// The number that a link of U(1) is set to.
#pragma once

#include "compiler/physics/derivation.hpp"

namespace vphi::physics {

/// E0718 where it is not exp(1i*angle): nobody could say which angle was meant. What is complex and
/// depends on the site is taken at its word.
void check_phase(Derivation& d, const StateField& links, const Component& value, dsl::Span span);

}  // namespace vphi::physics
