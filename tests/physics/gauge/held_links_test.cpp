// Links that end at the box and stay in its first and its last plane (`boundary(t) = fixed`).
// Averages in two dimensions are known: between ends with the holonomies g0 and g1 the partition
// function is the sum over representations r of c_r^A chi_r(g0) chi_r(g1), with A plaquettes and
// their weight exp(-S) = sum over r of dim(r) c_r chi_r (Migdal, Sov. Phys. JETP 42 (1975) 413). In
// four dimensions the background field of constant abelian ends is (Luescher, Narayanan, Weisz and
// Wolff, Nucl. Phys. B 384 (1992) 168; SU(3): Luescher, Sommer, Weisz and Wolff, B 413 (1994) 481).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "tests/support/cut_ranks.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using std::numbers::pi;
using testing::last;
using testing::run_text;
using testing::Simulation;

// ---- two dimensions -----------------------------------------------------------------------------

constexpr double kAngle = 3;  ///< of the holonomy at the far end; it is 1 at the near one
constexpr int kHeldPlaquettes = 4;

/// 64 chains on a cylinder of 2 x 3 sites. The far end's links turn by a half of kAngle each.
struct HeldChain {
  std::string gauge, action, start, plaquette;
  double beta = 2;
  std::string text(const std::string& sample) const {
    const std::string unit = sample.find("hmc") == std::string::npos ? "sweep" : "trajectory";
    return "model held_links \"links with ends that stay\"\nsweep chain = 1..64\n"
           "param beta = " +
           std::to_string(beta) + "\nlattice grid: 2 * 3\ngauge U: " + gauge +
           ", boundary(y) = fixed\nP[mu,nu] = loop(mu, nu, -mu, -nu)\naction S = " + action +
           "\nsample " + sample + "\nphase = exp(0.75i*index(y))\ninit U[k] = " + start +
           "\np = " + plaquette + "\nend = total((index(y) == 2)*im(" +
           (gauge == "U(1)" ? "U[x]" : "U[x][0,0]") + "))\nevery 1 " + unit + ", after = " + unit +
           " > 50: p, end -> \"p.h5\"\n";
  }
};

const HeldChain kHeldPhases{.gauge = "U(1)",
                            .action = "beta*sum(1 - re(P[mu,nu]), mu < nu)",
                            .start = "phase if k == x else 1",
                            .plaquette = "total(re(P[x,y]))/4"};
const HeldChain kMatrices{
    .gauge = "SU(2)",
    .action = "beta/2*sum(2 - re(tr(P[mu,nu])), mu < nu)",
    .start = "[[phase if k == x else 1, 0], [0, conj(phase) if k == x else 1]]",
    .plaquette = "total(re(tr(P[x,y])))/8"};

/// d ln Z/d beta for each plaquette, with c_r(beta) and its derivative.
template <class Weight, class Character>
double slope_of_log(int first, int last, const Weight& c, const Character& ends) {
  double z = 0, slope = 0;
  for (int r = first; r <= last; ++r) {
    const auto [value, derivative] = c(r);
    z += std::pow(value, kHeldPlaquettes) * ends(r);
    slope += std::pow(value, kHeldPlaquettes - 1) * derivative * ends(r);
  }
  return slope / z;
}

/// <re P> of U(1): c_n = I_n(beta).
double between_phases(double beta) {
  const auto bessel = [&](int n) { return std::cyl_bessel_i(std::abs(n), beta); };
  return slope_of_log(
      -30, 30, [&](int n) { return std::pair(bessel(n), (bessel(n - 1) + bessel(n + 1)) / 2); },
      [](int n) { return std::cos(n * kAngle); });
}

/// <re tr P>/2 of SU(2): c_d = 2 I_d(beta)/beta for the representation of dimension d.
double between_matrices(double beta) {
  const auto bessel = [&](int n) { return std::cyl_bessel_i(n, beta); };
  return slope_of_log(
      1, 30,
      [&](int d) {
        return std::pair(2 * bessel(d) / beta,
                         (bessel(d - 1) + bessel(d + 1)) / beta - 2 * bessel(d) / (beta * beta));
      },
      [](int d) { return d * std::sin(d * kAngle) / std::sin(kAngle); });
}

