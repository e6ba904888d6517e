// Determinants with fields at odd sites: det D = det R_e det M by dense matrices made here, actions
// and forces of fixed fields against an independent program and against differences of the action,
// orders, reversibility, what is refused. Averages: pseudofermion_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/physics/gauge/dense_determinant.hpp"
#include "tests/physics/gauge/explicit_dirac.hpp"
#include "tests/physics/gauge/fixed_quarks.hpp"
#include "tests/support/series_difference.hpp"

namespace vphi {
namespace {

using testing::C;
using testing::Dense;
using testing::FixedQuarks;
using testing::logarithm;
using testing::matrix_of;

struct HalvesModel {
  std::string gauge = "U(1)", lattice = "4^2", antiperiodic = "y";
  std::string options = "solver = cg(1e-14), even_odd = on";
  std::string quark = "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)";
  double kappa = 0.24;
  std::string below = {};  ///< "mu_q = 0.6": divided by the determinant with it
  std::string level = "steps = 4, scheme = leapfrog";
  std::string spinor = "spinor", before = {}, power = {};

  std::string text() const {
    const std::string divided =
        below.empty() ? "" : "/pseudofermion(D, " + below + ", " + options + ")";
    return "model quarks \"quarks at odd sites\"\nparam kappa = " + testing::exact(kappa) +
           ", mu_q = 0.2\nlattice grid: " + lattice + "\ngauge U: " + gauge +
           "\nfermion psi: " + spinor + ", boundary(" + antiperiodic + ") = antiperiodic\n" +
           before + "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n" +
           "D(psi) = " + quark + "\naction quarks = pseudofermion(D, " + options + ")" + power +
           divided + "\nsample hmc, trajectories = 1, tau = 1 {\n  level quarks: " + level +
           "\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n";
  }
};

/// D as a dense matrix from explicit sums over the links that `quarks` has.
Dense explicit_matrix(const FixedQuarks& quarks, const testing::dirac::Operator& d) {
  const int n = d.box.colours, inside = 4 * n, all = d.box.sites() * inside;
  testing::dirac::Field links;
  for (int s = 0; s < d.box.sites(); ++s)
    for (int mu = 0; mu < d.box.dims; ++mu)
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) links.push_back(quarks.entry(s, mu, i, j));
  Dense m(all);
  for (int k = 0; k < all; ++k) {
    testing::dirac::Field psi(static_cast<std::size_t>(all));
    psi[static_cast<std::size_t>(k)] = 1;
    const testing::dirac::Field image = testing::dirac::applied(d, links, psi);
    for (int i = 0; i < all; ++i) m(i, k) = image[static_cast<std::size_t>(i)];
  }
  return m;
}

struct SmallBox {
  HalvesModel model;
  testing::dirac::Box box;
  double scale;
};

/// det D of explicit sums = det R_e * det M of the kernels; the kernels that draw at all sites have
/// det D as well.
void expect_determinant(const SmallBox& small) {
  SCOPED_TRACE(small.model.gauge + " on " + small.model.lattice);
  const int n = small.box.colours, sites = small.box.sites(), inside = 4 * n;
  FixedQuarks halves(small.model.text(), n, small.box.dims, sites, small.scale);
  std::vector<int> odd, all;
  for (int s = 0; s < sites; ++s) {
    all.push_back(s);
    const auto x = small.box.place(s);
    if ((x[0] + x[1] + x[2] + x[3]) % 2 == 1) odd.push_back(s);
  }
  const testing::dirac::Operator d{small.box, small.model.kappa, 0.2, false, true};
  const auto [whole, phase] = logarithm(explicit_matrix(halves, d));
  const auto [half, half_phase] = logarithm(matrix_of(halves, odd, inside, sites));
  // R_e: (1 + i a) for two spins, (1 - i a) for the others, at half of the sites
  const double a = 2 * small.model.kappa * 0.2;
  const double local = sites / 2.0 * n * 2 * std::log(1 + a * a);
  EXPECT_GT(std::abs(whole), 0.1);
  EXPECT_NEAR(half + local, whole, 1e-11 * std::max(1.0, std::abs(whole)));
  EXPECT_LT(std::abs(half_phase - phase), 1e-10);
  HalvesModel off = small.model;
  off.options = "solver = cg(1e-14)";
  FixedQuarks everywhere(off.text(), n, small.box.dims, sites, small.scale);
  EXPECT_NEAR(logarithm(matrix_of(everywhere, all, inside, sites)).first, whole,
              1e-11 * std::max(1.0, std::abs(whole)));
}

TEST(Halves, DeterminantIsThatOfThePartsTogether) {
  expect_determinant({{.lattice = "2^2"}, {{2, 2, 1, 1}, 2, 1}, 1.5});
  expect_determinant({{.gauge = "SU(3)", .lattice = "2^4", .antiperiodic = "t", .kappa = 0.13},
                      {{2, 2, 2, 2}, 4, 3},
                      0.7});
}

/// log|det D| of the kernels that draw at all sites: numbers of an independent program.
TEST(Halves, DeterminantsOfPlanes) {
  struct Plane {
    const char *gauge, *lattice, *spinor;
    int colours, sites, spins;
    double scale, logarithm;
  };
  for (const Plane& p : {Plane{"U(1)", "4^2", "spinor(2)", 1, 16, 2, 1.5, 0.369159421384},
                         Plane{"U(1)", "4^2", "spinor", 1, 16, 4, 1.5, 0.738318842769},
                         Plane{"SU(2)", "4 * 6", "spinor(2)", 2, 24, 2, 1.2, 0.736157040382},
                         Plane{"SU(2)", "4 * 6", "spinor", 2, 24, 4, 1.2, 1.472314080764}}) {
    const HalvesModel model{.gauge = p.gauge,
                            .lattice = p.lattice,
                            .options = "solver = cg(1e-14)",
                            .quark = "psi - kappa*hop(psi)",
                            .spinor = p.spinor};
    FixedQuarks quarks(model.text(), p.colours, 2, p.sites, p.scale, p.spins);
    std::vector<int> all;
    for (int s = 0; s < p.sites; ++s) all.push_back(s);
    EXPECT_NEAR(logarithm(matrix_of(quarks, all, p.spins * p.colours, p.sites)).first, p.logarithm,
                1e-11)
        << p.gauge << p.spinor;
  }
}

struct KnownHalf {
  HalvesModel model;
  testing::KnownForces forces;
};

/// SU(3) on 4 x 2 x 6 x 4: numbers of an independent program.
void expect_known_half(const KnownHalf& known) {
  SCOPED_TRACE(known.model.quark + " " + known.model.options);
  HalvesModel model = known.model;
  model.gauge = "SU(3)", model.lattice = "4 * 2 * 6 * 4", model.antiperiodic = "t";
  model.kappa = 0.13;
  FixedQuarks quarks(model.text(), 3, 4, 192, 0.7);
  quarks.at_odd_sites({4, 2, 6, 4});
  testing::expect_forces(quarks, known.forces, true);
}

TEST(Halves, ActionAndForceOfSu3) {
  const testing::KnownForces twisted{959.423942257603, 934.2729885927, 34.2431738897, 0.0001100382,
                                     0.2837898355};
  expect_known_half({{}, twisted});
  expect_known_half({{.options = "solver = cgne(1e-14), even_odd = on"}, twisted});
  expect_known_half(
      {{.quark = "psi - kappa*hop(psi)"},
       {972.240207784996, 1049.0674226191, 36.2553716664, 0.0509380168, 0.3140480491}});
}

TEST(Halves, ActionAndForceOfAQuotientOfSu3) {
  expect_known_half({{.below = "mu_q = 0.6"},
                     {827.805265802770, 6.8091171140, 2.5108420583, 0.0041979832, 0.0520580016}});
}

/// Slopes along the momenta against differences of the action, also where both operators of a
/// quotient have hops and local parts of their own.
TEST(Halves, ForcesAreDifferencesOfTheAction) {
  for (const char* below : {"", "mu_q = 0.6", "kappa = 0.15"}) {
    for (const char* solver : {"cg", "cgne", "bicgstab"}) {
      const HalvesModel model{
          .options = std::string("solver = ") + solver + "(1e-13), even_odd = on", .below = below};
      FixedQuarks quarks(model.text(), 1, 2, 16, 1.5);
      quarks.at_odd_sites({4, 4});
      quarks.action();
      const std::vector<double> slopes = quarks.slopes();
      double along = 0;
      for (std::size_t i = 0; i < slopes.size(); ++i) along += slopes[i] * quarks.momentum(i);
      EXPECT_GT(std::abs(along), 0.1);
      EXPECT_NEAR(along, quarks.slope(), 1e-8) << solver << " " << below;
    }
  }
}

// ---- a clover term: the part at the site holds links
// ---------------------------------------------

constexpr const char* kLeaves =
    "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
    "loop(-nu, mu, nu, -mu)\n";
constexpr const char* kCloverQuark =
    "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi) - "
    "csw*kappa*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)";

HalvesModel clover(const std::string& gauge, const std::string& csw) {
  HalvesModel model{.gauge = gauge, .quark = kCloverQuark};
  const char* adjoint = gauge == "U(1)" ? "conj" : "adj";
  model.before =
      "csw = " + csw + "\n" + kLeaves + "F[mu,nu] = (C[mu,nu] - " + adjoint + "(C[mu,nu]))/8\n";
  return model;
}

/// Blocks of one, two and eight rows; quotients of operators with other local parts; powers.
TEST(Halves, ForcesOfLocalPartsWithLinks) {
  struct Case {
    const char *gauge, *spinor, *lattice;
    int colours;
    std::vector<int> extent;
    std::string options, below = {}, power = {};
  };
  for (const Case& c :
       {Case{"U(1)", "spinor", "4^2", 1, {4, 4}, "solver = cg(1e-13)"},
        Case{"U(1)", "spinor(2)", "4^2", 1, {4, 4}, "solver = cgne(1e-13)"},
        Case{"U(1)", "spinor", "4^2", 1, {4, 4}, "solver = cg(1e-13)", "kappa = 0.2"},
        Case{"U(1)",
             "spinor",
             "4^2",
             1,
             {4, 4},
             "solver = multishift(1e-14), range = [0.02, 4], tol = 1e-12",
             "",
             "^(1/2)"},
        Case{"SU(2)", "spinor", "2 * 4", 2, {2, 4}, "solver = bicgstab(1e-13)"},
        Case{"U(1)", "spinor", "2 * 2 * 4", 1, {2, 2, 4}, "solver = cg(1e-13)"},
        Case{"SU(2)", "spinor, basis = dirac", "2^4", 2, {2, 2, 2, 2}, "solver = cg(1e-13)"}}) {
    SCOPED_TRACE(std::string(c.gauge) + " " + c.spinor + " " + c.lattice + " " + c.below + c.power);
    HalvesModel model = clover(c.gauge, "4");
    model.lattice = c.lattice, model.spinor = c.spinor, model.below = c.below,
    model.power = c.power;
    model.options = c.options + ", even_odd = on";
    model.kappa = c.extent.size() == 2 ? 0.24 : 0.12;
    const int dims = static_cast<int>(c.extent.size());
    int sites = 1;
    for (const int n : c.extent) sites *= n;
    FixedQuarks quarks(model.text(), c.colours, dims, sites, 0.7,
                       c.spinor == std::string("spinor(2)") ? 2 : 4);
    quarks.at_odd_sites(c.extent);
    quarks.count_logarithms(c.power.empty() ? -2 : -1, c.below.empty() ? 0 : 2);
    quarks.action();
    EXPECT_GT(std::abs(quarks.logarithm()), 0.02);
    const double along = quarks.along_momenta();
    EXPECT_GT(std::abs(along), 0.03);
    EXPECT_NEAR(along, quarks.slope(), 1e-7 * std::max(1.0, std::abs(along)));
  }
}

// ---- staggered quarks: the root of a hermitian determinant
// ---------------------------------------

HalvesModel staggered_root(const std::string& gauge, const std::string& options) {
  HalvesModel model{.gauge = gauge, .lattice = "2 * 4", .options = options + ", even_odd = on"};
  model.quark = "3/10*psi + sum(eta[k]*(U[k]*psi@k - U[-k]*psi@-k), k)/2";
  model.before = "eta[k] = 1 if k == x else 1 - 2*mod(index(x), 2)\n";
  model.spinor = "spinor(1)", model.power = "^(1/2)";
  return model;
}

/// S = a <phi, (D D^+)^-1 phi> with phi at odd sites, of D at all sites, and its slopes.
TEST(Halves, RootsOfHermitianDeterminants) {
  for (const auto& [gauge, colours] : {std::pair{"U(1)", 1}, {"SU(2)", 2}, {"SU(3)", 3}}) {
    for (const char* solver : {"cg", "cgne"}) {
      SCOPED_TRACE(std::string(gauge) + " " + solver);
      HalvesModel model = staggered_root(gauge, std::string("solver = ") + solver + "(1e-14)");
      FixedQuarks root(model.text(), colours, 2, 8, 0.9, 1);
      root.at_odd_sites({2, 4});
      root.action_is_product();
      const double action = root.action();
      model.options = "solver = cg(1e-14)", model.power = "";
      FixedQuarks everywhere(model.text(), colours, 2, 8, 0.9, 1);
      everywhere.at_odd_sites({2, 4});
      everywhere.sum_all_sites();
      EXPECT_NEAR(action, 0.3 * everywhere.action(), 1e-10 * action);
      root.action();
      const double along = root.along_momenta();
      EXPECT_GT(std::abs(along), 0.1);
      EXPECT_NEAR(along, root.slope(), 1e-8 * std::max(1.0, std::abs(along)));
    }
  }
}

/// The draw has S before the trajectory: deltaH goes with the square of the step.
TEST(Halves, OrdersOfRoots) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  HalvesModel model = staggered_root("U(1)", "solver = cg(1e-12), force = cg(1e-11)");
  const auto scaled = [&](int n) {
    model.level = "steps = " + std::to_string(n) + ", scheme = omelyan2";
    return testing::last(testing::run_text(model.text(), {}), "deltaH") * n * n;
  };
  const double coarse = scaled(16);
  EXPECT_GT(std::abs(coarse), 1e-4);
  EXPECT_NEAR(scaled(32) / coarse, 1, 0.05);
}

