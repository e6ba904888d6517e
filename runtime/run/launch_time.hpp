// The time of one kernel by itself.
#pragma once

#include "runtime/run/session.hpp"

namespace vphi::runtime {

/// Seconds of one launch, measured over a filled queue so that the host's share is hidden by the
/// device's. The launches change the state.
double launch_seconds(Session& session, const program::Launch& launch);

}  // namespace vphi::runtime
