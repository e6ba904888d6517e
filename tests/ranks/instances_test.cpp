// Ranks that share the instances of a sweep: the same bits as one device that has them all.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "embed/ranks.hpp"
#include "runtime/device/native/native.hpp"
#include "runtime/io/results.hpp"
#include "runtime/run/ranks/rank_group.hpp"
#include "runtime/run/state/checkpoints.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"
#include "tools/model.hpp"

namespace vphi {
namespace {

namespace fs = std::filesystem;
using runtime::RunResult;

/// One site an instance: the scalars lie by slot, and rows have errors.
constexpr const char* kPaths = R"(model paths "Ornstein-Uhlenbeck paths"
param gamma = 0.5
sweep T = [0.5, 1, 2]
sweep path = 1..23
var x: real
x' = -gamma*x + sqrt(2*gamma*T)*noise
init x ~ normal
evolve euler_maruyama, dt = 0.01, until = t > 2
passed = first(t, x > 1)
every 20 steps: x, mean(x^2, over = path), var(x, over = path) -> "paths.h5"
at end: mean(passed, over = path), histogram(x, bins = 20, over = path) -> "paths.h5"
plot mean(passed, over = path) against T
expect mean(x^2, over = [path, time]) < 10
)";

/// A lattice for each instance, initial fluctuations, spectra, averages over time.
constexpr const char* kFields = R"(model fields "Scalar fields in a heat bath"
param mu2 = -1, lambda = 1, gamma = 0.5
sweep T = linspace(0.1, 1.0, 7)
lattice box: 8^3, spacing = 0.5
field phi: real
potential V = mu2*phi^2/2 + lambda*phi^4/4
phi'' = derived - gamma*phi' + sqrt(2*gamma*T)*noise
init phi ~ 0.1*normal, phi' = 0
evolve baoab, dt = 0.05, until = t > 3
m1 = mean(phi)
every 10 steps: m1, mean(phi'^2), spectrum(phi), slice(phi, z = 2) -> "fields.h5"
at end: mean(abs(m1), over = time) -> "fields.h5"
plot mean(abs(m1), over = time) against T
expect drift(m1) < 1e9
)";

/// A Markov chain with links.
constexpr const char* kChain = R"(model chain "U(1) in two dimensions"
param beta = 2
sweep chain = 1..5
lattice grid: 8^2
gauge U: U(1)
P[mu,nu] = loop(mu, nu, -mu, -nu)
plaquette = mean(re(P[mu,nu]), mu < nu)
action S = beta*sum(1 - re(P[mu,nu]), mu < nu)
sample heatbath, sweeps = 40, overrelax = 1
init U ~ hot
every 4 sweeps: plaquette -> "chain.h5"
)";

/// Configurations that go from one instance to another.
constexpr const char* kExchange = R"(model exchange "Ising spins"
sweep K = linspace(0.3, 0.5, 5)
sweep chain = 1..3
lattice torus: 8^2
field s: int, values = [-1, 1]
action S = -K*sum(s*s@k, k)
sample heatbath, sweeps = 40, exchange = K, exchange_every = 2
init s ~ hot
every 4 sweeps: m = mean(s), exchanged, replica -> "exchange.h5"
)";

/// Instances that end at different steps, without noise.
constexpr const char* kPendulum = R"(model pendulum "Period of a pendulum"
sweep amplitude = linspace(0.1, 2.5, 6)
var theta: real
theta'' = -sin(theta)
init theta = amplitude, theta' = 0
evolve vv6, dt = 0.01, until = theta < 0
period = 4*first(t, theta < 0)
every 25 steps: theta -> "pendulum.h5"
at end: period -> "pendulum.h5"
plot period against amplitude
)";

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) {
           return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
         });
}

