// Averages of trajectories with quarks on small lattices against exact ones: loops around a ring of
// four links (integrals over the angles of a matrix, Weyl's measure), U(1) on 2 x 2 (quadrature
// over the five angles that gauge fixing leaves), U(1) on 4 x 4 and 8 x 8 (links drawn without
// quarks, weighted with exact determinants). Where no range of a fraction is written, it is that of
// the operator's terms.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// An observable, its exact average, and the statistical error that the test must have at most.
struct ExactAverage {
  std::string text;
  double value, most_error;
};

struct AverageRow {
  std::string name;
  std::string gauge = {}, lattice = {}, axis = {};  ///< antiperiodic along `axis`
  std::string action = {};                          ///< empty: without quarks
  std::string quark = {};
  std::string spinor = "spinor", before = {};
  double beta = 0, kappa = 0.2, mu_q = 0, m = 0;
  int trajectories = 50;
  std::vector<ExactAverage> expected = {};

  std::string text() const {
    const bool quarks = !action.empty(), glue = beta > 0;
    std::string lines = "model averages\nparam kappa = " + testing::exact(kappa) +
                        ", mu_q = " + testing::exact(mu_q) + ", m = " + testing::exact(m) +
                        "\nsweep chain = 1..512\nlattice grid: " + lattice + "\ngauge U: " + gauge +
                        "\n";
    if (quarks)
      lines += "fermion psi: " + spinor + ", boundary(" + axis + ") = antiperiodic\n" + before +
               "D(psi) = " + quark + "\naction quarks = " + action + "\n";
    if (glue)
      lines += "action glue = " + testing::exact(beta) +
               "*sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)\n";
    const std::string all = std::to_string(trajectories);
    lines += "sample hmc, trajectories = " + all + ", tau = 1 {\n";
    if (quarks) lines += "  level quarks: steps = 4, scheme = omelyan2\n";
    if (glue)
      lines += "  level glue: steps = " + std::string(quarks ? "2" : "6") + ", scheme = omelyan2\n";
    lines += "}\ninit U ~ hot\n";
    std::vector<ExactAverage> own = expected;
    own.push_back({"exp(-deltaH)", 1, 1});
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::string n = std::to_string(i);
      lines += "a" + n + " = mean(" + own[i].text + ", over = time)\nevery " + all +
               " trajectories, after = trajectory > 15: v" + n + " = mean(a" + n +
               ", over = chain), e" + n + " = error(mean(a" + n + ", over = chain)) -> \"a.csv\"\n";
    }
    return lines;
  }
};

constexpr const char* kWilsonLine =
    "psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))";
constexpr const char* kTwistedLine =
    "psi + 2i*kappa*mu_q*gamma5*psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = "
    "directions(+,-))";
constexpr const char* kStaggeredLine = "m*psi + sum(eta[k]*(U[k]*psi@k - U[-k]*psi@-k), k)/2";
constexpr const char* kStaggeredOnRing = "m*psi + (U[x]*psi@x - U[-x]*psi@-x)/2";
constexpr const char* kSignsOfPlane = "eta[k] = 1 if k == x else 1 - 2*mod(index(x), 2)\n";

constexpr const char* kWholeDeterminant =
    "pseudofermion(D, solver = cg(1e-10), force = cg(1e-8), even_odd = on)";
const std::string kOfFractions =
    "pseudofermion(D, solver = multishift(1e-10), force = multishift(1e-8), tol = 1e-8, even_odd = "
    "on)";

void add_rings(std::vector<AverageRow>& rows) {
  struct Ring {
    const char *name, *quark, *spinor;
    double mu_q, m;
    std::string action;
    double average[3];  ///< U(1), SU(2), SU(3)
  };
  const Ring rings[] = {
      {"wilson_half",
       kWilsonLine,
       "spinor",
       0,
       0,
       kOfFractions + "^(1/2)",
       {0.6456652065, 0.5544133029, 0.4066562670}},
      {"wilson",
       kWilsonLine,
       "spinor",
       0,
       0,
       kWholeDeterminant,
       {0.7895852746, 0.7157467872, 0.5834652224}},
      {"twisted_half",
       kTwistedLine,
       "spinor",
       0.3,
       0,
       kOfFractions + "^(1/2)",
       {0.4764437192, 0.4311789954, 0.2490375648}},
      {"twisted",
       kTwistedLine,
       "spinor",
       0.3,
       0,
       kWholeDeterminant,
       {0.6940650936, 0.6253329288, 0.4478091361}},
      {"staggered_quarter",
       kStaggeredOnRing,
       "spinor(1)",
       0,
       0.2,
       kOfFractions + "^(1/4)",
       {0.2091180206, 0.1875750300, 0.0939085039}},
      {"staggered_half",
       kStaggeredOnRing,
       "spinor(1)",
       0,
       0.2,
       kWholeDeterminant + std::string("^(1/2)"),
       {0.3751500600, 0.3288662272, 0.1873067692}},
  };
  for (const Ring& ring : rings)
    for (int n = 1; n <= 3; ++n) {
      const std::string number = std::to_string(n);
      rows.push_back({.name = "ring_of_" + number + "_" + ring.name,
                      .gauge = n == 1 ? "U(1)" : "SU(" + number + ")",
                      .lattice = "4",
                      .axis = "x",
                      .action = ring.action,
                      .quark = ring.quark,
                      .spinor = ring.spinor,
                      .kappa = 0.45,
                      .mu_q = ring.mu_q,
                      .m = ring.m,
                      .expected = {{"mean(re(" + std::string(n == 1 ? "" : "tr") +
                                        "(path(x, x, x, x)))/" + number + ")",
                                    ring.average[n - 1], 0.008}}});
    }
}

