// The maps in Fourier space of a step as `vphi bench` and `vphi explain` show them. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/device/limits.hpp"

namespace vphi::tools {

/// {"arrays", "passes", "bytes_per_site", "flops_per_site", "seconds"} of a step; `seconds` is the
/// part of the limit.
nlohmann::ordered_json transforms_json(const runtime::TransformLimits& transforms);
/// "8 Fourier transforms a step in 16 passes over memory; ..." of that object.
std::string transforms_text(const nlohmann::ordered_json& transforms);

}  // namespace vphi::tools
