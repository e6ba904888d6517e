// deltaH and final links of one trajectory of fixed links, momenta and fields on each device,
// against numbers of an independent program: U(1) on 4^2, SU(3) on 4 x 2 x 6 x 4
// (tests/physics/gauge/fixed_quarks.hpp).
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/physics/gauge/fixed_quarks.hpp"

namespace vphi {
namespace {

/// A trajectory of length 1 with some numbers of steps, each twice the one before.
struct KnownTrajectory {
  const char* name;
  bool in_four;         ///< SU(3) on 4 x 2 x 6 x 4; else U(1) on 4^2
  std::string actions;  ///< of quarks
  std::string levels;   ///< with STEPS for their number
  std::vector<std::string> fields;
  double squares;  ///< |eta|^2 of all fields
  int steps;       ///< the first number
  double delta[3];
  double plaquette;  ///< of the last one's final links

  std::string text(int n) const {
    std::string own = levels;
    own.replace(own.find("STEPS"), 5, std::to_string(n));
    const std::string lines =
        in_four ? "param kappa = 0.13, mu_q = 0.2\nlattice grid: 4 * 2 * 6 * 4\ngauge U: SU(3)\n"
                  "fermion psi: spinor, boundary(t) = antiperiodic\n"
                : "param kappa = 0.24\nlattice grid: 4^2\ngauge U: U(1)\n"
                  "fermion psi: spinor(2), boundary(y) = antiperiodic\n";
    return "model trajectory\n" + lines +
           "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
           "D(psi) = psi - kappa*hop(psi)" +
           (in_four ? " + 2i*kappa*mu_q*gamma5*psi\n" : "\n") + actions + "action glue = " +
           (in_four ? "5.6*sum(1 - re(tr(loop(mu, nu, -mu, -nu)))/3, mu < nu)"
                    : "2*sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)") +
           "\nsample hmc, trajectories = 1, tau = 1 {\n" + own +
           "}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n";
  }
};

const std::string kOneField = "action quarks = pseudofermion(D, solver = cg(1e-14))\n";
const std::string kOneHalf =
    "action quarks = pseudofermion(D, solver = cg(1e-14), even_odd = on)\n";

std::string one_level(const std::string& scheme) {
  return "  level quarks, glue: steps = STEPS, scheme = " + scheme + "\n";
}

const std::vector<KnownTrajectory>& known_trajectories() {
  static const std::vector<KnownTrajectory> all = {
      {"plane_leapfrog",
       false,
       kOneField,
       one_level("leapfrog"),
       {"quarks"},
       33.4965010222,
       8,
       {0.0689234535, 0.0162466326, 0.0040014052},
       0.4686010790},
      {"plane_omelyan2",
       false,
       kOneField,
       one_level("omelyan2"),
       {"quarks"},
       33.4965010222,
       8,
       {-0.0202576861, -0.0047804519, -0.0011778605},
       0.4685805916},
      {"plane_yoshida4",
       false,
       kOneField,
       one_level("yoshida4"),
       {"quarks"},
       33.4965010222,
       8,
       {0.0130779839, 0.0008980917, 0.0000572834},
       0.4685715822},
      {"odd_leapfrog",
       false,
       kOneHalf,
       one_level("leapfrog"),
       {"quarks"},
       19.6084833889,
       8,
       {-0.2311269011, -0.0577672164, -0.0144415998},
       0.5626088089},
      {"odd_omelyan2",
       false,
       kOneHalf,
       one_level("omelyan2"),
       {"quarks"},
       19.6084833889,
       8,
       {-0.0236068233, -0.0059842093, -0.0015007186},
       0.5626070065},
      {"odd_yoshida4",
       false,
       kOneHalf,
       one_level("yoshida4"),
       {"quarks"},
       19.6084833889,
       8,
       {0.0151184500, 0.0009850341, 0.0000620673},
       0.5625850501},
      {"four_one_level",
       true,
       kOneHalf,
       one_level("omelyan2"),
       {"quarks"},
       1124.0852899869,
       4,
       {3.3102156311, 0.7724111644, 0.1899233695},
       0.5897140154},
      {"four_three_levels",
       true,
       "action quarks = pseudofermion(D, solver = cg(1e-14), even_odd = on)/heavy\n"
       "action heavy = pseudofermion(D, mu_q = 0.6, solver = cg(1e-14), even_odd = on)\n",
       "  level quarks: steps = STEPS, scheme = omelyan2\n"
       "  level heavy: steps = 1, scheme = omelyan2\n"
       "  level glue: steps = 2, scheme = omelyan2\n",
       {"quarks", "heavy"},
       1124.0852899869 + 1121.0360640544,
       2,
       {0.1759008508, 0.0420807629, 0.0104054046},
       0.5861152554},
  };
  return all;
}

class QuarkPaths : public ::testing::TestWithParam<std::tuple<std::string, int>> {};

TEST_P(QuarkPaths, EndWhereAnotherProgramsDo) {
  const auto& [device, number] = GetParam();
  if (!testing::device(device)) GTEST_SKIP() << "no such device";
  const KnownTrajectory& known = known_trajectories()[static_cast<std::size_t>(number)];
  const std::vector<int> extent = known.in_four ? std::vector{4, 2, 6, 4} : std::vector{4, 4};
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(known.steps << i);
    const std::string text = known.text(known.steps << i);
    testing::FixedQuarks quarks = known.in_four
                                      ? testing::FixedQuarks(text, 3, 4, 192, 0.7, 4, device)
                                      : testing::FixedQuarks(text, 1, 2, 16, 1.5, 2, device);
    if (known.actions != kOneField) quarks.at_odd_sites(extent);
    EXPECT_NEAR(quarks.trajectory(known.fields), known.delta[i], 1e-8);
    if (i == 2) {
      EXPECT_NEAR(quarks.plaquette(extent), known.plaquette, 1e-9);
      EXPECT_NEAR(quarks.squared_eta(known.fields), known.squares, 1e-9 * known.squares);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Known, QuarkPaths,
    ::testing::Combine(::testing::Values("native", "opencl", "cuda"),
                       ::testing::Range(0, static_cast<int>(known_trajectories().size()))),
    [](const auto& test) {
      const auto number = static_cast<std::size_t>(std::get<1>(test.param));
      return std::get<0>(test.param) + "_" + known_trajectories()[number].name;
    });

}  // namespace
}  // namespace vphi
