// Functions of one variable that are known while compiling: tables of them, and of their inverses,
// to a tolerance, and integrals.
//
// A table has sections between the places where an `if`, a minimum or the like in the formula
// changes. A section has equal steps of the argument or of its logarithm, whichever needs fewer
// pieces. Each piece is the cubic with the function's own values and slopes at both ends, so the
// table has a continuous derivative. The number of pieces is doubled until values are within `tol`
// and slopes within 100 `tol` at the places where the error of such a cubic is largest, relative to
// the larger of the two at the ends of the piece (at least 1e-4 of the largest anywhere). A table
// of an inverse is monotone on each piece.
//
// Nothing is thrown; a function without a table gives an Unfit.
#pragma once

#include <cstddef>
#include <functional>
#include <variant>
#include <vector>

namespace vphi::physics {

/// A function at one argument.
struct Sampled {
  double value = 0, slope = 0;
};
using KnownFunction = std::function<Sampled(double)>;

/// The table between two places; arguments from `low` to `high`.
struct Section {
  bool logarithmic = false;  ///< `at` has the logarithms of arguments
  double low = 0, high = 0;
  std::vector<double> at, values, slopes;  ///< slopes by what `at` has
};

/// The whole table, its sections by ascending arguments. There may be gaps between them.
struct Pieces {
  std::vector<Section> sections;
};

/// A part of a range in which a function is smooth.
struct Smooth {
  double first = 0, last = 0;
};

/// Why there is no table or integral.
struct Unfit {
  enum class Why {
    NotFinite,  ///< at the argument `where`
    Turns,      ///< it neither rises nor falls at `where`, or jumps back
    Rough       ///< `error` is what is left with the most pieces, largest near `where`
  };
  Why why = Why::NotFinite;
  double where = 0, error = 0;
};

/// Most pieces of a section.
inline constexpr std::size_t kMostPieces = 1 << 14;

/// f in these parts, which ascend.
std::variant<Pieces, Unfit> pieces_of(const KnownFunction& f, const std::vector<Smooth>& parts,
                                      double tol);

/// The inverse of f in these parts, of arguments between its values at both ends. In a gap between
/// the values on both sides of a jump it is the place of the jump.
std::variant<Pieces, Unfit> pieces_of_inverse(const KnownFunction& f,
                                              const std::vector<Smooth>& parts, double tol);

/// Places and weights of the rule of Gauss and Legendre on (0, 1): the weights add up to 1.
struct GaussRule {
  std::vector<long double> at, weight;
};
GaussRule gauss_rule(int points);

/// The integral of f from `first` to `last` by halving until two rules agree to 1e-13 of the
/// integral of |f|, or to 1e-11 where a piece is a 2^-48 of the whole.
std::variant<double, Unfit> integral_of(const std::function<double(double)>& f, double first,
                                        double last);

}  // namespace vphi::physics
