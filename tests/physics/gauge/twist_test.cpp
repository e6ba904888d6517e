// Spinors that gain a phase exp(i angle) around the box: plane waves and propagators of momenta
// (2 pi k + angle)/n, the same phase on links, determinants and forces, and angles that are none.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <fstream>
#include <string>
#include <vector>

#include "tests/physics/gauge/fixed_quarks.hpp"
#include "tests/physics/gauge/free_quarks.hpp"
#include "tests/support/cut_ranks.hpp"
#include "tests/support/scratch.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::FixedQuarks;
using testing::last;
using testing::run_text;
using testing::Simulation;
using testing::dirac::Free;
using Complex = std::complex<double>;

Simulation on(const std::string& device) {
  Simulation setup;
  setup.device = device;
  setup.steps = 0;
  return setup;
}

std::vector<std::string> devices() {
  std::vector<std::string> found{"native"};
  if (testing::device("opencl") != nullptr) found.emplace_back("opencl");
  return found;
}

// D exp(ipx) w = exp(ipx) D(p) w with p = (2 pi k + angle)/n: reads across each edge have the phase
// that the wave has there.
TEST(Twist, PlaneWavesHaveShiftedMomenta) {
  Free f{{4, 2, 6, 4}, 0.15, 0.3, true};
  f.twist = {0.7, -1.3, 2.9, 0};
  const auto p = testing::dirac::momentum(f, {1, 1, 2, 1});
  std::string phase, items;
  for (std::size_t a = 0; a < 4; ++a)
    phase += (a == 0 ? "" : " + ") + exact(p[a]) + "*index(" + std::string(1, "xyzt"[a]) + ")";
  for (const char* const part : {"re", "im"})
    for (int s = 0; s < 4; ++s)
      for (int c = 0; c < 3; ++c) {
        const std::string at = std::to_string(s) + std::to_string(c);
        items += std::string(", ") + part + at + " = mean(" + part + "(exp(-1i*wave)*phi[" +
                 std::to_string(s) + ", " + std::to_string(c) + "]))";
      }
  const std::string text = testing::dirac::quarks(
      f, "wave = " + phase +
             "\ninit U ~ cold, psi[s, c] = exp(1i*wave)*(1 + 2*s - 3i*c*(s == 2)), phi = D(psi)\n"
             "error = total(norm2(phi))/total(norm2(psi))\nat end: error" +
             items + " -> \"d.h5\"\n");
  const auto d = testing::dirac::dirac_of(f, p);
  for (const std::string& device : devices()) {
    const auto result = run_text(text, on(device));
    for (int s = 0; s < 4; ++s) {
      for (int c = 0; c < 3; ++c) {
        Complex sum = 0;
        for (int r = 0; r < 4; ++r)
          sum +=
              d[s][r] * (1.0 + 2 * r - testing::dirac::kI * 3.0 * double(c) * (r == 2 ? 1. : 0.));
        const std::string at = std::to_string(s) + std::to_string(c);
        EXPECT_NEAR(last(result, "re" + at), sum.real(), 4e-14) << device << at;
        EXPECT_NEAR(last(result, "im" + at), sum.imag(), 4e-14) << device << at;
      }
    }
  }
}

// The pion of a free quark: sums over shifted momenta.
TEST(Twist, FreePionHasShiftedMomenta) {
  Free f{{4, 4, 2, 4}, 0.14, 0, true};
  f.twist = {0.9, -0.4, 0, 0.3};
  const auto expected = testing::dirac::free_pion(f);
  Free straight = f;
  straight.twist = {};
  EXPECT_GT(std::fabs(testing::dirac::free_pion(straight)[1] / expected[1] - 1), 1e-3);
  const auto result = run_text(
      testing::dirac::quarks(f, testing::dirac::pions("cgne(1e-13)", 3) + "init U ~ cold\n"),
      on("native"));
  for (int t = 0; t < 4; ++t)  // the sum over the 32 sites of a plane
    EXPECT_NEAR(last(result, "pion" + std::to_string(t)) / 32, expected[t], 1e-12);
}

