// Costs of the mathematical functions of the dialects, by name.
#pragma once

#include <string_view>

namespace vphi::plugin {

/// Cost of a call that is pure and known; flops < 0: not known.
struct KnownCost {
  int flops = -1, special = 0;
};

/// "__builtin_expf", "exp", "native_sqrt", "__fadd_rn", ...
KnownCost known_cost(std::string_view name);

/// True for one PTX instruction that is a function of its operands alone, "rsqrt.approx.f32 ...;".
bool is_arithmetic_instruction(std::string_view text);

}  // namespace vphi::plugin