void expect_same_bits(const RunResult& a, const RunResult& b, const std::string& where) {
  SCOPED_TRACE(where);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.time, b.time);
  ASSERT_EQ(a.series.size(), b.series.size());
  for (std::size_t s = 0; s < a.series.size(); ++s) {
    SCOPED_TRACE(a.series[s].name);
    EXPECT_EQ(a.series[s].name, b.series[s].name);
    EXPECT_EQ(a.series[s].steps, b.series[s].steps);
    EXPECT_TRUE(same_bits(a.series[s].times, b.series[s].times));
    ASSERT_EQ(a.series[s].values.size(), b.series[s].values.size());
    for (std::size_t row = 0; row < a.series[s].values.size(); ++row)
      EXPECT_TRUE(same_bits(a.series[s].values[row], b.series[s].values[row])) << row;
    ASSERT_EQ(a.series[s].errors.size(), b.series[s].errors.size());
    for (std::size_t row = 0; row < a.series[s].errors.size(); ++row)
      EXPECT_TRUE(same_bits(a.series[s].errors[row], b.series[s].errors[row])) << row;
  }
  ASSERT_EQ(a.plots.size(), b.plots.size());
  for (std::size_t p = 0; p < a.plots.size(); ++p) {
    EXPECT_TRUE(same_bits(a.plots[p].y, b.plots[p].y));
    EXPECT_TRUE(same_bits(a.plots[p].error, b.plots[p].error));
  }
  ASSERT_EQ(a.expectations.size(), b.expectations.size());
  for (std::size_t e = 0; e < a.expectations.size(); ++e) {
    EXPECT_EQ(a.expectations[e].ok, b.expectations[e].ok);
    EXPECT_TRUE(same_bits({a.expectations[e].value}, {b.expectations[e].value}));
    EXPECT_EQ(a.expectations[e].where, b.expectations[e].where);
  }
  EXPECT_EQ(a.acceptance, b.acceptance);
  ASSERT_EQ(a.state.size(), b.state.size());
  for (std::size_t v = 0; v < a.state.size(); ++v) EXPECT_TRUE(same_bits(a.state[v], b.state[v]));
  EXPECT_EQ(a.failures.size(), b.failures.size());
}

class Instances : public ::testing::Test {
 protected:
  std::string file(const std::string& text) {
    const auto path = folder_ / "model.vphi";
    std::ofstream(path) << text;
    return path.string();
  }

  RunResult run(const std::string& text, int ranks, runtime::RunOptions options = {},
                CompileOptions how = {}) {
    options.keep_state = true;
    const std::vector<std::string> devices(static_cast<std::size_t>(ranks), "native");
    const auto group = embed::open_ranks(devices);
    const auto target = embed::target_of(group->device().info());
    const auto c = embed::compile_for_ranks(file(text), how, target, ranks);
    EXPECT_TRUE(c.program) << c.diagnostics.all().size();
    if (!c.program) return {};
    if (ranks > 1) options.ranks = group.get();
    options.batch = embed::batch_of_ranks(*c.program, how, ranks);
    return runtime::run(*c.program, group->device(), options);
  }

  runtime::RunOptions into(const std::string& name) {
    runtime::RunOptions options;
    options.out = (folder_ / name).string();
    options.keep.on = true;
    return options;
  }

  std::string dump(const std::string& name, const std::string& set) {
    if (!io::have_hdf5()) return {};
    // where a dataset lies in the file, and where lines break, may differ
    const std::string command =
        "cd '" + (folder_ / name).string() + "' && h5dump " + set +
        " | sed -E 's/DATASET [0-9]+ //g; s/\\([0-9,]+\\)://g' | tr -d ' \\n' > dump";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ostringstream text;
    text << std::ifstream(folder_ / name / "dump").rdbuf();
    return text.str();
  }

  const testing::ScratchFolder scratch_;
  const fs::path& folder_ = scratch_.path();
};

TEST_F(Instances, AnyNumberOfRanksGivesTheSameBits) {
  for (const char* text : {kPaths, kFields, kChain, kExchange, kPendulum}) {
    const RunResult one = run(text, 1);
    ASSERT_FALSE(one.series.empty());
    EXPECT_TRUE(one.ranks.empty());
    for (const int ranks : {2, 3, 4}) {
      const RunResult several = run(text, ranks);
      expect_same_bits(one, several, one.model + ", " + std::to_string(ranks) + " ranks");
      ASSERT_EQ(several.ranks.size(), static_cast<std::size_t>(ranks));
      std::int64_t shown = 0;
      for (const auto& rank : several.ranks) shown += rank.instances;
      EXPECT_EQ(shown,
                one.axes[0].values.size() * (one.axes.size() > 1 ? one.axes[1].values.size() : 1));
    }
  }
}

