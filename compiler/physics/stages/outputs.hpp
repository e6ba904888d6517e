// The outputs: the end of the run, outputs, expectations, and quantities that are always watched.
#pragma once

#include <string>
#include <vector>

#include "compiler/physics/stages/start.hpp"

namespace vphi::physics {

/// The condition of `until` on scalars, and the end time where it is `t > end`.
struct End {
  Expr until;
  double end_time = 0;
};

struct Written {
  std::vector<OutputClause> outputs;
  Expr averages_from;  ///< System::averages_from
};

/// Quantities that are always watched.
struct Watched {
  std::vector<Observable> progress;
  std::string scale_factor;  ///< System::scale_factor, friedmann
  Expr friedmann;
};

struct Outputs : End, Written, Watched {
  std::vector<Expectation> expectations;
};

/// Called after `read_start`, so that the random arrays of the start are numbered first.
Outputs read_outputs(const Program& program, ProgramUnits& units, const Start& start);

// ---- its steps
End read_until(const Program& d, Lowerer& lower, ProgramUnits& units);
Written read_written(const Program& d, Lowerer& lower, ProgramUnits& units);
std::vector<Expectation> read_expectations(const Program& d, Lowerer& lower, ProgramUnits& units);
/// The conditions of `until` on averages over the sweep or over time, which are evaluated at
/// outputs.
std::vector<Expectation> read_stop_criteria(const Program& d, Lowerer& lower, ProgramUnits& units,
                                            const Outputs& outputs);
Watched watch_progress(const Program& d, Lowerer& lower, ProgramUnits& units);

}  // namespace vphi::physics
