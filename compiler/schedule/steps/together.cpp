#include "compiler/schedule/steps/together.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/algebra/transform.hpp"

namespace vphi::schedule {
namespace {

using kernel::Kernel;

/// Why a kernel cannot do so, in words; empty where it can.
std::string obstacle(const Kernel& k) {
  if (!k.reductions.empty()) return "sums over the box feed the next step";
  if (kernel::sums_pairs(k)) return "a step sums over pairs";
  if (k.colours) return "sites are updated colour by colour";
  if (k.along >= 0) return "a step is walked along lines";
  if (k.steps > 1 || !k.stages.empty()) return "a launch takes many steps already";
  if (k.instances > 1) return "a launch has many instances";
  if (k.stores.empty()) return "a step stores nothing";
  if (k.dims > 3) return "the box has four dimensions";
  for (int axis = 0; axis < k.dims; ++axis)
    if (k.boundary[static_cast<std::size_t>(axis)] != kernel::Boundary::Periodic)
      return "the box has an end that is not periodic";
  bool neighbours = false;
  for (const algebra::Expr read : algebra::reads(k.values()))
    neighbours = neighbours || read.is(algebra::Op::Stencil) ||
                 (read.is(algebra::Op::Load) && !read->offset.zero());
  return neighbours ? "" : "a site reads nothing of its neighbours";
}

}  // namespace

const Kernel* together_candidate(const Plan& plan, std::string& why) {
  const program::Program& p = plan.program;
  const auto refuse = [&](std::string reason) {
    why = std::move(reason);
    return nullptr;
  };
  if (p.step.empty()) return refuse("nothing evolves");
  if (!p.multi_step.empty()) return refuse("a launch takes many steps already");
  if (!p.cycle.empty()) return refuse("the launches of steps alternate");
  if (p.step.size() > 1)
    return refuse(fmt::format("a step has {} sweeps, one after the other", p.step.size()));
  if (p.step.front().solve >= 0) return refuse("a step solves a linear system");
  if (!p.maps.empty()) return refuse("a step makes Fourier transforms");
  const Kernel& k = plan.kernels[static_cast<std::size_t>(p.step.front().kernel)];
  std::string reason = obstacle(k);
  return reason.empty() ? &k : refuse(std::move(reason));
}

Kernel kernel_of_steps(const Kernel& kernel, int steps) {
  Kernel result = kernel;
  result.name = fmt::format("{}_{}_steps", kernel.name, steps);
  result.together = steps;
  for (kernel::ArrayParam& array : result.arrays)
    array.next = array.next || (array.read && array.written);
  return result;
}

void add_together(Plan& plan, int steps) {
  program::Program& p = plan.program;
  const int single = p.step.front().kernel;
  Kernel kernel = kernel_of_steps(plan.kernels[static_cast<std::size_t>(single)], steps);
  program::Launch launch;
  launch.kernel = static_cast<int>(plan.kernels.size());
  for (const kernel::ArrayParam& array : kernel.arrays) {
    if (!array.next) continue;
    const int buffer = plan.buffer_of[static_cast<std::size_t>(array.array)];
    p.buffers[static_cast<std::size_t>(buffer)].doubled = true;
    launch.swap.push_back(buffer);
  }
  p.together = {launch};
  p.together_steps = steps;
  if (!p.kernels.empty()) {
    program::Kernel described = p.kernels[static_cast<std::size_t>(single)];
    described.name = kernel.name;
    p.kernels.push_back(std::move(described));
  }
  plan.kernels.push_back(std::move(kernel));
}

void add_wave(Plan& plan, int steps, std::int64_t reach) {
  program::Program& p = plan.program;
  p.together.assign(static_cast<std::size_t>(steps), p.step.front());
  p.together_steps = steps;
  p.together_reach = reach;
}

}  // namespace vphi::schedule
