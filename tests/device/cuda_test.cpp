// CUDA: source compiles for real architectures without a GPU; with one, the first test.
#include "runtime/device/cuda/cuda.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <iostream>

#include "runtime/device/cuda/nvrtc.hpp"
#include "runtime/device/self_test.hpp"
#include "tests/device/scratch.hpp"

namespace vphi::runtime {
namespace {

class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (nvrtc_version(&why).empty()) GTEST_SKIP() << why;
  }
};

TEST(CudaLibraries, AreFoundInPackagesForPython) {
  namespace fs = std::filesystem;
  const TemporaryFolder site;
  const std::string package = site.path() + "/vphi";
  EXPECT_TRUE(cuda_package_folders(package).empty());
  fs::create_directories(site.path() + "/nvidia/cufft/lib");
  fs::create_directories(site.path() + "/nvidia/cu13/lib");
  fs::create_directories(site.path() + "/nvidia/headers");
  const std::vector<std::string> expected{site.path() + "/nvidia/cu13/lib/",
                                          site.path() + "/nvidia/cufft/lib/"};
  EXPECT_EQ(cuda_package_folders(package), expected);
}

TEST_F(NvrtcTest, CompilesTheSelfTestForHopper) {
  for (int i = 0; i < 2; ++i) {
    const auto start = std::chrono::steady_clock::now();
    // NVRTC keeps what it compiled and is then silent about registers: a source nobody has seen
    const std::string source = self_test_kernel(program::Target::Cuda).source +
                               "\n__device__ int vphi_unseen_" +
                               std::to_string(start.time_since_epoch().count()) + ";\n";
    std::string log;
    const std::string cubin = nvrtc_compile(source, "sm_90", &log);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(cubin.substr(0, 4),
              "\x7f"
              "ELF");
    EXPECT_NE(log.find("registers"), std::string::npos) << log;
    std::cout << nvrtc_version() << ": " << seconds.count() * 1e3 << " ms\n";
  }
  EXPECT_NE(nvrtc_compile(self_test_kernel(program::Target::Cuda).source, "compute_90")
                .find(".target sm_90"),
            std::string::npos);
}

TEST_F(NvrtcTest, ContractionCanBeTurnedOff) {
  const std::string source =
      "extern \"C\" __global__ void f(double* x) { x[0] = x[1] * x[2] + x[3]; }\n";
  EXPECT_NE(nvrtc_compile(source, "compute_90").find("fma.rn.f64"), std::string::npos);
  EXPECT_EQ(nvrtc_compile("// vphi: contract=off\n" + source, "compute_90").find("fma.rn.f64"),
            std::string::npos);
}

TEST_F(NvrtcTest, BadSourceIsOurSentenceAndTheLog) {
  try {
    nvrtc_compile("extern \"C\" __global__ void f(nonsense* x) {}\n", "sm_90");
    FAIL() << "bad source was accepted";
  } catch (const DeviceError& error) {
    EXPECT_EQ(std::string(error.what()).find("nonsense"), std::string::npos);
    EXPECT_NE(error.log.find("nonsense"), std::string::npos);
  }
}

TEST_F(NvrtcTest, SeveralThreadsCompileAtOnce) {
  const std::string source = self_test_kernel(program::Target::Cuda).source;
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(std::async(std::launch::async, [&, i] {
      return nvrtc_compile(source + "// " + std::to_string(i) + "\n", "sm_90");
    }));
  for (auto& one : all) EXPECT_FALSE(one.get().empty());
}

TEST_F(NvrtcTest, AnUnknownArchitectureFallsBackToAnOlderOne) {
  EXPECT_EQ(nvrtc_architecture(9, 0), "sm_90");
  EXPECT_EQ(nvrtc_architecture(99, 0).substr(0, 8), "compute_");
}

class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (list_cuda(&why).empty()) GTEST_SKIP() << "no CUDA device: " << why;
  }
  ScratchCache cache_;
};

TEST_F(CudaTest, EveryDevicePassesTheSelfTest) {
  for (std::size_t k = 0; k < list_cuda().size(); ++k) {
    const auto device = open_cuda(int(k));
    const SelfTestResult cold = self_test(*device);
    EXPECT_TRUE(cold.ok) << device->info().name << ": " << cold.message << "\n" << cold.log;
    EXPECT_GT(cold.kernel.registers, 0);
    const SelfTestResult warm = self_test(*device);
    EXPECT_TRUE(warm.ok) << device->info().name << ": " << warm.message << "\n" << warm.log;
    EXPECT_TRUE(warm.kernel.from_cache);
    std::cout << device->info().name << ": cold " << cold.kernel.compile_seconds * 1e3
              << " ms, warm " << warm.kernel.compile_seconds * 1e3 << " ms\n";
  }
}

TEST_F(CudaTest, WrongUseIsAnError) {
  const auto device = open_cuda(0);
  const BufferHandle buffer = device->allocate(16);
  std::array<std::byte, 32> bytes{};
  EXPECT_THROW(device->upload(buffer, 0, bytes), DeviceError);
  EXPECT_THROW(device->download(bytes, buffer, 8), DeviceError);
  device->free(buffer);
  EXPECT_THROW(device->zero(buffer), DeviceError);
  EXPECT_THROW(device->allocate(std::size_t(1) << 60), DeviceError);
  program::Kernel kernel = self_test_kernel(program::Target::Cuda);
  kernel.source = "extern \"C\" __global__ void vphi_self_test(nonsense* x) {}\n";
  EXPECT_THROW(device->compile(std::span(&kernel, 1)), DeviceError);
  EXPECT_THROW(open_cuda(1000), DeviceError);
}

}  // namespace
}  // namespace vphi::runtime
