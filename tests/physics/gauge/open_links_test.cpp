// Links that end at the box, and actions whose weights differ from site to site: plaquettes of two
// dimensions are then independent, which is known exactly; energies against sums of loops made
// here, forces against differences, hops that do not lead across.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <fstream>
#include <string>
#include <vector>

#include "tests/physics/gauge/explicit_dirac.hpp"
#include "tests/physics/gauge/fixed_quarks.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/scratch.hpp"

namespace vphi {
namespace {

using testing::C;
using testing::Dense;
using testing::FixedQuarks;
using testing::last;
using testing::run_text;
using testing::Simulation;

// ---- averages -----------------------------------------------------------------------------------

/// Chains of links on a cylinder, or on a sheet.
struct OpenChain {
  std::string gauge = "U(1)", lattice = "2 * 2", ends = "boundary(y) = open";
  std::string action = "1.0*sum(1 - re(P[mu,nu]), mu < nu)";
  std::string sample = "sample heatbath, sweeps = 600";
  std::string measured = "p = total(re(P[x,y]))/2";
  std::string text() const {
    return "model open_links \"links with ends\"\nsweep chain = 1..64\nlattice grid: " + lattice +
           "\ngauge U: " + gauge + ", " + ends +
           "\nP[mu,nu] = loop(mu, nu, -mu, -nu)\naction S = " + action + "\n" + sample +
           "\ninit U ~ hot\n" + measured + "\nevery 1 " +
           (sample.find("hmc") == std::string::npos ? "sweep" : "trajectory") +
           ", after = " + (sample.find("hmc") == std::string::npos ? "sweep" : "trajectory") +
           " > 50: p -> \"p.h5\"\n";
  }
};

/// The average of `name` over chains, within four standard errors between them.
void expect_open_average(const runtime::RunResult& result, const std::string& name, double exact,
                         double largest_error) {
  const auto* series = result.find(name);
  ASSERT_NE(series, nullptr);
  const std::size_t chains = series->values.at(0).size();
  double sum = 0, squares = 0;
  for (std::size_t c = 0; c < chains; ++c) {
    double own = 0;
    for (const auto& row : series->values) own += row[c];
    own /= static_cast<double>(series->values.size());
    sum += own, squares += own * own;
  }
  const double n = static_cast<double>(chains), mean = sum / n;
  const double error = std::sqrt((squares / n - mean * mean) / (n - 1));
  EXPECT_LT(error, largest_error) << name;
  EXPECT_NEAR(mean, exact, 4 * error) << name;
}

void expect_open_average(const OpenChain& model, double exact, double largest_error) {
  SCOPED_TRACE(model.text());
  expect_open_average(run_text(model.text(), {}), "p", exact, largest_error);
}

double bessel_ratio(int over, int below, double beta) {
  return std::cyl_bessel_i(over, beta) / std::cyl_bessel_i(below, beta);
}

TEST(OpenLinks, PlaquettesOfTwoDimensionsAreIndependent) {
  const double u1 = bessel_ratio(1, 0, 1.0);  // the torus 2 x 2 has 0.5052
  expect_open_average({}, u1, 0.004);
  expect_open_average({.ends = "boundary = open", .measured = "p = total(re(P[x,y]))"}, u1, 0.005);
  expect_open_average({.sample = "sample heatbath, sweeps = 600, overrelax = 1"}, u1, 0.004);
  expect_open_average({.sample = "sample metropolis, sweeps = 600, width = 1"}, u1, 0.006);
  const std::string hmc =
      "sample hmc, trajectories = 400, tau = 1 {\n  level S: steps = 6, scheme = omelyan2\n}";
  expect_open_average({.sample = hmc}, u1, 0.006);
  const double su2 = bessel_ratio(2, 1, 2.0);
  OpenChain model{.gauge = "SU(2)",
                  .action = "2.0/2*sum(2 - re(tr(P[mu,nu])), mu < nu)",
                  .measured = "p = total(re(tr(P[x,y])))/4"};
  expect_open_average(model, su2, 0.004);
  model.sample = hmc;
  expect_open_average(model, su2, 0.005);
}

// Loops that enclose n plaquettes: their n-th power.
TEST(OpenLinks, LoopsHaveAnAreaLaw) {
  expect_open_average({.lattice = "3 * 3",
                       .ends = "boundary = open",
                       .action = "2.0*sum(1 - re(P[mu,nu]), mu < nu)",
                       .measured = "p = total(re(loop(2*x, 2*y, -2*x, -2*y)))"},
                      std::pow(bessel_ratio(1, 0, 2.0), 4), 0.006);
}

// A weight of its own for each row of plaquettes.
TEST(OpenLinks, WeightsOfEachSite) {
  const std::string hmc =
      "sample hmc, trajectories = 400, tau = 1 {\n  level S: steps = 8, scheme = omelyan2\n}";
  for (const std::string& sample : {std::string("sample heatbath, sweeps = 600"), hmc,
                                    std::string("sample metropolis, sweeps = 600, width = 1")}) {
    OpenChain model{.lattice = "2 * 4",
                    .action = "sum((0.5 + index(y))*(1 - re(P[mu,nu])), mu < nu)",
                    .sample = sample,
                    .measured = "row(k) = total((index(y) == k)*re(P[x,y]))/2"};
    std::string text = model.text();
    const std::string one = ": p ->";
    text.replace(text.find(one), one.size(), ": p0 = row(0), p1 = row(1), p2 = row(2) ->");
    SCOPED_TRACE(text);
    const auto result = run_text(text, {});
    for (const int row : {0, 1, 2})
      expect_open_average(result, "p" + std::to_string(row), bessel_ratio(1, 0, 0.5 + row), 0.009);
  }
}

// ---- energies and forces ------------------------------------------------------------------------

struct OpenModel {
  std::string gauge = "SU(2)", lattice = "2 * 4 * 3";
  std::string ends = "boundary(y) = open";
  std::string definitions = "P[mu,nu] = loop(mu, nu, -mu, -nu)";
  std::string action = "sum(2 - re(tr(P[mu,nu])), mu < nu)";
  std::string quarks = "";
  std::string text() const {
    return "model open_links \"links with ends\"\nparam kappa = 0.2, mu_q = 0.2\nlattice grid: " +
           lattice + "\ngauge U: " + gauge + ", " + ends + "\n" + quarks + definitions +
           "\naction quarks = " + action +
           "\nsample hmc, trajectories = 1, tau = 1 {\n"
           "  level quarks: steps = 4, scheme = leapfrog\n}\ninit U ~ hot\n"
           "every 1 trajectory: deltaH -> \"q.csv\"\n";
  }
};

/// Sum of -c(x, mu, nu) Re tr P over all sites and mu < nu, loops across an end being 0; H has no
/// constants.
template <class Weight>
double explicit_energy(const FixedQuarks& links, const std::vector<int>& extent, int colours,
                       const std::vector<bool>& open, const Weight& weight) {
  const int dims = static_cast<int>(extent.size());
  int sites = 1;
  for (const int n : extent) sites *= n;
  const auto place = [&](int s) {
    std::vector<int> x;
    for (const int n : extent) x.push_back(s % n), s /= n;
    return x;
  };
  const auto next = [&](int s, int mu) {
    int stride = 1;
    for (int k = 0; k < mu; ++k) stride *= extent[static_cast<std::size_t>(k)];
    const int n = extent[static_cast<std::size_t>(mu)];
    return place(s)[static_cast<std::size_t>(mu)] + 1 == n ? s + stride * (1 - n) : s + stride;
  };
  const auto link = [&](int s, int mu) {
    Dense u(colours);
    const auto k = static_cast<std::size_t>(mu);
    if (open[k] && place(s)[k] + 1 == extent[k]) return u;
    for (int i = 0; i < colours; ++i)
      for (int j = 0; j < colours; ++j) u(i, j) = links.entry(s, mu, i, j);
    return u;
  };
  double sum = 0;
  for (int s = 0; s < sites; ++s) {
    for (int mu = 0; mu < dims; ++mu) {
      for (int nu = mu + 1; nu < dims; ++nu) {
        const Dense p = link(s, mu) * link(next(s, mu), nu) * dagger(link(next(s, nu), mu)) *
                        dagger(link(s, nu));
        double trace = 0;
        for (int i = 0; i < colours; ++i) trace += p(i, i).real();
        sum -= weight(place(s), mu, nu) * trace;
      }
    }
  }
  return sum;
}

TEST(OpenLinks, EnergiesAreThoseOfExplicitSums) {
  const std::vector<int> extent{2, 4, 3};
  const auto one = [](const std::vector<int>&, int, int) { return 1.0; };
  FixedQuarks some(OpenModel{}.text(), 2, 3, 24, 1.1, 0);
  EXPECT_NEAR(some.energy(), explicit_energy(some, extent, 2, {false, true, false}, one), 1e-11);
  FixedQuarks all(OpenModel{.ends = "boundary = open"}.text(), 2, 3, 24, 1.1, 0);
  EXPECT_NEAR(all.energy(), explicit_energy(all, extent, 2, {true, true, true}, one), 1e-11);
  EXPECT_GT(std::fabs(all.energy() - some.energy()), 1);
  // plaquettes on the first and the last plane of sites count by half (Luescher and Schaefer)
  OpenModel half;
  half.definitions +=
      "\nw[mu,nu] = 1/2 if mu != y and nu != y and (index(y) == 0 or index(y) == 3) else 1";
  half.action = "sum(w[mu,nu]*(2 - re(tr(P[mu,nu]))), mu < nu)";
  FixedQuarks weighted(half.text(), 2, 3, 24, 1.1, 0);
  const auto w = [](const std::vector<int>& x, int mu, int nu) {
    return mu != 1 && nu != 1 && (x[1] == 0 || x[1] == 3) ? 0.5 : 1.0;
  };
  EXPECT_NEAR(weighted.energy(), explicit_energy(weighted, extent, 2, {false, true, false}, w),
              1e-11);
}

TEST(OpenLinks, ForcesAreDifferencesOfTheEnergy) {
  const std::string plain = "P[mu,nu] = loop(mu, nu, -mu, -nu)";
  const struct {
    const char* ends;
    std::string definitions, action;
  } rows[] = {
      {"boundary(y) = open", plain, "sum(2 - re(tr(P[mu,nu])), mu < nu)"},
      {"boundary = open", plain, "sum(2 - re(tr(loop(2*mu, nu, -2*mu, -nu))), mu != nu)"},
      {"boundary(y) = open",
       plain + "\nB = sum(2 - re(tr(P[mu,nu])), mu < nu)\nV[mu] = exp(-0.2*d(B, U[mu]))*U[mu]",
       "sum(2 - re(tr(loop(V, mu, nu, -mu, -nu))), mu < nu)"},
      {"boundary(y) = open", plain + "\nV = ape(U, 0.4)",
       "sum(2 - re(tr(loop(V, mu, nu, -mu, -nu))), mu < nu)"},
  };
  for (const auto& row : rows) {
    const OpenModel model{.ends = row.ends, .definitions = row.definitions, .action = row.action};
    SCOPED_TRACE(row.definitions + row.ends + row.action);
    FixedQuarks links(model.text(), 2, 3, 24, 1.1, 0);
    links.action();
    const double along = links.along_momenta();
    EXPECT_GT(std::fabs(along), 0.1);
    EXPECT_NEAR(along, links.energy_slope(), 2e-8 * std::max(1.0, std::fabs(along)));
  }
}

// The step's error is of second order only where forces belong to the energy: weights of loops that
// begin at other sites, and of loops twice around.
TEST(OpenLinks, ForcesOfWeightsOfSites) {
  const std::string weight = "(1 + 0.3*index(x) - 0.1*index(y)^2)";
  for (const std::string& loops :
       {std::string("re(tr(loop(-mu, nu, mu, -nu) + loop(nu, nu, mu, -nu, -nu, -mu)))"),
        std::string("(re(tr(P[mu,nu]*P[mu,nu])) + 2*im(tr(P[mu,nu]@nu)))")}) {
    OpenModel model{.gauge = "SU(3)",
                    .lattice = "3 * 4",
                    .action = "sum(" + weight + "*" + loops + ", mu != nu)/6"};
    const auto scaled = [&](int n) {
      std::string text = model.text();
      const std::size_t at = text.find("steps = 4");
      text.replace(at, 9, "steps = " + std::to_string(n));
      return last(run_text(text, {}), "deltaH") * n * n;
    };
    const double fine = scaled(64);
    EXPECT_GT(std::fabs(fine), 0.01);
    EXPECT_NEAR(scaled(32) / fine, 1, 0.05) << loops;
  }
}

constexpr const char* kQuarks =
    "fermion psi: spinor, boundary(x) = twisted(0.7)\n"
    "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
    "D(psi) = psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)\n";

TEST(OpenLinks, HopsDoNotLeadAcross) {
  const OpenModel model{
      .lattice = "2 * 4", .action = "pseudofermion(D, solver = cg(1e-13))", .quarks = kQuarks};
  constexpr int kSites = 8, kInside = 8;
  FixedQuarks quarks(model.text(), 2, 2, kSites, 1.1);
  testing::dirac::Operator d{{{2, 4, 1, 1}, 2, 2}, 0.2, 0.2, false, false};
  d.twist = {0.7, 0, 0, 0};
  testing::dirac::Field links;
  for (int s = 0; s < kSites; ++s)
    for (int mu = 0; mu < 2; ++mu)
      for (int i = 0; i < 4; ++i)
        links.push_back(mu == 1 && s / 2 == 3 ? C(0) : quarks.entry(s, mu, i / 2, i % 2));
  EXPECT_LT(testing::dirac::error_of_draws(d, links, kSites * kInside,
                                           [&](const auto& eta) { return quarks.drawn(eta); }),
            1e-14);
}

TEST(OpenLinks, ForcesOfQuarksAreDifferencesOfTheAction) {
  for (const std::string& options :
       {std::string("solver = cg(1e-13)"), std::string("solver = cg(1e-13), even_odd = on")}) {
    const OpenModel model{
        .lattice = "2 * 4", .action = "pseudofermion(D, " + options + ")", .quarks = kQuarks};
    FixedQuarks quarks(model.text(), 2, 2, 8, 1.1);
    if (options.find("even_odd") != std::string::npos) quarks.at_odd_sites({2, 4});
    quarks.action();
    const double along = quarks.along_momenta();
    EXPECT_GT(std::fabs(along), 0.1);
    EXPECT_NEAR(along, quarks.slope(), 2e-8 * std::max(1.0, std::fabs(along))) << options;
  }
}

// ---- what is stored, devices, ranks -------------------------------------------------------------

TEST(OpenLinks, LinksOutsideStay) {
  for (const char* const sample :
       {"sample heatbath, sweeps = 5, overrelax = 1", "sample metropolis, sweeps = 5, width = 1",
        "sample hmc, trajectories = 3, tau = 1 {\n  level S: steps = 4, scheme = leapfrog\n}"}) {
    const OpenChain model{.gauge = "SU(2)",
                          .lattice = "3 * 4",
                          .action = "sum(2 - re(tr(P[mu,nu])), mu < nu)",
                          .sample = sample,
                          .measured = "p = total(re(tr(P[x,y])))"};
    Simulation setup;
    setup.keep_state = true;
    std::string text = model.text();
    text.erase(text.find("sweep chain"), std::string("sweep chain = 1..64\n").size());
    text.replace(text.find("U ~ hot"), 7, "U ~ cold");
    const auto result = run_text(text, setup);
    double inside = 0;
    for (std::size_t i = 0; i < 4; ++i) {  // links along y
      const std::vector<double>& part = result.state.at(4 + i);
      for (std::size_t s = 0; s < 12; ++s) {
        if (s / 3 == 3)
          EXPECT_EQ(part[s], i == 0 ? 1.0 : 0.0) << sample;
        else
          inside = std::max(inside, std::fabs(part[s] - (i == 0 ? 1.0 : 0.0)));
      }
    }
    EXPECT_GT(inside, 0.1);
  }
}

TEST(OpenLinks, TrajectoriesAgreeOnDevices) {
  const std::string quarks = kQuarks;
  const OpenModel model{.gauge = "SU(3), store = rows(2)",
                        .lattice = "2 * 4",
                        .action = "pseudofermion(D, solver = cg(1e-13))",
                        .quarks = quarks};
  const double native = last(run_text(model.text(), {}), "deltaH");
  EXPECT_GT(std::fabs(native), 1e-5);
  if (testing::device("opencl") == nullptr) GTEST_SKIP() << "no OpenCL device";
  Simulation setup;
  setup.device = "opencl";
  EXPECT_NEAR(last(run_text(model.text(), setup), "deltaH"), native, 1e-8);
}

TEST(OpenLinks, HaveTheBitsOfOneDeviceOnRanks) {
  const testing::ScratchFolder folder;
  for (const char* const ends : {"boundary(x) = open", "boundary(z) = open"}) {
    const std::string path = (folder / "open.vphi").string();
    OpenChain model{.gauge = "SU(2)",
                    .lattice = "4 * 4 * 8",
                    .ends = ends,
                    .action = "sum((1 + 0.1*index(z))*(2 - re(tr(P[mu,nu]))), mu < nu)",
                    .sample = "sample heatbath, sweeps = 3",
                    .measured = "p = total(re(tr(P[x,y])))"};
    std::string text = model.text();
    text.erase(text.find("sweep chain"), std::string("sweep chain = 1..64\n").size());
    text.replace(text.find("> 50"), 4, "> 0");
    std::ofstream(path) << text;
    const auto result = testing::cut_and_compare(path, 2, {});
    EXPECT_EQ(result.refused, "") << ends;
    EXPECT_EQ(result.differs, "") << ends;
  }
}

}  // namespace
}  // namespace vphi
