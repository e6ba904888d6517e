#include "compiler/physics/fields/link_chart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/gauge/chart.hpp"

namespace vphi::physics {

namespace {

/// The numbers of the momentum of a link: those of the next field of momenta.
std::vector<int> momenta_of(const System& system, const LinkMotion& link) {
  const auto own = std::ranges::find(system.variables, link.arrays[0], &Variable::array);
  const std::size_t count = link.velocity.size();
  const std::size_t axis = static_cast<std::size_t>(own->component) / link.arrays.size();
  int field = -1;
  for (const Variable& v : system.variables)
    if (v.role == Role::Momentum && v.field > own->field && (field < 0 || v.field < field))
      field = v.field;
  std::vector<int> result(count, -1);
  for (const Variable& v : system.variables) {
    const auto place = static_cast<std::size_t>(v.component);
    if (v.field == field && place / count == axis) result[place % count] = v.array;
  }
  return result;
}

std::vector<Expr> chart_symbols(const System& system, std::size_t count, const char* what) {
  std::vector<Expr> result;
  for (std::size_t a = 0; a < count; ++a)
    result.push_back(system.arena->symbol(fmt::format("{} of a link_{}", what, a + 1)));
  return result;
}

}  // namespace

std::vector<LinkChart> link_charts(const System& system) {
  std::vector<LinkChart> result;
  const auto* evolution = std::get_if<Evolution>(&system.dynamics);
  if (!evolution) return result;
  const int powers =
      gauge::chart_powers(system.numerics.real == Precision::F32 ? 0x1p-24 : 0x1p-53);
  for (const LinkMotion& link : evolution->links) {
    LinkChart& own = result.emplace_back();
    own.link = &link;
    const std::size_t count = link.velocity.size();
    const auto n = static_cast<int>(std::lround(std::sqrt(static_cast<double>(count + 1))));
    const gauge::Group group{gauge::Kind::SU, n};
    for (std::size_t a = 0; a < count; ++a) own.arrays.push_back(link.arrays[a]);
    own.velocity = chart_symbols(system, count, "velocity");
    own.turn_rate = gauge::turn_rate(group, link.displacement, own.velocity, powers);
    own.momenta = momenta_of(system, link);
    own.momentum = chart_symbols(system, count, "momentum");
    own.change = chart_symbols(system, count, "change");
    own.middle = gauge::middle_momentum(group, link.displacement, own.momentum, own.change, powers);
  }
  return result;
}

}  // namespace vphi::physics
