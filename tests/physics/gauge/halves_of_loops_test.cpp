// `solve` at half of the sites of operators with loops of links at the site, against the same
// systems at all sites: solutions, iterations, columns, two precisions, ranks.
#include <cmath>
#include <fstream>
#include <set>

#include "tests/physics/gauge/fixed_links.hpp"
#include "tests/support/cut_ranks.hpp"

namespace vphi {
namespace {

using testing::last;

struct LoopsAtSite {
  const char *gauge, *lattice, *spinor, *edge;
};

/// Wilson quarks with a clover term and a twisted mass; `solves` and `outputs` as in a model.
std::string with_clover(const LoopsAtSite& one, const std::string& solves,
                        const std::string& outputs) {
  return std::string("model halves \"loops at the sites\"\nparam kappa = 0.12, csw = 1.2\n") +
         "lattice grid: " + one.lattice + "\ngauge U: " + one.gauge +
         "\nfermion psi: " + one.spinor + ", boundary(" + one.edge +
         ") = antiperiodic\n"
         "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
         "loop(-nu, mu, nu, -mu)\n"
         "F[mu,nu] = (C[mu,nu] - " +
         (std::string(one.gauge) == "U(1)" ? "conj" : "adj") +
         "(C[mu,nu]))/8\n"
         "D(psi) = psi + 0.1i*gamma5*psi + kappa*csw/2*sum(gamma[mu]*gamma[nu]*F[mu,nu], mu != "
         "nu)*psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "here = index(x) + index(y) == 0\n" +
         solves + "init U ~ hot\nat end: " + outputs + " -> \"h.h5\"\n";
}

constexpr const char* kTwo =
    "a = solve(D, here*spinor(0, 0), solver = cgne(1e-12), even_odd = on)\n"
    "b = solve(D, here*spinor(0, 0), solver = cgne(1e-12), even_odd = off)\n";
constexpr const char* kCompared =
    "size = total(norm2(b)), apart = total(norm2(a - b)), few = iterations(a), many = "
    "iterations(b), left = residual(a)";

/// The solution is that of all sites, in about half of the iterations.
TEST(HalvesOfLoops, SolutionIsThatOfAllSites) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  for (const LoopsAtSite& one : {LoopsAtSite{"U(1)", "4 * 6", "spinor(2)", "y"},
                                 LoopsAtSite{"SU(2)", "4^2", "spinor", "y"}}) {
    for (const char* device : {"native", "opencl"}) {
      if (!testing::device(device)) continue;
      if (device == std::string("opencl") && one.gauge != std::string("U(1)")) continue;
      testing::Simulation setup;
      setup.device = device;
      const auto result = testing::run_text(with_clover(one, kTwo, kCompared), setup);
      EXPECT_GT(last(result, "size"), 0.5) << one.gauge;
      EXPECT_LT(last(result, "apart"), 1e-20 * last(result, "size")) << one.gauge << device;
      EXPECT_LT(last(result, "left"), 2e-12) << one.gauge;
      EXPECT_LT(last(result, "few"), 0.75 * last(result, "many")) << one.gauge;
    }
  }
}

/// Rounds in f32 read nothing in f64: what stands at the sites is copied at their start.
TEST(HalvesOfLoops, RoundsInLowerPrecisionReadCopies) {
  const LoopsAtSite one{"U(1)", "4^2", "spinor(2)", "y"};
  const Compilation c = testing::compile_text(
      with_clover(one, "c = solve(D, here*spinor(1, 0), solver = cgne(1e-12, inner = f32))\n",
                  "q = total(norm2(c))"),
      {});
  ASSERT_TRUE(c.plan);
  const auto precisions = [&](const program::Kernel& k) {
    std::set<program::Precision> found;
    for (const program::Argument& a : k.arguments)
      if (a.kind == program::Argument::Kind::Current)
        found.insert(c.program->buffers[static_cast<std::size_t>(a.index)].precision);
    return found;
  };
  int rounds = 0;
  for (const program::Kernel& k : c.program->kernels) {
    if (!k.name.starts_with("inner_") || k.name.find("start") != std::string::npos ||
        k.name.find("residual") != std::string::npos || k.name.find("again") != std::string::npos)
      continue;
    ++rounds;
    EXPECT_EQ(precisions(k), std::set{program::Precision::F32}) << k.name;
  }
  EXPECT_GE(rounds, 4);
}

/// Columns of a propagator share what stands at the sites; rounds may be in f32.
TEST(HalvesOfLoops, ColumnsAndTwoPrecisions) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const LoopsAtSite one{"U(1)", "4^2", "spinor(2)", "y"};
  const auto result = testing::run_text(
      with_clover(one,
                  "S[s] = solve(D, here*spinor(s, 0), solver = cgne(1e-12))\n"
                  "T[s] = solve(D, here*spinor(s, 0), solver = cgne(1e-12), even_odd = off)\n"
                  "c = solve(D, here*spinor(1, 0), solver = cgne(1e-12, inner = f32))\n",
                  "size = total(norm2(T[0])), apart = total(norm2(S[0] - T[0])) + "
                  "total(norm2(S[1] - T[1])), inner = total(norm2(c - T[1]))"),
      {});
  EXPECT_LT(last(result, "apart"), 1e-20 * last(result, "size"));
  EXPECT_LT(last(result, "inner"), 1e-20 * last(result, "size"));
}

TEST(HalvesOfLoops, HaveTheBitsOfOneDeviceOnRanks) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "halves.vphi").string();
  std::ofstream(path) << with_clover({"U(1)", "4 * 12", "spinor(2)", "y"}, kTwo, kCompared);
  for (const int ranks : {2, 3}) {
    const auto result = testing::cut_and_compare(path, ranks, {});
    EXPECT_EQ(result.refused, "");
    EXPECT_EQ(result.differs, "");
  }
}

}  // namespace
}  // namespace vphi
