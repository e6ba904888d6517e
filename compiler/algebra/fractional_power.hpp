// Rational functions that approximate powers of a positive number, as sums of simple fractions.
//
// r(z) = constant + sum_k residue_k/(z + pole_k) is the function of degree (n, n) with the least
// relative error to z^-p on [low, high], 0 < p < 1: its error has 2n + 2 extremes of one size with
// alternating signs. For p = 1/2 it is Zolotarev's, in elliptic functions. Other powers are reached
// from there in small steps of p: at fixed places of the extremes poles, zeros and the size of the
// error solve one equation each (Newton's method in their logarithms), and the places are then
// found anew (Remez). Poles and zeros are real and negative, and residues positive. Long double
// suffices for errors down to about 1e-14, because what is solved for is the error itself.
#pragma once

#include <optional>
#include <vector>

namespace vphi::algebra {

struct SimpleFractions {
  long double constant = 0;
  std::vector<long double> poles;  ///< b_k > 0 of 1/(z + b_k), the smallest first
  std::vector<long double> residues;
  long double error = 0;  ///< the largest relative error on [low, high]

  long double operator()(long double z) const;
};

/// z^-p by n fractions; nothing where the iterations do not converge. 0 < p < 1, 0 < low < high.
std::optional<SimpleFractions> inverse_power(long double p, long double low, long double high,
                                             int n);
/// z^p by n fractions: 1/inverse_power.
std::optional<SimpleFractions> direct_power(long double p, long double low, long double high,
                                            int n);

}  // namespace vphi::algebra
