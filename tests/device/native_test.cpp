// The native device: the self-test with each of its two compilers, and errors of bad source.
#include "runtime/device/native/native.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/device/self_test.hpp"
#include "tests/device/scratch.hpp"

namespace vphi::runtime {
namespace {

std::unique_ptr<Device> open_or_skip(HostCompilerChoice choice) {
  try {
    return open_native(choice);
  } catch (const DeviceError&) {
    return nullptr;
  }
}

program::Kernel one_kernel(std::string source) {
  program::Kernel kernel;
  kernel.name = "example";
  kernel.entry = "vphi_example";
  kernel.source = std::move(source);
  kernel.arguments = {{program::Argument::Kind::Current, 0}};
  return kernel;
}

/// Values of `expression` of x for many x, as bits.
std::vector<double> values(Device& device, const std::string& marker,
                           const std::string& expression) {
  const int n = 1000;
  std::vector<double> x(n);
  for (int i = 0; i < n; ++i) x[std::size_t(i)] = 0.001 + i * 0.0137;
  program::Kernel kernel =
      one_kernel(marker +
                 "#include <cmath>\nextern \"C\" void vphi_example(void* const* a, long task) {\n"
                 "  double* p = static_cast<double*>(a[0]);\n"
                 "  for (long i = task * 100; i < task * 100 + 100; ++i) {\n"
                 "    const double x = p[i];\n    p[i] = " +
                 expression + ";\n  }\n}\n");
  kernel.grid = {10, 1, 1};
  const auto handle = device.compile(std::span(&kernel, 1)).at(0);
  const BufferHandle buffer = device.allocate(n * sizeof(double));
  device.upload(buffer, 0, std::as_bytes(std::span(x)));
  device.launch(handle, std::span(&buffer, 1));
  device.download(std::as_writable_bytes(std::span(x)), buffer, 0);
  device.free(buffer);
  return x;
}

class NativeTest : public ::testing::TestWithParam<HostCompilerChoice> {
 protected:
  void SetUp() override {
    device_ = open_or_skip(GetParam());
    if (!device_) GTEST_SKIP() << "this way of compiling is absent here";
  }
  ScratchCache cache_;
  std::unique_ptr<Device> device_;
};

TEST_P(NativeTest, PassesTheSelfTestColdAndWarm) {
  const SelfTestResult cold = self_test(*device_);
  EXPECT_TRUE(cold.ok) << cold.message << "\n" << cold.log;
  EXPECT_FALSE(cold.kernel.from_cache);
  const SelfTestResult warm = self_test(*device_);
  EXPECT_TRUE(warm.ok) << warm.message << "\n" << warm.log;
  EXPECT_TRUE(warm.kernel.from_cache);
}

TEST_P(NativeTest, BadSourceIsOurSentenceAndTheLog) {
  program::Kernel kernel = one_kernel("extern \"C\" void vphi_example(nonsense* x) {}\n");
  kernel.notes = {"term phi^4 from line 3"};
  try {
    device_->compile(std::span(&kernel, 1));
    FAIL() << "bad source was accepted";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("Kernel 'example'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("term phi^4 from line 3"), std::string::npos);
    EXPECT_EQ(std::string(error.what()).find("nonsense"), std::string::npos);
    EXPECT_NE(error.log.find("nonsense"), std::string::npos) << error.log;
  }
}

TEST_P(NativeTest, MissingEntryIsSaid) {
  const program::Kernel kernel = one_kernel("extern \"C\" void other(void* const*, long) {}\n");
  EXPECT_THROW(device_->compile(std::span(&kernel, 1)), DeviceError);
}

TEST_P(NativeTest, ContractionCanBeTurnedOff) {
  // x*x - 0.1 with and without one rounding; fma() itself stays fused.
  const auto off = values(*device_, "// vphi: contract=off\n", "x * x - 0.1");
  for (std::size_t i = 0; i < off.size(); ++i) {
    const volatile double x = 0.001 + double(i) * 0.0137, square = x * x;
    ASSERT_EQ(off[i], square - 0.1) << i;
  }
}

TEST_P(NativeTest, WholeGridRunsOnAllThreads) {
  program::Kernel kernel = one_kernel(
      "extern \"C\" void vphi_example(void* const* a, long task) {\n"
      "  static_cast<unsigned char*>(a[0])[task] += 1;\n}\n");
  const std::uint32_t n = 100000;
  kernel.grid = {n, 1, 1};
  const auto handle = device_->compile(std::span(&kernel, 1)).at(0);
  const BufferHandle buffer = device_->allocate(n);
  device_->zero(buffer);
  for (int i = 0; i < 20; ++i) device_->launch(handle, std::span(&buffer, 1));
  std::vector<std::byte> got(n);
  device_->download(got, buffer, 0);
  for (std::byte value : got) ASSERT_EQ(value, std::byte(20));
  device_->free(buffer);
}

TEST_P(NativeTest, WrongUseIsAnError) {
  const BufferHandle buffer = device_->allocate(16);
  std::array<std::byte, 32> bytes{};
  EXPECT_THROW(device_->upload(buffer, 0, bytes), DeviceError);
  EXPECT_THROW(device_->download(bytes, buffer, 8), DeviceError);
  device_->free(buffer);
  EXPECT_THROW(device_->zero(buffer), DeviceError);
  EXPECT_THROW(device_->allocate(std::size_t(1) << 60), DeviceError);
}

INSTANTIATE_TEST_SUITE_P(Compilers, NativeTest,
                         ::testing::Values(HostCompilerChoice::Plugin, HostCompilerChoice::System),
                         [](const auto& info) {
                           return info.param == HostCompilerChoice::Plugin ? "plugin" : "system";
                         });

TEST(NativeCompilers, GiveTheSameNumbers) {
  const ScratchCache cache;
  const auto plugin = open_or_skip(HostCompilerChoice::Plugin);
  const auto system = open_or_skip(HostCompilerChoice::System);
  if (!plugin || !system) GTEST_SKIP() << "needs the plug-in and a system compiler";
  const std::string off = "// vphi: contract=off\n";
  for (const std::string expression :
       {"x * x - 0.1", "(x + 1.0 / 3.0) * x - x / 7.0", "std::sqrt(x) / (1.0 + x * x * x)"})
    EXPECT_EQ(values(*plugin, off, expression), values(*system, off, expression)) << expression;
  // Vector functions of libmvec are good to 4 units in the last place.
  for (const std::string expression : {"std::exp(-x)", "std::sin(x)", "std::log(x)"}) {
    const auto a = values(*plugin, "", expression), b = values(*system, "", expression);
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_NEAR(a[i], b[i], 1e-15 * (1 + std::abs(a[i]))) << expression;
  }
}

}  // namespace
}  // namespace vphi::runtime
