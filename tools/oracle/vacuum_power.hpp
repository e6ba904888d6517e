// Power of vacuum fluctuations by shells of modes, as a run draws them and as formulas say.
//
// The run's random fields are drawn on a box of 16 sites along each axis, with 64 seeds. Expected
// is (dk/2 pi)^d/(2 w) with w^2 = k^2 + m^2 (docs/formulas.md 1.5). Pure; nothing fails.
#pragma once

#include <vector>

#include "program/program.hpp"
#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

/// The vacuum of one variable.
struct VacuumStart {
  std::size_t place = 0;     ///< of its random field in the program
  bool kernel_form = true;   ///< drawn with the correlator of a kernel
  double cutoff = 0;         ///< 0: none of its own
  long double response = 1;  ///< of the variable to its random number
  long double mass2 = 0, dx = 1;
  int dims = 3;
};

/// Sums over the modes of shell l = 1, 2, ...; l = 0 is empty.
struct ShellPower {
  std::vector<long double> power, expected;
  std::vector<int> modes;
};

ShellPower vacuum_power(const program::Program& given, const VacuumStart& start);

/// Adds to `row` the shell that is furthest off, in units of what is allowed: `sigmas` of the
/// statistics, and what the form of the correlator leaves open.
void judge_power(const ShellPower& shells, bool kernel_form, double sigmas, DerivativeRow& row);

}  // namespace vphi::tools
