// Coefficients that jump at the edge of a box, in what is moved with a sum over all sites: adjoints
// of operators, and forces of a written Hamiltonian.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;

class Adjoint : public ::testing::TestWithParam<const char*> {};

/// <chi, D psi> = <adj(D) chi, psi>, also of D applied twice.
TEST_P(Adjoint, OfNumbersOfTheSite) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  for (const char* lattice : {"5 * 3", "4 * 6"}) {
    const auto result = run_text(
        "model quark \"coefficients that differ from site to site\"\nlattice grid: " +
            std::string(lattice) +
            "\ngauge U: U(1)\nfermion psi, chi, phi: spinor, boundary(y) = antiperiodic\n"
            "w = 1 + index(x) + 0.3i*index(y)\nD(psi) = psi + " +
            GetParam() +
            "\ninit U ~ hot\ninit psi ~ normal, chi ~ normal, phi = 0\n"
            "at end: size = total(norm2(D(psi))), a = total(dot(chi, D(psi))), b = "
            "total(dot(adj(D, chi), psi)), c = total(dot(D(chi), D(psi))), e = total(dot(adj(D, "
            "D(chi)), psi)) -> \"d.h5\"\n",
        {});
    const double size = last(result, "size");
    EXPECT_GT(size, 100);
    for (const std::string part : {"re", "im"}) {
      const auto value = [&](const std::string& name) {
        return last(result, part + "(" + name + ")");
      };
      EXPECT_GT(std::abs(value("a")), 1e-3) << part;
      EXPECT_NEAR(value("b"), value("a"), 1e-14 * size) << part;
      if (part == "re") {
        EXPECT_NEAR(value("e"), value("c"), 1e-14 * size);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operators, Adjoint,
    ::testing::Values("sum((1 - gamma[mu])*w*U[mu]*psi@mu, mu = directions(+,-))",
                      "w*U[x]*U[y]@x*psi@(1,1) + index(y)*(U[x]*psi@x - U[-x]*psi@-x)",
                      "(w*psi)@x"));

/// A solver that applies the adjoint converges; the residual is of the operator alone.
TEST(Edge, Solves) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  for (const std::string op :
       {"9*u - (1 + 0.3*index(x))*u@x - 0.2*index(x)*u@-y", "9*u - (1 + 0.3*index(x))*lap(u)",
        "9*u - 0.3*index(y)*u@(2,-1) + (0.2*index(x)*u)@-x - u@y"}) {
    const auto result = run_text(
        "model sites \"an operator that differs from site to site\"\n"
        "lattice box: 6 * 5, spacing = 1, boundary = periodic\nA(u) = " +
            op +
            "\nb = (index(x) == 2)*(index(y) == 1)\nphi = solve(A, b, solver = cgne(1e-13, max = "
            "200))\nat end: size = max(abs(phi)), left = residual(phi) -> \"a.h5\"\n",
        {});
    EXPECT_GT(last(result, "size"), 0.05) << op;
    EXPECT_LT(last(result, "left"), 1e-12) << op;
  }
}

/// The energy of a Hamiltonian is kept to second order in dt.
TEST(Edge, EnergyIsKept) {
  if (!testing::device("native")) GTEST_SKIP() << "no native device";
  for (const std::string energy : {"c*(q@x - q)^2/2 + (q@y - q)^2/2", "c*norm2(grad(q))/2",
                                   "c*sin(q@x - q@-y)^2 - c*q*lap(q)/2"}) {
    const auto lost = [&](const std::string& dt) {
      const auto result = run_text(
          "model bonds \"a coefficient that differs from site to site\"\n"
          "lattice box: 5 * 4, spacing = 1, boundary = periodic\nfield q, p: real\n"
          "c = 1 + 0.3*index(x)\nH = total(p^2/2 + " +
              energy + ")\ninit q ~ normal, p ~ normal\nevolve leapfrog, dt = " + dt +
              ", until = t > 2\nevery 1 step: H -> \"h.csv\"\n",
          {});
      double most = 0;
      for (const runtime::Series& series : result.series) {
        if (series.name != "H") continue;
        const double first = series.points.front().second;
        for (const auto& [t, h] : series.points) most = std::max(most, std::abs(h / first - 1));
      }
      return most;
    };
    const double coarse = lost("0.02"), fine = lost("0.01");
    EXPECT_LT(coarse, 0.01) << energy;
    EXPECT_NEAR(coarse / fine, 4, 0.4) << energy;
  }
}

}  // namespace
}  // namespace vphi
