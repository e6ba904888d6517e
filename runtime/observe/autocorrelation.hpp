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
// Where neighbouring values are anticorrelated (an exp(-deltaH) of a free field), sums of Gamma are
// differences of large numbers: values are averaged in pairs first, as often as necessary.
//
// Correlations longer than the window are not seen. Averages of longer blocks are therefore
// compared with the error: if they scatter by more, or neighbouring blocks are still correlated,
// the error of blocking is used (Flyvbjerg and Petersen, J. Chem. Phys. 91 (1989) 461). Several
// chains are compared by their means in the same way.
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
  Few,     ///< fewer values than `kLeastValues`
  Frozen,  ///< a chain has one value only: it has not moved, or its error cannot be told from it
  Short,   ///< fewer values than `kLeastTaus` times tau_int
  Slow,    ///< averages of long blocks still depend on each other
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
  double tau_int = 0.5;       ///< 1/2: independent values; by `at_least`, so too small as well
  double tau_error = 0;
  std::size_t window = 0;  ///< W, in values; where `blocked`: values of a block
  bool blocked = false;    ///< the error is that of blocks, or of the means of several chains
  Known known = Known::Few;

  bool is_known() const { return known == Known::Yes; }
};

/// Of one chain. `s`: how many times longer tau may be than tau_int says, 1 to 2.
ChainAverage chain_average(std::span<const double> values, double s = 1.5);
/// Of several independent chains with one mean, such as the instances of an ensemble. Chains
/// without values do not count.
ChainAverage chain_average(std::span<const std::vector<double>> chains, double s = 1.5);

/// Error of the mean from averages of blocks.
struct BlockedError {
  std::size_t block = 1, blocks = 0;  ///< values in one, and how many
  double error = 0, error_of_error = 0;
};
/// Blocks of 1, 2, 4, ... values while at least eight of them are left; rest at the end left out.
std::vector<BlockedError> blocked_errors(std::span<const double> values);

struct Jackknife {
  double value = 0;  ///< f of the means, its bias of order 1/N taken out
  double error = 0;
};
/// Of f(means of the columns): each of `blocks` blocks of rows is left out in turn. Columns have
/// one length; rows that do not fill a block are left out at the end. NaN with fewer than two
/// blocks.
Jackknife jackknife(std::span<const std::vector<double>> columns, std::size_t blocks,
                    const std::function<double(std::span<const double>)>& f);

}  // namespace vphi::observe
