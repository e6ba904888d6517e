// Trajectories that go on from a checkpoint: solves that start from earlier solutions and what is
// known of the solves have the bits of the uninterrupted run.
#include "tests/run/command.hpp"

namespace vphi {
namespace {

class TrajectoryResume : public test::CommandTest {};

TEST_F(TrajectoryResume, EarlierSolutionsAreThoseOfTheTrajectory) {
  write("quarks.vphi",
        "model quarks \"Solves that start from earlier solutions\"\nparam kappa = 0.2\n"
        "lattice grid: 4^2\ngauge U: U(1)\nfermion psi: spinor, boundary(y) = antiperiodic\n"
        "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
        "action S = pseudofermion(D, solver = cg(1e-9), start = past(3), even_odd = on)\n"
        "sample hmc, trajectories = 5, tau = 0.5 {\n  level S: steps = 4, scheme = leapfrog\n}\n"
        "init U ~ hot\nevery 1 trajectory: mean(re(loop(x, y, -x, -y))), deltaH, iterations(S), "
        "residual(S), force(S) -> \"quarks.csv\"\n");
  const std::string run = "run quarks.vphi --device native --quiet ";
  ASSERT_EQ(vphi(run + "--out whole").status, 0);
  const auto first = vphi(run + "--out parts --steps 2 --checkpoint-every '1 steps'");
  ASSERT_EQ(first.status, 0) << first.error;
  const std::string rows = text("parts/quarks.series.csv");
  const auto then = vphi(run + "--out parts --resume=parts --steps 5");
  ASSERT_EQ(then.status, 0) << then.error;
  EXPECT_GT(text("parts/quarks.series.csv").size(), rows.size());
  EXPECT_EQ(text("parts/quarks.series.csv"), text("whole/quarks.series.csv"));
}

}  // namespace
}  // namespace vphi
