// Errors along Markov chains: autoregressive chains, whose autocorrelation is known exactly.
//
// x_{i+1} = rho x_i + sqrt(1 - rho^2) normal has variance 1 and Gamma(t) = rho^t, so that
// tau_int = (1 + rho)/(2(1 - rho)); the mean of N of them has variance 2 tau_int/N up to a relative
// tau_int/N.
#include "runtime/observe/autocorrelation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>

namespace vphi::observe {
namespace {

std::vector<double> autoregressive(double rho, std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53; };
  const auto normal = [&] {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  };
  std::vector<double> values(count);
  double x = normal();
  for (double& value : values) {
    value = x;
    x = rho * x + std::sqrt(1 - rho * rho) * normal();
  }
  return values;
}

double exact_tau(double rho) { return (1 + rho) / (2 * (1 - rho)); }

TEST(GammaMethod, TauOfAutoregressiveChains) {
  for (const double rho : {-0.5, 0.0, 0.5, 0.9, 0.98}) {
    const std::size_t n = 400000;
    const ChainAverage found = chain_average(autoregressive(rho, n, 3));
    const double tau = exact_tau(rho), error = std::sqrt(2 * tau / static_cast<double>(n));
    EXPECT_TRUE(found.is_known()) << rho;
    EXPECT_NEAR(found.tau_int, tau, 3 * found.tau_error + 1e-3 * tau) << rho;
    EXPECT_LT(found.tau_error, 0.1 * tau) << rho;
    EXPECT_NEAR(found.error, error, 3 * found.error_of_error + 1e-3 * error) << rho;
    EXPECT_LT(std::abs(found.mean), 4 * error) << rho;
    EXPECT_EQ(found.values, n);
  }
}

// The error means what it says: over many short chains the mean is off by as much as it claims.
TEST(GammaMethod, ErrorsOfManyChains) {
  const double rho = 0.8;
  const std::size_t n = 1000, chains = 400;
  double off2 = 0, error2 = 0, tau = 0, pull2 = 0;
  for (unsigned seed = 0; seed < chains; ++seed) {
    const ChainAverage found = chain_average(autoregressive(rho, n, 100 + seed));
    off2 += found.mean * found.mean / chains;
    error2 += found.error * found.error / chains;
    tau += found.tau_int / chains;
    pull2 += std::pow((found.tau_int - exact_tau(rho)) / found.tau_error, 2) / chains;
  }
  EXPECT_NEAR(tau, exact_tau(rho), 0.02 * exact_tau(rho));
  EXPECT_NEAR(off2 / error2, 1, 0.25);  // sqrt(2/400) = 7 %
  EXPECT_NEAR(std::sqrt(pull2), 1, 0.35);
}

// The window lies beyond the separations that are summed directly.
TEST(GammaMethod, LongWindowsByTransform) {
  const auto values = autoregressive(0.99, 100001, 8);
  const ChainAverage found = chain_average(values);
  ASSERT_GT(found.window, 200U);
  double gamma0 = 0, sum = 0;
  for (const double v : values) gamma0 += std::pow(v - found.mean, 2);
  for (std::size_t t = 1; t <= found.window; ++t) {
    double product = 0;
    for (std::size_t i = 0; i + t < values.size(); ++i)
      product += (values[i] - found.mean) * (values[i + t] - found.mean);
    sum += product / static_cast<double>(values.size() - t);
  }
  const auto n = static_cast<double>(values.size());
  gamma0 /= n;
  const double c = gamma0 + 2 * sum;
  const double corrected = c * (1 + (2 * static_cast<double>(found.window) + 1) / n);
  EXPECT_NEAR(found.tau_int, corrected / (gamma0 + corrected / n) / 2, 1e-9 * found.tau_int);
}

TEST(GammaMethod, SeveralChainsAreOne) {
  std::vector<std::vector<double>> chains;
  for (unsigned seed = 0; seed < 8; ++seed)
    chains.push_back(autoregressive(0.9, 20000 + 1000 * seed, 40 + seed));
  chains.emplace_back();  // nothing measured
  const ChainAverage found = chain_average(chains);
  EXPECT_EQ(found.values, 188000U);
  EXPECT_NEAR(found.tau_int, exact_tau(0.9), 3 * found.tau_error);
  EXPECT_NEAR(found.error, std::sqrt(2 * exact_tau(0.9) / 188000), 3 * found.error_of_error);
  EXPECT_LT(std::abs(found.mean), 4 * found.error);
}

TEST(GammaMethod, TooShortIsSaid) {
  EXPECT_FALSE(chain_average(autoregressive(0.99, 500, 1)).is_known());
  EXPECT_FALSE(chain_average(autoregressive(0.999, 5000, 1)).is_known());
  std::vector<double> line(100);  // still on its way to equilibrium
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = static_cast<double>(i);
  EXPECT_FALSE(chain_average(line).is_known());
}

TEST(GammaMethod, FewValues) {
  EXPECT_TRUE(std::isnan(chain_average(std::vector<double>{}).mean));
  const ChainAverage one = chain_average(std::vector<double>{2.5});
  EXPECT_EQ(one.mean, 2.5);
  EXPECT_TRUE(std::isnan(one.error));
  const ChainAverage two = chain_average(std::vector<double>{1, 2});
  EXPECT_EQ(two.mean, 1.5);
  EXPECT_EQ(two.known, Known::Few);
  EXPECT_TRUE(std::isnan(two.error));
}

// What has not moved has no error, least of all 0; rounding is no movement.
TEST(GammaMethod, Frozen) {
  std::vector<double> values(1000, 0.77355009);
  const ChainAverage same = chain_average(values);
  EXPECT_EQ(same.mean, 0.77355009);
  EXPECT_EQ(same.known, Known::Frozen);
  EXPECT_TRUE(std::isnan(same.error));
  EXPECT_TRUE(std::isnan(same.tau_int));
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] *= 1 + 1e-15;
  EXPECT_EQ(chain_average(values).known, Known::Frozen);
  EXPECT_EQ(chain_average(std::vector<double>(5, 0.5)).known, Known::Frozen);
  const std::vector<std::vector<double>> one_of_two{autoregressive(0.5, 5000, 4),
                                                    std::vector<double>(5000, 0.1)};
  EXPECT_EQ(chain_average(one_of_two).known, Known::Frozen);
}

