// Numbers in place of the leaves of expressions, so that two expressions can be compared by value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "compiler/algebra/expr.hpp"

namespace vphi::physics {

/// A number from 0.25 to 1.25 for each key and name, the same at every call and on every machine.
double sample_number(std::initializer_list<std::int64_t> key, std::string_view name = {});

/// The expression with neighbours written out in place of stencils, in the symbol dx.
algebra::Expr without_stencils(algebra::Expr e);

}  // namespace vphi::physics
