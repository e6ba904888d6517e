// Symbols that stand for a name while an expression of it is read.
#pragma once

#include <string>

#include "compiler/physics/lower/reading.hpp"

namespace vphi::physics {

/// A symbol called `name`, with words added to it until no value in `scope` holds it.
Expr open_symbol(Arena& arena, const Scope& scope, std::string name, dsl::Span span);

}  // namespace vphi::physics