double delta(const HalvesModel& model, const testing::Simulation& setup = {}) {
  return testing::last(testing::run_text(model.text(), setup), "deltaH");
}

TEST(Halves, OrdersOfTheIntegrators) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  for (const char* below : {"", "mu_q = 0.6"}) {
    HalvesModel model{.options = "solver = cg(1e-12), even_odd = on", .below = below};
    const auto scaled = [&](int n) {
      model.level = "steps = " + std::to_string(n) + ", scheme = omelyan2";
      return delta(model) * n * n;
    };
    EXPECT_NEAR(scaled(32) / scaled(16), 1, 0.05) << below;
  }
}

TEST(Halves, SolversAndDevicesAgree) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const auto with = [](const std::string& options, const std::string& device = "native") {
    testing::Simulation setup;
    setup.device = device;
    return delta({.options = options + ", even_odd = on"}, setup);
  };
  const double wanted = with("solver = cg(1e-12)");
  EXPECT_GT(std::abs(wanted), 1e-4);
  EXPECT_NEAR(with("solver = cgne(1e-12)"), wanted, 1e-8);
  EXPECT_NEAR(with("solver = bicgstab(1e-12)"), wanted, 1e-8);
  EXPECT_NEAR(with("solver = cg(1e-12, inner = f32)"), wanted, 1e-8);
  if (!testing::device("opencl")) return;
  EXPECT_NEAR(with("solver = cg(1e-12)", "opencl"), wanted, 1e-8);
  // the second solve of a trajectory, of which a device is given several rounds at once
  EXPECT_NEAR(with("solver = cg(1e-12, inner = f32)", "opencl"), wanted, 1e-8);
}

