#include "compiler/schedule/linking.hpp"

#include "compiler/schedule/steps/lattice_kernel.hpp"

namespace vphi::schedule {

void append(Assigns& to, const Assigns& from) { to.insert(to.end(), from.begin(), from.end()); }
void append(Launches& to, const Launches& from) { to.insert(to.end(), from.begin(), from.end()); }

Linked link(LoopSequence sequence) {
  Linked result;
  result.swaps = std::move(sequence.swaps);
  for (kernel::SiteLoop& sweep : sequence.sweeps) {
    append(result.empty() ? result.needs : result.end(), sweep.before);
    result.kernels.push_back(std::move(sweep.kernel));
  }
  append(result.empty() ? result.needs : result.end(), sequence.finish);
  return result;
}

int KernelList::add(kernel::Kernel kernel) {
  kernels_.push_back(std::move(kernel));
  return static_cast<int>(kernels_.size()) - 1;
}

Launches KernelList::add(Linked sequence) {
  Launches launches;
  for (std::size_t i = 0; i < sequence.kernels.size(); ++i) {
    kernel::Kernel& kernel = sequence.kernels[i];
    // sums over pairs have no epilogue: their scalars get a kernel of their own
    Assigns after;
    if (kernel::sums_pairs(kernel)) after = std::exchange(kernel.epilogue, {});
    const std::string name = kernel.name + "_scalars";
    program::Launch& launch = launches.emplace_back();
    launch.kernel = add(std::move(kernel));
    for (const int array : sequence.swaps[i])
      launch.swap.push_back(static_cast<int>(storage_.buffer_index(array)));
    append(launches, add_scalars(name, std::move(after)));
  }
  return launches;
}

Launches KernelList::add_scalars(const std::string& name, Assigns assigns) {
  if (assigns.empty()) return {};
  Launches launches(1);
  launches.front().kernel = add(scalar_kernel(system_, name, std::move(assigns)));
  return launches;
}

}  // namespace vphi::schedule