void expect_between_ends(const HeldChain& model, const std::string& sample, double exact) {
  SCOPED_TRACE(model.text(sample));
  const auto result = run_text(model.text(sample), {});
  const auto* p = result.find("p");
  const auto* end = result.find("end");
  ASSERT_NE(p, nullptr);
  ASSERT_NE(end, nullptr);
  const std::size_t chains = p->values.at(0).size();
  double sum = 0, squares = 0;
  for (std::size_t c = 0; c < chains; ++c) {
    double own = 0;
    for (const auto& row : p->values) own += row[c];
    own /= static_cast<double>(p->values.size());
    sum += own, squares += own * own;
    for (const auto& row : end->values) ASSERT_EQ(row[c], end->values[0][0]);  // to the last bit
  }
  EXPECT_NEAR(end->values[0][0], 2 * std::sin(kAngle / 2), 1e-15);
  const double n = static_cast<double>(chains), mean = sum / n;
  const double error = std::sqrt((squares / n - mean * mean) / (n - 1));
  EXPECT_LT(error, 0.005);
  EXPECT_NEAR(mean, exact, 4 * error);
}

const std::string kTrajectories =
    "hmc, trajectories = 500, tau = 1 {\n  level S: steps = 8, scheme = omelyan2\n}";

TEST(HeldLinks, AveragesBetweenEnds) {
  const double phases = between_phases(2), matrices = between_matrices(2);
  EXPECT_GT(std::fabs(phases - std::cyl_bessel_i(1, 2) / std::cyl_bessel_i(0, 2)), 0.1);  // open
  expect_between_ends(kHeldPhases, "heatbath, sweeps = 700", phases);
  expect_between_ends(kHeldPhases, "heatbath, sweeps = 700, overrelax = 1", phases);
  expect_between_ends(kHeldPhases, "metropolis, sweeps = 1400, width = 1", phases);
  expect_between_ends(kHeldPhases, kTrajectories, phases);
  expect_between_ends(kMatrices, "heatbath, sweeps = 700, overrelax = 1", matrices);
  expect_between_ends(kMatrices, kTrajectories, matrices);
}

// ---- four dimensions ----------------------------------------------------------------------------

/// L = T = 4, ends by the boundary angles of eta. What begins at the last sites along t is left
/// out.
std::string functional(int n, const std::string& angles, const std::string& start) {
  return "model functional \"constant abelian ends\"\nlattice grid: 4^3 * 5\ngauge U: SU(" +
         std::to_string(n) + "), boundary(t) = fixed\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n" +
         angles + "phase(a, b) = exp(1i*(a + (b - a)*index(t)/4)/4)\ninit U[k] = " + start +
         "\nA = total((index(t) < 4)*sum(" + std::to_string(n) +
         " - re(tr(P[j,t])), j != t)) + "
         "total(sum(" +
         std::to_string(n) + " - re(tr(P[j,k])), j < k, k != t))\n";
}

/// A = 3 L^3 T sum(1 - cos F_a), F_a = (phi'_a - phi_a)/(L T); its slope in eta is half of the
/// normalisation k = 12 L^2 (sin 2 theta + sin theta), theta = pi/(3 L T), of the coupling: the
/// action is S = 2 A/g0^2 and k = g0^2 dS/deta.
TEST(HeldLinks, BackgroundFieldOfThreeColours) {
  const std::string text = functional(3, "f1 = eta - pi/3\nf2 = -eta/2\nf3 = -eta/2 + pi/3\n",
                                      "[[phase(f1, -f1 - 4*pi/3) if k != t else 1, 0, 0], "
                                      "[0, phase(f2, -f3 + 2*pi/3) if k != t else 1, 0], "
                                      "[0, 0, phase(f3, -f2 + 2*pi/3) if k != t else 1]]");
  const auto result =
      run_text(text + "sweep eta = [-0.001, 0, 0.001]\nat end: A -> \"a.h5\"\n", {});
  const auto* found = result.find("A");
  ASSERT_NE(found, nullptr);
  const std::vector<double>& a = found->values.back();
  const double theta = pi / 48;
  EXPECT_NEAR(a.at(1), 3 * 256 * (3 - std::cos(2 * theta) - 2 * std::cos(theta)), 1e-11);
  EXPECT_NEAR((a.at(2) - a.at(0)) / 0.002, 6 * 16 * (std::sin(2 * theta) + std::sin(theta)), 1e-7);
}

