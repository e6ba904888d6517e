// Functions of the three dialects' mathematics, by name.
#pragma once

#include <string_view>

namespace vphi::plugin {

/// Cost of a call that is pure and known; flops < 0: not known.
struct KnownCost {
  int flops = -1, special = 0;
};

/// "__builtin_expf", "exp", "native_sqrt", "__fadd_rn", ...
KnownCost known_cost(std::string_view name);

}  // namespace vphi::plugin
