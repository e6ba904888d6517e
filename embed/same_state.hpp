// Whether the state of one compiled model is a state of another one in which a parameter has
// another value.
//
// A program holds its state in units of its own, in arrays and scalars that the schedule chose.
// Values that go from one program to the other as they are mean the same only where units, dt,
// arrays, scalars and kernels agree.
#pragma once

#include <string>

#include "compiler/compile.hpp"

namespace vphi::embed {

/// Throws Error (E0810) where the state of `then` is none of `now`, in which the parameter `name`
/// has another value, or where this value changes nothing that follows.
void check_same_state(const Compilation& then, const Compilation& now, const std::string& name);

}  // namespace vphi::embed
