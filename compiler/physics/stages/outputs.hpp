// The outputs: when a run ends, what is written, what is promised and what is watched.
#pragma once

#include <string>
#include <vector>

#include "compiler/physics/stages/start.hpp"

namespace vphi::physics {

/// The condition of `until` on scalars, and the time where it is `t > end`.
struct End {
  Expr until;
  double end_time = 0;
};

struct Written {
  std::vector<OutputClause> outputs;
  Expr averages_from;  ///< System::averages_from
};

/// What is always watched.
struct Watched {
  std::vector<Observable> progress;
  std::string scale_factor;  ///< System::scale_factor, friedmann
  Expr friedmann;
};

struct Outputs : End, Written, Watched {
  std::vector<Expectation> expectations;
};

/// The start is made before: what it draws has its numbers first.
Outputs read_outputs(const Program& program, ProgramUnits& units, const Start& start);

// ---- its steps
End read_until(const Program& d, Lowerer& lower, ProgramUnits& units);
Written read_written(const Program& d, Lowerer& lower, ProgramUnits& units);
std::vector<Expectation> read_expectations(const Program& d, Lowerer& lower, ProgramUnits& units);
/// What `until` says of averages over the sweep or over time: they are watched at outputs.
std::vector<Expectation> read_stop_criteria(const Program& d, Lowerer& lower, ProgramUnits& units,
                                            const Outputs& outputs);
Watched watch_progress(const Program& d, Lowerer& lower, ProgramUnits& units);

}  // namespace vphi::physics
