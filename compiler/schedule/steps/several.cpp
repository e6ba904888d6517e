#include "compiler/schedule/steps/several.hpp"

#include <set>
#include <utility>

#include "compiler/schedule/facts.hpp"
#include "compiler/schedule/steps/lattice_kernel.hpp"

namespace vphi::schedule {

bool is_read(const algebra::Node& node) {
  using algebra::Op;
  return node.op == Op::Load || node.op == Op::Site || node.op == Op::Stencil || !node.per_site;
}

void declare_used(const Plan& plan, kernel::Kernel& kernel) {
  std::set<int> read = arrays_read(kernel), written;
  for (const kernel::Store& store : kernel.stores) written.insert(store.array);
  std::vector<kernel::ArrayParam> arrays;
  for (kernel::ArrayParam array : kernel.arrays) {
    array.read = read.erase(array.array) > 0;
    array.written = written.erase(array.array) > 0;
    array.next = array.next && array.written;
    if (array.read || array.written) arrays.push_back(array);
  }
  std::set<int> added = read;
  added.insert(written.begin(), written.end());
  for (const int number : added) {
    const auto buffer = static_cast<std::size_t>(plan.buffer_of[static_cast<std::size_t>(number)]);
    const program::Buffer& memory = plan.program.buffers[buffer];
    arrays.push_back({number, memory.name, memory.precision, read.contains(number),
                      written.contains(number), false, memory.elements});
  }
  kernel.arrays = std::move(arrays);
}

int add_kernel(Plan& plan, kernel::Kernel kernel) {
  plan.kernels.push_back(std::move(kernel));
  add_cost(plan, plan.kernels.size() - 1);
  return static_cast<int>(plan.kernels.size()) - 1;
}

std::vector<int> kernels_of_steps(const Plan& plan) {
  std::set<int> numbers;
  const auto note = [&](const std::vector<program::Launch>& list) {
    for (const program::Launch& launch : list) numbers.insert(launch.kernel);
  };
  note(plan.program.step);
  for (const auto& step : plan.program.cycle) note(step);
  return {numbers.begin(), numbers.end()};
}

void launch_before(program::Program& program, const std::map<int, std::vector<int>>& others) {
  program.each_list([&](std::vector<program::Launch>& list) {
    std::vector<program::Launch> with_others;
    for (program::Launch& launch : list) {
      if (const auto found = others.find(launch.kernel); found != others.end())
        for (const int other : found->second)
          with_others.push_back({.kernel = other, .swap = {}, .halos = {}});
      with_others.push_back(std::move(launch));
    }
    list = std::move(with_others);
  });
}

}  // namespace vphi::schedule
