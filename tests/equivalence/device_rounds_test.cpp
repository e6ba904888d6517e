// Solves whose rounds a device repeats by itself, where the host learns of a failure only after the
// steps: the numbers and messages of solves that the host repeats. The device is a native one that
// repeats launches when a recording is replayed, as a GPU does.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using namespace runtime;

class RepeatingDevice : public Device {
 public:
  explicit RepeatingDevice(Device& device) : device_(device) {}
  DeviceInfo info() const override { return device_.info(); }
  BufferHandle allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  void free(BufferHandle buffer) override { device_.free(buffer); }
  void upload(BufferHandle to, std::size_t offset, std::span<const std::byte> from) override {
    device_.upload(to, offset, from);
  }
  void download(std::span<std::byte> to, BufferHandle from, std::size_t offset) override {
    device_.download(to, from, offset);
  }
  void zero(BufferHandle buffer) override { device_.zero(buffer); }
  std::vector<KernelHandle> compile(std::span<const program::Kernel> kernels) override {
    return device_.compile(kernels);
  }
  KernelReport report(KernelHandle kernel) const override { return device_.report(kernel); }
  void launch(KernelHandle kernel, std::span<const BufferHandle> arguments) override {
    if (taking_ != nullptr)
      taking_->emplace_back(kernel, std::vector(arguments.begin(), arguments.end()));
    else
      device_.launch(kernel, arguments);
  }
  RecordingHandle record(const std::function<void()>& body) override {
    return device_.record(body);
  }
  bool repeats_rounds() override { return true; }
  RecordingHandle record_rounds(const std::function<void()>& round,
                                const std::function<void()>& end, const Rounds& rounds) override {
    recordings_.push_back({taken(round), taken(end), rounds});
    return {kFirst + static_cast<int>(recordings_.size()) - 1};
  }
  void forget(RecordingHandle recording) override {
    recordings_.at(static_cast<std::size_t>(recording.id - kFirst)) = {};
    ++forgotten;
  }
  void replay(RecordingHandle recording) override {
    if (recording.id < kFirst) return device_.replay(recording);
    const Recording& r = recordings_.at(static_cast<std::size_t>(recording.id - kFirst));
    ASSERT_FALSE(r.round.empty()) << "a recording that was freed";
    const Rounds& rounds = r.rounds;
    std::int64_t made = 0;
    const std::int64_t of_body = rounds.most % 2 == 0 ? 2 : 1;
    do {
      for (std::int64_t i = 0; i < of_body; ++i) repeat(r.round);
      made += of_body;
    } while (runs(rounds) && made < rounds.most);
    repeat(r.end);
    note(rounds);
    ++replayed;
  }
  void synchronise() override { device_.synchronise(); }
  int mark() override { return device_.mark(); }
  double seconds_between(int first, int second) override {
    return device_.seconds_between(first, second);
  }

  int replayed = 0, forgotten = 0;

 private:
  using List = std::vector<std::pair<KernelHandle, std::vector<BufferHandle>>>;
  struct Recording {
    List round, end;
    Rounds rounds;
  };
  static constexpr int kFirst = 1 << 20;

  List taken(const std::function<void()>& body) {
    List list;
    taking_ = &list;
    body();
    taking_ = nullptr;
    return list;
  }
  void repeat(const List& list) {
    for (const auto& [kernel, arguments] : list) device_.launch(kernel, arguments);
  }
  double number(const Rounds& rounds, std::int64_t place, std::int64_t instance) {
    double value = 0;
    const auto at = static_cast<std::size_t>(place + instance * rounds.distance);
    device_.download(std::as_writable_bytes(std::span(&value, 1)), rounds.scalars,
                     sizeof value * at);
    return value;
  }
  bool runs(const Rounds& rounds) {
    for (std::int64_t i = 0; i < rounds.instances; ++i)
      if (number(rounds, rounds.done, i) == 0) return true;
    return false;
  }
  void note(const Rounds& rounds) {
    std::vector<double> notes(Rounds::kFailure + static_cast<std::size_t>(rounds.number) + 1);
    device_.download(std::as_writable_bytes(std::span(notes)), rounds.notes, 0);
    const bool noted = notes[0] != 0;
    double most = 0;
    for (std::int64_t i = rounds.instances; i-- > 0;) {
      const double done = number(rounds, rounds.done, i),
                   made = number(rounds, rounds.iterations, i);
      most = std::max(most, made);
      if (done == 1 || noted) continue;
      const std::array<double, Rounds::kFailure> failure{rounds.number + 1.0,
                                                         static_cast<double>(i), done, made,
                                                         number(rounds, rounds.residual, i)};
      std::ranges::copy(failure, notes.begin());
    }
    notes.back() += most;
    device_.upload(rounds.notes, 0, std::as_bytes(std::span(notes)));
  }

