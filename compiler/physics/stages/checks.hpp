// The System is put together; what outputs asked for is converted, and what is said of the whole is
// checked.
#pragma once

#include "compiler/physics/stages/outputs.hpp"

namespace vphi::physics {

/// All that the stages made, in one piece.
System assemble(const Program& program, const ProgramUnits& units, const Start& start,
                const Outputs& outputs);

/// Averages and projections in program units, checks, the fastest waves, what a reader is shown,
/// and the walls written out.
void finish(const Program& program, ProgramUnits& units, System& system);

// ---- its steps
/// Conservation::sound and unsound, which a run checks.
void watch_recovery(const Program& d, ProgramUnits& units, System& system);
/// Values of statistics and of first passages in program units.
void convert_statistics(const Program& d, ProgramUnits& units, System& system);
/// Axes that no formula named are ensembles; `random ..., fresh = [a]`.
void close_sweep_axes(const Program& d, System& system);
/// Values to be projected in program units; one diagnostic where a step needs a projection.
void finish_projections(const Program& d, ProgramUnits& units, System& system);
void finish_solves(const Program& d, ProgramUnits& units, System& system);
/// E0736 where a number of the equations, the start or the outputs is infinite or none.
void check_finite(const Context& d, const System& system);
/// Which Laplacian the equations apply, if any; stencils that are wider than the box.
void check_extent(const Program& d, System& system);
/// E0312 where dt is above what the scheme's text names as its limit, for any state; where signals
/// have no largest velocity, a promise that is judged at every output.
void check_courant(const Program& d, System& system);
/// System::fastest, where variables follow an integrator without noise.
void find_fastest_waves(const Program& d, ProgramUnits& units, System& system);
/// What a reader is shown of the equations and of the laws.
void show_equations(const Program& d, System& system);
void show_laws(const Program& d, System& system);
/// What kernels find beyond the edges, and reads written out where fields differ.
void settle_walls(const Program& d, ProgramUnits& units, System& system);
/// Says of the clauses whose effect is seen in the equations alone that they have one.
void use_by_effect(const Program& d, const System& system);

}  // namespace vphi::physics
