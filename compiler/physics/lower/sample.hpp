// Numbers in place of the leaves of expressions, so that two expressions can be compared by value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace vphi::algebra {

/// A number from 0.25 to 1.25 for each key and name, the same at every call and on every machine.
double sample_number(std::initializer_list<std::int64_t> key, std::string_view name = {});

}  // namespace vphi::algebra
