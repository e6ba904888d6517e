// Names of devices: those that open, and the messages of those that are refused.
#include <gtest/gtest.h>

#include "runtime/device/cuda/cuda.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/opencl/opencl.hpp"

namespace vphi::runtime {
namespace {

std::string message_of(const std::string& id) {
  try {
    open_device(id);
    return {};
  } catch (const DeviceError& error) {
    return error.what();
  }
}

TEST(Registry, EveryListedDeviceOpensUnderItsName) {
  bool native = false;
  for (const DeviceInfo& info : list_devices()) {
    const auto device = open_device(info.id);
    EXPECT_EQ(device->info().id, info.id);
    EXPECT_EQ(device->info().name, info.name);
    EXPECT_GT(info.memory_total, 0u);
    EXPECT_GT(info.compute_units, 0);
    native = native || info.id == "native";
  }
  EXPECT_TRUE(native);
}

TEST(Registry, AutoTakesAGpuBeforeTheProcessor) {
  const std::string id = open_device("auto")->info().id;
  const bool cuda = !list_cuda().empty(), native = list_devices().front().id == "native";
  EXPECT_TRUE(!cuda || id == "cuda:0") << id;
  EXPECT_TRUE(!native || id == "native") << id;
}

TEST(Registry, BadNamesAreExplained) {
  for (const char* id : {"", "gpu", "cuda:x", "cuda:-1", "cuda:", "opencl:1x", "native:0", "auto:1",
                         "opencl:99999999999999999999"})
    EXPECT_NE(message_of(id).find("opencl:K"), std::string::npos) << id << ": " << message_of(id);
}

TEST(Registry, HipIsWrittenAndNotRun) {
  for (const char* id : {"hip", "hip:0"}) {
    const std::string text = message_of(id);
    EXPECT_NE(text.find("HIP does not run here yet"), std::string::npos) << text;
    EXPECT_NE(text.find("vphi emit MODEL --to hip"), std::string::npos) << text;
  }
}

TEST(Registry, AMissingDeviceSaysHowToGetIt) {
  if (list_cuda().empty()) {
    const std::string text = message_of("cuda");
    EXPECT_NE(text.find("CUDA device"), std::string::npos) << text;
    EXPECT_TRUE(text.find("install") != std::string::npos || text.find("GPU") != std::string::npos)
        << text;
  }
  EXPECT_NE(message_of("opencl:1000").find("opencl"), std::string::npos);
}

}  // namespace
}  // namespace vphi::runtime
