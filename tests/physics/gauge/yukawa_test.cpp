// Determinants of operators whose numbers hold fields at sites: the force on these fields by orders
// of the integrator and by reversed trajectories, averages against formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

/// Quarks of two components on links of U(1) beside a real field.
struct YukawaModel {
  std::string quark, determinant;
  std::string box = "4^2", spinor = "spinor(2)", field = "phi: real";
  std::string density = "phi^2/2 + sum((phi@k - phi)^2/2, k)";
  std::string sample = "trajectories = 1, tau = 1";
  std::string level = "steps = 8, scheme = omelyan2", more = {};

  std::string text() const {
    return "model yukawa\nparam g = 0.3, kappa = 0.12\nlattice grid: " + box +
           "\ngauge U: U(1)\nfield " + field + "\nfermion psi: " + spinor +
           (box == "4^2" ? ", boundary(y) = antiperiodic" : "") +
           "\nhop(psi) = sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\nD(psi) = " +
           quark + "\naction quarks = " + determinant + "\naction fields = " + density +
           "\naction glue = sum(1 - re(loop(mu, nu, -mu, -nu)), mu < nu)\nsample hmc, " + sample +
           " {\n  level quarks, fields, glue: " + level + "\n}\ninit U ~ hot\ninit phi ~ normal\n" +
           (more.empty() ? "every 1 trajectory: deltaH -> \"y.csv\"\n" : more);
  }
};

double delta(YukawaModel model, int steps) {
  model.level = "steps = " + std::to_string(steps) + ", scheme = omelyan2";
  return testing::last(testing::run_text(model.text(), {}), "deltaH");
}

/// deltaH of a trajectory falls with the square of the step where the force is that of S.
TEST(FieldsInNumbers, ForcesOnFields) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const std::string here = "psi + g*phi*psi - kappa*hop(psi)";
  const std::string turned = "psi + 1i*g*phi*(gamma5*psi) + g*phi@x*psi - kappa*hop(psi)";
  const std::string hops = "psi - kappa*(1 + g*phi)*hop(psi)";
  const std::string one = "pseudofermion(D, solver = cg(1e-12))";
  const std::string range = "solver = multishift(1e-12), tol = 1e-10, range = [1e-3, 20]";
  // loops of links at the sites: R is kept in blocks, and log|det R| is one of links and field
  const std::string loops =
      turned + " + (1 + phi@y)*gamma[x]*gamma[y]*(loop(x, y, -x, -y) - loop(y, x, -y, -x))*psi/10";
  const YukawaModel all[] = {
      {.quark = loops, .determinant = one},
      {.quark = loops,
       .determinant = "pseudofermion(D, solver = cg(1e-12), even_odd = on)/pseudofermion(D, g = "
                      "0.2, solver = cg(1e-12), even_odd = on)"},
      {.quark = loops, .determinant = "1/pseudofermion(D, solver = cg(1e-12), even_odd = on)"},
      {.quark = loops, .determinant = "pseudofermion(D, " + range + ", even_odd = on)^(1/2)"},
      {.quark = turned, .determinant = one + "/pseudofermion(D, g = 0.2, solver = cg(1e-12))"},
      {.quark = hops,
       .determinant =
           "pseudofermion(D, solver = cg(1e-12), even_odd = on)/pseudofermion(D, kappa = "
           "0.1, solver = cg(1e-12), even_odd = on)"},
      {.quark = here, .determinant = "1/" + one},
      {.quark = turned, .determinant = "pseudofermion(D, " + range + ")^(1/2)"},
      {.quark = "psi + g*(re(phi) + 1i*gamma5*im(phi))*psi - kappa*hop(psi)",
       .determinant = one,
       .field = "phi: complex",
       .density = "norm2(phi)/2"},
      // R at the sites moves: log|det R| at even sites has a force of its own
      {.quark = "psi + g*(re(phi) + 1i*gamma5*im(phi))*psi - kappa*hop(psi)",
       .determinant = "pseudofermion(D, solver = cg(1e-12), even_odd = on)",
       .field = "phi: complex",
       .density = "norm2(phi)/2"},
      {.quark = turned,
       .determinant = "pseudofermion(D, solver = cg(1e-12), even_odd = on)/pseudofermion(D, g = "
                      "0.2, solver = cg(1e-12), even_odd = on)"},
      {.quark = here, .determinant = "1/pseudofermion(D, solver = cg(1e-12), even_odd = on)"},
      {.quark = here, .determinant = "pseudofermion(D, " + range + ", even_odd = on)^(1/2)"},
  };
  for (const YukawaModel& model : all) {
    SCOPED_TRACE(model.quark + ": " + model.determinant);
    const double coarse = delta(model, 12) * 144, fine = delta(model, 24) * 576;
    EXPECT_GT(std::abs(fine), 0.02);
    EXPECT_NEAR(fine / coarse, 1, 0.1);
  }
}

/// With hops of 1e-7 the sites are alone: the weight is exp(-phi^2/2) (1 + g^2 (phi + 1)^2) of one
/// component, for the field of the determinant at all sites and, with R at even sites beside it, at
/// odd ones.
TEST(FieldsInNumbers, AveragesOfSites) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  const double g2 = 0.49;
  for (const char* option : {"", ", even_odd = on"}) {
    YukawaModel model{
        .quark = "psi + 0.7i*(phi + 1)*psi - 1e-7*hop(psi)",
        .determinant = std::string("pseudofermion(D, solver = cg(1e-10)") + option + ")",
        .box = "4*2",
        .spinor = "spinor(1)",
        .density = "phi^2/2",
        .sample = "trajectories = 170, tau = 1.5",
        .level = "steps = 4, scheme = omelyan2"};
    model.more =
        "sweep chain = 1..64\neven = mod(index(x) + index(y) + 1, 2)\n"
        "a = mean(mean(phi), over = time)\nb = mean(mean(phi^2), over = time)\n"
        "c = mean(2*mean(even*phi), over = time)\n"
        "at end, after = trajectory > 20: va = mean(a, over = chain), vb = mean(b, over = chain), "
        "vc = mean(c, over = chain), ea = error(mean(a, over = chain)), eb = error(mean(b, over = "
        "chain)), ec = error(mean(c, over = chain)) -> \"y.csv\"\n";
    std::string text = model.text();
    const std::size_t gammas = text.find("(1 - gamma[mu])*");
    text.erase(gammas, std::string("(1 - gamma[mu])*").size());
    const auto result = testing::run_text(text, {});
    const auto last = [&](const char* name) { return testing::last(result, name); };
    EXPECT_NEAR(last("va"), 2 * g2 / (1 + 2 * g2), 4 * last("ea")) << option;
    EXPECT_NEAR(last("vb"), (1 + 4 * g2) / (1 + 2 * g2), 4 * last("eb")) << option;
    EXPECT_NEAR(last("vc"), 2 * g2 / (1 + 2 * g2), 4 * last("ec")) << option;
    EXPECT_LT(last("ea"), 0.015);
    EXPECT_LT(last("eb"), 0.025);
    EXPECT_LT(last("ec"), 0.02);
  }
}

}  // namespace
}  // namespace vphi
