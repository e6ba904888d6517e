#include "compiler/schedule/prepare.hpp"

#include "compiler/physics/fields/deviation.hpp"
#include "compiler/schedule/integrator/growth.hpp"
#include "compiler/schedule/integrator/stability.hpp"
#include "compiler/schedule/steps/noise.hpp"

namespace vphi::schedule {

std::optional<physics::System> prepare(physics::System system, dsl::Diagnostics& diagnostics) {
  auto judged = judge_waves(std::move(system), diagnostics);
  if (!judged) return std::nullopt;
  auto prepared = with_calculus(std::move(*judged), diagnostics);
  if (!prepared) return prepared;
  warn_of_growth(*prepared, diagnostics);
  // the checks above are about the whole field, not its deviation
  return physics::with_references(std::move(*prepared), diagnostics);
}

}  // namespace vphi::schedule
