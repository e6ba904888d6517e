// Messages about the site where a state has become invalid.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/run/run.hpp"

namespace vphi::runtime {

/// A site whose value is NaN or infinite. It became so in a step after `good_step`, up to
/// `bad_step`. `cause`: the reason, if known; otherwise the message shows the equation of the
/// variable.
std::string bad_site_text(const program::Program& program, const BadSite& bad,
                          std::int64_t good_step, std::int64_t bad_step,
                          const std::string& cause = {});

/// A state whose primitive variables cannot be recovered; `plane`: program::Program::unsound_slot.
std::string recovery_text(const program::Program& program, std::int64_t plane,
                          const std::string& when);

/// A note of a state whose primitive variables are recovered, but not to the tolerance of `solve`.
std::string rough_recovery_text(const program::Program& program, std::int64_t plane,
                                std::int64_t step);

}  // namespace vphi::runtime