  Device& device_;
  List* taking_ = nullptr;
  std::vector<Recording> recordings_;
};

std::string quarks(const std::string& force) {
  return R"(model quarks "two flavours in two dimensions"
param beta = 2, kappa = 0.24
sweep chain = 1..3
lattice grid: 4^2
gauge   U: U(1)
fermion psi: spinor, boundary(y) = antiperiodic
P[mu,nu] = loop(mu, nu, -mu, -nu)
hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))
D(psi)   = psi - kappa*hop(psi)
action S_gauge  = beta*sum(1 - re(P[mu,nu]), mu < nu)
action S_quarks = pseudofermion(D, solver = cg(1e-10), force = )" +
         force + R"()
sample hmc, trajectories = 4, tau = 0.5 {
  level S_quarks: steps = 2, scheme = omelyan2
  level S_gauge: steps = 2, scheme = omelyan2
}
init U ~ hot
plaquette = mean(re(P[x,y]))
solved = solve(D, 1.0*(index(x) + index(y) == 0)*spinor(0, 0), solver = cgne(1e-10))
every 1 trajectory: plaquette, deltaH, iterations(S_quarks), total(norm2(solved)) -> "q.csv"
)";
}

TEST(DeviceRounds, AreThoseOfTheHost) {
  Device* native = testing::device("native");
  if (native == nullptr) GTEST_SKIP() << "no native device";
  const Compilation c = testing::compile_text(quarks("cg(1e-8)"), {});
  RepeatingDevice repeating(*native);
  const RunResult there = run(*c.program, repeating, {}), here = run(*c.program, *native, {});
  EXPECT_GT(repeating.replayed, 4 * 4);  // a start, forces, an energy
  ASSERT_FALSE(here.series.empty());
  ASSERT_EQ(here.series.size(), there.series.size());
  for (std::size_t i = 0; i < here.series.size(); ++i) {
    EXPECT_GT(here.series[i].values.size(), 3U);
    EXPECT_EQ(here.series[i].values, there.series[i].values) << here.series[i].name;
  }
}

std::string message_of(const Compilation& c, Device& device) {
  try {
    run(*c.program, device, {});
  } catch (const RunError& error) {
    return error.code + ": " + error.what() + "; " + error.hint;
  }
  return "";
}

TEST(DeviceRounds, FailuresAreThoseOfTheHost) {
  Device* native = testing::device("native");
  if (native == nullptr) GTEST_SKIP() << "no native device";
  const Compilation c = testing::compile_text(quarks("cg(1e-8, max = 3)"), {});
  RepeatingDevice repeating(*native);
  const std::string here = message_of(c, *native);
  EXPECT_TRUE(here.starts_with("E0809: ")) << here;
  EXPECT_NE(here.find("is not solved after 3 iterations of `cg`"), std::string::npos) << here;
  EXPECT_NE(here.find(", after 0 trajectories; "), std::string::npos) << here;
  // the host asks the device later, and names what it was given at most
  std::string there = message_of(c, repeating);
  const std::size_t most = there.find("at most ");
  ASSERT_NE(most, std::string::npos) << there;
  there.erase(most, there.find(" trajectories", most) - most);
  std::string same = here;
  same.erase(same.find("0 trajectories"), 1);
  EXPECT_EQ(there, same);
}

}  // namespace
}  // namespace vphi
