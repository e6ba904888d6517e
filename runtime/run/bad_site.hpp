// Where a state has broken, in words.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/run/run.hpp"

namespace vphi::runtime {

/// A site whose value is NaN or infinite. The step after `good_step` up to `bad_step` has made it
/// so. `cause`: where it is known; otherwise the equation of the variable is named.
std::string bad_site_text(const program::Program& program, const BadSite& bad,
                          std::int64_t good_step, std::int64_t bad_step,
                          const std::string& cause = {});

/// A state whose primitive variables cannot be recovered; `plane`: program::Program::unsound_slot.
std::string recovery_text(const program::Program& program, std::int64_t plane,
                          const std::string& when);

}  // namespace vphi::runtime
