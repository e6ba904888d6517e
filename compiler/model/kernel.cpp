#include "compiler/model/kernel.hpp"

#include <algorithm>
#include <numeric>

namespace vphi::kernel {

bool sums_pairs(const Kernel& kernel) {
  for (const Store& store : kernel.stores) {
    if (store.value.is(algebra::Op::PairSum)) return true;
  }
  return false;
}

bool sums_of_ranks(const Kernel& kernel) { return kernel.planes && !kernel.reductions.empty(); }

bool folds_sums_on_rank(const Kernel& kernel) {
  constexpr std::int64_t kMost = 8;
  return sums_of_ranks(kernel) && (kernel.planes->ranks > kMost || kernel.planes->second);
}

const ArrayParam* Kernel::find(int array) const {
  const auto found = std::ranges::find(arrays, array, &ArrayParam::array);
  return found == arrays.end() ? nullptr : &*found;
}

int Colours::inverse() const {
  const int weight = weights[static_cast<std::size_t>(axis)];
  for (int i = 1; i < modulus; ++i) {
    if ((weight * i % modulus + modulus) % modulus == 1) return i;
  }
  return modulus == 1 ? 0 : -1;
}

int Colours::apart() const { return modulus / std::gcd(modulus, weights[0]); }

int Colours::first_along(const std::array<std::int64_t, 4>& site, int colour) const {
  std::int64_t rest = colour;
  for (int k = 0; k < 4; ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (k != axis) rest -= weights[i] * site[i];
  }
  const std::int64_t first = rest % modulus * inverse() % modulus;
  return static_cast<int>((first + modulus) % modulus);
}

std::int64_t Kernel::sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }

std::array<std::int64_t, 4> Kernel::walked() const {
  auto own = extent;
  if (planes) own[static_cast<std::size_t>(planes->axis)] = planes->own;
  if (planes && planes->second)
    own[static_cast<std::size_t>(planes->axis - 1)] = planes->second->own;
  return own;
}

std::array<std::int64_t, 4> Kernel::whole() const {
  auto all = extent;
  if (planes) all[static_cast<std::size_t>(planes->axis)] = planes->whole;
  if (planes && planes->second)
    all[static_cast<std::size_t>(planes->axis - 1)] = planes->second->whole;
  return all;
}

std::int64_t Kernel::walked_sites() const {
  const auto own = walked();
  return own[0] * own[1] * own[2] * own[3];
}

std::vector<Expr> Kernel::values() const {
  std::vector<Expr> result;
  for (const Store& store : stores) result.push_back(store.value);
  for (const Reduction& reduction : reductions) result.push_back(reduction.value);
  return result;
}

}  // namespace vphi::kernel
