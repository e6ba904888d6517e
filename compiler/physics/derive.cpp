#include "compiler/physics/derive.hpp"

#include "compiler/physics/chains/hmc.hpp"
#include "compiler/physics/chains/link_flow.hpp"
#include "compiler/physics/chains/sampling.hpp"
#include "compiler/physics/clauses/stop_criteria.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/fields/transverse.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/physics/particles/particles.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/solve.hpp"
#include "compiler/physics/steps.hpp"
#include "compiler/physics/tables/tables.hpp"
#include "compiler/text/integrator.hpp"

namespace vphi::physics {

std::string written(const Derivation& d, dsl::Span span) {
  const dsl::Sources sources = d.resolved.sources();
  if (span.file >= sources.size() || !sources[span.file]) return {};
  return std::string(sources[span.file]->at(span));
}

std::optional<System> derive(const dsl::Resolved& resolved, const CompileOptions& options,
                             dsl::Diagnostics& diagnostics) {
  Derivation d(resolved, options, diagnostics);
  d.system.arena = std::make_shared<Arena>();
  const int before = diagnostics.errors();
  try {
    refuse_unsupported(d);
    if (diagnostics.errors() > before) return std::nullopt;
    Lowerer lower(d);
    read_sweep_axes(d, lower);
    read_start_time(d, lower);
    read_lattice(d, lower);
    read_particles(d, lower);
    declare_fields(d, lower);
    declare_conserved(d);
    choose_laplacian(d);
    read_units(d);
    read_metric(d, lower);
    const bool chain = samples(d);
    const bool flow = flows(d);  // of links
    if (chain) prepare_sampling(d, lower);
    if (flow) prepare_link_flow(d);
    if (!flow) decide_orders(d);
    read_potentials(d, lower);
    read_hamiltonian(d, lower);
    std::vector<Law> laws;
    if (d.resolved.clause("conserve")) {
      laws = read_laws(d, lower);
      read_conservation(d, lower, laws);
    }
    if (!chain && !flow) {
      equations_of_motion(d, lower);
      check_angles(d);
    }
    read_noise(d);
    read_rescale(d, lower);
    if (!chain) read_evolve(d, lower);

    read_numerics(d, lower);
    if (flow) read_link_flow(d, lower);
    if (chain) is_hmc(d) ? read_hmc(d, lower) : read_sampling(d, lower);

    ProgramUnits units(d);
    background_rate(d, lower, units);
    program_equations(d, units);
    add_companions(d);
    if (!chain && !flow && laws.empty()) read_limits(d, lower, &units);
    classify_noise(d);
    Lowerer start_lower(d);
    std::map<int, StartValue> start = read_initial(d, start_lower, units);
    start_conserved(d, laws, start);
    background_scalars(d, lower, units, start);
    initial_values(d, units, start);
    start_companions(d);
    read_until(d, lower, units);
    Lowerer outputs = lower.keeping_gaps();
    read_outputs(d, outputs, units);
    read_expectations(d, outputs, units);
    read_stop_criteria(d, outputs, units);
    watch_progress(d, outputs, units);
    if (d.system.conservation) watch_recovery(d, laws, units);
    convert_statistics(d, units);
    close_sweep_axes(d);
    finish_projections(d, units);
    finish_solves(d, units);
    check_tables(d);
    check_finite(d);
    check_extent(d);
    if (d.system.conservation) {
      check_courant(d, laws);
      d.system.laplacian = -1;  // no law has one
    } else if (!chain && !flow) {
      find_fastest_waves(d, units);
    }
    show_equations(d);
    show_laws(d, laws);
    settle_walls(d, units);
    use_by_effect(d);
    d.system.integrators = text::all_integrators(d.resolved);
    if (diagnostics.errors() == before) d.ledger.check(diagnostics);
  } catch (const Failure&) {
    return std::nullopt;
  }
  if (diagnostics.errors() > before) return std::nullopt;
  return std::move(d.system);
}

}  // namespace vphi::physics
