// Gauge groups: links as stored numbers, as matrices and as steps in the algebra.
//
// A link is an element of U(1) or SU(N), N >= 2. `Storage` is the format of its stored numbers; the
// rest of the compiler uses matrices. Its momentum and every force are N^2 - 1 real coordinates p_a
// (1 for U(1)) of A = i p_a T_a: T_a = lambda_a/2 with tr(T_a T_b) = delta_ab/2, the generalised
// Gell-Mann matrices, and T = 1 for U(1). With kinetic energy p_a p_a/2, a link moves by U' = A U,
// and an action whose slope is dS/dt = c Re tr(A W) gives
//   p_a' = c Im tr(T_a W),
// which for SU(N) is A' = (c/2) TA(W) (docs/formulas.md 2.2). Order of the generators: for each
// pair p < q, by q, then p: the symmetric, then the antisymmetric one; behind the pairs of each q
// the diagonal one diag(1, ..., 1, -q, 0, ...). For N = 3 these are lambda_1 ... lambda_8.
//
// Nothing here branches at run time. Functions fail only where their comments say so.
#pragma once

#include <span>
#include <vector>

#include "compiler/gauge/matrix.hpp"

namespace vphi::gauge {

enum class Kind { U1, SU };

struct Group {
  Kind kind = Kind::SU;
  int n = 3;  ///< rows of its matrices; 1 for U(1)
  int generators() const { return kind == Kind::U1 ? 1 : n * n - 1; }
  friend bool operator==(const Group&, const Group&) = default;
};

enum class Storage {
  Full,        ///< all entries, re and im, row by row
  Rows,        ///< without the last row, which is rebuilt: SU(2), SU(3)
  Quaternion,  ///< a0 ... a3 of a0 + i a.sigma: SU(2)
  Angle,       ///< theta of exp(i theta): U(1)
};

struct LinkType {
  Group group;
  Storage storage = Storage::Full;
  int reals() const;
  bool valid() const;  ///< whether the group has this storage
};
/// Quaternions for SU(2), an angle for U(1), full matrices for other groups.
LinkType default_storage(Group group);

/// The matrix of stored numbers; `stored` has reals() entries.
Matrix load(const LinkType& type, std::span<const Expr> stored);
/// The stored numbers of a matrix of the group.
std::vector<Expr> store(const LinkType& type, const Matrix& u);

/// The projection onto the group of a matrix that is close to it: rows are made orthonormal in
/// turn, and the last row of SU(N) gets the phase that makes the determinant 1 (docs/formulas.md
/// 2.2).
Matrix reunitarised(const Group& group, const Matrix& u);

/// p_a T_a, hermitian.
Matrix hermitian(const Group& group, std::span<const Expr> p);
/// A = i p_a T_a.
Matrix algebra_element(const Group& group, std::span<const Expr> p);
/// Im tr(T_a W) for each a. For W = A this is p_a (U(1)) or p_a/2 (SU(N)); for W = U V, times c, it
/// is the force (see above).
std::vector<Expr> projection(const Group& group, const Matrix& w);

/// Number of terms of the exponential series with a remainder below `unit`, for matrices with
/// eigenvalues up to `size`.
int exponential_terms(double unit, double size = 2);
/// exp(A) of A = i p_a T_a. U(1), SU(2): closed forms. SU(N): the series up to `terms` powers of A,
/// reduced to powers below A^N by the characteristic polynomial of A (Cayley, Hamilton). This takes
/// a recurrence of N complex numbers and N - 2 products of matrices (docs/formulas.md 2.2).
Matrix exponential(const Group& group, std::span<const Expr> p, int terms);

/// The transposed derivative of V = exp(A) U, A = i p_a T_a: numbers f_a become z_a and u_a with
///   f_a v_a = z_a dp_a + u_a w_a,   dV V^-1 = i v_a T_a,   dU U^-1 = i w_a T_a.
struct CarriedSlope {
  std::vector<Expr> of_exponent;  ///< z = sum_k (-ad_A)^k/(k+1)! f, ad_A F = A F - F A
  std::vector<Expr> of_link;      ///< u = exp(-A) F exp(A)
};
/// The series up to `terms` powers of ad_A (exponential_terms with twice the size of A), reduced
/// by the characteristic polynomial of ad_A where this takes fewer products: SU(2) two, SU(3) six.
CarriedSlope carried_slope(const Group& group, std::span<const Expr> p, std::span<const Expr> f,
                           int terms);

/// Number of normal random numbers for `haar`.
int haar_draws(const Group& group);
/// A random element with the uniform (Haar) distribution, made of independent normal numbers.
Matrix haar(const Group& group, std::span<const Expr> normals);
/// exp(i width n_a T_a) for normal random numbers n_a; it has the same distribution as its inverse.
Matrix near_identity(const Group& group, std::span<const Expr> normals, Expr width, int terms);

}  // namespace vphi::gauge
