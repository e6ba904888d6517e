#include "runtime/device/limits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "program/fourier_cost.hpp"

namespace vphi::runtime {
namespace {

std::array<std::pair<double, std::string_view>, 5> named(const Limits& l) {
  return {{{l.memory, l.cached ? "cache" : "memory"},
           {l.arithmetic, "arithmetic"},
           {l.special, "special functions"},
           {l.latency, "latency"},
           {l.launch, "launch"}}};
}

double over(double work, double rate) { return rate > 0 ? work / rate : 0; }

}  // namespace

double Limits::longest() const { return std::max({memory, arithmetic, special, latency, launch}); }

std::string_view Limits::name() const { return std::ranges::max(named(*this)).second; }

double expected_seconds(const Limits& launch) {
  constexpr double kMemory = 0.85, kArithmetic = 0.5, kSpecial = 1;  // of the ceilings
  constexpr double kOverlap = 1.75;  // 1: one after the other; large: the longest alone
  constexpr double kOfPairs = 0.8;   // a loop over pairs hides all but the longest
  constexpr double kStart = 1.3;     // of a launch, times that of an empty kernel
  const double start = kStart * launch.launch;
  if (launch.pairs)
    return std::max({launch.memory, launch.arithmetic, launch.special, launch.latency}) / kOfPairs +
           start;
  const double sum = std::pow(launch.memory / kMemory, kOverlap) +
                     std::pow(launch.arithmetic / kArithmetic, kOverlap) +
                     std::pow(launch.special / kSpecial, kOverlap);
  return std::max(std::pow(sum, 1 / kOverlap), launch.latency) + start;
}

double bytes_of_arrays(const program::Program& program,
                       const std::vector<program::Launch>& launches) {
  using Kind = program::Argument::Kind;
  std::map<std::pair<Kind, int>, double> arrays;
  std::vector<int> maps;
  for (const program::Launch& launch : launches) {
    maps.insert(maps.end(), launch.maps.begin(), launch.maps.end());
    for (const auto& argument : program.kernels[static_cast<std::size_t>(launch.kernel)].arguments)
      if (argument.kind == Kind::Current || argument.kind == Kind::Next)
        arrays[{argument.kind, argument.index}] = static_cast<double>(argument.bytes);
  }
  double sum = program::bytes_of_maps(program, maps);
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
  l.latency = kernel.chain * (single ? c.latency32 : c.latency64) +
              kernel.chain_special * (single ? c.special_latency32 : c.special_latency64);
  l.launch = c.launch;
  l.pairs = kernel.pairs > 0;
  return l;
}

Units units_of(const DeviceInfo& info) {
  return {info.compute_units, info.local_bytes, info.is_cpu};
}

namespace {

/// The sums over launches while they are made.
class Step {
 public:
  Step(const program::Program& program, const Ceilings& ceilings, const Units& units, double arrays)
      : program_(program), ceilings_(ceilings), units_(units), arrays_(arrays) {}

  /// How often a step a launch computes, moves its arrays, and starts or waits for its groups.
  struct Often {
    double times = 1, moved = 1, started = 1;
  };

  /// Returns the seconds of the kernel and of its maps.
  double add(const program::Launch& launch, const Often& often) {
    const auto& kernel = program_.kernels[static_cast<std::size_t>(launch.kernel)];
    const double times = often.times;
    result_.flops += times * kernel.flops;
    result_.bytes += times * kernel.bytes;
    Limits one = limits(kernel, ceilings_, units_.count, arrays_);
    one.memory *= often.moved, one.launch *= often.started;
    one.arithmetic *= times, one.special *= times, one.latency *= times;
    double seconds = add(one);
    for (const int map : launch.maps)
      seconds += add_map(program_.maps[static_cast<std::size_t>(map)], times);
    return seconds;
  }

  StepLimits end() {
    for (const auto& [name, seconds] : of_)
      if (result_.name.empty() || seconds > of_[result_.name]) result_.name = name;
    return result_;
  }
  StepLimits& result() { return result_; }