std::string pion_on_links(const std::string& boundary, const std::string& turn) {
  return "model phases \"one pion\"\nlattice grid: 2*4*2*4\ngauge U: SU(2)\nfermion psi: spinor" +
         boundary + "\nturn[k] = " + turn +
         "\nhop(psi) = sum(turn[k]*(1 - gamma[k])*U[k]*psi@k + "
         "conj(turn[k])*(1 + gamma[k])*U[-k]*psi@-k, k)\n"
         "D(psi) = psi + 0.3i*gamma5*psi - 0.13*hop(psi)\n"
         "here = index(x) == 0 and index(y) == 0 and index(z) == 0 and index(t) == 0\n"
         "S[s,c] = solve(D, here*spinor(s, c), solver = cgne(1e-13))\n"
         "pion = sum(norm2(S[s,c]), s, c)\ninit U ~ hot\n"
         "at end: a = total(pion*(index(t) == 1)), b = total(pion*(index(y) == 2)) -> \"p.h5\"\n";
}

// A phase at the edge, or its root at every step: one is the other in another gauge.
TEST(Twist, IsAPhaseOfTheLinks) {
  const auto twisted =
      run_text(pion_on_links(", boundary(y) = twisted(0.8), boundary(t) = twisted(-1.1)", "1"),
               on("native"));
  const auto turned = run_text(
      pion_on_links("", "exp(0.2i) if k == y else (exp(-0.275i) if k == t else 1)"), on("native"));
  const auto straight = run_text(pion_on_links("", "1"), on("native"));
  for (const char* name : {"a", "b"}) {
    EXPECT_NEAR(last(twisted, name), last(turned, name), 1e-10) << name;
    EXPECT_GT(std::fabs(last(straight, name) / last(turned, name) - 1), 1e-5) << name;
  }
}

// Multiples of pi are signs, to the bit.
TEST(Twist, OfWholeTurnsIsNone) {
  const auto value = [](const std::string& boundary) {
    return last(run_text(pion_on_links(boundary, "1"), on("native")), "b");
  };
  const double periodic = value(""), antiperiodic = value(", boundary(t) = antiperiodic");
  EXPECT_NE(periodic, antiperiodic);
  EXPECT_EQ(value(", boundary(t) = twisted(0)"), periodic);
  EXPECT_EQ(value(", boundary(t) = twisted(2*pi)"), periodic);
  EXPECT_EQ(value(", boundary(t) = twisted(-4*pi)"), periodic);
  EXPECT_EQ(value(", boundary(t) = twisted(pi)"), antiperiodic);
  EXPECT_EQ(value(", boundary(t) = twisted(3*pi)"), antiperiodic);
}

// Each instance of a sweep has its angle.
TEST(Twist, IsSwept) {
  const std::string sweep = "sweep angle = [0, 0.8, 3.141592653589793]\n";
  std::string text = pion_on_links(", boundary(y) = twisted(angle)", "1");
  text.insert(text.find("lattice"), sweep);
  const auto all = run_text(text, on("native"));
  const auto* series = all.find("b");
  ASSERT_NE(series, nullptr);
  ASSERT_EQ(series->values.at(0).size(), 3U);
  const char* const angles[] = {"0", "0.8", "pi"};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto one =
        run_text(pion_on_links(std::string(", boundary(y) = twisted(") + angles[i] + ")", "1"),
                 on("native"));
    EXPECT_NEAR(series->values[0][i], last(one, "b"), 1e-10) << angles[i];
  }
}

// conj does not commute with a phase; the true adjoint is not the one of a periodic box.
TEST(Twist, AdjointOfAnOperatorWithConj) {
  const std::string text =
      "model real \"an operator that is linear for real factors alone\"\nlattice grid: 4*4\n"
      "gauge U: U(1)\nfermion psi: spinor(2), boundary(x) = twisted(0.8)\n"
      "A(psi) = 3*psi + conj(psi@x)\nhere = index(x) == 1 and index(y) == 0\n"
      "S = solve(A, here*spinor(0, 0), solver = cgne(1e-12))\ninit U ~ cold\n"
      "at end: a = total(norm2(S)) -> \"a.h5\"\n";
  EXPECT_THROW(testing::compile_text(text, on("native")), std::runtime_error);
}

// ---- stencils and sources
// ------------------------------------------------------------------------

/// One component on 4 x 3 sites, with a twist along x and a sign along y.
struct EdgeBox {
  static constexpr int kX = 4, kY = 3;
  static constexpr double kTheta = 0.7;

