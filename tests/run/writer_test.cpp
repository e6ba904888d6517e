// The thread that writes: order, bounds, failures; and the chunks it packs.
#include "runtime/io/files/writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

namespace vphi::io {
namespace {

TEST(Writer, JobsRunInOrder) {
  Writer writer(1000);
  std::vector<int> done;
  for (int i = 0; i < 200; ++i) writer.post(10, [&done, i] { done.push_back(i); });
  writer.wait();
  ASSERT_EQ(done.size(), 200U);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
}

TEST(Writer, PostReturnsWhileAJobRunsAndWaitsWhenTheQueueIsFull) {
  double waited = 0;
  while (waited == 0) {  // a thread that comes only when the gate is open waits for nothing: again
    Writer writer(100);
    std::promise<void> gate;
    const auto opened = gate.get_future().share();
    writer.post(60, [opened] { opened.wait(); });
    writer.post(40, [] {});  // fits: returns though the first is stuck
    std::atomic<bool> posted{false};
    std::thread third([&] {
      writer.post(1, [] {});
      posted = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    EXPECT_FALSE(posted);
    gate.set_value();
    third.join();
    EXPECT_TRUE(posted);
    waited = writer.seconds_waited();
    writer.wait();
    writer.post(5000, [] {});  // larger than the bound: alone, but not refused
    writer.wait();
  }
}

TEST(Writer, TheFirstFailureIsToldAndLaterJobsAreDropped) {
  std::latch both_posted(1);  // else the second might find the failure of the first
  Writer writer;
  std::atomic<int> ran{0};
  writer.post(1, [&] {
    both_posted.wait();
    throw std::runtime_error("disk full");
  });
  writer.post(1, [&] { ++ran; });
  both_posted.count_down();
  try {
    writer.wait();
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), std::string("disk full"));
  }
  EXPECT_THROW(writer.post(1, [&] { ++ran; }), std::runtime_error);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(writer.untold(), "");
}

TEST(Writer, AFailureNobodyHeardOfIsKept) {
  Writer writer;
  writer.post(1, [] { throw std::runtime_error("disk full"); });
  while (writer.untold().empty()) std::this_thread::yield();
  EXPECT_EQ(writer.untold(), "disk full");
}

TEST(Writer, WhatACallThrowsIsThrownToItsCallerAlone) {
  Writer writer;
  EXPECT_THROW(writer.call([] { throw std::invalid_argument("no such file"); }),
               std::invalid_argument);
  int ran = 0;
  writer.call([&] { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST(Writer, TheDestructorFinishesTheQueue) {
  int ran = 0;
  {
    Writer writer;
    for (int i = 0; i < 50; ++i) writer.post(1, [&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 50);
}

}  // namespace
}  // namespace vphi::io