 private:
  double add(const Limits& one) {
    result_.sum.memory += one.memory;
    result_.sum.arithmetic += one.arithmetic;
    result_.sum.special += one.special;
    result_.sum.latency += one.latency;
    result_.sum.launch += one.launch;
    result_.seconds += one.longest();
    if (!units_.processor) result_.expected += expected_seconds(one);
    of_[one.name()] += one.longest();
    return one.longest();
  }

  double add_map(const program::FourierMap& map, double times) {
    const auto fast = static_cast<double>(units_.local_bytes);
    const double rate = ceilings_.rate_of(arrays_);
    const auto sites = static_cast<double>(program_.sites() * program_.instances);
    TransformLimits& all = result_.transforms;
    double seconds = 0;
    for (const program::Pass& pass : program::passes_of(program_, map, fast)) {
      Limits one;
      one.cached = rate > ceilings_.copy;
      one.memory = times * over(pass.bytes, rate);
      // with multiplications and additions that may be one instruction, so not those of a kernel
      one.arithmetic = times * over(pass.flops, ceilings_.f64);
      one.launch = times * ceilings_.launch;
      seconds += add(one);
      all.passes += pass.transform ? times : 0;
      all.bytes += times * pass.bytes / sites, all.flops += times * pass.flops / sites;
      result_.bytes += times * pass.bytes / sites, result_.flops += times * pass.flops / sites;
    }
    all.arrays += times * static_cast<double>(map.from.size() + map.to.size());
    all.seconds += seconds;
    return seconds;
  }

  const program::Program& program_;
  const Ceilings& ceilings_;
  Units units_;
  double arrays_;
  StepLimits result_;
  std::map<std::string_view, double> of_;
};

/// Meetings a step of the groups that share an instance in a launch of many steps.
double meetings(const program::Program& program, const program::Kernel& kernel) {
  const double groups = static_cast<double>(kernel.grid[0]) * kernel.grid[1] * kernel.grid[2];
  const bool shared = groups > static_cast<double>(program.instances);
  return shared ? static_cast<double>(program.step.size()) : 0;
}

}  // namespace

StepLimits step_limits(const program::Program& program, const Ceilings& ceilings,
                       const Units& units, std::span<const double> rounds) {
  const bool many = !program.multi_step.empty();
  std::vector<program::Launch> launches = many ? program.multi_step : program.step;
  double steps = 1;   // that `launches` are
  double passes = 1;  // over memory a step
  if (!many && program.together_steps > 0) {
    launches = {program.together.front()};
    passes = 1 / static_cast<double>(program.together_steps);
  }
  if (!many && !program.cycle.empty()) {
    steps = static_cast<double>(program.cycle.size());
    launches.clear();
    for (const auto& step : program.cycle)
      launches.insert(launches.end(), step.begin(), step.end());
  }
  Step sum(program, ceilings, units,
           bytes_of_arrays(program, rounds.empty() ? launches : program.with_iterations(launches)));
  const auto add = [&](const program::Launch& launch, double times) {
    const double share = times / steps;
    const auto& kernel = program.kernels[static_cast<std::size_t>(launch.kernel)];
    if (many) return sum.add(launch, {share, 0, share * meetings(program, kernel)});
    return sum.add(launch, {share, share * passes, share * passes});
  };
  for (const program::Launch& launch : launches) add(launch, 1);
  for (std::size_t s = 0; s < rounds.size(); ++s) {  // rounds are counted by the step
    const program::Solve& solve = program.solves[s];
    for (const program::Launch& launch : solve.iterate)
      sum.result().rounds += add(launch, rounds[s] * steps);
    const auto here = [&](const program::Launch& launch) {
      return launch.solve == static_cast<int>(s);
    };
    const auto times = static_cast<double>(std::ranges::count_if(launches, here));
    for (const program::Launch& launch : solve.finish) add(launch, times);
  }
  return sum.end();
}

double occupancy_of_registers(int registers) {
  if (registers <= 0) return 0;
  constexpr int kRegisters = 65536, kGrain = 256, kMostGroups = 64;
  const int of_group = (registers * 32 + kGrain - 1) / kGrain * kGrain;
  return std::min(kMostGroups, kRegisters / of_group) / static_cast<double>(kMostGroups);
}

}  // namespace vphi::runtime
