#include "runtime/observe/autocorrelation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/fft/fft.hpp"

namespace vphi::observe {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
/// Up to this separation products are added directly; beyond, a transform is cheaper.
constexpr std::size_t kDirect = 64;

double mean_of(std::span<const double> values) {
  double mean = 0, count = 0;
  for (const double value : values) mean += (value - mean) / ++count;
  return mean;
}

/// Sums of products of deviations at separations 0, 1, ..., over all chains; those up to kDirect at
/// once, the rest when the first of them is wanted.
class Products {
 public:
  Products(std::span<const std::vector<double>> chains, double mean)
      : chains_(chains), mean_(mean) {
    for (const auto& chain : chains) longest_ = std::max(longest_, chain.size());
    sums_.assign(std::min(longest_, kDirect + 1), 0);
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
  /// sum_i a_i a_{i+t} = inverse of |a~|^2, where zeros behind the values keep the ends apart.
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

}  // namespace

ChainAverage chain_average(std::span<const std::vector<double>> chains, double s) {
  ChainAverage result{.mean = kNone, .error = kNone, .error_of_error = kNone, .tau_error = kNone};
  double sum = 0;
  for (const auto& chain : chains)
    if (!chain.empty()) {
      result.values += chain.size();
      sum += mean_of(chain) * static_cast<double>(chain.size());
    }
  if (result.values == 0) return result;
  const auto n = static_cast<double>(result.values);
  result.mean = sum / n;
  if (result.values < 2) return result;

  Products products(chains, result.mean);
  const double gamma0 = products.at(0) / n;
  if (gamma0 == 0) {  // all values are equal: nothing to be uncertain about
    result.error = result.error_of_error = result.tau_error = 0;
    result.converged = true;
    return result;
  }
  // The first W with g(W) = exp(-W/tau) - tau/sqrt(W N) < 0 (eq. 52), G = tau_int - 1/2. Where
  // neighbours are anticorrelated the sum says nothing of the decay, |Gamma(1)| does; both are the
  // same tau where Gamma is an exponential.
  double g = 0;
  bool plateau = false;
  const double first = std::clamp(std::abs(products.at(1) / pairs(chains, 1) / gamma0), 1e-12, 1.0);
  const std::size_t last = products.longest() / 2;
  for (std::size_t w = 1; w <= last && !plateau; ++w) {
    g += products.at(w) / pairs(chains, w) / gamma0;
    const double tau = s / std::log(g > 0 ? (g + 1) / g : 1 / first);
    const auto window = static_cast<double>(w);
    plateau = std::exp(-window / tau) < tau / std::sqrt(window * n);
    result.window = w;
  }
  // C(W) = Gamma(0) + 2 sum Gamma(t), then Gamma += C/N (eq. 32, 35): 2 W + 1 terms of it.
  const double w = static_cast<double>(result.window);
  const double c = gamma0 * (1 + 2 * g);
  const double variance = gamma0 + c / n, corrected = c * (1 + (2 * w + 1) / n);
  result.tau_int = std::max(corrected / variance / 2, 0.5 / n);
  result.tau_error = result.tau_int * 2 * std::sqrt(std::max(0.0, w + 0.5 - result.tau_int) / n);
  result.error = std::sqrt(std::max(0.0, corrected) / n);
  result.error_of_error = result.error * std::sqrt((w + 0.5) / n);
  result.converged = plateau && n >= kLeastTaus * result.tau_int;
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
