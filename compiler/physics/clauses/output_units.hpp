// The unit of each output, as files say it (attribute `units`): a power of the base unit where the
// model's text fixes it (dsl/types/unit_check.hpp).
#pragma once

#include <string>

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// Of a scalar.
std::string unit_of(const Program& d, const dsl::Expr& value);
/// Of a table or an array of `value`; one for each column, with ", " between them.
std::string units_of(const Program& d, const Observable& form, const dsl::Expr& value);

}  // namespace vphi::physics
