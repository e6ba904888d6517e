// Words of a `sweep` line beside its axes.
#pragma once

#include <string_view>

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// `sweep event = 0..999, keep = condition`: starts that do not meet it are drawn again.
inline constexpr std::string_view kKeep = "keep";

/// The item with that condition; null: every start is kept.
const Item* keep_item(const Resolved& resolved);

}  // namespace vphi::dsl
