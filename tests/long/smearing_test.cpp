// APE and HYP smearing in four dimensions against an independent program, whose polar
// decompositions are singular value decompositions: 36 kernels with projections, whose compilation
// takes minutes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/physics/gauge/fixed_links.hpp"

namespace vphi {
namespace {

using testing::last;

/// X[mu, p] takes the plane of mu and p alone; W[mu, nu] all but that of nu.
const char* const kWritten =
    "A[mu] = project((1 - alpha)*U[mu] + alpha/6*sum(path(nu, mu, -nu) + path(-nu, mu, nu), "
    "nu != mu))\n"
    "B[mu] = project((1 - alpha)*A[mu] + alpha/6*sum(path(A, nu, mu, -nu) + path(A, -nu, mu, "
    "nu), nu != mu))\n"
    "X[mu,p] = project(0.7*U[mu] + 0.3/2*(path(p, mu, -p) + path(-p, mu, p)))\n"
    "W[mu,nu] = project(0.4*U[mu] + 0.6/4*sum(X[q,p]*X[mu,p]@q*adj(X[q,p]@mu) + "
    "X[-q,p]*X[mu,p]@-q*adj(X[-q,p]@mu), q, p, q != mu, q != nu, p != mu, p != nu, p != q))\n"
    "Y[mu] = project(0.25*U[mu] + 0.75/6*sum(W[q,mu]*W[mu,q]@q*adj(W[q,mu]@mu) + "
    "W[-q,mu]*W[mu,q]@-q*adj(W[-q,mu]@mu), q != mu))\n";
const char* const kWords = "A = ape(U, alpha)\nB = ape(U, alpha, 2)\nY = hyp(U, 0.75, 0.6, 0.3)\n";

runtime::RunResult smeared(const char* links, int n, double alpha, const testing::Simulation& setup,
                           const std::vector<std::int64_t>& extent, double scale,
                           const std::string& outputs) {
  const testing::ScratchFolder scratch;
  testing::fixed_box(n, extent, scale).save(scratch / "c4.ildg");
  const std::string text = fmt::format(
      "model smeared \"projected links\"\nparam alpha = {}\n"
      "lattice grid: [{}]\ngauge U: SU({})\n"
      "{}"
      "once = mean(re(tr(loop(A, mu, nu, -mu, -nu)))/{}, mu < nu)\n"
      "twice = mean(re(tr(loop(B, mu, nu, -mu, -nu)))/{}, mu < nu)\n"
      "cubes = mean(re(tr(loop(Y, mu, nu, -mu, -nu)))/{}, mu < nu)\n"
      "{}\nat end: {} -> \"s.h5\"\n",
      alpha, fmt::join(extent, ", "), n, links, n, n, n,
      testing::flow::from_file(scratch / "c4.ildg"), outputs);
  return testing::run_text(text, setup);
}

TEST(LongSmearing, ApeAndHypLinksOfAnotherProgram) {
  const auto three = smeared(kWords, 3, 0.5, {}, {4, 2, 6, 4}, 0.7, "once, twice, cubes");
  EXPECT_NEAR(last(three, "once"), 0.931607160783298, 1e-12);
  EXPECT_NEAR(last(three, "twice"), 0.979524302145853, 1e-12);
  EXPECT_NEAR(last(three, "cubes"), 0.969446910161864, 1e-12);
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    testing::Simulation setup;
    setup.device = device;
    const auto two = smeared(kWritten, 2, 0.4, setup, {4, 2, 2, 4}, 1.2, "once, cubes");
    EXPECT_NEAR(last(two, "once"), 0.805506087693339, 1e-12) << device;
    EXPECT_NEAR(last(two, "cubes"), 0.929189420015027, 1e-12) << device;
  }
}

}  // namespace
}  // namespace vphi
