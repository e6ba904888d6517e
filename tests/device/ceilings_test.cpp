// Measured ceilings are numbers a machine can have, and are kept.
#include "runtime/device/ceilings.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "tests/device/scratch.hpp"

namespace vphi::runtime {
namespace {

TEST(Ceilings, AreMeasuredOnceOnEveryDevice) {
  const ScratchCache cache;
  for (const DeviceInfo& info : list_devices()) {
    const auto device = open_device(info.id);
    EXPECT_FALSE(known_copy_bandwidth(device->info()));
    const double copy = copy_bandwidth(*device);
    EXPECT_GT(copy, 1e8);
    EXPECT_LT(copy, 1e14);
    ASSERT_TRUE(known_copy_bandwidth(device->info()));
    EXPECT_NEAR(*known_copy_bandwidth(device->info()) / copy, 1, 1e-6);
    EXPECT_EQ(copy_bandwidth(*device), *known_copy_bandwidth(device->info()));
    const double f32 = measure_flops(*device, program::Precision::F32);
    const double f64 = measure_flops(*device, program::Precision::F64);
    EXPECT_GT(f32, 1e8);
    EXPECT_LT(f32, 1e16);
    EXPECT_EQ(f64 > 1e8, info.f64);
    // the rates of measure_ceilings are those of the single measurements, and they are kept
    const Ceilings all = measure_ceilings(*device);
    EXPECT_GT(all.special32, 1e6);
    EXPECT_LT(all.special32, 1e15);
    EXPECT_EQ(all.special64 > 1e6, info.f64);
    for (const CacheRate& cache : all.caches) {
      EXPECT_GE(cache.rate, 1.1 * all.copy);
      EXPECT_LT(cache.rate, 1e15);
      EXPECT_EQ(all.rate_of(cache.bytes), cache.rate);
    }
    EXPECT_EQ(all.rate_of(0), all.copy);
    EXPECT_EQ(all.rate_of(1e12), all.copy);
    EXPECT_GT(all.launch, 0);
    EXPECT_LT(all.launch, 1e-2);
    // nothing is faster in a chain than in parallel, and a special function not than a sum
    EXPECT_GT(all.latency32, 2 / all.f32);
    EXPECT_LT(all.latency32, 1e-6);
    EXPECT_GT(all.special_latency32, 1 / all.special32);
    EXPECT_EQ(all.latency64 > 0, info.f64);
    EXPECT_EQ(all.special_latency64 > 1 / (all.special64 + 1), info.f64);
    const Ceilings kept = known_ceilings(*device);
    EXPECT_EQ(kept.copy, all.copy);
    EXPECT_EQ(kept.launch, all.launch);
    EXPECT_EQ(kept.latency32, all.latency32);
    EXPECT_EQ(kept.special_latency64, all.special_latency64);
    ASSERT_EQ(kept.caches.size(), all.caches.size());
    for (std::size_t i = 0; i < all.caches.size(); ++i)
      EXPECT_EQ(kept.caches[i].rate, all.caches[i].rate);
    EXPECT_EQ(kept.special64, all.special64);
    std::cout << info.id << " " << info.name << ": copy " << copy / 1e9 << " GB/s, f32 "
              << f32 / 1e9 << ", f64 " << f64 / 1e9 << " GFLOP/s\n";
  }
}

}  // namespace
}  // namespace vphi::runtime
