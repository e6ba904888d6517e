#include "runtime/observe/autocorrelation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/fft/fft.hpp"

namespace vphi::observe {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// Up to this separation products are added directly; beyond, a transform is cheaper.
constexpr std::size_t kDirect = 64;
constexpr std::size_t kFewBlocks = 32;  ///< the scatter of fewer has an error above one eighth
constexpr std::size_t kFewChains = 8;

using Chains = std::vector<std::vector<double>>;

double mean_of(std::span<const double> values) {
  double mean = 0, count = 0;
  for (const double value : values) mean += (value - mean) / ++count;
  return mean;
}

/// Sums of products of deviations at separations 0, 1, ..., over all chains; those up to kDirect at
/// once, the rest when the first of them is wanted.
class Products {
 public:
  Products(std::span<const std::vector<double>> chains, double mean, std::size_t direct = kDirect)
      : chains_(chains), mean_(mean) {
    for (const auto& chain : chains) longest_ = std::max(longest_, chain.size());
    sums_.assign(std::min(longest_, direct + 1), 0);
    for (const auto& chain : chains)
      for (std::size_t t = 0; t < std::min(sums_.size(), chain.size()); ++t)
        for (std::size_t i = 0; i + t < chain.size(); ++i)
          sums_[t] += (chain[i] - mean) * (chain[i + t] - mean);
  }
  std::size_t longest() const { return longest_; }

  double at(std::size_t t) {
    if (t >= sums_.size()) transform();
    return sums_[t];
  }

 private:
  /// sum_i a_i a_{i+t} is the inverse transform of |a~|^2; zeros after the values separate the
  /// ends.
  void transform() {
    const std::size_t direct = sums_.size();
    sums_.resize(longest_, 0);
    for (const auto& chain : chains_) {
      fft::Box box;
      box.n[0] = 1;
      while (box.n[0] < 2 * static_cast<std::int64_t>(chain.size())) box.n[0] *= 2;
      std::vector<double> padded(static_cast<std::size_t>(box.n[0]), 0);
      std::ranges::transform(chain, padded.begin(), [&](double v) { return v - mean_; });
      std::vector<fft::Complex> modes(static_cast<std::size_t>(box.modes()));
      fft::forward(box, padded.data(), modes.data(), 1);
      for (auto& mode : modes) mode = std::norm(mode);
      fft::inverse(box, modes.data(), padded.data(), 1);
      for (std::size_t t = direct; t < chain.size(); ++t)
        sums_[t] += padded[t] / static_cast<double>(box.n[0]);
    }
  }

