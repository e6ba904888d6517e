#include "program/wave_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace vphi::program {
namespace {

constexpr std::int64_t kLargestMultiple = std::int64_t{1} << 30;
constexpr std::size_t kMostNumbers = std::size_t{1} << 22;

/// Calls body(n) for the modes with 0 <= n_i <= N_i/2.
template <class Body>
void for_octant(const std::array<std::int64_t, 4>& extent, const Body& body) {
  for (std::int64_t t = 0; t <= extent[3] / 2; ++t)
    for (std::int64_t z = 0; z <= extent[2] / 2; ++z)
      for (std::int64_t y = 0; y <= extent[1] / 2; ++y)
        for (std::int64_t x = 0; x <= extent[0] / 2; ++x) body(std::array{x, y, z, t});
}

}  // namespace

std::optional<WaveNumbers> WaveNumbers::of(const std::array<std::int64_t, 4>& extent) {
  WaveNumbers numbers;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::int64_t n = extent[k];
    if (n < 1 || n > kLargestMultiple) return std::nullopt;
    numbers.extent_[k] = n;
    numbers.multiple_ = std::lcm(numbers.multiple_, n);
    if (numbers.multiple_ > kLargestMultiple) return std::nullopt;
  }
  // A full list is made unique from time to time, so that a large box needs little memory.
  std::vector<std::int64_t>& squares = numbers.squares_;
  std::size_t full = 2 * kMostNumbers;
  const auto tidy = [&] {
    std::ranges::sort(squares);
    squares.erase(std::ranges::unique(squares).begin(), squares.end());
    full = std::max(full, 2 * squares.size());
  };
  for_octant(numbers.extent_, [&](const std::array<std::int64_t, 4>& n) {
    squares.push_back(numbers.square(n));
    if (squares.size() >= full) tidy();
  });
  tidy();
  if (squares.size() > kMostNumbers) return std::nullopt;
  return numbers;
}

double WaveNumbers::k_dx(std::size_t place) const {
  return 2 * std::numbers::pi * std::sqrt(static_cast<double>(squares_[place])) /
         static_cast<double>(multiple_);
}

std::size_t WaveNumbers::place(const std::array<std::int64_t, 4>& n) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(squares_, square(n)) - squares_.begin());
}

std::vector<std::int64_t> WaveNumbers::modes() const {
  std::vector<std::int64_t> count(squares_.size());
  for_octant(extent_, [&](const std::array<std::int64_t, 4>& n) {
    std::int64_t copies = 1;
    for (std::size_t k = 0; k < 4; ++k) copies *= n[k] == 0 || 2 * n[k] == extent_[k] ? 1 : 2;
    count[place(n)] += copies;
  });
  return count;
}

std::int64_t WaveNumbers::square(const std::array<std::int64_t, 4>& n) const {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < 4; ++k) {
    const std::int64_t part = n[k] * (multiple_ / extent_[k]);
    sum += part * part;
  }
  return sum;
}

}  // namespace vphi::program
