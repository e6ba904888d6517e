#include "compiler/kernel/kernel.hpp"

#include <algorithm>

namespace vphi::kernel {

const ArrayParam* Kernel::find(int array) const {
  const auto found = std::ranges::find(arrays, array, &ArrayParam::array);
  return found == arrays.end() ? nullptr : &*found;
}

std::int64_t Kernel::sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }

}  // namespace vphi::kernel