void add_boxes(std::vector<AverageRow>& rows) {
  const auto add = [&](AverageRow row, double plaquette, double second, const std::string& text,
                       double error) {
    row.gauge = "U(1)", row.axis = "y";
    row.expected = {{"mean(re(loop(x, y, -x, -y)))", plaquette, error}};
    if (!text.empty()) row.expected.push_back({text, second, 4 * error});
    rows.push_back(row);
  };
  const auto small = [&](AverageRow row, double plaquette, double around) {
    row.lattice = "2^2", row.beta = 1, row.mu_q = 0.3;
    add(row, plaquette, around, "mean(re(path(x, x)))", 0.006);
  };
  small({.name = "box_without_quarks"}, 0.505196539768, 0);
  small({.name = "box_twisted",
         .action = kWholeDeterminant,
         .quark = kTwistedLine,
         .spinor = "spinor(2)"},
        0.557637349782, -0.345004930263);
  const auto plane = [&](AverageRow row, double plaquette, double charge) {
    row.lattice = "4^2", row.beta = 2, row.kappa = 0.24, row.mu_q = row.m = 0.2;
    add(row, plaquette, charge, "(total(arg(loop(x, y, -x, -y)))/(2*pi))^2", 0.003);
  };
  const std::string twice = std::string(kWholeDeterminant) + "^2";
  const std::string roots = kOfFractions + "^(1/2)*" + kOfFractions + "^(1/2)";
  const std::string heavier =
      "pseudofermion(D, kappa = 0.2, solver = cg(1e-10), force = cg(1e-8), even_odd = on)";
  const std::string ratio = std::string(kWholeDeterminant) + "/" + heavier + "*" + heavier;
  const AverageRow wilson{.name = {}, .quark = kWilsonLine, .spinor = "spinor(2)"};
  const auto of_wilson = [&](const char* name, const std::string& action) {
    AverageRow row = wilson;
    row.name = name, row.action = action;
    return row;
  };
  plane(of_wilson("plane_two_roots", roots), 0.730786, 0.17589);
  plane(of_wilson("plane_two_fields", ratio), 0.730786, 0.17589);
  plane(of_wilson("plane_four_flavours", twice), 0.765383, 0.07786);
  plane({.name = "plane_twisted",
         .action = kWholeDeterminant,
         .quark = kTwistedLine,
         .spinor = "spinor(2)"},
        0.728528, 0.19083);
  plane({.name = "plane_rooted",
         .action = kOfFractions + "^(1/4)",
         .quark = kStaggeredLine,
         .spinor = "spinor(1)",
         .before = kSignsOfPlane},
        0.719901, 0.21251);
  plane({.name = "plane_without_quarks"}, 0.6992519268, 0);
  rows.back().expected.pop_back();  // the charge is not known exactly
  AverageRow wide = of_wilson("wide_plane", kWholeDeterminant);
  wide.lattice = "8^2", wide.beta = 3, wide.kappa = 0.24;
  add(wide, 0.820400, 0, "", 0.002);
}

const std::vector<AverageRow>& average_rows() {
  static const std::vector<AverageRow> all = [] {
    std::vector<AverageRow> made;
    add_rings(made);
    add_boxes(made);
    return made;
  }();
  return all;
}

class QuarkAverages : public ::testing::TestWithParam<std::tuple<std::string, int>> {};

/// Within four standard errors, which are small, and <exp(-deltaH)> = 1.
TEST_P(QuarkAverages, AreExact) {
  const auto& [device, number] = GetParam();
  const AverageRow& row = average_rows()[static_cast<std::size_t>(number)];
  if (!testing::device(device)) GTEST_SKIP() << "no such device";
  testing::Simulation setup;
  setup.device = device;
  const auto result = testing::run_text(row.text(), setup);
  const auto of = [&](const char* what, std::size_t i) {
    return testing::last(result, what + std::to_string(i));
  };
  for (std::size_t i = 0; i < row.expected.size(); ++i) {
    const double error = of("e", i);
    EXPECT_NEAR(of("v", i), row.expected[i].value, 4 * error) << i;
    EXPECT_LT(error, row.expected[i].most_error) << i;
    EXPECT_GT(error, 0);
  }
  const std::size_t creutz = row.expected.size();
  EXPECT_NEAR(of("v", creutz), 1, 4 * of("e", creutz));
  EXPECT_LT(of("e", creutz), 0.02);
}

INSTANTIATE_TEST_SUITE_P(
    Small, QuarkAverages,
    ::testing::Combine(::testing::Values("native", "opencl", "cuda"),
                       ::testing::Range(0, static_cast<int>(average_rows().size()))),
    [](const auto& test) {
      const auto number = static_cast<std::size_t>(std::get<1>(test.param));
      return std::get<0>(test.param) + "_" + average_rows()[number].name;
    });

}  // namespace
}  // namespace vphi
