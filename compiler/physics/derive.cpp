#include "compiler/physics/derive.hpp"

#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/stages/checks.hpp"

namespace vphi::physics {

std::optional<System> derive(const dsl::Resolved& resolved, const CompileOptions& options,
                             dsl::Diagnostics& diagnostics) {
  const int before = diagnostics.errors();
  Facts facts = collect_facts(resolved);
  Ledger ledger(resolved);
  Collected collected;
  const Context context{
      resolved, options, diagnostics, facts, ledger, collected, std::make_shared<Arena>()};
  try {
    refuse_unsupported(context);
    if (diagnostics.errors() > before) return std::nullopt;
    const Setting setting = read_setting(context);
    const Declared declared = declare_fields(setting);
    const Space space = read_space(declared);
    const Theory theory = read_theory(space);
    const Equations equations = derive_equations(theory);
    const Motion motion = read_motion(equations);
    ProgramUnits units(motion);
    const Program program = to_program_units(motion, units);
    const Start start = read_start(program, units);
    const Outputs outputs = read_outputs(program, units, start);
    System system = assemble(program, units, start, outputs);
    finish(program, units, system);
    if (diagnostics.errors() > before) return std::nullopt;
    ledger.check(diagnostics);
    if (diagnostics.errors() > before) return std::nullopt;
    return system;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace vphi::physics
