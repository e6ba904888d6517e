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
    EXPECT_EQ(known_ceilings(device->info()).copy_bytes_per_s, 0);
    const Ceilings first = measure(*device);
    EXPECT_FALSE(first.from_cache);
    EXPECT_GT(first.copy_bytes_per_s, 1e8);
    EXPECT_LT(first.copy_bytes_per_s, 1e14);
    EXPECT_GT(first.f32_flops_per_s, 1e8);
    EXPECT_EQ(first.f64_flops_per_s > 1e8, info.f64);
    EXPECT_LT(first.f32_flops_per_s, 1e16);
    const Ceilings second = measure(*device);
    EXPECT_TRUE(second.from_cache);
    EXPECT_NEAR(second.copy_bytes_per_s / first.copy_bytes_per_s, 1, 1e-6);
    std::cout << info.id << " " << info.name << ": copy " << first.copy_bytes_per_s / 1e9
              << " GB/s, f32 " << first.f32_flops_per_s / 1e9 << ", f64 "
              << first.f64_flops_per_s / 1e9 << " GFLOP/s\n";
  }
}

}  // namespace
}  // namespace vphi::runtime
