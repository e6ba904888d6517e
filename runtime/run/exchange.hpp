// Replica exchange: configurations go between instances with neighbouring values of a sweep
// (program::Exchange).
//
// After every `every` steps the program's launches give each instance the change of the action,
// were its configuration at the value above, or below. The pairs (0, 1), (2, 3), ... and (1, 2),
// (3, 4), ... are tried in turn, each with a random number of seed, step and instance alone. A
// configuration moves, and everything else stays: averages, series and random numbers belong to
// the values of the sweep. What is exchanged therefore depends neither on the device nor on the
// number of ranks, and a resumed run goes on as it would have.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/run/session.hpp"

namespace vphi::runtime {

/// Sets the scalars of an instance of the sweep that an exchange starts from: the values above and
/// below, its replica, and a number of its own for random numbers.
void start_exchange(const program::Program& program, std::int64_t instance, double* scalars);

/// The first step after `step` with an exchange behind it; -1: there is none.
std::int64_t next_exchange(const program::Program& program, std::int64_t step);
/// Exchanges configurations after step number `step`, where it is due. Precondition: the session
/// has all instances of the sweep.
void exchange_configurations(Session& session, std::int64_t step);

/// Throws RunError E0802 where the session has not all instances of the sweep.
void check_exchange(const program::Program& program);

/// "exchanged along K: 0.61 from 0.3 to 0.35, ..." for the end of a run; empty where nothing was
/// tried. `scalars`: [instance][slot].
std::string exchange_note(const program::Program& program, std::span<const double> scalars);

}  // namespace vphi::runtime