TEST_F(Instances, ResultFilesAreTheSame) {
  for (const auto& [text, set] : {std::pair(kPaths, "paths.h5"), std::pair(kFields, "fields.h5")}) {
    run(text, 1, into("one"));
    run(text, 3, into("three"));
    EXPECT_TRUE(dump("one", set) == dump("three", set)) << set;
  }
}

TEST_F(Instances, PartsAreThoseOfOneRank) {
  CompileOptions how;
  how.batch = 5;
  const RunResult one = run(kFields, 1, {}, how);
  for (const int ranks : {2, 3}) expect_same_bits(one, run(kFields, ranks, {}, how), "parts");
}

TEST_F(Instances, ACheckpointGoesOnWithAnotherNumberOfRanks) {
  for (const auto& [text, model, set] :
       {std::tuple(kFields, "fields", "fields.h5"), std::tuple(kPaths, "paths", "paths.h5")}) {
    const RunResult whole = run(text, 1, into("whole"));
    for (const auto& [first, then] : {std::pair(3, 1), std::pair(1, 4), std::pair(4, 2)}) {
      fs::remove_all(folder_ / "cut");
      auto options = into("cut");
      options.keep.at_end_after = 0;
      options.steps = 30;
      run(text, first, options);
      auto again = into("cut");
      again.resume = runtime::find_checkpoint(folder_ / "cut", model).reader;
      expect_same_bits(whole, run(text, then, again), model);
      EXPECT_TRUE(dump("whole", set) == dump("cut", set)) << set << first << then;
    }
  }
}

TEST_F(Instances, AnInstanceThatBreaksOnAnotherRankIsSetAside) {
  const std::string text = R"(model breaks "One of five has no root"
sweep a = [1, 2, 3, -4, 5]
var x: real
x' = sqrt(a)
init x = 1
evolve euler, dt = 0.01, until = t > 0.5
every 10 steps: x -> "breaks.h5"
)";
  const RunResult one = run(text, 1);
  ASSERT_EQ(one.failures.size(), 1u);
  for (const int ranks : {2, 3, 5}) {
    const RunResult several = run(text, ranks);
    expect_same_bits(one, several, std::to_string(ranks));
    ASSERT_EQ(several.failures.size(), 1u);
    EXPECT_EQ(several.failures[0].where, one.failures[0].where);
    EXPECT_EQ(several.failures[0].message, one.failures[0].message);
  }
}

std::unique_ptr<runtime::Device> no_device() {
  throw runtime::DeviceError("there is no such device here");
}

TEST_F(Instances, ADeviceThatIsNotThereIsNamedWithItsRank) {
  const runtime::OpenDevice native = [] { return runtime::open_native(); };
  try {
    runtime::open_team({native, native, no_device});
    FAIL() << "rank 2 has no device";
  } catch (const runtime::DeviceError& error) {
    EXPECT_STREQ(error.what(), "rank 2: there is no such device here");
  }
  EXPECT_THROW(runtime::open_team({no_device, native}), runtime::DeviceError);
}

TEST_F(Instances, AnErrorOfAnotherRankEndsTheRunOnce) {
  const std::string text = R"(model unsolved "The last instance needs more iterations"
sweep m = [2, 2, 2, 1e-3]
lattice ring: 64, spacing = 1, boundary = periodic
A(u) = m^2*u - lap(u)
charge = 1 if index(x) == 4 else 0
phi = solve(A, charge, solver = cg(1e-12, 40))
at end: max(phi) -> "unsolved.h5"
)";
  for (int again = 0; again < 2; ++again) try {
      run(text, 2);
      FAIL() << "40 iterations are too few for the last instance";
    } catch (const runtime::RunError& error) {
      EXPECT_EQ(error.code, "E0809");
      EXPECT_TRUE(std::string(error.what()).starts_with("rank 1 (native): `solve(A, charge"))
          << error.what();
    }
}

}  // namespace
}  // namespace vphi
