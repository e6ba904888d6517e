// The fields of an action that is a product, a quotient or a power of determinants: one for each
// whole of a power and one for its rest.
#pragma once

#include <vector>

#include "compiler/physics/chains/loop_actions.hpp"

namespace vphi::physics {

/// A determinant with a field of its own: |det D|^(2 power), 0 < |power| <= 1, below 0 for one
/// below the line that is not paired.
struct DeterminantField {
  const dsl::Expr* call = nullptr;
  long double power = 1;
  bool beside_fraction = false;      ///< a whole one of a power that is not whole
  const dsl::Expr* below = nullptr;  ///< what it is divided by
};

/// Each whole denominator is paired with a whole numerator, in the order of the text. What is left
/// over below, and fractions, stand alone.
std::vector<DeterminantField> determinant_fields(const Motion& d, Lowerer& lower,
                                                 const NamedAction& action);

}  // namespace vphi::physics
