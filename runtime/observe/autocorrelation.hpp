// Errors of averages along Markov chains, whose values are correlated.
//
// Gamma method: with the autocorrelation function
//   Gamma(t) = <(a_i - mean)(a_{i+t} - mean)>,   tau_int = 1/2 + sum_{t=1}^{W} Gamma(t)/Gamma(0)
// the error of the mean of N values is sqrt(2 tau_int Gamma(0)/N). The window W is where the sum of
// the error of the truncation, exp(-W/tau), and of the noise, sqrt(W/N), is least, with tau found
// from tau_int itself, tau = S/ln((2 tau_int + 1)/(2 tau_int - 1)): U. Wolff, Comput. Phys. Commun.
// 156 (2004) 143, section 3; equations are numbered by that paper. Gamma is corrected for the bias
// of a mean that comes from the same values (eq. 32). The error of tau_int is that of eq. 42.
//
// Where successive values are anticorrelated (exp(-deltaH) of a free field), sums of Gamma are
// small differences of large numbers. Values are then averaged in pairs first, repeatedly if
// necessary.
//
// The window misses longer correlations. Averages of longer blocks are therefore compared with the
// error: if they scatter by more, or neighbouring blocks are still correlated, the error of
// blocking is used (Flyvbjerg and Petersen, J. Chem. Phys. 91 (1989) 461). Several chains are
// compared by their means in the same way.
//
// An unknown error is NaN; `known` has the reason, and `at_least` the estimate, which is then too
// small. For functions of averages there is a jackknife over blocks.
//
// Values are successive measurements; tau_int is in units of their distance. The caller leaves out
// values that are not finite. Nothing here throws except std::bad_alloc.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace vphi::observe {

/// Whether the error of an average is known, and if not, why.
enum class Known {
  Yes,
  Few,           ///< fewer values than `kLeastValues`
  Frozen,        ///< all values of a chain are equal
  Short,         ///< fewer values than `kLeastTaus` times tau_int
  Slow,          ///< averages of long blocks still depend on each other
  ChainsDiffer,  ///< the means of a few chains differ by more than their errors
};
inline constexpr std::size_t kLeastValues = 32;
inline constexpr double kLeastTaus = 50;
/// "not known: ..." without the first two words: "fewer than 32 values".
std::string reason(Known known);

struct ChainAverage {
  std::size_t values = 0;
  double mean = 0;            ///< NaN without values
  double error = 0;           ///< one standard error; NaN where it is not known
  double error_of_error = 0;  ///< the same
  double at_least = 0;        ///< the error, or an estimate that is too small; NaN without either
  /// 1/2: independent values; where the error is not known, an estimate that is too small.
  double tau_int = 0.5;
  double tau_error = 0;
  std::size_t window = 0;  ///< W, in values; where `blocked`: values of a block
  bool blocked = false;    ///< the error is that of blocks, or of the means of several chains
  Known known = Known::Few;

  bool is_known() const { return known == Known::Yes; }
};

/// The average of one chain. `s`: ratio of tau to tau_int, 1 to 2 (S above).
ChainAverage chain_average(std::span<const double> values, double s = 1.5);
/// The average of several independent chains with a common mean, such as the instances of an
/// ensemble. Chains without values are ignored.
ChainAverage chain_average(std::span<const std::vector<double>> chains, double s = 1.5);

/// Error of the mean from averages of blocks.
struct BlockedError {
  std::size_t block = 1, blocks = 0;  ///< values in one, and how many
  double error = 0, error_of_error = 0;
};
/// Errors for blocks of 1, 2, 4, ... values, as long as there are at least eight blocks; values
/// left over at the end are omitted.
std::vector<BlockedError> blocked_errors(std::span<const double> values);

struct Jackknife {
  double value = 0;  ///< f of the means, with the bias of order 1/N removed
  double error = 0;
};
/// Jackknife of f(means of the columns): each of `blocks` blocks of rows is omitted in turn.
/// Columns have one length; rows that do not fill a block are left out at the end. NaN with fewer
/// than two blocks.
Jackknife jackknife(std::span<const std::vector<double>> columns, std::size_t blocks,
                    const std::function<double(std::span<const double>)>& f);

}  // namespace vphi::observe
