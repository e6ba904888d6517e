#include "compiler/physics/fields/link_chart.hpp"

#include <cmath>

#include <fmt/format.h>

#include "compiler/gauge/chart.hpp"

namespace vphi::physics {

std::vector<LinkChart> link_charts(const System& system) {
  std::vector<LinkChart> result;
  const auto* evolution = std::get_if<Evolution>(&system.dynamics);
  if (!evolution) return result;
  const double unit = system.numerics.real == Precision::F32 ? 0x1p-24 : 0x1p-53;
  for (const LinkMotion& link : evolution->links) {
    LinkChart& own = result.emplace_back();
    own.link = &link;
    const std::size_t count = link.velocity.size();
    const auto n = static_cast<int>(std::lround(std::sqrt(static_cast<double>(count + 1))));
    for (std::size_t a = 0; a < count; ++a) {
      own.arrays.push_back(link.arrays[a]);
      own.velocity.push_back(system.arena->symbol(fmt::format("velocity of a link_{}", a + 1)));
    }
    own.turn_rate = gauge::turn_rate({gauge::Kind::SU, n}, link.displacement, own.velocity,
                                     gauge::chart_powers(unit));
  }
  return result;
}

}  // namespace vphi::physics
