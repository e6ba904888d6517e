// Arrays of an output that do not fit the memory together are made in stages, each in the scratch
// of the one before: the same numbers, bit for bit, as with separate clauses, in less memory.
#include <gtest/gtest.h>

#include <map>

#include "runtime/run/onlooker.hpp"
#include "runtime/run/session.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// Keeps what a run shows at one step.
class Checkpoints : public runtime::Onlooker {
 public:
  explicit Checkpoints(std::int64_t step) : step_(step) {}
  bool attending() const override { return true; }
  void table(const io::Table& table, const io::Moment& at) override {
    if (at.step == step_) shown[table.name] = table.values;
  }
  void scalars(std::span<const std::string>, const io::Moment&, std::span<const double>) override {}
  void checks(const std::vector<runtime::ExpectationResult>&) override {}
  runtime::Wish between(const runtime::Progress&) override { return runtime::Wish::GoOn; }
  std::map<std::string, std::vector<double>> shown;

 private:
  std::int64_t step_;
};

std::string model(const std::string& outputs) {
  return R"(model stages "Two fields and their energy"
units reduced_planck
param m = 5e-6, g = 100*m
lattice box: 16^3, length = 10/m, boundary = periodic
metric frw(a)
field phi, chi: real
potential V = m^2*phi^2/2 + g^2*phi^2*chi^2/2
rescale A = 2, B = m, s = 0
laplacian = iso27
init phi ~ 1 + vacuum, phi' ~ -0.7*m + vacuum
init chi ~ vacuum
evolve leapfrog, dt = 2^-10/m, until = t > 1/m
precision real = f32, sum = kahan
)" + outputs;
}

std::map<std::string, std::vector<double>> shown(const program::Program& program,
                                                 const char* device) {
  Checkpoints checkpoints(8);
  runtime::RunOptions options;
  options.steps = 8;
  options.onlooker = &checkpoints;
  runtime::run(program, *testing::device(device), options);
  return checkpoints.shown;
}

constexpr const char* kTogether =
    "every 4 steps: spectrum(phi, chi), slice(rho, z = 0), slice(phi*chi, z = 0), histogram(rho) "
    "-> \"s.h5\"\n";
constexpr const char* kApart =
    "every 1 steps: spectrum(phi) -> \"s.h5\"\nevery 2 steps: spectrum(chi) -> \"s.h5\"\n"
    "every 4 steps: slice(rho, z = 0), histogram(rho) -> \"s.h5\"\n"
    "every 8 steps: slice(phi*chi, z = 0) -> \"s.h5\"\n";

TEST(Stages, TheSameNumbersInLessMemory) {
  for (const char* device : {"native", "opencl", "cuda"}) {
    if (!testing::device(device)) continue;
    testing::Simulation setup;
    setup.device = device;
    const Compilation together = testing::compile_text(model(kTogether), setup);
    const Compilation apart = testing::compile_text(model(kApart), setup);
    EXPECT_EQ(together.program->outputs.size(), 2U);  // one clause, two stages
    EXPECT_EQ(apart.program->outputs.size(), 4U);
    const auto a = shown(*together.program, device), b = shown(*apart.program, device);
    ASSERT_GE(a.size(), 4U);
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, values] : a) {
      ASSERT_TRUE(b.contains(name)) << name;
      ASSERT_FALSE(values.empty());
      EXPECT_EQ(values, b.at(name)) << name << " on " << device;
    }
    EXPECT_LE(runtime::memory_needed(*together.program).peak,
              runtime::memory_needed(*apart.program).peak + 4096);
  }
}

// 3 words a field and site: phi twice (the stencil reads the old one), its momentum once.
TEST(Stages, PreheatingTakesThreeWordsAFieldAndSite) {
  const Compilation c = testing::compile_file(testing::shipped("cosmology/preheating"), {});
  const double sites = static_cast<double>(c.program->sites());
  EXPECT_LE(static_cast<double>(runtime::memory_needed(*c.program).peak) / (2 * 4 * sites), 3.01);
}

}  // namespace
}  // namespace vphi
