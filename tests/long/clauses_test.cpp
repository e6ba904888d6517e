// Every clause and item of every shipped model and starter is used: without it, or with another
// value, the compiled program differs, or there is none.
#include "tests/fuzz/clauses.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/support/places.hpp"
#include "tools/model.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;

std::vector<std::pair<std::string, std::string>> texts() {
  auto all = tools::shipped_models();
  // not there where the tests run without the sources (tools/bundle --tests long)
  std::error_code missing;
  for (const auto& entry :
       fs::directory_iterator(fs::path(VPHI_SOURCE_DIR) / "tools/starters", missing))
    if (entry.path().extension() == ".vphi")
      all.emplace_back("starter_" + entry.path().stem().string(), entry.path().string());
  return all;
}

class EveryClause : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(EveryClause, IsMadeUseOf) {
  std::ifstream file(GetParam().second, std::ios::binary);
  const fuzz::Clauses clauses({std::istreambuf_iterator<char>(file), {}});
  if (!clauses.compiles()) GTEST_SKIP() << "needs a file beside it, or does not run yet";
  for (const fuzz::Part& part : clauses.parts()) {
    const std::string shown = clauses.shown(part);
    EXPECT_FALSE(clauses.idle(part)) << shown;
    if (part.item < 0 && part.inner < 0) {
      EXPECT_FALSE(clauses.idle_twice(part.line)) << "twice: " << shown;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryClause, ::testing::ValuesIn(texts()),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace vphi
