// Models that must fail, each with the expected message: names, types, clauses, units, equations.
// VPHI_UPDATE_GOLDEN=1 writes the messages again; read the difference before you commit it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "dsl/resolve.hpp"
#include "dsl/syntax/load.hpp"
#include "tests/support/places.hpp"
#include "tree_text.hpp"

namespace vphi::dsl {
namespace {

class BadModel : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(BadModel, MessageIsAsExpected) {
  const auto from = test::source(test::read_file(GetParam()), GetParam().filename().string());
  Diagnostics reading;
  ModelText model = parse(from, reading);
  std::vector<ModelText> library = load_library(reading);
  ASSERT_FALSE(reading.has_errors()) << render_text(reading, {from.get()});
  const Resolved resolved = resolve(std::move(model), std::move(library));
  EXPECT_TRUE(resolved.diagnostics.has_errors()) << GetParam();
  const std::string shown = render_text(resolved.diagnostics, resolved.sources());

  auto golden = GetParam();
  golden.replace_extension(".txt");
  const char* update = std::getenv("VPHI_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(golden, std::ios::binary) << shown;
    return;
  }
  EXPECT_EQ(shown, test::read_file(golden)) << golden;
}

INSTANTIATE_TEST_SUITE_P(Golden, BadModel,
                         ::testing::ValuesIn(test::vphi_files(VPHI_SOURCE_DIR
                                                              "/tests/language/bad")),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace vphi::dsl
