#include "tools/commands/transform_limits.hpp"

#include <fmt/format.h>

namespace vphi::tools {

nlohmann::ordered_json transforms_json(const runtime::TransformLimits& transforms) {
  return {{"arrays", transforms.arrays},
          {"passes", transforms.passes},
          {"bytes_per_site", transforms.bytes},
          {"flops_per_site", transforms.flops},
          {"seconds", transforms.seconds}};
}

std::string transforms_text(const nlohmann::ordered_json& transforms) {
  const auto number = [&](const char* name) { return transforms[name].get<double>(); };
  return fmt::format(
      "{:.4g} Fourier transforms a step in {:.4g} passes over memory; with their copies and "
      "products {:.0f} bytes and {:.0f} flops a site, at least {:.4g} ms",
      number("arrays"), number("passes"), number("bytes_per_site"), number("flops_per_site"),
      1e3 * number("seconds"));
}

}  // namespace vphi::tools
