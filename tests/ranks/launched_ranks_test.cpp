// Which GPU a process of a launcher takes (tools/running/launched_ranks.hpp).
#include "tools/running/launched_ranks.hpp"

#include <gtest/gtest.h>

#include "runtime/device/device.hpp"

namespace vphi::tools {
namespace {

using Choices = std::vector<Choice>;

std::vector<std::string> taken(const std::string& device, const Choices& choices) {
  std::vector<std::string> list;
  for (std::size_t r = 0; r < choices.size(); ++r)
    list.push_back(device_of_rank(device, r, choices));
  return list;
}

TEST(DeviceOfRank, ProcessesThatSeeAllGpusTakeThemInOrderOnEachMachine) {
  const Choice a{"one", {"cuda:0", "cuda:1"}, {"A", "B"}},
      b{"two", {"cuda:0", "cuda:1"}, {"C", "D"}};
  EXPECT_EQ(taken("cuda", {a, b, a, b}),
            (std::vector<std::string>{"cuda:0", "cuda:0", "cuda:1", "cuda:1"}));
}

/// `srun --gpus-per-task=1`: each process has a `cuda:0`, which is another GPU.
TEST(DeviceOfRank, ProcessesThatSeeOneGpuEachTakeIt) {
  EXPECT_EQ(taken("cuda", {{"one", {"cuda:0"}, {"A"}}, {"one", {"cuda:0"}, {"B"}}}),
            (std::vector<std::string>{"cuda:0", "cuda:0"}));
}

TEST(DeviceOfRank, AGpuIsNotTakenTwice) {
  const Choice a{"one", {"cuda:0", "cuda:1"}, {"A", "B"}},
      b{"one", {"cuda:0", "cuda:1"}, {"B", "A"}};
  EXPECT_EQ(taken("cuda", {a, b}), (std::vector<std::string>{"cuda:0", "cuda:0"}));
  const Choices same{{"one", {"cuda:1"}, {"B"}}, {"one", {"cuda:1"}, {"B"}}};
  EXPECT_EQ(device_of_rank("cuda:1", 0, same), "cuda:1");
  try {
    device_of_rank("cuda:1", 1, same);
    ADD_FAILURE() << "two ranks have one GPU";
  } catch (const runtime::DeviceError& error) {
    EXPECT_STREQ(
        error.what(),
        "2 ranks on this machine, and it has 1 device for `cuda:1`: start one for each. To "
        "try a cut on one GPU, set VPHI_SHARED_GPU=1.");
  }
}

/// Three ranks on one machine and one on the other, which sees two GPUs; and one too many.
TEST(DeviceOfRank, MachinesMayHaveOtherNumbersOfRanks) {
  const Choice many{"one", {"cuda:0", "cuda:1", "cuda:2"}, {"A", "B", "C"}},
      few{"two", {"cuda:0", "cuda:1"}, {"D", "E"}};
  EXPECT_EQ(taken("cuda", {many, few, many, many}),
            (std::vector<std::string>{"cuda:0", "cuda:0", "cuda:1", "cuda:2"}));
  const Choices over{few, many, few, few};
  EXPECT_EQ(device_of_rank("cuda", 2, over), "cuda:1");
  try {
    device_of_rank("cuda", 3, over);
    ADD_FAILURE() << "three ranks have two GPUs";
  } catch (const runtime::DeviceError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("3 ranks on this machine, and it has 2 "))
        << error.what();
  }
}

/// Processes that are to try a cut take the GPUs in turns.
TEST(DeviceOfRank, AGpuIsSharedWhereThatIsWanted) {
  const Choice a{"one", {"cuda:0", "cuda:1"}, {"A", "B"}}, b{"two", {"cuda:0"}, {"C"}};
  setenv("VPHI_SHARED_GPU", "1", 1);
  EXPECT_EQ(taken("cuda", {a, a, a, b, b, a}),
            (std::vector<std::string>{"cuda:0", "cuda:1", "cuda:0", "cuda:0", "cuda:0", "cuda:1"}));
  unsetenv("VPHI_SHARED_GPU");
}

TEST(DeviceOfRank, ProcessorsAreShared) {
  const Choice none{"one", {}, {}};
  EXPECT_EQ(taken("auto", {none, none}), (std::vector<std::string>{"native", "native"}));
  EXPECT_EQ(taken("native", {none, none}), (std::vector<std::string>{"native", "native"}));
}

}  // namespace
}  // namespace vphi::tools
