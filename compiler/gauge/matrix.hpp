// Complex numbers and matrices of expressions, in ordered arithmetic (arithmetic.hpp).
//
// They are the values of lattice gauge theory at one site: N x N links and staples, N-vectors of
// colour, and rows of these. Entries that are zero by construction are the number 0 and cost
// nothing. Nodes belong to one arena. Shapes must match; they are asserted.
#pragma once

#include <optional>
#include <vector>

#include "compiler/gauge/arithmetic.hpp"

namespace vphi::gauge {

struct Complex {
  Expr re, im;
};

inline bool same_number(const Complex& a, const Complex& b) { return a.re == b.re && a.im == b.im; }
Complex plus(Complex a, Complex b);
Complex minus(Complex a, Complex b);
/// exp(i angle), as cosine and sine.
Complex phase(Expr angle);
/// The angle of a number that is written so; nothing for others.
std::optional<Expr> phase_of(Complex a);
/// Of two phases: the phase of the sum of their angles, which is one cosine and one sine.
Complex times(Complex a, Complex b);
Complex times(Expr a, Complex b);
Complex negative(Complex a);
Complex conjugate(Complex a);
Complex times_i(Complex a);
Expr norm2(Complex a);

struct Matrix {
  int rows = 0;
  int columns = 0;
  std::vector<Complex> parts;  ///< row by row

  Complex& at(int row, int column) {
    return parts[static_cast<std::size_t>(row * columns + column)];
  }
  const Complex& at(int row, int column) const {
    return parts[static_cast<std::size_t>(row * columns + column)];
  }
};

Matrix zero(Arena& arena, int rows, int columns);
Matrix identity(Arena& arena, int n);

Matrix plus(const Matrix& a, const Matrix& b);
Matrix minus(const Matrix& a, const Matrix& b);
Matrix times(const Matrix& a, const Matrix& b);
Matrix times(Expr a, const Matrix& b);
Matrix times(Complex a, const Matrix& b);
/// Conjugate transpose.
Matrix adjoint(const Matrix& a);
Complex trace(const Matrix& a);
/// tr(a*b) without the other entries of the product.
Complex trace_of_product(const Matrix& a, const Matrix& b);
/// sum_k conj(a_k) b_k over rows number `i` of a and `j` of b.
Complex row_product(const Matrix& a, int i, const Matrix& b, int j);
/// TA(M) = (M - M^+)/2 - tr(M - M^+)/(2N): the part of M in the algebra of SU(N); of U(1) where
/// N = 1: its imaginary part.
Matrix traceless_antihermitian(const Matrix& m);
Complex determinant(const Matrix& m);

}  // namespace vphi::gauge
