// Both engines against the definition of the transform, for lengths of every kind.
#include "runtime/fft/fft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "runtime/random/philox.hpp"

namespace vphi::fft {
namespace {

std::vector<double> some_field(const Box& box) {
  std::vector<double> f(box.sites());
  for (std::size_t i = 0; i < f.size(); ++i)
    f[i] = random::normal_pair(philox::generate(random::counter_of(i, 1), random::key_of(5))).first;
  return f;
}

/// f~(n) = sum_x f(x) exp(-2 pi i n x/N), term by term.
std::vector<Complex> by_definition(const Box& box, const std::vector<double>& f) {
  const auto digits = [](std::int64_t i, std::array<std::int64_t, 4> extent) {
    std::array<std::int64_t, 4> at{};
    for (int axis = 0; axis < 4; ++axis) at[axis] = i % extent[axis], i /= extent[axis];
    return at;
  };
  std::vector<Complex> out;
  for (std::int64_t mode = 0; mode < box.modes(); ++mode) {
    const auto n = digits(mode, {box.half(), box.n[1], box.n[2], box.n[3]});
    std::complex<long double> sum = 0;
    for (std::int64_t site = 0; site < box.sites(); ++site) {
      const auto x = digits(site, box.n);
      long double turns = 0;
      for (int axis = 0; axis < 4; ++axis)
        turns += static_cast<long double>(n[axis] * x[axis] % box.n[axis]) / box.n[axis];
      sum += static_cast<long double>(f[site]) *
             std::polar(1.0L, -2 * std::numbers::pi_v<long double> * turns);
    }
    out.emplace_back(sum);
  }
  return out;
}

void expect_right(const Box& box, Engine engine, int threads) {
  const auto f = some_field(box);
  const auto expected = by_definition(box, f);
  std::vector<Complex> spectrum(box.modes());
  forward(box, f.data(), spectrum.data(), threads, engine);
  const double bound = 1e-13 * std::sqrt(static_cast<double>(box.sites()));
  for (std::size_t i = 0; i < spectrum.size(); ++i)
    ASSERT_LT(std::abs(spectrum[i] - expected[i]), bound)
        << "mode " << i << " of " << box.n[0] << "x" << box.n[1] << "x" << box.n[2] << "x"
        << box.n[3];
  std::vector<double> back(box.sites());
  inverse(box, spectrum.data(), back.data(), threads, engine);
  for (std::size_t i = 0; i < back.size(); ++i)
    ASSERT_NEAR(back[i] / static_cast<double>(box.sites()), f[i], 1e-13) << "site " << i;
}

class Engines : public ::testing::TestWithParam<Engine> {};

TEST_P(Engines, EveryLengthOfALine) {
  for (std::int64_t n = 1; n <= 70; ++n) expect_right({{n, 1, 1}}, GetParam(), 1);
  for (std::int64_t n : {97, 128, 144, 210, 289, 338}) expect_right({{n, 1, 1}}, GetParam(), 1);
}

TEST_P(Engines, Boxes) {
  for (const Box& box : {Box{{8, 8, 1}}, Box{{7, 9, 1}}, Box{{12, 5, 6}}, Box{{5, 4, 9}},
                         Box{{1, 6, 4}}, Box{{17, 3, 5}}, Box{{8, 8, 8}}, Box{{4, 6, 5, 3}},
                         Box{{5, 3, 1, 7}}, Box{{6, 1, 4, 2}}, Box{{7, 1, 1, 6}}})
    for (int threads : {1, 3}) expect_right(box, GetParam(), threads);
}

INSTANTIATE_TEST_SUITE_P(Fft, Engines, ::testing::Values(Engine::BuiltIn, Engine::Best),
                         [](const auto& info) {
                           return info.param == Engine::BuiltIn ? "BuiltIn" : "Best";
                         });

TEST(Fft, EnginesAgreeOnALargeBox) {
  const Box box{{64, 48, 40}};
  const auto f = some_field(box);
  std::vector<Complex> ours(box.modes()), best(box.modes());
  forward(box, f.data(), ours.data(), 2, Engine::BuiltIn);
  forward(box, f.data(), best.data(), 2, Engine::Best);
  double worst = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    worst = std::max(worst, std::abs(ours[i] - best[i]));
  EXPECT_LT(worst, 1e-10);
  std::vector<double> a(box.sites()), b(box.sites());
  inverse(box, ours.data(), a.data(), 2, Engine::BuiltIn);
  inverse(box, best.data(), b.data(), 2, Engine::Best);
  worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  EXPECT_LT(worst / static_cast<double>(box.sites()), 1e-14);
}

class SameBits : public ::testing::TestWithParam<Engine> {};

/// Every number of threads, in any order, after transforms of other shapes: the same bits.
TEST_P(SameBits, ForEveryNumberOfThreads) {
  for (const Box& box :
       {Box{{24, 20, 18}}, Box{{15, 9, 7}}, Box{{64, 64, 1}}, Box{{33, 37, 1}}, Box{{4096, 1, 1}},
        Box{{1, 6, 40}}, Box{{64, 64, 64}}, Box{{12, 10, 9, 14}}}) {
    const auto f = some_field(box);
    std::vector<Complex> one(box.modes());
    forward(box, f.data(), one.data(), 1, GetParam());
    auto modes = one;
    std::vector<double> back(box.sites());
    inverse(box, modes.data(), back.data(), 1, GetParam());
    for (int threads : {2, 3, 8, 16, 1}) {
      std::vector<Complex> other(box.modes());
      forward(box, f.data(), other.data(), threads, GetParam());
      ASSERT_EQ(one, other) << threads << " threads";
      std::vector<double> other_back(box.sites());
      inverse(box, other.data(), other_back.data(), threads, GetParam());
      ASSERT_EQ(back, other_back) << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fft, SameBits, ::testing::Values(Engine::BuiltIn, Engine::Best),
                         [](const auto& info) {
                           return info.param == Engine::BuiltIn ? "BuiltIn" : "Best";
                         });

}  // namespace
}  // namespace vphi::fft
