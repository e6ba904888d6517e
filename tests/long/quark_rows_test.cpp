// Actions, forces and trajectories of fixed links, momenta and fields on each device, against
// numbers of an independent program: SU(3) on 4 x 2 x 6 x 4, U(1) on 4^2 and SU(2) on 4 x 6
// (tests/physics/gauge/fixed_quarks.hpp, where the interpreter runs them).
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
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
  std::string hops = "U";     ///< the links of the hops
  KnownForces of_links = {};  ///< -2 log|det R| at even sites, which `known` leaves out

  int spins() const {
    if (quark.empty()) return 0;
    return spinor == "spinor" ? 4 : spinor[7] - '0';
  }
  std::string text() const {
    const std::string hop = spinor == "spinor(1)" ? ""
                                                  : "hop(psi) = sum((1 - gamma[mu])*" + hops +
                                                        "[mu]*psi@mu, mu = directions(+,-))\n";
    const std::string fermion = quark.empty() ? ""
                                              : "fermion psi: " + spinor + ", boundary(" +
                                                    antiperiodic + ") = antiperiodic\n" + before +
                                                    hop + "D(psi) = " + quark + "\n";
    return "model rows\nparam kappa = " + testing::exact(kappa) +
           ", mu_q = 0.2, c = 0.01, csw = 1.5\nlattice grid: " + lattice + "\ngauge U: " + gauge +
           "\nP[mu,nu] = loop(mu, nu, -mu, -nu)\nR[mu,nu] = loop(2*mu, nu, -2*mu, -nu)\n" +
           fermion + "action quarks = " + action +
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

const std::string kPairsOfTwoLinks =
    "psi - kappa*hop(psi) + c*sum("
    "(1 - (gamma[mu] + gamma[nu])/2)*path(mu, nu)*psi@mu@nu + "
    "(1 - (gamma[nu] - gamma[mu])/2)*path(-mu, nu)*psi@-mu@nu + "
    "(1 - (gamma[mu] - gamma[nu])/2)*path(mu, -nu)*psi@mu@-nu + "
    "(1 + (gamma[mu] + gamma[nu])/2)*path(-mu, -nu)*psi@-mu@-nu, mu != nu)";
const std::string kLeaves =
    "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + "
    "loop(-nu, mu, nu, -mu)\nF[mu,nu] = (C[mu,nu] - adj(C[mu,nu]))/8\n";
const std::string kOfLeaves =
    kTwisted + " - kappa*csw*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)";
const std::string kTwoStoutSteps =
    "B = 2*sum(1 - re(tr(P[mu,nu])), mu < nu)\nV[mu] = exp(-0.1*d(B, U[mu]))*U[mu]\n"
    "W[mu] = exp(-0.1*d(B, V[mu]))*V[mu]\n";

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
      {.name = "symanzik",
       .action = "3.9/3*(5/3*sum(3 - re(tr(P[mu,nu])), mu < nu) - sum(3 - re(tr(R[mu,nu])), mu != "
                 "nu)/12)",
       .known = {2330.145625029040, 26819.1638084022, -89.0949842418, -1.1942702868, 1.1127125237},
       .constants = 3.9 * (5.0 / 3 * 6 - 12.0 / 12)},
      {.name = "iwasaki",
       .action = "2.6/3*((1 + 8*0.331)*sum(3 - re(tr(P[mu,nu])), mu < nu) - 0.331*sum(3 - "
                 "re(tr(R[mu,nu])), mu != nu))",
       .known = {2991.789154198351, 48872.9245819094, -125.2179094433, -2.1722381016, 1.5876890772},
       .constants = 2.6 * ((1 + 8 * 0.331) * 6 - 0.331 * 12)},
      {"two_links",
       kCall,
       kPairsOfTwoLinks,
       {2182.529329832067, 1721.8712588464, -6.8328653495, -0.0677425225, -0.1746039714}},
      {"clover",
       kCall,
       kOfLeaves,
       {2958.594242672068, 45599.3249059611, 28.6627534826, 3.2982813277, -1.4526889747},
       FieldSites::All,
       kLeaves},
      {.name = "clover_odd",
       .action = kAtOdd,
       .quark = kOfLeaves,
       .known = {1051.110300049565, 3197.1767728298, 70.7755263494, 1.3997683146, 0.1241660347},
       .sites = FieldSites::Odd,
       .before = kLeaves,
       .of_links = {13.280034855056, 3.2798564304, 0.7984692431, 0.0382752567, 0.0057559193}},
      {"ratio",
       kCall + "/pseudofermion(D, mu_q = 0.6, solver = cg(1e-14))",
       kTwisted,
       {1618.085803739919, 6.0947020381, 0.8831365502, 0.0303786254, -0.0113116414}},
      {"ratio_odd",
       kAtOdd + "/pseudofermion(D, mu_q = 0.6, solver = cg(1e-14), even_odd = on)",
       kTwisted,
       {827.805265802770, 6.8091171140, 2.5108420583, 0.0041979832, 0.0520580016},
       FieldSites::Odd},
      {.name = "stout",
       .action = kCall,
       .quark = kTwisted,
       .known = {2643.974942000641, 8489.3462296106, 22.4581234731, 0.7418133221, -0.0271254393},
       .before = kTwoStoutSteps,
       .hops = "W"},
      {"wilson_odd_half",
       kFraction + "[0.1, 1.7], even_odd = on)^(1/2)",
       kWilson,
       {842.252197425766, 112.7597109353, 11.9299878501, -0.0564183095, 0.1055079798},
       FieldSites::Odd},
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

/// Of the fields and of log|det R| apart: with phi = 0 the slopes are those of the links alone.
void expect_parts(FixedQuarks& quarks, const std::vector<double>& both, const DeviceRow& row) {
  EXPECT_NEAR(-2 * quarks.logarithm(), row.of_links.s, 1e-9);
  quarks.without_fields();
  EXPECT_EQ(quarks.action(), 0);
  const std::vector<double> links = quarks.slopes();
  std::vector<double> fields;
  for (std::size_t i = 0; i < both.size(); ++i) fields.push_back(both[i] - links[i]);
  testing::expect_slopes(quarks, fields, row.known, 1e-9, true);
  testing::expect_slopes(quarks, links, row.of_links, 1e-9, true);
}

MeasuredRow measured_row(const DeviceRow& row, const std::string& device) {
  FixedQuarks quarks(row.text(), row.colours, row.dims, row.volume, row.scale, row.spins(), device);
  if (row.sites == FieldSites::Odd) quarks.at_odd_sites({4, 2, 6, 4});
  if (row.sites == FieldSites::Even) quarks.at_even_sites({4, 2, 6, 4});
  const double action =
      row.quark.empty() ? quarks.energy() + row.volume * row.constants : quarks.action();
  const std::vector<double> slopes = quarks.slopes();
  EXPECT_NEAR(action, row.known.s, 1e-9 * row.known.s) << device;
  if (row.of_links.s == 0) {
    testing::expect_slopes(quarks, slopes, row.known, 1e-9, row.dims == 4);
  } else {
    expect_parts(quarks, slopes, row);
  }
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
  std::string devices;
  // PoCL optimises for minutes over such kernels
  if (!testing::device("cuda")) setenv("VPHI_OPENCL_OPTIONS", "-cl-opt-disable", 1);
  const char* chosen = std::getenv("VPHI_ROW_DEVICES");  // tools/gpu_quarks
  for (const char* device : {"native", "opencl", "cuda"}) {
    SCOPED_TRACE(device);
    if (chosen && !std::strstr(chosen, device)) continue;
    if (!testing::device(device)) continue;
    all.push_back(measured_row(row(), device));
    devices += std::string(devices.empty() ? "" : " ") + device;
  }
  if (all.empty()) GTEST_SKIP() << "no device";
  RecordProperty("devices", devices);
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
