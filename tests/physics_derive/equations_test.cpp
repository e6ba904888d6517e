// Equations of motion against ones derived by hand: the same canonical node.
#include <gtest/gtest.h>

#include "derive_text.hpp"

namespace vphi::physics::test {
namespace {

const char* const kBox = "lattice box: 8^3, length = 8, boundary = periodic\n";
const char* const kEnd = "evolve leapfrog, dt = 0.01, until = t > 1\n";

std::string flat(const std::string& body) {
  return "model test \"t\"\n" + std::string(kBox) + body + kEnd;
}

TEST(Equations, PotentialGivesForce) {
  const auto d = derived(flat("field u: real\npotential V = u^4/4 + cos(u)\ninit u = 1, u' = 0\n"));
  const System& s = *d.system;
  const Expr u = load(s, "u");
  const Expr lap = s.arena->stencil(s.laplacian, u);
  const Expr force = lap - algebra::pow(u, 3) + s.arena->make(Op::Sin, {u});
  EXPECT_EQ(variable(s, "pi_u").rate, force) << text(s, variable(s, "pi_u").rate);
  EXPECT_EQ(variable(s, "u").rate, load(s, "pi_u"));
}

TEST(Equations, TwoFieldsInAnExpandingBox) {
  for (const int s_power : {0, -1}) {
    const auto d = derived("model test \"t\"\nunits reduced_planck\n" + std::string(kBox) +
                           "metric frw(a)\nfield phi, chi: real\nparam m = 1/4, g = 3\n"
                           "potential V = m^2*phi^2/2 + g^2*phi^2*chi^2/2\n"
                           "rescale A = 2, B = 1/4, s = " +
                           std::to_string(s_power) +
                           "\n"
                           "init phi = 1, chi = 0\n" +
                           kEnd);
    const System& s = *d.system;
    algebra::Arena& arena = *s.arena;
    const Expr a = arena.symbol("a"), phi = load(s, "phi"), chi = load(s, "chi");
    const Expr lap = arena.stencil(s.laplacian, phi);
    const int p = s_power;
    // pi' = a^(1-s) lap psi - a^(3-s) (A/B)^2 dV/d(psi): m^2/B^2 = 1, g^2/(A B)^2 = 36
    const Expr expected = algebra::pow(a, 1 - p) * lap - algebra::pow(a, 3 - p) * phi -
                          arena.integer(36) * algebra::pow(a, 3 - p) * phi * chi * chi;
    EXPECT_EQ(variable(s, "pi_phi").rate, expected) << text(s, variable(s, "pi_phi").rate);
    EXPECT_EQ(variable(s, "phi").rate, algebra::pow(a, -3 - p) * load(s, "pi_phi"));
  }
}

TEST(Equations, ComplexFieldDifferentiatesByItsConjugate) {
  const auto d =
      derived(flat("field phi: complex\npotential V = norm2(phi)^2\n"
                   "init phi = 1 + 2i, phi' = 1i*phi\n"));
  const System& s = *d.system;
  algebra::Arena& arena = *s.arena;
  const Expr p = load(s, "phi_re"), q = load(s, "phi_im");
  const Expr size = p * p + q * q;
  // d(|phi|^4)/d(conj phi) = 2 |phi|^2 phi
  const Expr expected = arena.stencil(s.laplacian, q) - arena.integer(2) * q * size;
  EXPECT_EQ(variable(s, "pi_phi_im").rate, expected) << text(s, variable(s, "pi_phi_im").rate);
  // phi' = i*phi: (re', im') = (-im, re)
  ASSERT_EQ(s.initial.size(), 4u);
  EXPECT_EQ(s.initial[2].value, -q);
  EXPECT_EQ(s.initial[3].value, p);
}

TEST(Equations, WrittenWithDerivedAndFriction) {
  const auto d =
      derived(flat("field u: real\nparam gamma = 1/2\npotential V = u^2/2\n"
                   "u'' = derived - gamma*u'\ninit u = 1, u' = 0\n"));
  const System& s = *d.system;
  const Expr u = load(s, "u"), v = load(s, "pi_u");
  EXPECT_EQ(variable(s, "pi_u").rate,
            s.arena->stencil(s.laplacian, u) - u - s.arena->rational(1, 2) * v);
}

TEST(Equations, FrictionOfAnyStrengthGoesIntoTheMomentum) {
  // Press, Ryden, Spergel: phi'' = lap(phi)/a^2 - 2*H*phi' - dV/a^2; momentum a^2*phi'
  const auto d = derived("model test \"t\"\n" + std::string(kBox) +
                         "metric frw(a = t^(1/2))\nfield phi: real\n"
                         "phi'' = lap(phi)/a^2 - 2*H*phi' - (phi^3 - phi)\ninit t = 1, phi = 1\n" +
                         kEnd);
  const System& s = *d.system;
  const Expr t = s.arena->symbol("t");
  EXPECT_EQ(variable(s, "phi").rate, load(s, "pi_phi") / t) << text(s, variable(s, "phi").rate);
  EXPECT_FALSE(algebra::depends_on(variable(s, "pi_phi").rate, load(s, "pi_phi")));
}

TEST(Equations, FirstOrder) {
  const auto d = derived("model test \"t\"\n" + std::string(kBox) +
                         "field u: real\nu' = lap(u) + u - u^3\ninit u = 0.1\n"
                         "evolve rk4, dt = 0.01, until = t > 1\n");
  const System& s = *d.system;
  const Expr u = load(s, "u");
  EXPECT_EQ(variable(s, "u").role, Role::FirstOrder);
  EXPECT_EQ(variable(s, "u").rate, s.arena->stencil(s.laplacian, u) + u - algebra::pow(u, 3));
}

TEST(Equations, HamiltonianCountsNeighbours) {
  const auto d = derived(
      "model test \"t\"\nlattice chain: 8, spacing = 1, boundary = periodic\nfield q, p: real\n"
      "H = total(p^2/2 + (q@x - q)^2/2)\ninit q = sin(index(x)), p = 0\n" +
      std::string(kEnd));
  const System& s = *d.system;
  const Expr q = load(s, "q");
  algebra::Offset right, left;
  right.d[0] = 1, left.d[0] = -1;
  const Expr expected =
      algebra::shift(q, right) - s.arena->integer(2) * q + algebra::shift(q, left);
  EXPECT_EQ(variable(s, "q").rate, load(s, "p"));
  EXPECT_EQ(variable(s, "p").rate, expected) << text(s, variable(s, "p").rate);
  EXPECT_EQ(variable(s, "p").role, Role::Momentum);
  EXPECT_EQ(variable(s, "p").partner, variable(s, "q").array);
}

TEST(Equations, WallLinksBelongToATotal) {
  const auto d = derived(
      "model test \"t\"\nlattice chain: 4, spacing = 1, boundary = fixed(0)\nfield q, p: real\n"
      "H = total(p^2/2 + (q@x - q)^2/2)\ninit q = 0, p = 0\n" +
      std::string(kEnd) + "every 1 step: H -> \"x.h5\"\n");
  const System& s = *d.system;
  // q = 0 but at the first site, beside the left wall: two links are stretched
  SmallLattice lattice(s, 4);
  for (int i = 0; i < 4; ++i) {
    lattice.at(variable(s, "q").array, i) = i == 0 ? 2 : 0;
    lattice.at(variable(s, "p").array, i) = 0;
  }
  EXPECT_DOUBLE_EQ(lattice.value(observable(s, "H")), 4);
}

TEST(Equations, DerivativeOfAnyPotentialAgainstDifferences) {
  const auto d = derived(
      flat("field u, w: real\nW(x) = exp(-x^2)*log(2 + x^2)\n"
           "potential V = W(u)*sin(w) + tanh(u*w)/(1 + w^2) + sqrt(1 + u^2*w^4) + 0.3*abs(u)^2.5\n"
           "init u = 1, w = 0\n"));
  const System& s = *d.system;
  const auto value = [&](Expr e, double u, double w) {
    algebra::Environment environment;
    environment.leaf = [&](const algebra::Node& node) {
      if (node.op == Op::Stencil) return 0.0;
      return node.index == variable(s, "u").array ? u : w;
    };
    return algebra::evaluate(e, environment);
  };
  // the potential from the conserved energy: mean(rho) without kinetic and gradient parts
  const auto e = derived(
      flat("field u, w: real\nW(x) = exp(-x^2)*log(2 + x^2)\n"
           "potential V = W(u)*sin(w) + tanh(u*w)/(1 + w^2) + sqrt(1 + u^2*w^4) + 0.3*abs(u)^2.5\n"
           "init u = 1, w = 0\n") +
      "every 1 step: snapshot(V) -> \"x.h5\"\n");
  const Expr v = observable(*e.system, "snapshot(V)");
  const double h = 1e-5;
  for (const double u : {-1.3, 0.4, 2.1}) {
    for (const double w : {-0.7, 1.9}) {
      const double slope_u = (value(v, u + h, w) - value(v, u - h, w)) / (2 * h);
      const double slope_w = (value(v, u, w + h) - value(v, u, w - h)) / (2 * h);
      EXPECT_NEAR(-value(variable(s, "pi_u").rate, u, w), slope_u, 1e-8);
      EXPECT_NEAR(-value(variable(s, "pi_w").rate, u, w), slope_w, 1e-8);
    }
  }
}

TEST(Equations, VectorsComponentByComponent) {
  const auto d =
      derived(flat("field n: vec(3)\npotential V = (norm2(n) - 1)^2/4\n"
                   "init n = [1, 0, 0]\n"));
  const System& s = *d.system;
  ASSERT_EQ(s.variables.size(), 6u);
  const Expr n1 = load(s, "n_1");
  const Expr size = algebra::pow(load(s, "n_0"), 2) + algebra::pow(n1, 2) +
                    algebra::pow(load(s, "n_2"), 2) - s.arena->integer(1);
  EXPECT_EQ(variable(s, "pi_n_1").rate, s.arena->stencil(s.laplacian, n1) - n1 * size)
      << text(s, variable(s, "pi_n_1").rate);
}

TEST(Equations, ShownWithTheUsersNames) {
  const auto d =
      derived(flat("field u: real\nparam lambda = 3\npotential V = lambda*u^4/4\n"
                   "init u = 1\n"));
  const System& s = *d.system;
  ASSERT_FALSE(s.physical.empty());
  EXPECT_EQ(s.physical[0].left, "u''");
  EXPECT_TRUE(algebra::depends_on(s.physical[0].right, s.arena->symbol("lambda")));
  ASSERT_EQ(s.folded.size(), 1u);
  EXPECT_EQ(s.folded[0].second, 3);
}

TEST(Equations, RescalingSolved) {
  const std::string begin = "model test \"t\"\nunits reduced_planck\n" + std::string(kBox) +
                            "metric frw(a)\nfield phi: real\nparam m = 1/8, lambda = 1/4\n";
  const auto quadratic = derived(begin +
                                 "potential V = m^2*phi^2/2\nrescale auto(m^2*phi^2/2)\n"
                                 "init phi = 2\n" +
                                 kEnd);
  EXPECT_DOUBLE_EQ(quadratic.system->A, 0.5);
  EXPECT_DOUBLE_EQ(quadratic.system->B, 0.125);
  EXPECT_EQ(quadratic.system->s, 0);
  const auto quartic = derived(begin +
                               "potential V = lambda*phi^4/4\n"
                               "rescale auto(lambda*phi^4/4)\ninit phi = 2\n" +
                               kEnd);
  const System& s = *quartic.system;
  EXPECT_DOUBLE_EQ(s.A, 0.5);
  EXPECT_DOUBLE_EQ(s.B, 1);  // sqrt(lambda)*phi0
  EXPECT_EQ(s.s, -1);
  // the term becomes psi^4/4: force -a^4 psi^3
  const Expr a = s.arena->symbol("a"), phi = load(s, "phi");
  EXPECT_EQ(variable(s, "pi_phi").rate, algebra::pow(a, 2) * s.arena->stencil(s.laplacian, phi) -
                                            algebra::pow(a, 4) * algebra::pow(phi, 3));
}

}  // namespace
}  // namespace vphi::physics::test
