#include "compiler/schedule/schedule.hpp"

#include <set>
#include <variant>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/assemble.hpp"
#include "compiler/schedule/integrator/choose.hpp"
#include "compiler/schedule/rounded_numbers.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/joined_sweeps.hpp"
#include "compiler/schedule/steps/recentring.hpp"

namespace vphi::schedule {

namespace {

/// No kernel can compute a spectral Laplacian: what no map has replaced is refused.
bool refuse_spectral(const Plan& plan, dsl::Diagnostics& diagnostics) {
  for (const kernel::Kernel& kernel : plan.kernels) {
    std::optional<dsl::Span> chosen;
    algebra::visit(kernel.values(), [&](Expr, Expr node) {
      if (!node.is(algebra::Op::Stencil)) return;
      const algebra::StencilData& data = node->arena->stencil_data(node->index);
      if (data.spectral) chosen = data.span;
    });
    if (!chosen) continue;
    const bool start = kernel.name.starts_with("initial");
    diagnostics.add(
        errors::spectral_elsewhere(*chosen, start ? "a start" : fmt::format("`{}`", kernel.name)));
    return true;
  }
  return false;
}

/// What a trajectory launches, after all that joins and divides sweeps.
void say_launches(const physics::System& system, Plan& plan) {
  if (!std::holds_alternative<physics::Trajectory>(system.dynamics)) return;
  std::set<int> kernels;
  std::size_t solves = 0;
  for (const program::Launch& launch : plan.program.step) {
    kernels.insert(launch.kernel);
    solves += launch.solve >= 0;
  }
  plan.remarks.push_back(fmt::format(
      "a trajectory launches {} kernels {} times{}", kernels.size(), plan.program.step.size(),
      solves == 0 ? ", none of which the host waits for"
                  : fmt::format(" beside the rounds of {} solves; the host waits for solves alone",
                                solves)));
}

}  // namespace

// Each stage takes what the ones before have made, so that another order does not compile.
std::optional<Plan> schedule(const physics::System& system, const dsl::Resolved& resolved,
                             dsl::Diagnostics& diagnostics, const std::string& stop_after,
                             bool renewal, int registers) {
  Layout layout = allocate(system, resolved);
  Tables& tables = layout.tables;

  const auto stepping = choose_step(system, tables.slots, tables.storage, diagnostics);
  if (!stepping) return std::nullopt;
  StepLoops step = step_loops(system, *stepping, tables.slots);
  join_sweeps(step, tables.storage, registers);
  LoopSequence recentres = recentring(system, tables.slots, tables.storage);
  Initial initial = initial_state(system, tables.slots, tables.storage);
  Checks checks = make_checks(system, *stepping, tables);
  const SolutionMemory solutions(system, tables);
  Outputs outputs = make_outputs(system, *stepping, checks, solutions, tables, diagnostics);
  Watch watch = make_watch(system, *stepping, checks, solutions, tables, diagnostics);
  auto columns = columns_of(system, initial, step, outputs, watch, registers, diagnostics);
  if (!columns) return std::nullopt;
  auto solves =
      make_solves(system, resolved, *stepping, solutions, std::move(*columns), tables, diagnostics);
  if (!solves) return std::nullopt;

  auto ready =
      with_passes({std::move(step), std::move(recentres), std::move(initial), std::move(checks),
                   std::move(outputs), std::move(watch), std::move(*solves)},
                  tables.slots, stop_after, diagnostics);
  if (!ready) return std::nullopt;
  Plan plan =
      assemble(system, resolved, std::move(*ready), std::move(layout), renewal, diagnostics);
  if (refuse_spectral(plan, diagnostics)) return std::nullopt;
  warn_of_rounded_numbers(plan, diagnostics);
  say_launches(system, plan);
  return plan;
}

std::optional<Plan> schedule(const physics::System& system, const dsl::Resolved& resolved,
                             dsl::Diagnostics& diagnostics) {
  return schedule(system, resolved, diagnostics, {});
}

}  // namespace vphi::schedule