  static Complex start(int x, int y) {
    return {std::cos(1.3 * x + y * y), std::sin(2.1 * x * y + 0.4)};
  }
  static Complex at(int x, int y) {
    Complex phase = 1;
    for (; x >= kX; x -= kX) phase *= std::polar(1.0, kTheta);
    for (; x < 0; x += kX) phase *= std::polar(1.0, -kTheta);
    for (; y >= kY; y -= kY) phase = -phase;
    for (; y < 0; y += kY) phase = -phase;
    return phase * start(x, y);
  }
  static double weight(int x, int y) { return std::cos(0.9 * x + 2.3 * y * y); }

  static std::string text(const std::string& lines) {
    return "model edges \"stencils and sources at edges\"\nlattice grid: 4 * 3\ngauge U: U(1)\n"
           "fermion psi: spinor(2), boundary(x) = twisted(0.7), boundary(y) = antiperiodic\n"
           "init U ~ cold\n" +
           lines;
  }
};

// Each stencil of a spinor and of its components against the sum of neighbours with their phases.
TEST(Twist, StencilsTakeThePhasesOfEdges) {
  using Sum = Complex (*)(int, int);
  const struct {
    std::string of;
    Sum sum;
  } kinds[] = {
      {"lap(psi)[1, 0]",
       [](int x, int y) {
         return EdgeBox::at(x + 1, y) + EdgeBox::at(x - 1, y) + EdgeBox::at(x, y + 1) +
                EdgeBox::at(x, y - 1) - 4.0 * EdgeBox::at(x, y);
       }},
      {"lap(lap(psi[1, 0]))",
       [](int x, int y) {
         Complex sum = 20.0 * EdgeBox::at(x, y);
         for (const int s : {-1, 1}) {
           sum -= 8.0 * (EdgeBox::at(x + s, y) + EdgeBox::at(x, y + s));
           sum += EdgeBox::at(x + 2 * s, y) + EdgeBox::at(x, y + 2 * s);
           for (const int r : {-1, 1}) sum += 2.0 * EdgeBox::at(x + s, y + r);
         }
         return sum;
       }},
      {"d(psi, x)[1, 0]",
       [](int x, int y) { return 0.5 * (EdgeBox::at(x + 1, y) - EdgeBox::at(x - 1, y)); }},
      {"grad(psi[1, 0])[1]",
       [](int x, int y) { return 0.5 * (EdgeBox::at(x, y + 1) - EdgeBox::at(x, y - 1)); }},
      {"edges(psi)[1, 0]",
       [](int x, int y) {
         Complex sum = 0;
         for (const int s : {-1, 1})
           for (const int r : {-1, 1}) sum += EdgeBox::at(x + s, y + r);
         return sum;
       }},
  };
  std::string items;
  for (std::size_t i = 0; i < std::size(kinds); ++i)
    for (const char* const part : {"re", "im"})
      items += (items.empty() ? "" : ", ") + std::string(part) + std::to_string(i) + " = total(w*" +
               part + "(" + kinds[i].of + "))";
  const std::string text = EdgeBox::text(
      "w = cos(0.9*index(x) + 2.3*index(y)^2)\n"
      "init psi[s, c] = (cos(1.3*index(x) + index(y)^2) + 1i*sin(2.1*index(x)*index(y) + 0.4))*"
      "(s == 1)\nat end: " +
      items + " -> \"e.h5\"\n");
  for (const std::string& device : devices()) {
    const auto result = run_text(text, on(device));
    for (std::size_t i = 0; i < std::size(kinds); ++i) {
      Complex sum = 0;
      for (int x = 0; x < EdgeBox::kX; ++x)
        for (int y = 0; y < EdgeBox::kY; ++y) sum += EdgeBox::weight(x, y) * kinds[i].sum(x, y);
      EXPECT_NEAR(last(result, "re" + std::to_string(i)), sum.real(), 1e-12) << kinds[i].of;
      EXPECT_NEAR(last(result, "im" + std::to_string(i)), sum.imag(), 1e-12) << kinds[i].of;
    }
  }
}

// An operator of stencils, its solution and its adjoint against the same of hops.
TEST(Twist, OperatorsOfStencilsAreThoseOfHops) {
  const auto result = run_text(
      EdgeBox::text("A(psi) = 3*psi - 0.3*lap(psi) + 0.2i*d(psi, x)\n"
                    "B(psi) = 4.2*psi - 0.3*sum(psi@j + psi@-j, j) + 0.1i*(psi@x - psi@-x)\n"
                    "init psi ~ normal\n"
                    "S = solve(A, psi, solver = cgne(1e-13))\n"
                    "at end: size = total(norm2(psi)), image = total(norm2(A(psi) - B(psi))), "
                    "adjoint = total(norm2(adj(A, psi) - adj(B, psi))), "
                    "rest = total(norm2(B(S) - psi)) -> \"e.h5\"\n"),
      on("native"));
  EXPECT_GT(last(result, "size"), 1);
  for (const char* const name : {"image", "adjoint", "rest"})
    EXPECT_LT(last(result, name), 1e-22) << name;
}

