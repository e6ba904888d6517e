// Lattices that ranks share: every shipped model has the bits of one device, or is listed here with
// the reason why it cannot be cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "compiler/kernel/slabs.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/model_name.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBodies = 4096;  // enough for slabs of four ranks

/// What the refusal of a model says.
std::string refusal_of(const std::string& model) {
  static const std::map<std::string, std::string> kRefused = {
      {"hydro/bjorken", "E0312"},  // its dt does not fit the small lattice
      {"hydro/viscous_bjorken", "E0312"},
      {"hydro/fluctuating_gas", "E0301"},  // nor the cells of many sites
  };
  const auto found = kRefused.find(model);
  if (found != kRefused.end()) return found->second;
  CompileOptions options;
  options.batch = 1;
  const Compilation derived = derive_model(testing::shipped(model), options);
  const bool few = derived.system.value().lattice.sites() < kBodies;
  return few && !derived.resolved.clause("lattice") ? "E0862" : "";  // few bodies, or one site
}

class CutModels : public ::testing::TestWithParam<std::string> {};

TEST_P(CutModels, HaveTheBitsOfOneDevice) {
  const std::string why = refusal_of(GetParam());
  testing::CutSetup setup;
  setup.bodies = kBodies;
  for (const int ranks : {2, 3, 4}) {
    const auto result = testing::cut_and_compare(testing::shipped(GetParam()), ranks, setup);
    EXPECT_EQ(result.refused.empty(), why.empty()) << ranks << ": " << result.refused;
    EXPECT_NE(result.refused.find(why), std::string::npos) << result.refused;
    EXPECT_EQ(result.differs, "") << ranks;
  }
}

/// Launches divided as for GPUs (schedule/division.hpp), where there are such, and their parts in
/// other orders.
TEST_P(CutModels, HaveTheBitsOfOneDeviceInParts) {
  if (!refusal_of(GetParam()).empty()) GTEST_SKIP() << "it cannot be cut";
  testing::CutSetup setup;
  setup.bodies = kBodies;
  setup.as_gpu = true, setup.units = 0;
  for (const auto order : {testing::OrderOfParts::RestFirst, testing::OrderOfParts::GhostsLast}) {
    setup.order = order;
    const auto result = testing::cut_and_compare(testing::shipped(GetParam()), 2, setup);
    EXPECT_EQ(result.refused, "");
    EXPECT_EQ(result.differs, "") << static_cast<int>(order);
    if (result.divided == 0) return;
  }
}

/// Cut along two axes, of the models with axes enough.
class CutTwice : public ::testing::TestWithParam<std::string> {};

TEST_P(CutTwice, HasTheBitsOfOneDevice) {
  testing::CutSetup setup;
  setup.lattice = "4 * 16 * 32 * 4", setup.beside = 2;
  const auto result = testing::cut_and_compare(testing::shipped(GetParam()), 4, setup);
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

INSTANTIATE_TEST_SUITE_P(Spinors, CutTwice,
                         ::testing::Values("gauge/wilson_quark", "gauge/twisted_quark",
                                           "gauge/nucleon"),
                         testing::model_name);

std::vector<std::string> all_models() {
  std::vector<std::string> names;
  const fs::path folder = fs::path(testing::shipped("x")).parent_path();
  std::error_code missing;  // as for the texts of clauses_test.cpp
  for (const auto& entry : fs::recursive_directory_iterator(folder, missing)) {
    if (entry.path().extension() != ".vphi") continue;
    const fs::path name = fs::relative(entry.path(), folder);
    if (name.begin()->string() == "std") continue;
    names.push_back((name.parent_path() / name.stem()).string());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Shipped, CutModels, ::testing::ValuesIn(all_models()),
                         testing::model_name);

}  // namespace
}  // namespace vphi
