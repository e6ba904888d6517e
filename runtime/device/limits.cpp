#include "runtime/device/limits.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace vphi::runtime {
namespace {

std::array<std::pair<double, std::string_view>, 4> named(const Limits& l) {
  return {{{l.memory, l.cached ? "cache" : "memory"},
           {l.arithmetic, "arithmetic"},
           {l.special, "special functions"},
           {l.launch, "launch"}}};
}

double over(double work, double rate) { return rate > 0 ? work / rate : 0; }

}  // namespace

double Limits::longest() const { return std::max({memory, arithmetic, special, launch}); }

std::string_view Limits::name() const { return std::ranges::max(named(*this)).second; }

double bytes_of_arrays(const program::Program& program,
                       const std::vector<program::Launch>& launches) {
  using Kind = program::Argument::Kind;
  std::map<std::pair<Kind, int>, double> arrays;
  for (const program::Launch& launch : launches)
    for (const auto& argument : program.kernels[static_cast<std::size_t>(launch.kernel)].arguments)
      if (argument.kind == Kind::Current || argument.kind == Kind::Next)
        arrays[{argument.kind, argument.index}] = static_cast<double>(argument.bytes);
  double sum = 0;
  for (const auto& [array, bytes] : arrays) sum += bytes;
  return sum;
}

Limits limits(const program::Kernel& kernel, const Ceilings& c, int units, double arrays) {
  const bool single = kernel.arithmetic == program::Precision::F32;
  const auto sites = static_cast<double>(kernel.sites);
  const auto work = kernel.pairs > 0 ? static_cast<double>(kernel.pairs) : sites;
  const double groups = static_cast<double>(kernel.grid[0]) * kernel.grid[1] * kernel.grid[2];
  const double share = std::min(1.0, groups / std::max(1, units));
  Limits l;
  const double rate = c.rate_of(arrays);
  l.cached = rate > c.copy;
  l.memory = over(sites * kernel.bytes, rate);
  // the ceiling counts an fma as two operations, and it is one instruction
  l.arithmetic = over(2 * work * kernel.instructions, share * (single ? c.f32 : c.f64));
  l.special = over(work * kernel.special, share * (single ? c.special32 : c.special64));
  l.launch = c.launch;
  return l;
}

StepLimits step_limits(const program::Program& program, std::int64_t together,
                       const Ceilings& ceilings, int units, std::span<const double> rounds) {
  const bool many = !program.multi_step.empty();
  std::vector<program::Launch> launches = many ? program.multi_step : program.step;
  double steps = 1;  // that `launches` are
  const bool passes = !many && program.together_steps > 0;
  if (passes) {  // arrays are moved once for all of its steps
    launches = {program.together.front()};
    together = program.together_steps;
  }
  if (!many && !program.cycle.empty()) {
    steps = static_cast<double>(program.cycle.size());
    launches.clear();
    for (const auto& step : program.cycle)
      launches.insert(launches.end(), step.begin(), step.end());
  }
  const double arrays =
      bytes_of_arrays(program, rounds.empty() ? launches : program.with_iterations(launches));
  StepLimits result;
  std::map<std::string_view, double> of;
  const auto add = [&](const program::Launch& launch, double times) {
    const auto& kernel = program.kernels[static_cast<std::size_t>(launch.kernel)];
    result.flops += times * kernel.flops / steps;
    result.bytes += times * kernel.bytes / steps;
    Limits one = limits(kernel, ceilings, units, arrays);
    // a kernel of many steps is counted by the step, and moves its arrays once a launch
    const double share = times / steps;
    const double moved = many || passes ? 1 / static_cast<double>(together) : share;
    one.memory *= moved, one.launch *= moved;
    one.arithmetic *= share, one.special *= share;
    result.sum.memory += one.memory;
    result.sum.arithmetic += one.arithmetic;
    result.sum.special += one.special;
    result.sum.launch += one.launch;
    result.seconds += one.longest();
    of[one.name()] += one.longest();
    return one.longest();
  };
  for (const program::Launch& launch : launches) add(launch, 1);
  for (std::size_t s = 0; s < rounds.size(); ++s) {  // rounds are counted by the step
    const program::Solve& solve = program.solves[s];
    for (const program::Launch& launch : solve.iterate)
      result.rounds += add(launch, rounds[s] * steps);
    const auto here = [&](const program::Launch& launch) {
      return launch.solve == static_cast<int>(s);
    };
    const auto times = static_cast<double>(std::ranges::count_if(launches, here));
    for (const program::Launch& launch : solve.finish) add(launch, times);
  }
  for (const auto& [name, seconds] : of)
    if (result.name.empty() || seconds > of[result.name]) result.name = name;
  return result;
}

double occupancy_of_registers(int registers) {
  if (registers <= 0) return 0;
  constexpr int kRegisters = 65536, kGrain = 256, kMostGroups = 64;
  const int of_group = (registers * 32 + kGrain - 1) / kGrain * kGrain;
  return std::min(kMostGroups, kRegisters / of_group) / static_cast<double>(kMostGroups);
}

}  // namespace vphi::runtime