// Nothing tells the edge from other places on cold links: sources at it and away from it that are
// smeared, taken through an operator, its adjoint, or a stencil, have one norm and one propagator.
TEST(Twist, SourcesGoOnBeyondTheEdges) {
  std::string lines =
      "D(psi) = 3*psi - 0.4*sum((1 - gamma[k])*U[k]*psi@k + (1 + gamma[k])*U[-k]*psi@-k, k)\n"
      "wider(b) = b + 0.3*sum(U[j]*b@j + U[-j]*b@-j, j)\n"
      "point(n, m) = (index(x) == n and index(y) == m)*spinor(0, 0)\n";
  std::string items;
  const std::string made[] = {"wider(wider(P))", "D(wider(P))", "adj(D, P)", "lap(wider(P))",
                              "(norm2(psi)*P)@x + (norm2(psi)*P)@-x + P@(1, 1)"};
  for (std::size_t i = 0; i < std::size(made); ++i)
    for (const std::string place : {"00", "12", "32"}) {
      std::string source = made[i];
      for (std::size_t p = 0; (p = source.find('P', p)) != std::string::npos;)
        source.replace(p, 1, std::string("point(") + place[0] + ", " + place[1] + ")");
      const std::string name = std::string(1, static_cast<char>('a' + i)) + place;
      lines += "S" + name + " = solve(D, " + source + ", solver = cgne(1e-13))\n";
      items += (items.empty() ? "" : ", ") + name + " = total(norm2(S" + name + "))";
    }
  const auto result =
      run_text(EdgeBox::text(lines + "init psi[s, c] = 1\nat end: " + items + " -> \"e.h5\"\n"),
               on("native"));
  for (const char i : {'a', 'b', 'c', 'd', 'e'}) {
    const double inside = last(result, std::string(1, i) + "12");
    EXPECT_GT(inside, 1e-3);
    EXPECT_NEAR(last(result, std::string(1, i) + "00"), inside, 1e-10 * inside) << i;
    EXPECT_NEAR(last(result, std::string(1, i) + "32"), inside, 1e-10 * inside) << i;
  }
}

// exp(-1i theta x/L) takes the phase off: an output around the box takes the rest, and nothing
// else.
TEST(Twist, WavesAroundTheBoxAreOfPeriodicValues) {
  const auto runs = [](const std::string& of) {
    run_text(EdgeBox::text("init psi[s, c] = exp(0.7i*index(x)/4)\nat end: spectrum(" + of +
                           ") -> \"e.h5\"\n"),
             on("native"));
  };
  EXPECT_NO_THROW(runs("norm2(psi)"));
  EXPECT_NO_THROW(runs("exp(-0.7i*index(x)/4 - 1i*pi*index(y)/3)*psi[0, 0]"));
  EXPECT_THROW(runs("exp(-0.7i*index(x)/4)*psi[0, 0]"), std::runtime_error);
  EXPECT_THROW(runs("psi[0, 0]"), std::runtime_error);
}

// ---- determinants -------------------------------------------------------------------------------

struct TwistedQuarks {
  std::string gauge = "U(1)", lattice = "4^2";
  std::string boundary = "boundary(x) = twisted(0.9), boundary(y) = twisted(-2)";
  std::string action = "pseudofermion(D, solver = cg(1e-13))";
  std::string quark = "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)";
  std::string level = "steps = 4, scheme = leapfrog";

  std::string text() const {
    return "model quarks \"twisted quarks\"\nparam kappa = 0.2, mu_q = 0.2\nlattice grid: " +
           lattice + "\ngauge U: " + gauge + "\nfermion psi: spinor, " + boundary +
           "\nhop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\nD(psi) = " +
           quark + "\naction quarks = " + action +
           "\nsample hmc, trajectories = 1, tau = 1 {\n  level quarks: " + level +
           "\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n";
  }
};

