// Every OpenCL device of this machine: the self-test, cold and warm, and errors of bad source.
#include "runtime/device/opencl/opencl.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "runtime/device/self_test.hpp"
#include "tests/device/scratch.hpp"

namespace vphi::runtime {
namespace {

class OpenClTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    count_ = int(list_opencl(&why).size());
    if (count_ == 0) GTEST_SKIP() << why;
  }
  ScratchCache cache_;
  int count_ = 0;
};

TEST_F(OpenClTest, EveryDevicePassesTheSelfTest) {
  for (int k = 0; k < count_; ++k) {
    const auto device = open_opencl(k);
    if (!device->info().f64) continue;
    const SelfTestResult cold = self_test(*device);
    EXPECT_TRUE(cold.ok) << device->info().name << ": " << cold.message << "\n" << cold.log;
    EXPECT_FALSE(cold.kernel.from_cache);
    const SelfTestResult warm = self_test(*device);
    EXPECT_TRUE(warm.ok) << device->info().name << ": " << warm.message << "\n" << warm.log;
    EXPECT_TRUE(warm.kernel.from_cache);
    std::cout << device->info().name << " (" << device->info().driver << "): cold "
              << cold.kernel.compile_seconds * 1e3 << " ms, warm "
              << warm.kernel.compile_seconds * 1e3 << " ms\n";
  }
}

TEST_F(OpenClTest, BadSourceIsOurSentenceAndTheLog) {
  const auto device = open_opencl(0);
  program::Kernel kernel = self_test_kernel(program::Target::OpenCL);
  kernel.source = "__kernel void vphi_self_test(__global nonsense* x) {}\n";
  try {
    device->compile(std::span(&kernel, 1));
    FAIL() << "bad source was accepted";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("Kernel 'self-test'"), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find("nonsense"), std::string::npos);
    EXPECT_FALSE(error.log.empty());
  }
}

// Drivers say how large a group may be when code has been compiled. VPHI_OPENCL_GROUP has them say
// less as long as the registers of a thread are not bounded.
TEST_F(OpenClTest, ALimitOnGroupsHasRegistersBounded) {
  const program::Kernel kernel = self_test_kernel(program::Target::OpenCL);
  ASSERT_GT(kernel.block[0], 8U);
  setenv("VPHI_OPENCL_GROUP", "8", 1);
  for (int k = 0; k < count_; ++k) {
    const auto device = open_opencl(k);
    if (!device->info().f64) continue;
    const SelfTestResult cold = self_test(*device);
    EXPECT_TRUE(cold.ok) << device->info().name << ": " << cold.message << "\n" << cold.log;
    EXPECT_FALSE(cold.kernel.from_cache);
    EXPECT_TRUE(self_test(*device).kernel.from_cache) << "of the code with a bound";
  }
  unsetenv("VPHI_OPENCL_GROUP");
}

TEST_F(OpenClTest, AGroupThatNoCodeAllowsIsNoDefect) {
  const auto device = open_opencl(0);
  program::Kernel kernel = self_test_kernel(program::Target::OpenCL);
  kernel.block = {1 << 20, 1, 1};
  try {
    device->compile(std::span(&kernel, 1));
    FAIL() << "a group of a million was accepted";
  } catch (const DeviceError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("wants work groups of 1048576 items"), std::string::npos) << text;
    EXPECT_EQ(text.find("defect"), std::string::npos) << text;
  }
}

TEST_F(OpenClTest, WrongUseIsAnError) {
  const auto device = open_opencl(0);
  const BufferHandle buffer = device->allocate(16);
  std::array<std::byte, 32> bytes{};
  EXPECT_THROW(device->upload(buffer, 0, bytes), DeviceError);
  EXPECT_THROW(device->download(bytes, buffer, 8), DeviceError);
  device->free(buffer);
  EXPECT_THROW(device->zero(buffer), DeviceError);
  EXPECT_THROW(device->allocate(std::size_t(1) << 60), DeviceError);
  program::Kernel kernel = self_test_kernel(program::Target::OpenCL);
  kernel.block = {1 << 20, 1, 1};
  EXPECT_THROW(device->compile(std::span(&kernel, 1)), DeviceError);
  kernel = self_test_kernel(program::Target::OpenCL);
  kernel.arguments.pop_back();
  EXPECT_THROW(device->compile(std::span(&kernel, 1)), DeviceError);
  EXPECT_THROW(open_opencl(count_), DeviceError);
}

}  // namespace
}  // namespace vphi::runtime