  std::span<const std::vector<double>> chains_;
  double mean_;
  std::size_t longest_ = 0;
  std::vector<double> sums_;
};

/// Values that lie a separation t apart, all chains together.
double pairs(std::span<const std::vector<double>> chains, std::size_t t) {
  double count = 0;
  for (const auto& chain : chains)
    if (chain.size() > t) count += static_cast<double>(chain.size() - t);
  return count;
}

std::size_t values_of(std::span<const std::vector<double>> chains) {
  std::size_t count = 0;
  for (const auto& chain : chains) count += chain.size();
  return count;
}

/// Averages of neighbours, chain by chain; a last value without a neighbour is left out.
Chains halved(std::span<const std::vector<double>> chains) {
  Chains result;
  for (const auto& chain : chains) {
    std::vector<double>& half = result.emplace_back(chain.size() / 2);
    for (std::size_t i = 0; i < half.size(); ++i) half[i] = 0.5 * (chain[2 * i] + chain[2 * i + 1]);
  }
  return result;
}

/// Whether all values are equal, up to the rounding of sums over a lattice.
bool frozen(const std::vector<double>& values) {
  constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();
  const auto [least, most] = std::ranges::minmax(values);
  return most - least <= kRounding * std::max(std::abs(least), std::abs(most));
}

/// What chi^2 of `n` degrees of freedom exceeds with the probability 1/200 (E. B. Wilson and M. M.
/// Hilferty, Proc. Natl. Acad. Sci. 17 (1931) 684).
double far_chi2(double n) {
  constexpr double kQuantile = 2.576;  // of a normal number
  return n * std::pow(1 - 2 / (9 * n) + kQuantile * std::sqrt(2 / (9 * n)), 3);
}

struct Spread {
  double n = 0, gamma0 = 0;  ///< values, their variance
  double next = 0;           ///< correlation of neighbours
};

Spread spread_of(std::span<const std::vector<double>> chains, double mean) {
  Spread s{.n = static_cast<double>(values_of(chains))};
  Products products(chains, mean, 1);
  s.gamma0 = products.at(0) / s.n;
  if (products.longest() > 1 && s.gamma0 > 0) s.next = products.at(1) / pairs(chains, 1) / s.gamma0;
  return s;
}

/// The values, or averages of 2, 4, ... of them, whose neighbours do not cancel each other.
Chains without_cancellation(const Chains& chains, double mean) {
  constexpr double kCancel = 0.2;
  Chains result = chains;
  for (Chains blocks = chains; values_of(blocks) >= 2 * kFewBlocks;) {
    const Spread s = spread_of(blocks, mean);
    blocks = halved(blocks);
    if (s.next < -std::max(kCancel, 3 / std::sqrt(s.n))) result = blocks;
  }
  return result;
}

struct Windowed {
  double c = 0, gamma0 = 0;  ///< error^2 = c/n; variance, corrected
  std::size_t w = 0;
  bool plateau = false;
};

/// `decay`: the factor of |Gamma| from one separation to the next, for where the sum of Gamma does
/// not give it.
Windowed gamma_sum(std::span<const std::vector<double>> chains, double mean, double s,
                   double decay) {
  constexpr double kFloor =
      0.25;  // of gamma0; stronger cancellation has been removed by averaging neighbours
  Windowed result;
  const auto n = static_cast<double>(values_of(chains));
  Products products(chains, mean);
  const double gamma0 = products.at(0) / n;
  // The first W with g(W) = exp(-W/tau) - tau/sqrt(W N) < 0 (eq. 52), G = tau_int - 1/2. Where
  // neighbours are anticorrelated tau follows from |Gamma(1)| and not from the sum; for an
  // exponential Gamma both give the same tau.
  double g = 0;
  const std::size_t last = products.longest() / 2;
  for (std::size_t w = 1; w <= last && !result.plateau; ++w) {
    g += products.at(w) / pairs(chains, w) / gamma0;
    const double tau = s / std::log(g > 0 ? (g + 1) / g : 1 / decay);
    const auto window = static_cast<double>(w);
    result.plateau = std::exp(-window / tau) < tau / std::sqrt(window * n);
    result.w = w;
  }
  // C(W) = Gamma(0) + 2 sum Gamma(t), then Gamma += C/N (eq. 32, 35): 2 W + 1 terms of it.
  const double c = gamma0 * std::max(kFloor, 1 + 2 * g);
  result.gamma0 = gamma0 + c / n;
  result.c = c * (1 + (2 * static_cast<double>(result.w) + 1) / n);
  return result;
}

/// Replaces the error by that of `n` independent averages where the latter is larger.
bool take_scatter(double variance, double n, ChainAverage& result) {
  const double degrees = n - 1, error = std::sqrt(variance / degrees);
  if (error <= result.at_least) return false;
  result.at_least = error;
  result.error_of_error = error / std::sqrt(2 * degrees);
  return result.blocked = true;
}

/// Whether `n` averages scatter by more than the error makes likely.
bool scatter_far(double variance, double n, const ChainAverage& result) {
  return variance > result.at_least * result.at_least * far_chi2(n - 1);
}

/// Averages of blocks longer than the window should be independent and scatter according to the
/// error. Where they do not, the window has missed a slow mode. The error is then that of blocking,
/// once blocks are so long that neighbours are independent.
void compare_blocks(const Chains& chains, std::size_t window, ChainAverage& result) {
  constexpr std::size_t kLong = 2;             // in windows: little of a single decay is left there
  constexpr double kClear = 2.5, kGone = 1.5;  // standard errors of the correlation of neighbours
  const std::size_t value = result.window / std::max<std::size_t>(window, 1);
  Chains blocks = halved(chains);
  bool missed = false;
  for (std::size_t length = 2; values_of(blocks) >= kFewBlocks / 2; length *= 2) {
    const Spread s = spread_of(blocks, result.mean);
    blocks = halved(blocks);
    const double noise = 1 / std::sqrt(s.n);
    missed = missed || (s.next > 0 && scatter_far(s.gamma0, s.n, result)) ||
             (length >= kLong * window && s.next > kClear * noise);
    if (!missed) continue;
    if (s.n >= kFewBlocks || result.is_known())
      result.known = s.next > kGone * noise ? Known::Slow : Known::Yes;
    if (take_scatter(s.gamma0, s.n, result)) result.window = length * value;
  }
}

/// The same of the means of several chains.
void compare_chains(const Chains& chains, ChainAverage& result) {
  double variance = 0;
  for (const auto& chain : chains)
    variance += static_cast<double>(chain.size()) * std::pow(mean_of(chain) - result.mean, 2);
  variance /= static_cast<double>(result.values);
  const auto n = static_cast<double>(chains.size());
  if (n < 2 || !scatter_far(variance, n, result)) return;
  take_scatter(variance, n, result);
  result.known = chains.size() < kFewChains ? Known::ChainsDiffer : Known::Yes;
}

}  // namespace

std::string reason(Known known) {
  switch (known) {
    case Known::Yes:
      return "";
    case Known::Few:
      return fmt::format("fewer than {} values", kLeastValues);
    case Known::Frozen:
      return "all values of a chain are the same";
    case Known::Short:
      return fmt::format("fewer values than {:.0f} autocorrelation times", kLeastTaus);
    case Known::Slow:
      return "averages of long blocks still depend on each other";
    case Known::ChainsDiffer:
      return "the means of the chains differ by more than their errors";
  }
  return "";
}

