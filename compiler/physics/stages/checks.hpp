// The last stage: assembles the System, converts averages and projections to program units, and
// checks the whole.
#pragma once

#include "compiler/physics/stages/outputs.hpp"

namespace vphi::physics {

/// The System from the results of all stages.
System assemble(const Program& program, const ProgramUnits& units, const Start& start,
                const Outputs& outputs);

/// Averages and projections in program units, checks, the fastest waves, the printed equations, and
/// boundaries.
void finish(const Program& program, ProgramUnits& units, System& system);

// ---- its steps
/// Conservation::sound and unsound, which a run checks.
void watch_recovery(const Program& d, ProgramUnits& units, System& system);
/// Values of statistics and of first passages in program units.
void convert_statistics(const Program& d, ProgramUnits& units, System& system);
/// Marks axes that no formula uses as ensembles, and the axes of `random ..., fresh = [a]`.
void close_sweep_axes(const Program& d, System& system);
/// Converts the values to be projected to program units. Reports an error where a step needs a
/// projection.
void finish_projections(const Program& d, ProgramUnits& units, System& system);
void finish_solves(const Program& d, ProgramUnits& units, System& system);
/// E0736 where a number in the equations, the start or the outputs is infinite or NaN.
void check_finite(const Context& d, const System& system);
/// Finds the Laplacian in the equations, and checks for stencils that are wider than the box.
void check_extent(const Program& d, System& system);
/// E0312 where dt is above the limit of the scheme's text for every state. Where signals have no
/// largest velocity, adds an expectation that is checked at every output.
void check_courant(const Program& d, System& system);
/// Sets System::fastest, for equations without noise that an integrator solves.
void find_fastest_waves(const Program& d, ProgramUnits& units, System& system);
/// Sets the printed form of the equations and of the laws.
void show_equations(const Program& d, System& system);
void show_laws(const Program& d, System& system);
/// Sets the boundaries of the kernels, and writes reads across the boundary explicitly where fields
/// differ.
void settle_walls(const Program& d, ProgramUnits& units, System& system);
/// Records clauses as used whose effect shows only in the equations.
void use_by_effect(const Program& d, const System& system);

}  // namespace vphi::physics