/// Instances end one by one: what is solved stays so while the rounds in f32 of others go on.
TEST(Halves, InstancesEndTheirRoundsInF32Alone) {
  const auto with = [](const std::string& options, const std::string& device) {
    testing::Simulation setup;
    setup.device = device;
    HalvesModel model{.options = options + ", even_odd = on",
                      .quark = "psi - scale*hop(psi)",
                      .before = "sweep scale = [0.001, 0.02, 0.24]\n"};
    return testing::run_text(model.text(), setup);
  };
  for (const char* device : {"native", "opencl"}) {
    if (!testing::device(device)) continue;
    const auto wanted = with("solver = cg(1e-10)", device);
    const auto made = with("solver = cg(1e-10, inner = f32)", device);
    EXPECT_LT(testing::largest_difference(made, wanted, "deltaH"), 1e-7) << device;
  }
}

/// The start of a trajectory has -2 log|det R| at its links: deltaH goes with the square of the
/// step.
TEST(Halves, OrdersOfLocalPartsWithLinks) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  HalvesModel model = clover("U(1)", "3/2");
  const auto with = [&](int n, const std::string& options, const char* device) {
    testing::Simulation setup;
    setup.device = device;
    model.level = "steps = " + std::to_string(n) + ", scheme = omelyan2";
    model.options = options + ", even_odd = on";
    return delta(model, setup);
  };
  const double coarse = with(16, "solver = cg(1e-12)", "native");
  EXPECT_GT(std::abs(coarse), 1e-5);
  EXPECT_NEAR(4 * with(32, "solver = cg(1e-12)", "native") / coarse, 1, 0.05);
  EXPECT_NEAR(with(16, "solver = cg(1e-12, inner = f32)", "native"), coarse, 1e-8);
  if (!testing::device("opencl")) return;
  EXPECT_NEAR(with(16, "solver = cg(1e-12)", "opencl"), coarse, 1e-8);
}

TEST(Halves, Reversible) {
  const HalvesModel model{.level = "steps = 4, scheme = omelyan2"};
  FixedQuarks quarks(model.text(), 1, 2, 16, 1.5);
  quarks.at_odd_sites({4, 4});
  const auto [moved, left] = quarks.there_and_back();
  EXPECT_GT(moved, 0.3);
  EXPECT_LT(left, 1e-12);
}

}  // namespace
}  // namespace vphi
