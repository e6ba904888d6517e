#include "compiler/kernel/kernel.hpp"

#include <algorithm>

namespace vphi::kernel {

bool sums_pairs(const Kernel& kernel) {
  for (const Store& store : kernel.stores) {
    if (store.value.is(algebra::Op::PairSum)) return true;
  }
  return false;
}

const ArrayParam* Kernel::find(int array) const {
  const auto found = std::ranges::find(arrays, array, &ArrayParam::array);
  return found == arrays.end() ? nullptr : &*found;
}

std::int64_t Kernel::sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }

}  // namespace vphi::kernel
