// Inverse and determinant of a matrix of expressions, without pivots or branches.
//
// A A^+ is hermitian and positive, A A^+ = L L^+ with L lower triangular. K = L^-1 A is unitary, so
// that A^-1 = K^+ L^-1 and log|det A| = sum log L_ii (Golub and Van Loan, Matrix
// Computations, 4.2). An A without an inverse gives numbers that are not finite. Nothing here
// fails.
#pragma once

#include "compiler/gauge/matrix.hpp"

namespace vphi::gauge {

struct Inverted {
  Matrix inverse;
  Expr logarithm;  ///< log|det A|
};
Inverted inverted(const Matrix& a);

}  // namespace vphi::gauge
