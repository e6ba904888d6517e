// Gamma matrices as exact constants, and properties derived from them.
//
// Spin matrices have entries that are Gaussian integers, so that the rules of the Clifford algebra
// are checked exactly and multiplications by 1, i, -1, -i cost nothing. Both bases have gamma5 =
// diag(1, 1, -1, -1); directions are x, y, z, t. `factorised` finds that 1 - gamma_mu has rank 2:
// two rows of colour are multiplied by a link instead of four (docs/formulas.md 3.1). Nothing
// throws.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compiler/gauge/matrix.hpp"

namespace vphi::gauge {

struct Gaussian {
  int re = 0, im = 0;
  friend bool operator==(const Gaussian&, const Gaussian&) = default;
  bool zero() const { return re == 0 && im == 0; }
};
Gaussian operator+(Gaussian a, Gaussian b);
Gaussian operator*(Gaussian a, Gaussian b);
Gaussian operator-(Gaussian a);
/// a/b where that is a Gaussian integer.
std::optional<Gaussian> quotient(Gaussian a, Gaussian b);

/// 4 x 4, row by row.
struct SpinMatrix {
  std::array<Gaussian, 16> parts{};
  Gaussian& at(int i, int j) { return parts[static_cast<std::size_t>(4 * i + j)]; }
  Gaussian at(int i, int j) const { return parts[static_cast<std::size_t>(4 * i + j)]; }
  friend bool operator==(const SpinMatrix&, const SpinMatrix&) = default;
};
SpinMatrix operator+(const SpinMatrix& a, const SpinMatrix& b);
SpinMatrix operator*(const SpinMatrix& a, const SpinMatrix& b);
SpinMatrix operator*(Gaussian a, const SpinMatrix& b);
SpinMatrix adjoint(const SpinMatrix& a);
SpinMatrix spin_identity();

enum class GammaBasis {
  Chiral,        ///< of tmLQCD and CL2QCD: gamma_x gamma_y gamma_z gamma_t = -gamma5
  DeGrandRossi,  ///< of Chroma, QUDA and ILDG propagators: +gamma5
};
using Gammas = std::array<SpinMatrix, 4>;
Gammas gammas(GammaBasis basis);
SpinMatrix gamma5();

/// {gamma_mu, gamma_nu} = 2 delta_mu_nu, each hermitian: the pair that is not so, if any.
std::optional<std::array<int, 2>> clifford_violation(const Gammas& gammas);

/// m = rebuild (4 x rank) * project (rank x 4), entries Gaussian integers.
struct Factorised {
  int rank = 0;
  std::vector<std::array<Gaussian, 4>> project;  ///< rows
  std::array<std::vector<Gaussian>, 4> rebuild;  ///< rows, of rank entries
};
std::optional<Factorised> factorised(const SpinMatrix& m);

/// a times z; free where a is a power of i.
Complex times(Gaussian a, Complex z);

}  // namespace vphi::gauge
