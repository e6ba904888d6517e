// The transverse-traceless part of a tensor field, and the derivative with respect to which it is
// transverse.
//
// The projector of gravitational waves must use the symbol of the same derivative as their source
// (docs/formulas.md 1.8). With another derivative, a part of the source that is pure gauge on the
// lattice would count as radiation. The compiler finds the derivative in the equation of motion. A
// source c*D_i(f)*D_j(f) is a quadratic form in the values of f around the site,
//   d^2 S_ij/(df(o) df(o')) = c*(d_i(o)*d_j(o') + d_j(o)*d_i(o')),
// and the weights d_i(o) of the derivative follow from its diagonal components; all fields of a
// source must agree. Terms of values of the site alone, as w*v_i*v_j of a fluid, hold no derivative
// and agree with any. For a source without a derivative it is the gradient of the language.
#pragma once

#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/stages/theory.hpp"

namespace vphi::physics {

/// Symbols of the derivative along x, y, z in the source of the field in `tensor`. Fails with a
/// message where the source is not of this form.
std::vector<program::Symbol> source_derivative(const Theory& d, const Value& tensor,
                                               dsl::Span span);

/// The projected tensor: Loads of the arrays of an entry of System::projections.
Value projected(const Theory& d, const Value& tensor, dsl::Span span);

}  // namespace vphi::physics
