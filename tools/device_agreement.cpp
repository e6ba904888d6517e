#include "tools/device_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vphi::tools {
namespace {

constexpr double kF32ToF64 = 1.0 / (1 << 29);
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// "mean(p)" of "mean(p)[2]"; the name itself where it is no component.
std::string vector_of(const std::string& scalar) {
  return scalar.ends_with(']') ? scalar.substr(0, scalar.rfind('[')) : scalar;
}

}  // namespace

bool any_f32(const physics::Numerics& numerics) {
  using physics::Precision;
  return numerics.real == Precision::F32 || numerics.store == Precision::F32 ||
         numerics.pair == Precision::F32 ||
         std::ranges::any_of(numerics.stores,
                             [](const auto& own) { return own.second == Precision::F32; });
}

Roundings roundings(const runtime::RunResult& own, const runtime::RunResult& other, bool f32) {
  std::map<std::string, double> largest;
  for (const auto& [name, value] : own.scalars)
    if (const auto second = other.scalar(name); second && std::isfinite(*second)) {
      double& change = largest[vector_of(name)];
      change = std::max(change, std::abs(value - *second));
    }
  Roundings found;
  for (const auto& [name, value] : own.scalars) {
    const auto change = largest.find(vector_of(name));
    if (change == largest.end()) continue;
    found.f64[name] = change->second * kF32ToF64;
    found.own[name] = f32 ? change->second : found.f64[name];
  }
  return found;
}

double rounding_of(const Rounding& rounding, const std::string& scalar, double size) {
  const auto found = rounding.find(scalar);
  return std::max(found == rounding.end() ? 0.0 : found->second,
                  size * std::numeric_limits<double>::epsilon());
}

ScalarDifference furthest(const runtime::RunResult& a, const runtime::RunResult& b,
                          const Rounding& rounding) {
  ScalarDifference worst;
  for (const auto& [name, value] : a.scalars) {
    const auto other = b.scalar(name);
    if (!other) continue;
    if (!std::isfinite(value) && !std::isfinite(*other)) continue;
    if (!std::isfinite(value) || !std::isfinite(*other)) return {name, kInfinite, kInfinite};
    const double difference = std::abs(value - *other);
    if (difference == 0) continue;
    const double scale = std::max(std::abs(value), std::abs(*other));
    const double unit = rounding_of(rounding, name, scale);
    if (difference / unit > worst.in_rounding)
      worst = {name, difference / scale, difference / unit};
  }
  return worst;
}

bool differs(const ScalarDifference& difference) {
  return difference.in_rounding > kMostRounding && difference.relative > kVisible;
}

}  // namespace vphi::tools
