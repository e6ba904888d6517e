// Sums of products of numbers and matrices. Each product is added to the sum at once, which takes
// four multiply-adds for a complex product where the device has them.
#pragma once

#include "compiler/gauge/matrix.hpp"

namespace vphi::gauge {

/// sum + a*b.
Complex plus_product(Complex sum, Complex a, Complex b);
/// The same as one of `terms` products; of two the sum does not depend on which comes first, so
/// that the lower row of a quaternion is the upper one, conjugated, and costs nothing.
Complex plus_product(Complex sum, Complex a, Complex b, int terms);
Matrix plus_product(const Matrix& sum, const Matrix& a, const Matrix& b);

}  // namespace vphi::gauge
