// The vphi command in a folder of the test's own, for tests that look at what it prints.
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

namespace vphi::test {

struct Outcome {
  int status = -1;
  std::string out, error;
};

/// Skipped where the command is not built.
class CommandTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(VPHI_BINARY_DIR "/vphi"))
      GTEST_SKIP() << "the command is not built";
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("vphi_" + std::string(info->test_suite_name()) + "_" + std::to_string(getpid()) +
               "_" + info->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

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
  std::filesystem::path folder_;
};

}  // namespace vphi::test
