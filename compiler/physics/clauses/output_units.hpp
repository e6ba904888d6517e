// The unit of each output, for the attribute `units` in files: a power of the base unit where the
// model's text determines it (dsl/types/unit_check.hpp).
#pragma once

#include <string>
#include <vector>

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// The unit of a scalar.
std::string unit_of(const Program& d, const dsl::Expr& value);
/// The units of a surface's columns: place, normal, and `carried`, those of what its elements
/// carry.
std::string units_of_surface(const Program& d, const Observable& form,
                             const std::vector<std::string>& carried);
/// The units of the columns of a table or array made from `value`, separated by ", ".
std::string units_of(const Program& d, const Observable& form, const dsl::Expr& value);

}  // namespace vphi::physics
