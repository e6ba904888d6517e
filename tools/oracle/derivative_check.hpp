// Equations of motion as derived against the text as written.
//
// On a small lattice with random fields each rate of the System, brought back to physical units
// through the System's own scalars, is compared with what the text says: differences of the
// evaluated total potential or Hamiltonian, the Laplacian as its text says, the right side of a
// written equation, the amplitude of its noise, and for a closed background a'' of the averages.
// Nothing of the text's side uses the compiler's algebra (tools/oracle/text/written_value.hpp).
// What is not compared has a row that says why. Conservation laws: tools/oracle/law_check.hpp.
#pragma once

#include <string>
#include <vector>

#include "compiler/compile.hpp"

namespace vphi::tools {

struct DerivativeRow {
  std::string variable;     ///< as the user knows it: "phi''", "theta'"
  std::string source;       ///< "the potential", "H", "its equation", "its noise", "the averages"
  int points = 0;           ///< random states and sites
  double deviation = 0;     ///< largest difference over the largest value
  std::string not_checked;  ///< why; empty where it was compared
  double allowed = 1e-8;    ///< more where the model itself is content with less: tol of a `solve`
  /// What is left is rounding and the error of the differences.
  bool right() const { return not_checked.empty() && deviation < allowed; }
};

/// One row for each rate, in the order of the variables.
std::vector<DerivativeRow> check_derivatives(const dsl::Resolved& resolved,
                                             const physics::System& system);
/// The same of the model at `path`, on a lattice of some sites along each axis.
std::vector<DerivativeRow> check_derivatives(const std::string& path,
                                             const CompileOptions& options);

}  // namespace vphi::tools
