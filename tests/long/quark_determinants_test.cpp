// log|det M| of quarks at odd sites by dense matrices of the kernels that draw, and the ends of the
// spectra of M adj(M), SU(3) on 4 x 2 x 6 x 4: numbers of an independent program.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/physics/gauge/dense_determinant.hpp"

namespace vphi {
namespace {

struct DeterminantRow {
  const char* name;
  std::string quark, before;
  double logarithm, smallest, largest;
  int spins = 4;
  double of_all_sites = 0;  ///< log|det D| at all sites
};

class QuarkDeterminants : public ::testing::TestWithParam<DeterminantRow> {
 protected:
  static std::string text(const std::string& action) {
    return "model quarks\nparam kappa = 0.13, mu_q = 0.2\n"
           "lattice grid: 4 * 2 * 6 * 4\ngauge U: SU(3)\nfermion psi: " +
           std::string(GetParam().spins == 1 ? "spinor(1)" : "spinor") +
           ", boundary(t) = antiperiodic\n" + GetParam().before + "D(psi) = " + GetParam().quark +
           "\naction quarks = " + action +
           "\nsample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, scheme = "
           "leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n";
  }
};

TEST_P(QuarkDeterminants, AreThoseOfAnotherProgram) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const DeterminantRow& row = GetParam();
  const bool half = row.spins == 4;
  const std::string odd = half ? ", even_odd = on" : "";
  testing::FixedQuarks quarks(text("pseudofermion(D, solver = cg(1e-12)" + odd + ")"), 3, 4, 192,
                              0.7, row.spins, "native");
  std::vector<int> sites;
  for (int s = 0; s < 192; ++s) {
    const int x = s % 4, y = s / 4 % 2, z = s / 8 % 6, t = s / 48;
    if (!half || (x + y + z + t) % 2 == 1) sites.push_back(s);
  }
  EXPECT_NEAR(testing::logarithm(testing::matrix_of(quarks, sites, 3 * row.spins, 192)).first,
              row.logarithm, 1e-9);
  testing::FixedQuarks power(
      text("pseudofermion(D, tol = 1e-6, range = [0.05, 5]" + odd + ")^(1/4)"), 3, 4, 192, 0.7,
      row.spins, "native");
  const auto [smallest, largest] = power.ends();
  EXPECT_NEAR(smallest, row.smallest, 1e-5);
  EXPECT_NEAR(largest, row.largest, 2e-4);  // the estimate is below
  EXPECT_LT(largest, row.largest + 1e-5);
}

/// D itself, a matrix of 2304 rows.
TEST_P(QuarkDeterminants, AtAllSites) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const DeterminantRow& row = GetParam();
  if (row.of_all_sites == 0) GTEST_SKIP() << "the test above has all sites";
  testing::FixedQuarks quarks(text("pseudofermion(D, solver = cg(1e-12), even_odd = off)"), 3, 4,
                              192, 0.7, 4, "native");
  std::vector<int> sites;
  for (int s = 0; s < 192; ++s) sites.push_back(s);
  EXPECT_NEAR(testing::logarithm(testing::matrix_of(quarks, sites, 12, 192)).first,
              row.of_all_sites, 1e-9);
}

const std::string kHops = "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n";
const std::string kTwistedMass = "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)";
const std::string kFourLeaves =
    "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
    "loop(-nu, mu, nu, -mu)\nF[mu,nu] = (C[mu,nu] - adj(C[mu,nu]))/8\n";
constexpr const char* kFourSigns =
    "turn(n) = 1 - 2*mod(n, 2)\n"
    "eta[k] = 1 if k == x else (turn(index(x)) if k == y else (turn(index(x) + index(y)) if k == "
    "z else turn(index(x) + index(y) + index(z))))\n";

INSTANTIATE_TEST_SUITE_P(
    Su3, QuarkDeterminants,
    ::testing::Values(
        DeterminantRow{"wilson", "psi - kappa*hop(psi)", kHops, -48.5153146354, 0.11010, 1.56160},
        DeterminantRow{"twisted", kTwistedMass, kHops, -44.8325281209, 0.11943, 1.56505, 4,
                       -43.2771260780},
        // of its log|det D| = -61.4577542921 the rest, -6.6400174275, is log|det R|
        // (quark_rows_test)
        DeterminantRow{"twisted_clover",
                       kTwistedMass + " - 1.5*kappa*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)",
                       kHops + kFourLeaves, -54.8177368645, 0.08670, 1.82993},
        DeterminantRow{"staggered", "psi/5 + sum(eta[k]*(U[k]*psi@k - U[-k]*psi@-k), k)/2",
                       kFourSigns, 50.8892191456, 0.09525, 4.20023, 1}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace vphi