struct Coverage {
  double known = 0, one = 0, two = 0;   ///< of the chains whose error is known: within one and two
  double wrong_one = 0, wrong_two = 0;  ///< of all chains: known, and outside
};

Coverage coverage(const std::function<std::vector<double>(unsigned)>& chain) {
  constexpr int kSeeds = 200;
  Coverage c;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    const ChainAverage found = chain_average(chain(7000 + seed));
    EXPECT_EQ(found.is_known(), std::isfinite(found.error));
    if (!found.is_known()) continue;
    EXPECT_GT(found.error, 0);
    c.known += 1;
    c.one += std::abs(found.mean) <= found.error;
    c.two += std::abs(found.mean) <= 2 * found.error;
  }
  c.wrong_one = (c.known - c.one) / kSeeds, c.wrong_two = (c.known - c.two) / kSeeds;
  c.one /= c.known, c.two /= c.known, c.known /= kSeeds;
  return c;
}

/// Three standard deviations of a share of 200.
double binomial(double share) { return 3 * std::sqrt(share * (1 - share) / 200); }

// One standard error holds the exact mean in 68 of 100 chains, two in 95.
TEST(GammaMethod, Coverage) {
  for (const double rho : {-0.9, -0.5, 0.0, 0.5, 0.9, 0.99}) {
    const auto length = static_cast<std::size_t>(std::max(3000.0, 200 * exact_tau(rho)));
    const Coverage c = coverage([&](unsigned seed) { return autoregressive(rho, length, seed); });
    EXPECT_GE(c.known, 0.95) << rho;
    EXPECT_NEAR(c.one, 0.683, binomial(0.683)) << rho;
    EXPECT_NEAR(c.two, 0.954, binomial(0.954)) << rho;
  }
}

// Chains that are too short say so, or cover.
TEST(GammaMethod, CoverageOfShortChains) {
  for (const double rho : {-0.9, -0.5, 0.0, 0.5, 0.9, 0.99})
    for (const std::size_t length : {20, 50, 150, 500, 1500}) {
      const Coverage c = coverage([&](unsigned seed) { return autoregressive(rho, length, seed); });
      EXPECT_LE(c.wrong_one, 0.317 + binomial(0.317)) << rho << " " << length;
      EXPECT_LE(c.wrong_two, 0.046 + binomial(0.046)) << rho << " " << length;
      if (length < 10 * exact_tau(rho)) {
        EXPECT_LE(c.known, 0.05) << rho << " " << length;
      }
    }
}

// A twentieth of the variance moves 200 times slower than the rest. The window closes before;
// blocks see it, and where there are too few of them nothing is said.
TEST(GammaMethod, SlowModes) {
  const double slow = 0.995, share = 0.05;
  const auto chain = [&](std::size_t length) {
    return [=](unsigned seed) {
      std::vector<double> values = autoregressive(0.3, length, seed);
      const auto added = autoregressive(slow, length, seed + 100000);
      for (std::size_t i = 0; i < length; ++i) values[i] += std::sqrt(share) * added[i];
      return values;
    };
  };
  const Coverage c = coverage(chain(40000));
  EXPECT_GE(c.known, 0.7);
  EXPECT_NEAR(c.one, 0.683, binomial(0.683));
  EXPECT_NEAR(c.two, 0.954, binomial(0.954));
  EXPECT_LE(coverage(chain(4000)).known, 0.35);
  const double tau = (exact_tau(0.3) + share * exact_tau(slow)) / (1 + share);
  const ChainAverage one = chain_average(chain(400000)(1));
  EXPECT_TRUE(one.blocked);
  EXPECT_NEAR(one.tau_int, tau, 4 * one.tau_error);
}

