// Philox against the known answers of its authors, and the normal numbers made of it.
#include "runtime/random/philox.hpp"

#include <gtest/gtest.h>

#if __has_include(<Random123/philox.h>)
#include <Random123/philox.h>
#define VPHI_HAVE_RANDOM123
#endif

namespace vphi::random {
namespace {

TEST(Philox, KnownAnswers) {
  const std::uint32_t all = 0xffffffff;
  EXPECT_EQ(philox::generate({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox::generate({all, all, all, all}, {all, all}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox::generate({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, KnownAnswersOfSevenRounds) {
  const std::uint32_t all = 0xffffffff;
  EXPECT_EQ(philox::generate({0, 0, 0, 0}, {0, 0}, philox::kFewRounds),
            (Counter{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
  EXPECT_EQ(philox::generate({all, all, all, all}, {all, all}, philox::kFewRounds),
            (Counter{0x5207ddc2, 0x45165e59, 0x4d8ee751, 0x8c52f662}));
  EXPECT_EQ(philox::generate({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                             {0xa4093822, 0x299f31d0}, philox::kFewRounds),
            (Counter{0x4dfccaba, 0x190a87f0, 0xc47362ba, 0xb6b5242a}));
}

#ifdef VPHI_HAVE_RANDOM123
TEST(Philox, AgreesWithRandom123) {
  Counter c{1, 2, 3, 4};
  Key k{5, 6};
  for (int i = 0; i < 1000; ++i) {
    const r123::Philox4x32::ctr_type their_counter{{c[0], c[1], c[2], c[3]}};
    const r123::Philox4x32::key_type their_key{{k[0], k[1]}};
    const auto theirs = r123::Philox4x32{}(their_counter, their_key);
    const auto theirs_7 = r123::Philox4x32_R<7>{}(their_counter, their_key);
    const Counter ours = philox::generate(c, k), ours_7 = philox::generate(c, k, 7);
    for (int word = 0; word < 4; ++word) {
      ASSERT_EQ(ours[word], theirs[word]) << "draw " << i;
      ASSERT_EQ(ours_7[word], theirs_7[word]) << "draw " << i;
    }
    c = ours;
    k = {ours[1] ^ k[1], ours[2]};
  }
}
#endif

TEST(Philox, UniformStaysInsideTheOpenInterval) {
  EXPECT_GT(uniform(0, 0), 0.0);
  EXPECT_LT(uniform(0xffffffff, 0xffffffff), 1.0);
}

TEST(Philox, NormalMoments) {
  const int pairs = 200000;
  double sum = 0, square = 0, fourth = 0, cross = 0;
  for (int i = 0; i < pairs; ++i) {
    const auto [a, b] = normal_pair(philox::generate(counter_of(i, 3), key_of(17)));
    sum += a + b, square += a * a + b * b, cross += a * b;
    fourth += a * a * a * a + b * b * b * b;
  }
  const double n = 2.0 * pairs;  // five standard errors each
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
  EXPECT_NEAR(cross / pairs, 0, 5 / std::sqrt(pairs));
}

TEST(Philox, StreamsAndSeedsDiffer) {
  const Counter here = philox::generate(counter_of(9, 1), key_of(1));
  EXPECT_NE(here, philox::generate(counter_of(9, 2), key_of(1)));
  EXPECT_NE(here, philox::generate(counter_of(9, 1), key_of(2)));
  EXPECT_NE(here, philox::generate(counter_of(10, 1), key_of(1)));
  EXPECT_NE(here, philox::generate(counter_of(9 + (std::uint64_t{1} << 32), 1), key_of(1)));
}

}  // namespace
}  // namespace vphi::random
