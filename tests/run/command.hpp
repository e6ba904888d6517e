// Runs the vphi command in a temporary folder, for tests of its output.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::test {

struct Outcome {
  int status = -1;
  std::string out, error;
};

/// Skipped where the command is not built.
class CommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(VPHI_BINARY_DIR "/vphi"))
      GTEST_SKIP() << "the command is not built";
  }

  Outcome vphi(const std::string& words) {
    const std::string command = "cd '" + folder_.string() +
                                "' && VPHI_MODELS='" VPHI_SOURCE_DIR "/models' '" VPHI_BINARY_DIR
                                "/vphi' " +
                                words + " >out.txt 2>error.txt </dev/null";
    const int raw = std::system(command.c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, text("out.txt"), text("error.txt")};
  }
  std::string text(const std::string& name) {
    std::ostringstream all;
    all << std::ifstream(folder_ / name).rdbuf();
    return all.str();
  }
  void write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
  }
  const testing::ScratchFolder scratch_;
  const std::filesystem::path& folder_ = scratch_.path();
};

}  // namespace vphi::test
