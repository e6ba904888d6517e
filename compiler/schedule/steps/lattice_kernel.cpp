#include "compiler/schedule/steps/lattice_kernel.hpp"

#include "compiler/algebra/transform.hpp"

namespace vphi::schedule {

kernel::Kernel lattice_kernel(const physics::System& system, const std::string& name) {
  kernel::Kernel k;
  k.name = name;
  k.dims = system.lattice.dims;
  k.extent = system.lattice.extent;
  k.boundary = system.lattice.boundary;
  k.fixed_value = system.lattice.fixed_value;
  k.dx = system.lattice.dx;
  k.compute = system.numerics.real;
  k.sum = system.numerics.sum;
  k.pair = system.numerics.pair;
  return k;
}

kernel::Kernel scalar_kernel(const physics::System& system, const std::string& name,
                             std::vector<kernel::ScalarAssign> epilogue) {
  kernel::Kernel k = lattice_kernel(system, name);
  k.epilogue = std::move(epilogue);
  return k;
}

void declare_arrays(kernel::Kernel& kernel, const std::set<int>& read, const std::set<int>& written,
                    const std::set<int>& second, const Storage& storage) {
  std::set<int> all = read;
  all.insert(written.begin(), written.end());
  for (const int array : all) {
    const program::Buffer& buffer = storage.of(array);
    kernel.arrays.push_back({array, buffer.name, buffer.precision, read.contains(array),
                             written.contains(array), second.contains(array), buffer.elements});
  }
}

std::set<int> arrays_read(const kernel::Kernel& kernel) {
  std::set<int> read;
  for (const algebra::Expr leaf : algebra::reads(kernel.values()))
    read.insert(leaf.is(algebra::Op::Stencil) ? leaf.arg(0)->index : leaf->index);
  return read;
}

void declare_arrays(kernel::Kernel& kernel, const Storage& storage) {
  std::set<int> written;
  for (const kernel::Store& store : kernel.stores) written.insert(store.array);
  declare_arrays(kernel, arrays_read(kernel), written, {}, storage);
}

}  // namespace vphi::schedule
