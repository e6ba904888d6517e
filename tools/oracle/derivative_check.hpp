// Compares derived equations of motion with the text of the model.
//
// On a small lattice with random fields each rate of the System, converted to physical units by the
// System's own scalars, is compared with the text: difference quotients of the total potential or
// Hamiltonian, the Laplacian by its text, the right side of a written equation, the amplitude of
// its noise, and, for a background that follows the averages, a''. The evaluation of the text does
// not use the compiler's algebra (tools/oracle/text/written_value.hpp). Rates that are not compared
// have a row with the reason. Conservation laws: tools/oracle/law_check.hpp.
#pragma once

#include <string>
#include <vector>

#include "compiler/compile.hpp"

namespace vphi::tools {

struct DerivativeRow {
  std::string variable;     ///< in the model's notation: "phi''", "theta'"
  std::string source;       ///< "the potential", "H", "its equation", "its noise", "the averages"
  int points = 0;           ///< number of random states and sites
  double deviation = 0;     ///< largest difference over the largest value
  std::string not_checked;  ///< the reason; empty where it was compared
  double allowed = 1e-8;    ///< larger where the model itself has a tolerance (tol of a `solve`)
  /// Whether the difference is explained by rounding and the error of difference quotients.
  bool right() const { return not_checked.empty() && deviation < allowed; }
};

/// One row for each rate, in the order of the variables.
std::vector<DerivativeRow> check_derivatives(const dsl::Resolved& resolved,
                                             const physics::System& system);
/// The same for the model at `path`, on a small lattice.
std::vector<DerivativeRow> check_derivatives(const std::string& path,
                                             const CompileOptions& options);

}  // namespace vphi::tools
