// The time of one kernel by itself.
#pragma once

#include "runtime/run/session.hpp"

namespace vphi::runtime {

/// Seconds of one launch: the queue is filled so that the host's part hides behind the device's.
/// The state moves on.
double launch_seconds(Session& session, const program::Launch& launch);

}  // namespace vphi::runtime
