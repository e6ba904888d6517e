// The transverse-traceless part of a tensor field, and which derivative it is transverse to.
//
// The projector of gravitational waves must be built from the symbol of the very derivative with
// which their source was made (docs/formulas.md 1.8): with another one, a part of the source that
// is pure gauge on the lattice counts as radiation. The compiler finds it in the equation of
// motion. A source c*D_i(f)*D_j(f) is a quadratic form in the values of f around the site,
//   d^2 S_ij/(df(o) df(o')) = c*(d_i(o)*d_j(o') + d_j(o)*d_i(o')),
// and the weights d_i(o) of the derivative follow from its diagonal components; all fields of a
// source must agree. A tensor without a source takes the gradient of the language.
#pragma once

#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/stages/theory.hpp"

namespace vphi::physics {

/// Symbols of the derivative along x, y, z in the source of the field that `tensor` is made of.
/// Fails with a message where there is a source that is no such product.
std::vector<program::Symbol> source_derivative(const Theory& d, const Value& tensor,
                                               dsl::Span span);

/// The projected tensor: loads of arrays that a System::projections entry fills.
Value projected(const Theory& d, const Value& tensor, dsl::Span span);

}  // namespace vphi::physics
