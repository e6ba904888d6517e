// Ranks on two OpenCL devices, threads of one process: PoCL shows one processor as two devices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/run/command.hpp"

namespace vphi {
namespace {

class OpenClRanks : public test::CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    for (const char* devices : {"cpu cpu", "pthread pthread"}) {  // new and old names of PoCL
      setenv("POCL_DEVICES", devices, 1);
      if (vphi("doctor").out.find("opencl:1 ") != std::string::npos) return;
    }
    unsetenv("POCL_DEVICES");
    GTEST_SKIP() << "no PoCL that shows two devices";
  }
  void TearDown() override { unsetenv("POCL_DEVICES"); }

  /// Tables of numbers that agree to rounding; the first line names them.
  static void expect_near(const std::string& one, const std::string& other) {
    std::istringstream a(one), b(other);
    std::string x, y;
    std::size_t numbers = 0;
    while (std::getline(a, x, ',') && std::getline(b, y, ',')) {
      char* end = nullptr;
      const double value = std::strtod(x.c_str(), &end);
      if (end == x.c_str()) continue;
      ++numbers;
      EXPECT_NEAR(std::strtod(y.c_str(), nullptr), value, 1e-11 * std::abs(value)) << x;
    }
    EXPECT_GT(numbers, 50u);
    EXPECT_EQ(std::ranges::count(one, ','), std::ranges::count(other, ','));
  }

  nlohmann::json run(const std::string& words) {
    const auto done = vphi("run " + words);
    EXPECT_EQ(done.status, 0) << words << done.error;
    return done.status == 0 ? nlohmann::json::parse(done.out) : nlohmann::json();
  }
};

/// Sums of a lattice agree to rounding. The drivers set themselves up in all ranks at once, and
/// must not do so together: several starts would show it.
TEST_F(OpenClRanks, ShareALatticeWithTheNumbersOfOne) {
  write("box.vphi", R"(model box "A field in a box"
lattice box: 16^3, spacing = 0.5
field phi: real
potential V = phi^4/4
init phi ~ 1 + 0.1*normal, phi' = 0
precision real = f64
evolve leapfrog, dt = 0.05, until = t > 1
every 10 steps: mean(phi), var(phi) -> "box.csv"
at end: spectrum(phi) -> "box.csv"
)");
  const auto one = run("box.vphi --device opencl:1 --json --restart --out one");
  ASSERT_FALSE(one.is_null());
  for (int start = 0; start < 4; ++start) {
    const auto two = run("box.vphi --device opencl:0,1 --json --restart --out two");
    ASSERT_FALSE(two.is_null()) << start;
    ASSERT_EQ(two["ranks"].size(), 2u);
    EXPECT_EQ(two["ranks"][1]["device"], "opencl:1");
    EXPECT_EQ(two["ranks"][0]["planes_go"], "through the memory of the host");
    ASSERT_FALSE(one["scalars"].empty());
    for (const auto& [name, value] : one["scalars"].items())
      EXPECT_NEAR(two["scalars"][name].get<double>(), value.get<double>(),
                  1e-12 * std::abs(value.get<double>()))
          << name;
    expect_near(text("one/box.spectra.csv"), text("two/box.spectra.csv"));
  }
}

TEST_F(OpenClRanks, ShareInstancesWithTheBitsOfOne) {
  write("paths.vphi", R"(model paths "Ten paths"
sweep path = 1..10
var x: real
x' = -x + noise
init x = 1
precision real = f64
evolve euler_maruyama, dt = 0.01, until = t > 1
every 10 steps: x, mean(x, over = path) -> "paths.csv"
)");
  const auto one = run("paths.vphi --device opencl:0 --json --restart --out one"),
             two = run("paths.vphi --device opencl:0,1 --json --restart --out two");
  ASSERT_FALSE(one.is_null() || two.is_null());
  EXPECT_EQ(two["ranks"].size(), 2u);
  EXPECT_EQ(one["series"], two["series"]);
  EXPECT_EQ(text("one/paths.series.csv"), text("two/paths.series.csv"));
  EXPECT_GT(text("two/paths.series.csv").size(), 300u);
}

}  // namespace
}  // namespace vphi
