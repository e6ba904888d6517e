#include "runtime/report/encode.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace vphi::report {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "arrays of the page are little-endian");

namespace {

template <class T>
std::string base64_of(const std::vector<T>& values) {
  return base64(std::as_bytes(std::span(values)));
}

constexpr double kVisible = 1e-4;        ///< of the range: finer than a pixel of any plot
constexpr double kDecades = 1e3;         ///< a wider span of positive values goes logarithmic
constexpr std::uint16_t kNone = 65535;   ///< NaN
constexpr std::uint16_t kSteps = 65534;  ///< of a picture's values

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    unsigned word = 0;
    for (std::size_t j = 0; j < 3; ++j)
      word = word << 8 | (j < left ? static_cast<unsigned>(bytes[i + j]) : 0);
    for (std::size_t j = 0; j < 4; ++j) text += j <= left ? digits[word >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::vector<std::size_t> decimate(std::span<const double> y, std::size_t most) {
  std::vector<std::size_t> kept;
  const std::size_t n = y.size();
  if (n <= std::max<std::size_t>(most, 4)) {
    for (std::size_t i = 0; i < n; ++i) kept.push_back(i);
    return kept;
  }
  const std::size_t stretches = std::max<std::size_t>(1, (most - 2) / 2);
  kept.push_back(0);
  for (std::size_t s = 0; s < stretches; ++s) {
    const std::size_t begin = 1 + s * (n - 2) / stretches, end = 1 + (s + 1) * (n - 2) / stretches;
    if (begin == end) continue;
    std::size_t low = begin, high = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (!(y[i] >= y[low])) low = i;  // a NaN stays visible as a gap
      if (y[i] > y[high]) high = i;
    }
    kept.push_back(std::min(low, high));
    if (low != high) kept.push_back(std::max(low, high));
  }
  kept.push_back(n - 1);
  return kept;
}

json encode(std::span<const double> values) {
  double low = std::numeric_limits<double>::infinity(), high = -low, moved = 0, smallest = low;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    low = std::min(low, v);
    high = std::max(high, v);
    if (v != 0) smallest = std::min(smallest, std::abs(v));
    moved = std::max(moved, std::abs(v - static_cast<double>(static_cast<float>(v))));
  }
  const bool fits = !(high > low) || moved < kVisible * (high - low);
  const bool normal = smallest > std::numeric_limits<float>::min();  // log axes show small values
  if (fits && normal && !(high > std::numeric_limits<float>::max()))
    return {{"f", base64_of(std::vector<float>(values.begin(), values.end()))}};
  return {{"d", base64(std::as_bytes(values))}};
}

Plane shrink(const Plane& plane, int longest) {
  const int block = (std::max(plane.width, plane.height) + longest - 1) / longest;
  if (block <= 1) return plane;
  Plane small;
  small.time = plane.time;
  small.step = plane.step;
  small.width = (plane.width + block - 1) / block;
  small.height = (plane.height + block - 1) / block;
  for (int y = 0; y < small.height; ++y)
    for (int x = 0; x < small.width; ++x) {
      double sum = 0;
      int count = 0;
      for (int j = y * block; j < std::min((y + 1) * block, plane.height); ++j)
        for (int i = x * block; i < std::min((x + 1) * block, plane.width); ++i, ++count)
          sum += plane.values[static_cast<std::size_t>(j) * plane.width + i];
      small.values.push_back(static_cast<float>(sum / count));
    }
  return small;
}

json encode(const Plane& plane) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const float v : plane.values)
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  if (!(high >= low)) low = high = 0;
  const bool log = low > 0 && high / low > kDecades;
  const double from = log ? std::log(low) : low, to = log ? std::log(high) : high;
  const double scale = to > from ? kSteps / (to - from) : 0;
  std::vector<std::uint16_t> steps;
  steps.reserve(plane.values.size());
  for (const float v : plane.values)
    steps.push_back(std::isfinite(v) ? static_cast<std::uint16_t>(
                                           std::lround(((log ? std::log(v) : v) - from) * scale))
                                     : kNone);
  return {{"t", plane.time}, {"step", plane.step}, {"w", plane.width}, {"h", plane.height},
          {"low", low},      {"high", high},       {"log", log},       {"u", base64_of(steps)}};
}

std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> kept;
  most = std::max<std::size_t>(most, 1);
  if (count <= most) {
    for (std::size_t i = 0; i < count; ++i) kept.push_back(i);
    return kept;
  }
  if (most == 1) return {count - 1};
  for (std::size_t i = 0; i < most; ++i) kept.push_back(i * (count - 1) / (most - 1));
  return kept;
}

}  // namespace vphi::report
