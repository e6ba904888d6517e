// Actions, forces and trajectories of fixed links, momenta and fields on each device, against
// numbers of an independent program: SU(3) on 4 x 2 x 6 x 4, U(1) on 4^2 and SU(2) on 4 x 6
// (tests/physics/gauge/fixed_quarks.hpp, where the interpreter runs them).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/physics/gauge/fixed_quarks.hpp"

namespace vphi {
namespace {

using testing::FixedQuarks;
using testing::KnownForces;

enum class FieldSites { All, Odd, Even };

/// A model with an action of the name `quarks`.
struct DeviceRow {
  const char* name;
  std::string action;
  std::string quark = {};  ///< the operator; empty: an action of loops
  KnownForces known = {};
  FieldSites sites = FieldSites::All;
  std::string before = {};
  std::string spinor = "spinor";
  double constants = 0;  ///< numbers of a site's density of loops, which H leaves out
  std::string gauge = "SU(3)", lattice = "4 * 2 * 6 * 4", antiperiodic = "t";
  int colours = 3, dims = 4, volume = 192;
  double scale = 0.7, kappa = 0.13;

  int spins() const {
    if (quark.empty()) return 0;
    return spinor == "spinor" ? 4 : spinor[7] - '0';
  }
  std::string text() const {
    const std::string hop =
        spinor == "spinor(1)"
            ? ""
            : "hop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n";
    const std::string fermion = quark.empty() ? ""
                                              : "fermion psi: " + spinor + ", boundary(" +
                                                    antiperiodic + ") = antiperiodic\n" + hop +
                                                    before + "D(psi) = " + quark + "\n";
    return "model rows\nparam kappa = " + testing::exact(kappa) +
           ", mu_q = 0.2\nlattice grid: " + lattice + "\ngauge U: " + gauge +
           "\nP[mu,nu] = loop(mu, nu, -mu, -nu)\n" + fermion + "action quarks = " + action +
           "\nsample hmc, trajectories = 1, tau = 1 {\n  level quarks: steps = 1, scheme = "
           "leapfrog\n}\ninit U ~ hot\nevery 1 trajectory: deltaH -> \"q.csv\"\n";
  }
};

const std::string kWilson = "psi - kappa*hop(psi)";
const std::string kTwisted = "psi + 2i*kappa*mu_q*gamma5*psi - kappa*hop(psi)";
const std::string kStaggered = "psi/5 + sum(eta[k]*(U[k]*psi@k - U[-k]*psi@-k), k)/2";
const std::string kOfPhases =
    "turn(n) = 1 - 2*mod(n, 2)\n"
    "eta[k] = 1 if k == x else (turn(index(x)) if k == y else (turn(index(x) + index(y)) if k == "
    "z else turn(index(x) + index(y) + index(z))))\n";

const std::string kCall = "pseudofermion(D, solver = cg(1e-14))";
const std::string kAtOdd = "pseudofermion(D, solver = cg(1e-14), even_odd = on)";
const std::string kFraction = "pseudofermion(D, solver = multishift(1e-14), tol = 1e-13, range = ";

DeviceRow in_plane(const char* name, int colours, const char* spinor, const KnownForces& known) {
  DeviceRow row{name, kCall, kWilson, known};
  row.spinor = spinor;
  row.gauge = colours == 1 ? "U(1)" : "SU(2)", row.lattice = colours == 1 ? "4^2" : "4 * 6";
  row.antiperiodic = "y", row.kappa = 0.24, row.scale = colours == 1 ? 1.5 : 1.2;
  row.colours = colours, row.dims = 2, row.volume = colours == 1 ? 16 : 24;
  return row;
}

const std::vector<DeviceRow>& device_rows() {
  static const std::vector<DeviceRow> all = {
      {.name = "plaquettes",
       .action = "6*sum(1 - re(tr(P[mu,nu]))/3, mu < nu)",
       .known = {2467.985656547168, 27665.5358747685, -85.9604582480, -0.7688603513, 1.0550577329},
       .constants = 36},
      {"wilson",
       kCall,
       kWilson,
       {2673.547476342968, 15772.6669004179, -107.9695793876, 0.2970359097, -0.2569816785}},
      {"wilson_odd",
       kAtOdd,
       kWilson,
       {972.240207784996, 1049.0674226191, 36.2553716664, 0.0509380168, 0.3140480491},
       FieldSites::Odd},
      {"twisted",
       kCall,
       kTwisted,
       {2623.988774848899, 13768.1393963924, -104.1264285889, 0.2031777842, -0.1614368917}},
      {"twisted_odd",
       kAtOdd,
       kTwisted,
       {959.423942257603, 934.2729885927, 34.2431738897, 0.0001100382, 0.2837898355},
       FieldSites::Odd},
      {"staggered",
       kCall,
       kStaggered,
       {540.156567507716, 8893.6743430970, 9.2316258818, -0.0585228835, 0.5742997003},
       FieldSites::All,
       kOfPhases,
       "spinor(1)"},
      {"staggered_even",
       kCall,
       kStaggered,
       {278.765449550709, 4729.6372640793, -8.5626691638, 0.4600509148, 0.9779727342},
       FieldSites::Even,
       kOfPhases,
       "spinor(1)"},
      {"staggered_even_half",
       kFraction + "[0.09, 4.3])^(1/2)",
       kStaggered,
       {205.538486278125, 355.2371930324, 1.1497472428, 0.1225467027, 0.2202458574},
       FieldSites::Even,
       kOfPhases,
       "spinor(1)"},
      {"staggered_even_quarter",
       kFraction + "[0.09, 4.3])^(1/4)",
       kStaggered,
       {196.257538742537, 59.3511770551, 0.7078197603, 0.0438720525, 0.0708531564},
       FieldSites::Even,
       kOfPhases,
       "spinor(1)"},
      in_plane("u1_of_two", 1, "spinor(2)", {21.208757274324, 37.7938787680, -10.3095547230}),
      in_plane("u1_of_four", 1, "spinor", {80.524037325632, 485.2196084919, 17.4475406602}),
      in_plane("su2_of_two", 2, "spinor(2)", {151.001764463909, 1936.2960977496, 18.2684706349}),
      in_plane("su2_of_four", 2, "spinor", {272.825956750752, 3327.7642820348, -138.6078926619}),
  };
  return all;
}

struct MeasuredRow {
  double action;
  std::vector<double> slopes;
};

MeasuredRow measured_row(const DeviceRow& row, const std::string& device) {
  FixedQuarks quarks(row.text(), row.colours, row.dims, row.volume, row.scale, row.spins(), device);
  if (row.sites == FieldSites::Odd) quarks.at_odd_sites({4, 2, 6, 4});
  if (row.sites == FieldSites::Even) quarks.at_even_sites({4, 2, 6, 4});
  const double action =
      row.quark.empty() ? quarks.energy() + row.volume * row.constants : quarks.action();
  const std::vector<double> slopes = quarks.slopes();
  EXPECT_NEAR(action, row.known.s, 1e-9 * row.known.s) << device;
  testing::expect_slopes(quarks, slopes, row.known, 1e-9, row.dims == 4);
  return {action, slopes};
}

class QuarkRows : public ::testing::TestWithParam<int> {
 protected:
  static const DeviceRow& row() { return device_rows()[static_cast<std::size_t>(GetParam())]; }
};

/// Of every device those of the independent program, and those of each other: S to 1e-12, each
/// slope to 1e-11 of the largest one.
TEST_P(QuarkRows, OnEveryDevice) {
  std::vector<MeasuredRow> all;
  for (const char* device : {"native", "opencl", "cuda"}) {
    SCOPED_TRACE(device);
    if (testing::device(device)) all.push_back(measured_row(row(), device));
  }
  if (all.empty()) GTEST_SKIP() << "no device";
  double largest = 0;
  for (const double slope : all[0].slopes) largest = std::max(largest, std::abs(slope));
  EXPECT_GT(largest, 0.01);
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_NEAR(all[i].action, all[0].action, 1e-12 * all[0].action);
    ASSERT_EQ(all[i].slopes.size(), all[0].slopes.size());
    for (std::size_t k = 0; k < all[0].slopes.size(); ++k)
      ASSERT_NEAR(all[i].slopes[k], all[0].slopes[k], 1e-11 * largest) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Known, QuarkRows,
                         ::testing::Range(0, static_cast<int>(device_rows().size())),
                         [](const auto& test) {
                           return std::string(
                               device_rows()[static_cast<std::size_t>(test.param)].name);
                         });

}  // namespace
}  // namespace vphi