// phi = D eta of the kernels against explicit sums with the phase of each edge, column by column.
TEST(Twist, DrawsByTheOperatorOfExplicitSums) {
  const TwistedQuarks model{.gauge = "SU(2)",
                            .lattice = "2 * 4",
                            .boundary = "boundary(x) = twisted(0.9), boundary(y) = antiperiodic"};
  constexpr int kSites = 8, kInside = 8;
  FixedQuarks quarks(model.text(), 2, 2, kSites, 1.1);
  testing::dirac::Operator d{{{2, 4, 1, 1}, 2, 2}, 0.2, 0.2, false, true};
  d.twist = {0.9, 0, 0, 0};
  testing::dirac::Field links;
  for (int s = 0; s < kSites; ++s)
    for (int mu = 0; mu < 2; ++mu)
      for (int i = 0; i < 4; ++i) links.push_back(quarks.entry(s, mu, i / 2, i % 2));
  EXPECT_LT(testing::dirac::error_of_draws(d, links, kSites * kInside,
                                           [&](const auto& eta) { return quarks.drawn(eta); }),
            1e-14);
}

// Slopes along the momenta against differences of the action.
TEST(Twist, ForcesAreDifferencesOfTheAction) {
  const std::string options = "solver = cg(1e-13)", range = "range = [0.05, 4]";
  const std::string actions[] = {
      "pseudofermion(D, " + options + ")", "pseudofermion(D, " + options + ", even_odd = on)",
      "pseudofermion(D, " + options + ")/pseudofermion(D, kappa = 0.15, " + options + ")",
      "pseudofermion(D, " + options + ", even_odd = on)/pseudofermion(D, mu_q = 0.6, " + options +
          ", even_odd = on)",
      "pseudofermion(D, solver = multishift(1e-13), " + range + ")^(1/2)"};
  const struct {
    const char* gauge;
    const char* lattice;
    int colours, sites;
  } boxes[] = {{"U(1)", "4^2", 1, 16}, {"SU(2)", "2 * 4", 2, 8}};
  for (const auto& box : boxes) {
    for (const std::string& action : actions) {
      const TwistedQuarks model{.gauge = box.gauge, .lattice = box.lattice, .action = action};
      FixedQuarks quarks(model.text(), box.colours, 2, box.sites, 1.5);
      if (action.find("even_odd") != std::string::npos) quarks.at_odd_sites({box.sites / 4, 4});
      quarks.action();
      const double along = quarks.along_momenta();
      EXPECT_GT(std::fabs(along), 0.1) << action;
      EXPECT_NEAR(along, quarks.slope(), 2e-8 * std::max(1.0, std::fabs(along)))
          << box.gauge << action;
    }
  }
}

TEST(Twist, ForcesOfAnOperatorWithAStencil) {
  const TwistedQuarks model{.quark = "psi + 0.1i*gamma5*psi - kappa*hop(psi) - 0.1*lap(psi)"};
  FixedQuarks quarks(model.text(), 1, 2, 16, 1.5);
  quarks.action();
  const double along = quarks.along_momenta();
  EXPECT_GT(std::fabs(along), 0.1);
  EXPECT_NEAR(along, quarks.slope(), 2e-8 * std::max(1.0, std::fabs(along)));
}

TEST(Twist, TrajectoriesAgreeOnDevices) {
  for (const char* action : {"pseudofermion(D, solver = cg(1e-13))",
                             "pseudofermion(D, solver = cgne(1e-13), even_odd = on)"}) {
    const TwistedQuarks model{.gauge = "SU(2)", .action = action};
    std::vector<double> found;
    for (const std::string& device : devices()) {
      Simulation setup;
      setup.device = device;
      found.push_back(last(run_text(model.text(), setup), "deltaH"));
    }
    EXPECT_GT(std::fabs(found[0]), 1e-5);
    for (const double one : found) EXPECT_NEAR(one, found[0], 1e-8) << action;
  }
}

TEST(Twist, HasTheBitsOfOneDeviceOnRanks) {
  const testing::ScratchFolder folder;
  const std::string path = (folder / "twisted.vphi").string();
  TwistedQuarks model{.lattice = "4 * 4 * 8"};
  model.boundary = "boundary(x) = twisted(0.9), boundary(z) = twisted(-2)";
  model.level = "steps = 1, scheme = leapfrog";
  std::ofstream(path) << model.text();
  const auto result = testing::cut_and_compare(path, 2, {});
  EXPECT_EQ(result.refused, "");
  EXPECT_EQ(result.differs, "");
}

}  // namespace
}  // namespace vphi
