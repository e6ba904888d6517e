// Trajectories that go on from a checkpoint: solves that start from earlier solutions and what is
// known of the solves have the bits of the uninterrupted run.
#include <algorithm>
#include <string>

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

/// The rows before it and the last checkpoint stay.
TEST_F(TrajectoryResume, ASolveThatFailsKeepsTheChain) {
  write("rounds.vphi",
        "model rounds \"Solves that may take too few rounds\"\nparam kappa = 0.2, most = 200\n"
        "lattice grid: 4^2\ngauge U: U(1)\nfermion psi: spinor(2), boundary(y) = antiperiodic\n"
        "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
        "action S = pseudofermion(D, solver = cg(1e-10, max = most))\n"
        "action T = 2*sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)\n"
        "sample hmc, trajectories = 40, tau = 1 {\n  level S, T: steps = 4, scheme = leapfrog\n}\n"
        "init U ~ cold\nevery 1 trajectory: mean(re(loop(x, y, -x, -y))), deltaH -> "
        "\"rounds.csv\"\n");
  const std::string run = "run rounds.vphi --device native --quiet --checkpoint-every '1 steps' ";
  ASSERT_EQ(vphi(run + "--out whole").status, 0);
  const std::string whole = text("whole/rounds.series.csv");
  for (int most = 24; most < 40; ++most) {
    const std::string out = "few_" + std::to_string(most);
    const auto few = vphi(run + "--out " + out + " --set most=" + std::to_string(most));
    ASSERT_NE(few.status, 0);
    if (few.error.find("after 0 trajectories") != std::string::npos) continue;
    for (const char* told : {"E0809", "`S, D adj(D) X = B` is not solved after", "trajectories",
                             "norm(b - A(x))/norm(b) is"})
      EXPECT_NE(few.error.find(told), std::string::npos) << few.error;
    const std::string rows = text(out + "/rounds.series.csv");
    EXPECT_GT(std::ranges::count(rows, '\n'), 2);
    EXPECT_EQ(whole.substr(0, rows.size()), rows);
    EXPECT_FALSE(text(out + "/checkpoint/rounds.checkpoint").empty());
    // more rounds change nothing of what was solved: the chain goes on to the same end
    const auto more = vphi(run + "--out " + out + " --resume=" + out + " --set most=200");
    ASSERT_EQ(more.status, 0) << more.error;
    EXPECT_EQ(text(out + "/rounds.series.csv"), whole);
    const auto other = vphi(run + "--out " + out + " --resume=" + out + " --set kappa=0.19");
    EXPECT_NE(other.error.find("E0851"), std::string::npos) << other.error;
    return;
  }
  ADD_FAILURE() << "no number of rounds suffices for some trajectories alone";
}

/// The number of trajectories is the end of a chain, which may be moved in the text.
TEST_F(TrajectoryResume, MoreTrajectoriesGoOn) {
  const auto model = [](int trajectories) {
    return "model longer \"a chain\"\nlattice grid: 4^2\ngauge U: U(1)\n"
           "action S = 2*sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)\n"
           "sample hmc, trajectories = " +
           std::to_string(trajectories) +
           ", tau = 1 {\n  level S: steps = 4, scheme = leapfrog\n}\ninit U ~ hot\n"
           "every 1 trajectory: mean(re(loop(x, y, -x, -y))), deltaH -> \"longer.csv\"\n";
  };
  write("longer.vphi", model(6));
  const std::string run = "run longer.vphi --device native --quiet --checkpoint-every '1 steps' ";
  ASSERT_EQ(vphi(run + "--out whole").status, 0);
  write("longer.vphi", model(3));
  ASSERT_EQ(vphi(run + "--out parts").status, 0);
  write("longer.vphi", model(6));
  const auto then = vphi(run + "--out parts --resume=parts");
  ASSERT_EQ(then.status, 0) << then.error;
  EXPECT_EQ(text("parts/longer.series.csv"), text("whole/longer.series.csv"));
}

}  // namespace
}  // namespace vphi
