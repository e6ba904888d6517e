// Updates of SU(3) links as machine code of a GPU: nothing spilled, and registers left for as many
// groups of 128 threads as hide the way to memory.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "compiler/compile.hpp"
#include "tests/audit/machine.hpp"
#include "tests/audit/ways.hpp"
#include "tests/support/scratch.hpp"

namespace vphi::audit {
namespace {

struct Case {
  const char* precision;
  const char* store;
  const char* kernel;
  int registers;  ///< at most
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.kernel << " " << c.precision; }

class Links : public ::testing::TestWithParam<Case> {};

TEST_P(Links, SpillNothing) {
  if (std::string why; runtime::nvrtc_version(&why).empty()) GTEST_SKIP() << why;
  const Case c = GetParam();
  const vphi::testing::ScratchFolder folder;
  const std::string model = folder / "links.vphi";
  std::ofstream(model) << "model links \"SU(3)\"\nlattice grid: 16^4\ngauge U: SU(3)" << c.store
                       << "\naction S = 2*sum(3 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n"
                          "sample heatbath, sweeps = 1, overrelax = 1\ninit U ~ hot\n"
                          "at end: mean(re(tr(loop(mu, nu, -mu, -nu))), mu < nu) -> \"a.h5\"\n";
  CompileOptions options;
  options.precision = c.precision;
  const Compilation compilation = compile_model(model, options, ways().back().target);
  ASSERT_TRUE(compilation.program);
  bool seen = false;
  for (const program::Kernel& kernel : compilation.program->kernels) {
    if (kernel.name != c.kernel) continue;
    seen = true;
    const Machine machine = compiled(kernel.source);
    EXPECT_EQ(machine.spilled, 0) << machine.log;
    EXPECT_GT(machine.registers, 0) << machine.log;
    EXPECT_LE(machine.registers, c.registers) << machine.log;
  }
  EXPECT_TRUE(seen);
}

INSTANTIATE_TEST_SUITE_P(Updates, Links,
                         ::testing::Values(Case{"f32", ", store = rows(2)", "heatbath_x", 168},
                                           Case{"f32", "", "overrelax_t", 255},
                                           Case{"f64", ", store = rows(2)", "heatbath_x", 255},
                                           Case{"f64", "", "overrelax_t", 255}));

}  // namespace
}  // namespace vphi::audit
