// Steps whose length follows from their error (`evolve ..., tol = 1e-8`): how many were accepted.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "program/program.hpp"

namespace vphi::runtime {

/// Whether the program counts trials of its steps.
bool has_trials(const program::Program& program);
/// "steps within tol: 120 accepted, 3 rejected", with ranges where instances differ. `scalars`:
/// [instance][slot].
std::string trials_note(const program::Program& program, std::span<const double> scalars,
                        std::int64_t instances);

}  // namespace vphi::runtime
