// Texts with a syntax error, each with the expected message. VPHI_UPDATE_GOLDEN=1 writes the
// messages again; read the difference before you commit it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/places.hpp"
#include "tree_text.hpp"

namespace vphi::dsl {
namespace {

class Syntax : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Syntax, MessageIsAsExpected) {
  const auto from = test::source(test::read_file(GetParam()), GetParam().filename().string());
  Diagnostics diagnostics;
  parse(from, diagnostics);
  EXPECT_TRUE(diagnostics.has_errors());
  const std::string shown = render_text(diagnostics, {from.get()});

  auto golden = GetParam();
  golden.replace_extension(".txt");
  const char* update = std::getenv("VPHI_UPDATE_GOLDEN");
  if (update && std::string(update) == "1") {
    std::ofstream(golden, std::ios::binary) << shown;
    return;
  }
  EXPECT_EQ(shown, test::read_file(golden)) << golden;
}

INSTANTIATE_TEST_SUITE_P(Bad, Syntax,
                         ::testing::ValuesIn(test::vphi_files(VPHI_SOURCE_DIR
                                                              "/tests/language/syntax")),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace vphi::dsl
