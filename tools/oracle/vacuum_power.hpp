// Compares the power of waves that a run draws with the formula, by shells of modes.
//
// Vacuum: the run's random fields are drawn on a box of 16 sites along each axis, with 64 seeds.
// The expected power is (dk/2 pi)^d/(2 w) with w^2 = k^2 + m^2 (docs/formulas.md 1.5). Pure;
// nothing fails.
#pragma once

#include <functional>
#include <vector>

#include "program/program.hpp"
#include "tools/oracle/derivative_check.hpp"

namespace vphi::tools {

/// The vacuum of one variable.
struct VacuumStart {
  std::size_t place = 0;     ///< index of its random field in the program
  bool kernel_form = true;   ///< made by the kernel form (runtime/run/starts/vacuum.hpp)
  double cutoff = 0;         ///< 0: the default
  long double response = 1;  ///< factor from the random number to the variable
  long double mass2 = 0, dx = 1;
  int dims = 3;
};

/// Sums over the modes of shell l = 1, 2, ...; l = 0 is empty.
struct ShellPower {
  std::vector<long double> power, expected;
  std::vector<int> modes;
};

ShellPower vacuum_power(const program::Program& given, const VacuumStart& start);

/// The same in the program's own small box for the random array `place`, times `response`, whose
/// power is to be `power(k)`; a shell for each value of |k|, that of k = 0 omitted.
ShellPower spectrum_power(const program::Program& given, std::size_t place, long double response,
                          long double dx, const std::function<long double(long double k)>& power);

/// Adds to `row` the shell with the largest deviation, in units of the allowed one: `sigmas`
/// statistical errors, and the error of the kernel form.
void judge_power(const ShellPower& shells, bool kernel_form, double sigmas, DerivativeRow& row);

}  // namespace vphi::tools
