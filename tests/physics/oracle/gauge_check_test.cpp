// The oracle of `vphi test` for links in a gauge: right models pass, and each planted fault is
// found.
#include <gtest/gtest.h>

#include "compiler/physics/chains/gauge_fixing.hpp"
#include "tests/physics/oracle/planted.hpp"

namespace vphi {
namespace {

using namespace planted;

std::string in_gauge(const std::string& group, int n, const std::string& sum,
                     const std::string& more = "") {
  const std::string number = std::to_string(n);
  return "model gauge \"links in a gauge\"\nlattice grid: 4 * 2\ngauge U: " + group +
         "\nV[mu] = gauge_fixed(U[mu], " + sum + more +
         ")\naction S = sum(1 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)\n"
         "sample heatbath, sweeps = 2\ninit U ~ hot\nat end: mean(re(tr(V[mu])), mu) -> "
         "\"m.csv\"\n";
}

constexpr const char* kAll = "sum(U[nu], nu)";

TEST(GaugeCheck, RightModelsPass) {
  for (const std::string& text :
       {in_gauge("U(1)", 1, kAll), in_gauge("SU(2)", 2, kAll), in_gauge("SU(3)", 3, kAll),
        in_gauge("SU(3), store = rows(2)", 3, "U[x]"),
        in_gauge("SU(2)", 2, "sum(U[nu], nu) + 0.3*path(x, y, x) - 0.1*U[y]@x", ", omega = 1.2"),
        in_gauge("U(1)", 1, "(1 + 0.5*1i)*U[x] + U[-y]")}) {
    const auto d = physics::test::derived(text);
    const auto rows = tools::check_derivatives(*d.resolved, *d.system);
    int compared = 0;
    for (const tools::DerivativeRow& row : rows) {
      if (row.variable != "theta of V" && row.variable != "V") continue;
      EXPECT_TRUE(row.right()) << text << report(rows);
      ++compared;
    }
    EXPECT_EQ(compared, 2) << text << report(rows);
  }
}

TEST(GaugeCheck, OtherSumsAreFound) {
  const Verdict sum = judged(in_gauge("SU(2)", 2, kAll), in_gauge("SU(2)", 2, "U[x] + 0.99*U[y]"));
  EXPECT_TRUE(sum.found) << sum.rows;
  const Verdict sign = judged(in_gauge("U(1)", 1, kAll), in_gauge("U(1)", 1, "-U[x] - U[y]"));
  EXPECT_TRUE(sign.found) << sign.rows;
}

TEST(GaugeCheck, FaultsAreFound) {
  const auto plant = [](const std::function<void(System&, physics::LinearSystem&)>& change) {
    return judged(in_gauge("SU(2)", 2, kAll), [&](System& s) {
      for (physics::LinearSystem& solve : s.solves) change(s, solve);
    });
  };
  const Verdict theta = plant([](System& s, physics::LinearSystem& solve) {
    if (physics::relaxation_of(solve))
      solve.op.image[0] = s.arena->real(1 + 1e-6) * solve.op.image[0];
  });
  EXPECT_TRUE(theta.found) << theta.rows;
  // links turned by the g of another site
  const Verdict links = plant([](System& s, physics::LinearSystem& solve) {
    if (physics::relaxation_of(solve)) return;
    for (Expr& part : solve.source)
      part = algebra::rewrite(
          part, [&](Expr node) { return neighbour(node) ? s.arena->load(node->index) : node; });
  });
  EXPECT_TRUE(links.found) << links.rows;
}

}  // namespace
}  // namespace vphi