// Differences of neighbours: the sum of Gamma is 0, and the mean of N of them (x_N - x_0)/N.
TEST(GammaMethod, ValuesThatCancel) {
  const Coverage c = coverage([](unsigned seed) {
    const auto x = autoregressive(0.5, 2001, seed);
    std::vector<double> values;
    for (std::size_t i = 1; i < x.size(); ++i) values.push_back(x[i] - x[i - 1]);
    return values;
  });
  EXPECT_EQ(c.known, 1);
  EXPECT_GE(c.one, 0.68);
  EXPECT_GE(c.two, 0.95);
}

// Chains that stay where they began look sound one by one.
TEST(GammaMethod, ChainsThatDisagree) {
  const auto chains = [](unsigned count) {
    std::vector<std::vector<double>> all;
    for (unsigned k = 0; k < count; ++k) {
      all.push_back(autoregressive(0.5, 2000, 60 + k));
      for (double& value : all.back()) value += k % 2;
    }
    return all;
  };
  EXPECT_EQ(chain_average(chains(4)).known, Known::ChainsDiffer);
  const ChainAverage many = chain_average(chains(16));
  EXPECT_NE(many.known, Known::ChainsDiffer);
  EXPECT_NEAR(many.at_least, 0.5 / std::sqrt(15), 0.04);
}

TEST(Blocks, GrowToThePlateau) {
  const double rho = 0.9;
  const auto errors = blocked_errors(autoregressive(rho, 1 << 17, 5));
  ASSERT_EQ(errors.size(), 15U);  // blocks of 1 ... 2^14, eight of these
  const double naive = std::sqrt(1.0 / (1 << 17)), error = naive * std::sqrt(2 * exact_tau(rho));
  EXPECT_NEAR(errors[0].error, naive, 0.02 * naive);
  EXPECT_EQ(errors[10].block, 1024U);
  EXPECT_EQ(errors[10].blocks, 128U);
  EXPECT_NEAR(errors[10].error, error, 3 * errors[10].error_of_error + 0.01 * error);
  EXPECT_NEAR(errors[10].error_of_error, error / std::sqrt(2 * 127), 0.2 * error);
  EXPECT_TRUE(blocked_errors(std::vector<double>(7, 1)).empty());
}

TEST(Jackknife, LinearAndNot) {
  const std::vector<std::vector<double>> columns{autoregressive(0, 4000, 1),
                                                 autoregressive(0, 4000, 2)};
  const auto first = [](std::span<const double> m) { return m[0]; };
  const Jackknife mean = jackknife(columns, 4000, first);
  double spread = 0, average = 0;
  for (const double v : columns[0]) average += v / 4000;
  for (const double v : columns[0]) spread += std::pow(v - average, 2);
  EXPECT_NEAR(mean.value, average, 1e-12);
  EXPECT_NEAR(mean.error, std::sqrt(spread / 3999 / 4000), 1e-12);

  // (mean)^2 is off by variance/N, which the jackknife takes out exactly for a quadratic function
  const Jackknife square =
      jackknife(columns, 4000, [](std::span<const double> m) { return m[0] * m[0]; });
  EXPECT_NEAR(square.value, average * average - spread / 3999 / 4000, 1e-12);
  // (1 + x)/(2 + y) at 0, 0: sqrt(1/4 + 1/16) of the error of one mean
  const Jackknife ratio =
      jackknife(columns, 100, [](std::span<const double> m) { return (1 + m[0]) / (2 + m[1]); });
  EXPECT_NEAR(ratio.error, std::sqrt((0.25 + 0.0625) / 4000), 0.2 * ratio.error);
  EXPECT_NEAR(ratio.value, 0.5, 4 * ratio.error);
  // blocks carry correlations as blocked errors do
  const std::vector<std::vector<double>> chain{autoregressive(0.9, 1 << 16, 9)};
  const auto blocked = blocked_errors(chain[0]);
  EXPECT_NEAR(jackknife(chain, 64, first).error, blocked[10].error, 1e-9);
  EXPECT_TRUE(std::isnan(jackknife(columns, 1, first).error));
  EXPECT_TRUE(std::isnan(jackknife({}, 10, first).error));
}

}  // namespace
}  // namespace vphi::observe
