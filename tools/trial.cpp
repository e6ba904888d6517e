#include "tools/trial.hpp"

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "tools/model.hpp"

namespace vphi::tools {
namespace {

bool is_momentum(const physics::System& system, const std::string& shown) {
  return std::ranges::any_of(system.variables, [&](const physics::Variable& v) {
    return v.shown == shown && v.role == physics::Role::Momentum;
  });
}

/// Updates that one step of all instances takes.
std::int64_t updates_of_a_step(const physics::System& system) {
  const bool pairs = std::ranges::any_of(system.variables, [](const physics::Variable& v) {
    return v.rate &&
           algebra::contains(v.rate, [](algebra::Expr e) { return e.is(algebra::Op::PairSum); });
  });
  const std::int64_t sites = system.lattice.sites();
  return std::max<std::int64_t>(1, system.instances()) * (pairs ? sites * sites : sites);
}

Compilation compiled(runtime::Device& device, const std::string& path,
                     const CompileOptions& options) {
  Compilation c = compile_model(path, options, target_of(device.info()));
  if (!c.program) {
    report(c);
    throw runtime::RunError("E0843", "the model does not compile for this device");
  }
  return c;
}

bool can_judge(program::Expectation::Kind kind, Extent extent) {
  using Kind = program::Expectation::Kind;
  return extent == Extent::Whole || kind == Kind::Conserved ||
         (kind == Kind::Drift && extent == Extent::Shorter);
}

TrialRun run(runtime::Device& device, const Compilation& c, Extent extent, std::int64_t steps) {
  runtime::RunOptions how;
  how.keep_state = true;
  how.steps = steps;
  TrialRun trial{runtime::run(*c.program, device, how), {}};
  auto& state = trial.result.state;
  for (std::size_t v = std::min(state.size(), c.program->state.size()); v-- > 0;)
    if (is_momentum(*c.system, c.program->state[v].shown))
      state.erase(state.begin() + static_cast<std::ptrdiff_t>(v));
  const auto& promises = c.program->expectations;
  for (std::size_t i = 0; i < trial.result.expectations.size(); ++i) {
    const auto& e = trial.result.expectations[i];
    const bool judged = i < promises.size() && can_judge(promises[i].kind, extent);
    trial.verdicts.push_back({e.text, e.ok, e.value, judged});
  }
  return trial;
}

}  // namespace

bool TrialRun::kept() const {
  return std::ranges::all_of(verdicts, [](const Verdict& v) { return v.ok || !v.judged; });
}

Extent extent_of(const CompileOptions& options) {
  return options.steps >= 0 ? Extent::Shorter : Extent::Whole;
}

TrialRun run_trial(runtime::Device& device, const std::string& path, const CompileOptions& options,
                   Extent extent) {
  return run(device, compiled(device, path, options), extent, -1);
}

std::optional<TrialRun> run_whole(runtime::Device& device, const std::string& path,
                                  const CompileOptions& options) {
  const Compilation c = compiled(device, path, options);
  const std::int64_t most = std::min(kWholeUpdates / updates_of_a_step(*c.system), kWholeSteps);
  const bool known = c.program->steps >= 0;
  if (known ? c.program->steps > most : most < kWorthLooking) return std::nullopt;
  TrialRun trial = run(device, c, extent_of(options), known ? -1 : most);
  if (!known && trial.result.steps >= most) return std::nullopt;
  return trial;
}

}  // namespace vphi::tools
