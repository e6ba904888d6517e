// Sweeps of a step that follow one another and read the same arrays, as one sweep.
//
// Momenta of links along four axes, say, each change by products of the same spinors: four sweeps
// read them four times, one reads them once. Two sweeps are joined where neither changes what the
// other one reads, where memory then takes less time by the counts, and where a GPU's thread has
// registers for what it holds. Operations and their order stay the same.
#pragma once

#include "compiler/schedule/steps/step_loops.hpp"

namespace vphi::schedule {

/// Joins parts of the step that stand side by side wherever they occur; a remark names them.
/// `registers`: of a thread; 0: a processor, whose registers do not hold one site of such a sweep,
/// so that nothing is joined.
void join_sweeps(StepLoops& step, const Storage& storage, int registers);

}  // namespace vphi::schedule
