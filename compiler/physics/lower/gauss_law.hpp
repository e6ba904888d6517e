// Gauss's law of the links of a written H, generator by generator, from the invariance of H
// (lower_gauss.cpp).
#pragma once

#include <map>
#include <vector>

#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// Of one generator of one gauge group, in physical units. Where links end at the box there is no E
/// across, so that the sum of the charges is not that of a flux. In planes whose links are held
/// there is no law: what the walls carry makes it hold.
struct GeneratorLaw {
  Expr law;                   ///< sum_i (E_i(x) - E_i(x - i)) + charge at a site; 0 where it holds
  std::vector<int> electric;  ///< arrays of E along each axis
  const StateField* links = nullptr;
  /// Momentum of a charged field -> charge times the change of that field by the generator. Momenta
  /// that move along it with one coefficient for all sites change the total charge, and the law of
  /// each site by what it holds of the momenta.
  std::map<int, Expr> rotation;
};

/// Of all links, in the order of their declaration. Fails where H is not invariant.
std::vector<GeneratorLaw> gauss_laws(const Program& d, dsl::Span span);

}  // namespace vphi::physics
