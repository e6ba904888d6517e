// The order in which launches overlap: each task after those that it waits for.
#include "runtime/device/native/wave.hpp"

#include <gtest/gtest.h>

#include <set>

namespace vphi::runtime {
namespace {

struct Row {
  int launches;
  long tasks, reach, spare;
};

TEST(Wave, EachTaskComesBehindWhatItWaitsFor) {
  for (const Row& row : {Row{2, 9, 1, 0}, Row{2, 40, 3, 2}, Row{4, 64, 3, 1}, Row{3, 17, 4, 2},
                         Row{8, 512, 5, 64}, Row{1, 5, 1, 2}}) {
    SCOPED_TRACE(testing::Message() << row.launches << " " << row.tasks << " " << row.reach);
    const auto order = wave_order(row.launches, row.tasks, row.reach, row.spare);
    ASSERT_EQ(order.size(), static_cast<std::size_t>(row.launches * row.tasks));
    std::set<std::pair<int, long>> ended;
    for (const auto& [launch, task] : order) {
      ASSERT_TRUE(task >= 0 && task < row.tasks);
      for (long near = task - row.reach; launch > 0 && near <= task + row.reach; ++near)
        ASSERT_TRUE(ended.contains({launch - 1, (near % row.tasks + row.tasks) % row.tasks}))
            << launch << " " << task << " needs " << near;
      ASSERT_TRUE(ended.insert({launch, task}).second) << "twice";
    }
  }
}

// A sum over neighbours, step after step, each with a scalar of its own.
void add_neighbours(void* const* args, long task) {
  const auto* from = static_cast<const double*>(args[0]);
  auto* to = static_cast<double*>(args[1]);
  const double factor = *static_cast<const double*>(args[2]);
  constexpr long n = 60;
  to[task] = factor * (from[(task + n - 2) % n] + 3 * from[task] - from[(task + 1) % n]);
}
void next_factor(void* const* args) {
  auto& factor = *static_cast<double*>(args[2]);
  factor = 0.5 + factor / 4;
}

TEST(Wave, GivesWhatOneLaunchAfterTheOtherGives) {
  for (const int threads : {1, 3}) {
    std::vector<double> a(60), b(60), c, d(60);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * i % 17);
    c = a;
    double factor = 1, other = 1;
    ThreadPool pool(threads);
    const WaveKernel kernel{add_neighbours, next_factor, 60, 2, 1};
    run_wave(pool, kernel,
             {{a.data(), b.data(), &factor},
              {b.data(), a.data(), &factor},
              {a.data(), b.data(), &factor}},
             2);
    for (int step = 0; step < 3; ++step) {
      void* const args[] = {c.data(), d.data(), &other};
      for (long task = 0; task < 60; ++task) add_neighbours(args, task);
      next_factor(args);
      std::swap(c, d);
    }
    EXPECT_EQ(b, c);
    EXPECT_EQ(factor, other);
  }
}

}  // namespace
}  // namespace vphi::runtime
