// Sums of products of numbers and matrices. Each product is added to the sum at once, which takes
// four multiply-adds for a complex product where the device has them.
#pragma once

#include "compiler/gauge/matrix.hpp"

namespace vphi::gauge {

/// sum + a*b.
Complex plus_product(Complex sum, Complex a, Complex b);
/// The same for one of `terms` products in all. A sum of two products does not depend on their
/// order; the lower row of a quaternion is then the conjugate of the upper one and costs nothing.
Complex plus_product(Complex sum, Complex a, Complex b, int terms);
Matrix plus_product(const Matrix& sum, const Matrix& a, const Matrix& b);

}  // namespace vphi::gauge
