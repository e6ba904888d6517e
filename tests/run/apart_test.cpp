// Work tried in a child: whatever becomes of it, this process goes on and knows.
#include "program/apart.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace vphi {
namespace {

using How = Apart::How;

TEST(Apart, WorkThatReturnsLeavesNothingBehind) {
  int changed = 0;
  EXPECT_EQ(tried_apart([&] { changed = 1; }).how, How::Returned);
  EXPECT_EQ(changed, 0);
}

TEST(Apart, AnExceptionIsTold) {
  const Apart trial = tried_apart([] { throw std::runtime_error("no such set"); });
  EXPECT_EQ(trial.how, How::Threw);
  EXPECT_EQ(trial.what, "no such set");
  const std::string text(100000, 'x');  // as much of it as a pipe takes at once
  EXPECT_EQ(tried_apart([&] { throw std::runtime_error(text); }).what, text.substr(0, 4000));
}

TEST(Apart, ASignalIsSurvived) {
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGKILL}) {
    const Apart trial = tried_apart([number] { std::raise(number); });
    EXPECT_EQ(trial.how, How::Died) << number;
    EXPECT_FALSE(trial.what.empty());
  }
  EXPECT_EQ(tried_apart([] { std::_Exit(1); }).how, How::Died);  // as sanitizers do
}

TEST(Apart, MemoryHasABound) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have room of their own
  ApartLimits limits;
  limits.bytes = std::size_t{64} << 20;
  std::size_t size = 0;
  const auto fill = [&] { std::vector<char>(size, 'x'); };
  size = std::size_t{1} << 30;
  const Apart trial = tried_apart(fill, limits);
  EXPECT_EQ(trial.how, How::Died);
  EXPECT_EQ(trial.what, "memory ran out");
  size = std::size_t{16} << 20;
  EXPECT_EQ(tried_apart(fill, limits).how, How::Returned);
#endif
}

TEST(Apart, TimeHasABound) {
  ApartLimits limits;
  limits.seconds = 1;
  volatile bool forever = true;
  const Apart trial = tried_apart(
      [&] {
        while (forever) {
        }
      },
      limits);
  EXPECT_EQ(trial.how, How::Died);
  EXPECT_EQ(trial.what, "it came to no end");
}

}  // namespace
}  // namespace vphi
