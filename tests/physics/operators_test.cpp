// Dirac operators written in other ways than `hop`, and fermions of different boundaries.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/physics/gauge/free_quarks.hpp"

namespace vphi {
namespace {

using namespace testing::dirac;
using testing::last;
using testing::run_text;

/// Largest difference of two operators on a random spinor, and the size of what the second makes.
runtime::RunResult compared(const std::string& operators) {
  return run_text(
      "model same \"two operators\"\nparam kappa = 0.13\nlattice grid: [4, 2, 3, 4]\n"
      "gauge U: SU(3)\nfermion psi, chi: spinor, boundary(t) = antiperiodic\n"
      "C[mu,nu] = loop(mu, nu, -mu, -nu) + loop(nu, -mu, -nu, mu)"
      " + loop(-mu, -nu, mu, nu) + loop(-nu, mu, nu, -mu)\n"
      "F[mu,nu] = (C[mu,nu] - adj(C[mu,nu]))/8\n" +
          operators +
          "init U ~ hot, psi ~ normal, chi ~ normal\n"
          "at end: off = max(norm2(A(psi) - B(psi))), size = max(norm2(B(psi))) "
          "-> \"o.csv\"\n",
      {});
}

TEST(Operators, SumsOverAnAxisAreSumsOverDirections) {
  const char* const ways[] = {
      // both ways by hand
      "A(psi) = psi - kappa*sum((1 - gamma[k])*U[k]*psi@k + (1 + gamma[k])*adj(U[k]@-k)*psi@-k, "
      "k)\n",
      // one axis apart
      "A(psi) = psi - kappa*sum((1 - gamma[k])*U[k]*psi@k + (1 + gamma[k])*U[-k]*psi@-k, k != t)"
      " - kappa*((1 - gamma[t])*U[t]*psi@t + (1 + gamma[t])*U[-t]*psi@-t)\n",
      // a weight for each axis
      "w[k] = 2 if k == t else 1\n"
      "A(psi) = psi - kappa*sum((1 - gamma[k])*U[k]*psi@k + (1 + gamma[k])*U[-k]*psi@-k, k)"
      " + kappa*sum(w[k]*gamma[k]*psi, k) - kappa*sum(gamma[k]*psi, k) - kappa*gamma[t]*psi\n"};
  for (const char* const way : ways) {
    const auto result =
        compared(way + std::string("B(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, "
                                   "mu = directions(+,-))\n"));
    EXPECT_LT(last(result, "off"), 1e-26) << way;
    EXPECT_GT(last(result, "size"), 1);
  }
}

TEST(Operators, AxesOfTheirOwnWeight) {
  const auto result = compared(
      "xi[k] = 2 if k == t else 1\n"
      "A(psi) = sum(xi[k]*(1 - gamma[k])*U[k]*psi@k, k)\n"
      "B(psi) = sum((1 - gamma[k])*U[k]*psi@k, k) + (1 - gamma[t])*U[t]*psi@t\n");
  EXPECT_LT(last(result, "off"), 1e-26);
  EXPECT_GT(last(result, "size"), 1);
}

// `k != t` leaves the axis out, of loops as of hops.
TEST(Operators, LoopsInPlanesWithTime) {
  const auto result = run_text(
      "model loops \"planes with time\"\nlattice grid: [4, 2, 3, 4]\ngauge U: SU(2)\n"
      "W(R, T) = mean(re(tr(loop(R*k, T*t, -R*k, -T*t)))/2, k != t)\n"
      "init U ~ hot\n"
      "at end: all = W(2, 1), x = mean(re(tr(loop(2*x, t, -2*x, -t)))/2), "
      "y = mean(re(tr(loop(2*y, t, -2*y, -t)))/2), z = mean(re(tr(loop(2*z, t, -2*z, -t)))/2) "
      "-> \"l.csv\"\n",
      {});
  EXPECT_NEAR(last(result, "all"), (last(result, "x") + last(result, "y") + last(result, "z")) / 3,
              1e-15);
  EXPECT_GT(std::fabs(last(result, "all") - last(result, "x")), 1e-4);
}

// The clover term in one sum; gamma5 A gamma5 is the adjoint of A with it as well.
TEST(Operators, Clover) {
  const auto result = compared(
      "W(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
      "A(psi) = W(psi) - 1.5*kappa*sum(gamma[mu]*gamma[nu]*F[mu,nu]*psi, mu < nu)\n"
      "B(psi) = W(psi) - 1.5*kappa*(gamma[x]*gamma[y]*F[x,y]*psi + gamma[x]*gamma[z]*F[x,z]*psi"
      " + gamma[x]*gamma[t]*F[x,t]*psi + gamma[y]*gamma[z]*F[y,z]*psi"
      " + gamma[y]*gamma[t]*F[y,t]*psi + gamma[z]*gamma[t]*F[z,t]*psi)\n"
      "at end: left = re(total(dot(chi, A(psi)))), right = re(total(dot(gamma5*A(gamma5*chi), "
      "psi)))"
      " -> \"h.csv\"\n");
  EXPECT_LT(last(result, "off"), 1e-26);
  EXPECT_NEAR(last(result, "left"), last(result, "right"), 1e-10);
  EXPECT_GT(std::fabs(last(result, "left")), 1e-2);
}

// The solution of a system has the boundary of the fermion that its operator acts on.
TEST(Operators, FermionsOfTwoBoundaries) {
  const Free turned{{4, 4, 4, 4}, 0.15, 0, true}, plain{{4, 4, 4, 4}, 0.15, 0, false};
  const auto result = run_text(
      "model two \"free quarks with both boundaries\"\nparam kappa = 0.15\nlattice grid: 4^4\n"
      "gauge U: SU(3)\nfermion psi: spinor, boundary(t) = antiperiodic\nfermion eta: spinor\n"
      "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
      "D_eta(eta) = D(eta)\n" +
          kPoint +
          "A[s,c] = solve(D, point*spinor(s, c), solver = cgne(1e-13))\n"
          "B[s,c] = solve(D_eta, point*spinor(s, c), solver = cgne(1e-13))\n"
          "pion(t0) = 4*kappa^2*total(sum(norm2(A[s,c]), s, c)*(index(t) == t0))/64\n"
          "other(t0) = 4*kappa^2*total(sum(norm2(B[s,c]), s, c)*(index(t) == t0))/64\n"
          "init U ~ cold\n"
          "at end: a0 = pion(0), a1 = pion(1), a2 = pion(2), b0 = other(0), b1 = other(1), "
          "b2 = other(2) -> \"b.csv\"\n",
      {});
  const auto a = free_pion(turned), b = free_pion(plain);
  for (int t = 0; t < 3; ++t) {
    EXPECT_NEAR(last(result, "a" + std::to_string(t)), a[t], 1e-12) << t;
    EXPECT_NEAR(last(result, "b" + std::to_string(t)), b[t], 1e-12) << t;
  }
  EXPECT_GT(std::fabs(a[2] - b[2]), 1e-5);
}

}  // namespace
}  // namespace vphi
