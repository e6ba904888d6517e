// The start, the outputs and what follows: the lists of their steps.
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/fields/deviation_choice.hpp"
#include "compiler/physics/fields/prescribed.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"
#include "compiler/physics/lower/displacement.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/checks.hpp"
#include "compiler/physics/starts/gauss_start.hpp"
#include "compiler/physics/starts/kept_start.hpp"
#include "compiler/physics/starts/small_start.hpp"
#include "compiler/physics/tables/tables.hpp"
#include "compiler/text/integrator.hpp"

namespace vphi::physics {

Start read_start(const Program& program, ProgramUnits& units) {
  StartValues values = read_initial(program, units);
  start_conserved(program, values);
  part_with_hubble(program, values);
  background_scalars(program, units, values);
  Start start;
  start.initial = initial_values(program, units, values);
  for (InitialValue& value : starts_of_companions(program))
    start.initial.push_back(std::move(value));
  gauss_start(program, units, values, start);
  return start;
}

namespace {

/// The run ends where a step within `tol` would be shorter than rounding allows (`read_until`); it
/// has then failed.
Expectation steps_within_tolerance(const Program& d) {
  Arena& arena = d.arena();
  Expectation x;
  x.kind = Expectation::Kind::Condition;
  x.text = "a step within tol that is longer than 1e-12 of the first";
  x.span = d.dt_span;
  x.value = arena.symbol(Tolerance::kNext);
  x.ok = arena.make(algebra::Op::Less, {arena.symbol(Tolerance::kFailed), arena.rational(1, 2)});
  return x;
}

}  // namespace

Outputs read_outputs(const Program& program, ProgramUnits& units, const Start& start) {
  Outputs d;
  Lowerer lower(program);
  read_kept_start(program, lower, units, start);
  static_cast<End&>(d) = read_until(program, lower, units);
  check_prescribed(program, d.end_time);
  Lowerer with_gaps = lower.keeping_gaps();
  static_cast<Written&>(d) = read_written(program, with_gaps, units);
  d.expectations = read_expectations(program, with_gaps, units);
  for (Expectation& criterion : read_stop_criteria(program, with_gaps, units, d))
    d.expectations.push_back(std::move(criterion));
  if (program.tolerance()) d.expectations.push_back(steps_within_tolerance(program));
  static_cast<Watched&>(d) = watch_progress(program, with_gaps, units);
  return d;
}

namespace {

Lattice lattice_of(const Program& d, const ProgramUnits& units) {
  Lattice lattice;
  lattice.dims = d.grid.dims;
  lattice.extent = d.grid.extent;
  if (!d.grid.present) return lattice;
  lattice.counted = d.grid.counted;
  lattice.dx_physical = static_cast<double>(d.grid.dx->number.real);
  lattice.dx = static_cast<double>(units.spacing()->number.real);
  return lattice;
}

}  // namespace

System assemble(const Program& d, const ProgramUnits& units, const Start& start,
                const Outputs& outputs) {
  const Collected& asked = d.collected;
  System system;
  system.arena = d.expressions;
  system.lattice = lattice_of(d, units);
  system.variables = d.variables;
  system.variables.insert(system.variables.end(), asked.output_companions.begin(),
                          asked.output_companions.end());
  system.scalars = asked.scalars;
  system.axes = d.axes;
  system.statistics = asked.statistics;
  system.passages = asked.passages;
  system.averages_from = outputs.averages_from;
  system.random = asked.random;
  system.densities = asked.densities;
  system.start_kept = asked.start_kept;
  system.draws = asked.draws;
  system.initial = start.initial;
  system.initial.insert(system.initial.end(), asked.output_starts.begin(),
                        asked.output_starts.end());
  system.gauss = start.gauss;
  system.projections = asked.projections;
  system.solves = asked.solves;
  if (const auto& law = start.projected) {
    system.gauss_projection = {system.solves.size(), law->size, law->change};
    system.solves.push_back(law->system);
  }
  system.outputs = outputs.outputs;
  system.expectations = outputs.expectations;
  system.progress = outputs.progress;
  system.scale_factor = outputs.scale_factor;
  system.friedmann = outputs.friedmann;
  system.dt = d.dt_program;
  system.dt_physical = d.dt_physical;
  system.until = outputs.until;
  system.end_time = outputs.end_time;
  system.launches = d.launches;
  system.together = d.together;
  system.evolve_span = d.evolve_span;
  system.dt_span = d.dt_span;
  system.integrators = text::all_integrators(d.resolved);
  system.dynamics = d.dynamics;
  system.limits = d.limits;
  system.conservation = d.conservation;
  if (system.conservation) system.conservation->fixes = asked.fixes;
  system.numerics = d.numerics;
  system.noise = d.noise;
  system.generator = d.generator;
  system.seed = d.seed;
  const auto number = [](Expr e) { return static_cast<double>(e->number.real); };
  system.A = number(d.rescaling.A);
  system.B = number(d.rescaling.B);
  system.s = number(d.rescaling.s);
  if (d.rescaled()) system.r = number(d.rescaling.r);
  for (const Axis& axis : d.single_axes) system.folded.emplace_back(axis.name, axis.values[0]);
  system.laplacian = d.laplacian;
  return system;
}

void finish(const Program& d, ProgramUnits& units, System& system) {
  if (d.conservation) watch_recovery(d, units, system);
  convert_statistics(d, units, system);
  close_sweep_axes(d, system);
  finish_projections(d, units, system);
  finish_solves(d, units, system);
  keep_links_that_stay(d, system);
  check_tables(d);
  check_finite(d, system);
  check_extent(d, system);
  if (d.conservation) {
    check_courant(d, system);
    promise_tables(d, system);
    // no law has a Laplacian
    if (arrays_beside_laws(d).empty() || d.coordinates.given()) system.laplacian = -1;
    if (!arrays_beside_laws(d).empty() && !d.adaptive()) find_fastest_waves(d, units, system);
  } else if (d.motor == Motor::Evolution) {
    if (d.coordinates.given())
      system.laplacian = -1;  // its areas and volumes are those of the sites
    find_fastest_waves(d, units, system);
  }
  show_equations(d, system);
  show_laws(d, system);
  settle_walls(d, units, system);
  use_by_effect(d, system);
  // what conversions have asked for is there as well
  system.arrays = d.collected.arrays;
  system.matrices = d.collected.matrices;
  system.remarks = d.collected.remarks;
  warn_of_small_starts(d, system, choose_deviations(d, system));
}

}  // namespace vphi::physics
