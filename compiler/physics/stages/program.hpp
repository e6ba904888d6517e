// The program: variables and their rates in program units, and limits.
#pragma once

#include <vector>

#include "compiler/physics/stages/motion.hpp"

namespace vphi::physics {

class ProgramUnits;

struct Program : Motion {
  explicit Program(const Motion& motion) : Motion(motion) {}
  std::vector<Variable> variables;
};

Program to_program_units(const Motion& motion, ProgramUnits& units);

// ---- its steps
/// d^2 a/d(eta)^2 from the averages (ProgramUnits::slope_rate). Null where a does not follow the
/// averages.
Expr background_rate(const Motion& d, ProgramUnits& units);
std::vector<Variable> program_equations(const Motion& d, ProgramUnits& units);
/// The limits of `limit`, in text order. `units`: null for conserved quantities, which are stored
/// in physical units.
std::vector<Derived> read_limits(const Motion& d, Lowerer& lower, ProgramUnits* units);

}  // namespace vphi::physics
