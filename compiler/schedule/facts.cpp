#include "compiler/schedule/facts.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/draw.hpp"
#include "compiler/kernel/kernel.hpp"
#include "compiler/schedule/outputs/averages.hpp"
#include "compiler/schedule/steps/step.hpp"
#include "dsl/types/unit_check.hpp"

namespace vphi::schedule {
namespace {

using algebra::Op;

// Streams of initial values count from 0.
constexpr std::uint32_t kNoiseStream = 0x80000000U;
constexpr std::uint32_t kStartStream = 0x80000001U;  // draws of kernels before the first step

std::int64_t steps_of(const physics::System& system) {
  if (system.end_time > 0 && system.dt_physical > 0) {
    const double steps = system.end_time / system.dt_physical;
    return static_cast<std::int64_t>(std::floor(steps * (1 + 1e-12))) + 1;
  }
  if (system.variables.empty()) return 0;
  if (const auto* trajectory = std::get_if<physics::Trajectory>(&system.dynamics))
    return trajectory->count;
  if (const auto* chain = std::get_if<physics::MarkovChain>(&system.dynamics)) return chain->sweeps;
  return program::Program().steps;
}

/// Numbers that a step of the kernel draws.
int draws_of(const kernel::Kernel& k) {
  int draws = 0;
  algebra::visit(k.values(), [&](Expr, Expr node) {
    if (node.is(Op::Normal) || node.is(Op::Uniform)) draws = std::max(draws, node->index + 1);
  });
  return draws;
}

/// Steps are recorded once and replayed, so an array that they use must keep its memory, also one
/// that was made for an observation (a running mean of sums over pairs).
void keep_what_steps_use(Plan& plan) {
  program::Program& p = plan.program;
  const auto keep = [&](const std::vector<program::Launch>& launches) {
    for (const program::Launch& launch : p.with_iterations(launches)) {
      for (const kernel::ArrayParam& array :
           plan.kernels[static_cast<std::size_t>(launch.kernel)].arrays) {
        const int buffer = plan.buffer_of[static_cast<std::size_t>(array.array)];
        if (buffer >= 0) p.buffers[static_cast<std::size_t>(buffer)].scratch = false;
      }
    }
  };
  keep(p.step);
  for (const auto& step : p.cycle) keep(step);
}

/// Adds the units of numbers in files.
void add_units(const physics::System& system, const dsl::Resolved& resolved, program::Program& p) {
  p.base_unit = dsl::base_unit(resolved);
  p.length_unit = dsl::unit_text(resolved, -1);
  const bool evolves = std::holds_alternative<physics::Evolution>(system.dynamics) ||
                       std::holds_alternative<physics::FluxStep>(system.dynamics);
  if (evolves) p.time_unit = dsl::unit_text(resolved, -1);
  for (const physics::OutputClause& clause : system.outputs)
    for (const physics::Observable& o : clause.observables) p.units.emplace_back(o.name, o.unit);
}

}  // namespace

program::Program facts_of(const physics::System& system, const dsl::Resolved& resolved) {
  program::Program p;
  p.model = resolved.model.name;
  p.title = resolved.model.title;
  if (resolved.model.source) p.model_text = std::string(resolved.model.source->text());
  p.compiler_version = VPHI_VERSION;
  p.dims = system.lattice.dims;
  p.extent = system.lattice.extent;
  p.dx = system.lattice.dx;
  p.dx_physical = system.lattice.dx_physical;
  p.dt = system.dt;
  p.dt_physical = system.dt_physical;
  p.step_growth = system.step_growth;
  p.counted = system.lattice.counted;
  add_units(system, resolved, p);
  p.seed = system.seed;
  p.parameters = system.folded;
  p.chain = is_chain(system.dynamics);
  p.steps = steps_of(system);
  return p;
}

void add_tables(const physics::System& system, const Tables& tables, Plan& plan) {
  const Slots& slots = tables.slots;
  program::Program& p = plan.program;
  p.buffers = tables.storage.buffers();
  plan.buffer_of = tables.storage.buffer_of();
  keep_what_steps_use(plan);
  for (std::size_t i = 0; i < slots.names().size(); ++i)
    p.scalars.push_back({slots.names()[i], slots.initial()[i]});
  for (const physics::ScalarVariable& s : system.scalars) {
    if (const auto number = algebra::constant(s.initial))
      p.scalars[static_cast<std::size_t>(slots.index(s.symbol))].initial =
          static_cast<double>(number->real);
  }
  for (const physics::Axis& axis : system.axes)
    p.axes.push_back({axis.name, axis.values, axis.ensemble, axis.fresh, slots.index(axis.symbol)});
  p.ensemble = system.ensemble;
  if (slots.has(slot::kEnsemble)) p.ensemble_slot = slots.index(slot::kEnsemble);
  p.instances = p.all_instances();
  p.densities = system.densities;
  if (!system.start_kept.empty()) {
    p.start_kept_slot = slots.index(system.start_kept);
    p.draws_slot = slots.index(system.draws);
  }
  p.step_slot = slots.index(slot::kStep);
  p.stop_slot = slots.index(slot::kStop);
}

void add_cost(Plan& plan, std::size_t number) {
  const kernel::Kernel& k = plan.kernels[number];
  const kernel::Cost cost = kernel::cost(k);
  std::vector<program::Kernel>& all = plan.program.kernels;
  all.resize(std::max(all.size(), number + 1));
  program::Kernel& described = all[number];
  described.name = k.name;
  described.loads = cost.loads;
  described.stores = cost.stores;
  described.bytes = cost.bytes;
  described.flops = cost.flops;
  described.special = cost.special;
}

void add_costs(Plan& plan) {
  for (std::size_t number = 0; number < plan.kernels.size(); ++number) add_cost(plan, number);
}

namespace {

/// 1 where the sites of a colour that share a block would not fill the rows.
int apart_of_colour(const kernel::Kernel& k) {
  const int apart = k.colours->apart();
  const bool full = kernel::across_sites(k.random) &&
                    k.extent[0] % (apart * kernel::sites_of_block(k.random)) == 0;
  return full ? apart : 1;
}

}  // namespace

void number_draws(const physics::System& system, const std::vector<program::Launch>& initial,
                  std::vector<kernel::Kernel>& kernels) {
  std::set<std::size_t> starting;
  for (const program::Launch& launch : initial)
    starting.insert(static_cast<std::size_t>(launch.kernel));
  int all = 0;
  for (const kernel::Kernel& k : kernels) all = std::max(all, draws_of(k));
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernel::Kernel& k = kernels[i];
    if (draws_of(k) == 0) continue;
    k.random.generator = system.generator;
    k.random.bits = system.noise.points == 2 && all <= kernel::kMostBits;
    k.random.seed = system.seed;
    k.random.stream = starting.contains(i) ? kStartStream : kNoiseStream;
    k.random.draws = all;
    k.random.sites = k.sites();
    k.random.step = slot::kStep;
    k.random.instance = slot::kEnsemble;
    if (k.colours) k.random.apart = apart_of_colour(k);
  }
}

}  // namespace vphi::schedule
