// The force of a derived model against a numerical derivative of its potential.
//
// For fields that are the same at every site gradients vanish, and with momenta at zero so does
// friction: what is left of the rate of a momentum, without noise, is -C dV/dpsi, C a constant of
// the units. V is taken from the model as an output total(V), so that derivative, rescaling and
// simplification are tested together. The numerical derivative is the five-point formula
//   f'(x) = (8 (f(x+h) - f(x-h)) - f(x+2h) + f(x-2h))/(12 h) + O(h^4)
// with a 64-bit mantissa. Nothing of it uses the symbolic derivative.
#pragma once

#include <string>
#include <vector>

#include "compiler/compile.hpp"

namespace vphi::tools {

struct DerivativeRow {
  std::string variable;  ///< the field, as the user knows it
  int points = 0;        ///< random values of all fields
  double deviation = 0;  ///< largest |rate + C dV/dpsi| over the largest |rate|
};

/// One row for each momentum whose equation is derived or says `derived`; empty where the model has
/// no potential. Nothing is thrown: a model
/// whose potential cannot be evaluated at the points has no row.
std::vector<DerivativeRow> check_derivatives(const std::string& path,
                                             const CompileOptions& options);

}  // namespace vphi::tools
