// Measures the time of one kernel.
#pragma once

#include "runtime/run/session.hpp"

namespace vphi::runtime {

/// Seconds of one launch, measured with a filled queue, so that the overhead of the host is hidden.
/// The launches change the state.
double launch_seconds(Session& session, const program::Launch& launch);

}  // namespace vphi::runtime
