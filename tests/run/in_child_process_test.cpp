// Work in a child process: however it ends, this process goes on and gets the result.
#include "program/in_child_process.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace vphi {
namespace {

using How = ChildOutcome::How;

TEST(InChildProcess, WorkThatReturnsLeavesNothingBehind) {
  int changed = 0;
  EXPECT_EQ(in_child_process([&] { changed = 1; }).how, How::Returned);
  EXPECT_EQ(changed, 0);
}

TEST(InChildProcess, AnExceptionIsTold) {
  const ChildOutcome trial = in_child_process([] { throw std::runtime_error("no such set"); });
  EXPECT_EQ(trial.how, How::Threw);
  EXPECT_EQ(trial.what, "no such set");
  const std::string text(100000, 'x');  // as much of it as a pipe takes at once
  EXPECT_EQ(in_child_process([&] { throw std::runtime_error(text); }).what, text.substr(0, 4000));
}

TEST(InChildProcess, ASignalIsSurvived) {
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGKILL}) {
    const ChildOutcome trial = in_child_process([number] { std::raise(number); });
    EXPECT_EQ(trial.how, How::Died) << number;
    EXPECT_FALSE(trial.what.empty());
  }
  EXPECT_EQ(in_child_process([] { std::_Exit(1); }).how, How::Died);  // as sanitizers do
}

TEST(InChildProcess, MemoryHasABound) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they have room of their own
  ChildLimits limits;
  limits.bytes = std::size_t{64} << 20;
  std::size_t size = 0;
  const auto fill = [&] { std::vector<char>(size, 'x'); };
  size = std::size_t{1} << 30;
  const ChildOutcome trial = in_child_process(fill, limits);
  EXPECT_EQ(trial.how, How::Died);
  EXPECT_EQ(trial.what, "memory ran out");
  size = std::size_t{16} << 20;
  EXPECT_EQ(in_child_process(fill, limits).how, How::Returned);
#endif
}

TEST(InChildProcess, TimeHasABound) {
  ChildLimits limits;
  limits.seconds = 1;
  volatile bool forever = true;
  const ChildOutcome trial = in_child_process(
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