/// The background field of SU(2) is a minimum between its ends: it does not flow, and links that
/// differ from it inside flow there. Without ends A would flow to 0.
TEST(HeldLinks, FlowToTheBackgroundField) {
  const std::string
      angles = "eta = pi/4\n",
      flow =
          "U[mu]' = -d(W, U[mu])\nW = sum(2 - re(tr(P[mu,nu])), mu < nu)\n"
          "evolve rk4, dt = 0.1, until = t >= 40\nevery 40 steps: A, slope -> \"a.h5\"\n"
          "turn(M) = im(M[1,1]) - im(M[0,0])\n"
          "slope = total((index(t) == 0)*sum(turn(P[j,t]), j != t)) + "
          "total((index(t) == 4)*sum(turn(loop(-t, j, t, -j)), j != t))\n";
  const auto start = [](const std::string& inside, const std::string& along) {
    const std::string turn = "phase(-eta, eta - pi)" + inside;
    return "[[" + turn + " if k != t else cos(" + along + "), 0 if k != t else 1i*sin(" + along +
           ")], [0 if k != t else 1i*sin(" + along + "), conj(" + turn + ") if k != t else cos(" +
           along + ")]]";
  };
  const double exact = 3 * 256 * 2 * (1 - std::cos((pi - pi / 2) / 16));
  const auto still = run_text(functional(2, angles, start("", "0")) + flow, {});
  EXPECT_NEAR(still.find("A")->points.front().second, exact, 1e-12 * exact);
  EXPECT_NEAR(last(still, "A"), exact, 1e-11 * exact);
  const auto moved =
      run_text(functional(2, angles,
                          start("*exp(0.2i*index(t)*(4 - index(t))*cos(pi*index(x)/2))",
                                "0.4*(index(x) == index(y))")) +
                   flow,
               {});
  EXPECT_GT(moved.find("A")->points.front().second, 2 * exact);
  EXPECT_NEAR(last(moved, "A"), exact, 1e-7 * exact);
}

// ---- trajectories with quarks, devices, ranks ---------------------------------------------------

std::string held_quarks(int steps) {
  return "model held_quarks \"quarks between ends\"\nparam kappa = 0.12, mu_q = 0.2\n"
         "lattice grid: 2 * 4\ngauge U: SU(2), boundary(y) = fixed\nfermion psi: spinor\n"
         "P[mu,nu] = loop(mu, nu, -mu, -nu)\n"
         "action S_g = 2.0/2*sum(2 - re(tr(P[mu,nu])), mu < nu)\n"
         "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
         "D(psi) = psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)\n"
         "action S_q = pseudofermion(D, solver = cg(1e-13))\n"
         "sample hmc, trajectories = 1, tau = 1 {\n  level S_g: steps = " +
         std::to_string(steps) +
         ", scheme = omelyan2\n  level S_q: steps = 1, scheme = omelyan2\n" +
         "}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.h5\"\n";
}

/// H counts the momenta of links that stay, so that a force on them would show at once.
TEST(HeldLinks, EnergyIsKeptToTheOrderOfTheScheme) {
  const double coarse = last(run_text(held_quarks(16), {}), "deltaH");
  const double fine = last(run_text(held_quarks(32), {}), "deltaH");
  EXPECT_GT(std::fabs(coarse), 1e-7);
  EXPECT_LT(std::fabs(coarse), 1e-2);
  EXPECT_NEAR(coarse / fine, 4, 0.2);
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  Simulation setup;
  setup.device = "opencl";
  EXPECT_NEAR(last(run_text(held_quarks(16), setup), "deltaH"), coarse, 1e-9);
}

TEST(HeldLinks, HaveTheBitsOfOneDeviceOnRanks) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "held.vphi").string();
  std::ofstream(path) << "model held \"ends across the cut, and along it\"\n"
                         "lattice grid: 4 * 4 * 8\ngauge U: SU(2), boundary(x) = fixed, "
                         "boundary(z) = fixed\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n"
                         "action S = sum(2 - re(tr(P[mu,nu])), mu < nu)\n"
                         "sample heatbath, sweeps = 3, overrelax = 1\ninit U ~ hot\n"
                         "every 1 sweep: p = total(re(tr(P[x,y]))) -> \"p.h5\"\n";
  const auto result = testing::cut_and_compare(path, 2, {});
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

}  // namespace
}  // namespace vphi