ChainAverage chain_average(std::span<const std::vector<double>> all, double s) {
  ChainAverage result{.mean = kNone,
                      .error = kNone,
                      .error_of_error = kNone,
                      .at_least = kNone,
                      .tau_int = kNone,
                      .tau_error = kNone};
  Chains chains;
  double sum = 0;
  for (const auto& chain : all) {
    if (chain.empty()) continue;
    chains.push_back(chain);
    result.values += chain.size();
    sum += mean_of(chain) * static_cast<double>(chain.size());
  }
  if (result.values == 0) return result;
  const auto n = static_cast<double>(result.values);
  result.mean = sum / n;
  if (result.values > 1 && std::ranges::any_of(chains, frozen)) result.known = Known::Frozen;
  if (result.known == Known::Frozen || result.values < kLeastValues) return result;

  const Spread values = spread_of(chains, result.mean);
  const Chains averages = without_cancellation(chains, result.mean);
  const auto m = static_cast<double>(values_of(averages));
  const double decay = std::pow(std::clamp(std::abs(values.next), 1e-12, 1.0), n / m);
  const Windowed sums = gamma_sum(averages, result.mean, s, decay);
  const auto w = static_cast<double>(sums.w);
  result.window = sums.w * static_cast<std::size_t>(n / m);
  result.at_least = std::sqrt(sums.c / m);
  result.error_of_error = result.at_least * std::sqrt((w + 0.5) / m);
  result.known = sums.plateau ? Known::Yes : Known::Short;
  compare_blocks(averages, sums.w, result);
  compare_chains(chains, result);

  const double variance = result.at_least * result.at_least;
  result.tau_int = variance * n / (values.gamma0 + variance) / 2;
  const double tau = sums.c / sums.gamma0 / 2;  // of the averages; eq. 42
  const double relative = result.blocked ? 2 * result.error_of_error / result.at_least
                                         : 2 * std::sqrt(std::max(0.0, w + 0.5 - tau) / m);
  result.tau_error = result.tau_int * relative;
  if (result.is_known() && n < kLeastTaus * result.tau_int) result.known = Known::Short;
  if (result.is_known())
    result.error = result.at_least;
  else
    result.error_of_error = kNone;
  return result;
}

ChainAverage chain_average(std::span<const double> values, double s) {
  const std::vector<double> chain(values.begin(), values.end());
  return chain_average(std::span(&chain, 1), s);
}

std::vector<BlockedError> blocked_errors(std::span<const double> values) {
  constexpr std::size_t kLeastBlocks = 8;
  std::vector<BlockedError> errors;
  std::vector<double> blocks(values.begin(), values.end());
  for (std::size_t block = 1; blocks.size() >= kLeastBlocks; block *= 2) {
    const double mean = mean_of(blocks);
    double spread = 0;
    for (const double value : blocks) spread += (value - mean) * (value - mean);
    const auto n = static_cast<double>(blocks.size());
    const double error = std::sqrt(spread / (n - 1) / n);
    errors.push_back({.block = block,
                      .blocks = blocks.size(),
                      .error = error,
                      .error_of_error = error / std::sqrt(2 * (n - 1))});
    for (std::size_t i = 0; i < blocks.size() / 2; ++i)
      blocks[i] = 0.5 * (blocks[2 * i] + blocks[2 * i + 1]);
    blocks.resize(blocks.size() / 2);
  }
  return errors;
}

// f_k: f of the means without block k. Error: sqrt((B - 1)/B sum (f_k - mean f)^2); value:
// B f - (B - 1) mean f (Quenouille; Efron, SIAM CBMS-NSF 38 (1982), chapter 2).
Jackknife jackknife(std::span<const std::vector<double>> columns, std::size_t blocks,
                    const std::function<double(std::span<const double>)>& f) {
  const std::size_t rows = columns.empty() ? 0 : columns.front().size();
  if (blocks < 2 || rows < blocks) return {kNone, kNone};
  const std::size_t length = rows / blocks, used = length * blocks;
  std::vector<double> sums(columns.size(), 0), means(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c)
    for (std::size_t i = 0; i < used; ++i) sums[c] += columns[c][i];
  for (std::size_t c = 0; c < columns.size(); ++c) means[c] = sums[c] / static_cast<double>(used);
  const double whole = f(means);
  std::vector<double> without(blocks);
  for (std::size_t k = 0; k < blocks; ++k) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      double left = sums[c];
      for (std::size_t i = k * length; i < (k + 1) * length; ++i) left -= columns[c][i];
      means[c] = left / static_cast<double>(used - length);
    }
    without[k] = f(means);
  }
  const double mean = mean_of(without), count = static_cast<double>(blocks);
  double spread = 0;
  for (const double value : without) spread += (value - mean) * (value - mean);
  return {.value = count * whole - (count - 1) * mean,
          .error = std::sqrt((count - 1) / count * spread)};
}

}  // namespace vphi::observe
