// Models whose physics must fail, each with the expected message. VPHI_UPDATE_GOLDEN=1 writes the
// messages again; read the difference before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "derive_text.hpp"
#include "tests/support/places.hpp"

namespace vphi::physics::test {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> models() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry :
       std::filesystem::directory_iterator(VPHI_SOURCE_DIR "/tests/language/bad_physics")) {
    if (entry.path().extension() == ".vphi") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

class BadPhysics : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(BadPhysics, MessageIsAsExpected) {
  std::filesystem::current_path(GetParam().parent_path());  // of the tables that a model reads
  const Derived d = derive_text(read_file(GetParam()), {}, GetParam().filename().string());
  EXPECT_FALSE(d.resolved->diagnostics.has_errors()) << "not an error of the physics";
  EXPECT_FALSE(d.system);
  EXPECT_TRUE(d.diagnostics.has_errors());
  const std::string shown = dsl::render_text(d.diagnostics, d.resolved->sources());
  auto golden = GetParam();
  golden.replace_extension(".txt");
  const char* update = std::getenv("VPHI_UPDATE_GOLDEN");
  if (update && std::string(update) == "1") {
    std::ofstream(golden, std::ios::binary) << shown;
    return;
  }
  EXPECT_EQ(shown, read_file(golden)) << golden;
}

INSTANTIATE_TEST_SUITE_P(Golden, BadPhysics, ::testing::ValuesIn(models()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace vphi::physics::test
