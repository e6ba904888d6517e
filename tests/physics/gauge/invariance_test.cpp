// Invariance under a gauge transformation of links and sources: U(x,mu) -> g(x) U g(x+mu)^+ with a
// random g at every site, a source v -> g v. Numbers of observables agree to rounding.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/physics/gauge/plain_links.hpp"

namespace vphi {
namespace {

using namespace testing::flow;

struct Transformed {
  Box before, after;
  Matrix at_origin;  ///< g(0)
};

Transformed transformed(int n, const std::vector<std::int64_t>& extent, unsigned seed) {
  const Box box = random_box(n, extent, 0.8, seed);
  std::mt19937 random(seed + 1);
  std::vector<Matrix> g;
  for (std::int64_t s = 0; s < box.sites(); ++s) g.push_back(random_element(n, 0.8, random));
  Box after = box;
  for (std::int64_t s = 0; s < box.sites(); ++s)
    for (int mu = 0; mu < box.dims; ++mu) {
      const Box::Site next = box.moved(box.site(s), mu, 1);
      const auto end = box.place(next, 0) / static_cast<std::size_t>(box.dims);
      Matrix& u = after.links[box.place(box.site(s), mu)];
      u = g[static_cast<std::size_t>(s)] * u * adjoint(g[end]);
    }
  return {box, after, g[0]};
}

runtime::RunResult measured(const Box& box, const std::string& text, const std::string& device) {
  const testing::ScratchFolder scratch;
  box.save(scratch / "links.ildg");
  testing::Simulation setup;
  setup.device = device;
  return testing::run_text(text + from_file(scratch / "links.ildg") + "\n", setup);
}

/// Every series of both: equal within a bound, and at least one of them not 0.
void expect_same(const runtime::RunResult& a, const runtime::RunResult& b, double within) {
  ASSERT_FALSE(a.series.empty());
  for (const auto& series : a.series) {
    const double value = testing::last(a, series.name);
    EXPECT_NEAR(value, testing::last(b, series.name), within) << series.name;
    EXPECT_NE(value, 0) << series.name;
  }
}

const std::string kLoops =
    "P[mu,nu] = loop(mu, nu, -mu, -nu)\n"
    "at end: plaquette = mean(re(tr(P[mu,nu])), mu < nu), re_polyakov = re(polyakov), "
    "bent = mean(im(tr(loop(x, y, y, -x, -y, -y)*P[x,y]))), "
    "long = mean(re(tr(loop(2*mu, 3*nu, -2*mu, -3*nu))), mu < nu)";

const std::string kClover =
    ", mean(E), Q -> \"i.csv\"\n"
    "C[mu,nu] = P[mu,nu] + loop(nu, -mu, -nu, mu) + loop(-mu, -nu, mu, nu) + loop(-nu, mu, nu, "
    "-mu)\n"
    "F[mu,nu] = (C[mu,nu] - adj(C[mu,nu]))/8\n"
    "E = sum(re(tr(F[mu,nu])^2)/n - re(tr(F[mu,nu]*F[mu,nu])), mu < nu)\n"
    "q = tr(F[x,y]*F[z,t]) - tr(F[x,z]*F[y,t]) + tr(F[x,t]*F[y,z])\n"
    "Q = -total(re(q))/(4*pi^2)\n";

TEST(Invariance, LoopsCloverAndPolyakov) {
  if (!native()) GTEST_SKIP() << "no native device";
  const auto t = transformed(2, {4, 3, 2, 4}, 20);
  std::string loops = kLoops;  // traces of SU(2) are real: nothing to see in the imaginary part
  loops.replace(loops.find("im(tr("), 6, "re(tr(");
  const std::string text =
      "model invariant \"links\"\nparam n = 2\nlattice grid: 4*3*2*4\n"
      "gauge U: SU(2)\n" +
      loops + kClover;
  expect_same(measured(t.before, text, "native"), measured(t.after, text, "native"), 5e-13);
}

TEST(Invariance, LoopsOfMatrices) {
  if (!native()) GTEST_SKIP() << "no native device";
  for (const int n : {3, 4}) {
    const auto t = transformed(n, {4, 5}, 20 + static_cast<unsigned>(n));
    const std::string text = fmt::format(
        "model invariant \"links\"\nlattice grid: 4*5\ngauge U: SU({})\n{} -> \"i.csv\"\n", n,
        kLoops);
    expect_same(measured(t.before, text, "native"), measured(t.after, text, "native"), 5e-13);
  }
}

/// Projected sums of paths, a step of APE smearing after one of the plane, whose links have two
/// indices.
TEST(Invariance, ProjectedLinks) {
  if (!native()) GTEST_SKIP() << "no native device";
  const auto t = transformed(2, {4, 3, 2}, 42);
  const std::string text =
      "model invariant \"links\"\nlattice grid: 4*3*2\ngauge U: SU(2)\n"
      "X[mu,nu] = project(0.6*U[mu] + 0.2*(path(nu, mu, -nu) + path(-nu, mu, nu)))\n"
      "V[mu] = project(0.4*U[mu] + 0.15*sum(X[nu,mu]*X[mu,nu]@nu*adj(X[nu,mu]@mu) + "
      "X[-nu,mu]*X[mu,nu]@-nu*adj(X[-nu,mu]@mu), nu != mu))\n"
      "at end: plaquette = mean(re(tr(loop(V, mu, nu, -mu, -nu))), mu < nu), "
      "beside = mean(re(tr(X[x,y]*X[y,z]@x*adj(X[x,y]@y)*adj(X[y,z])))), "
      "loop_of_one = mean(re(tr(V[x]*U[y]@x*adj(V[x]@y)*adj(U[y])))) -> \"i.csv\"\n";
  expect_same(measured(t.before, text, "native"), measured(t.after, text, "native"), 1e-11);
}

TEST(Invariance, PhasesInTwoDimensions) {
  if (!native()) GTEST_SKIP() << "no native device";
  std::string loops = kLoops;
  for (std::size_t at; (at = loops.find("tr(")) != std::string::npos;) loops.replace(at, 3, "(");
  const auto t = transformed(1, {6, 4}, 5);
  const std::string text = "model invariant \"links\"\nlattice grid: 6*4\ngauge U: U(1)\n" + loops +
                           ", im_polyakov = im(polyakov) -> \"i.csv\"\n";
  expect_same(measured(t.before, text, "native"), measured(t.after, text, "native"), 1e-13);
}

/// Quarks of a point source for each colour (pions and a meson), and of one colour vector v at the
/// origin, which the transformation turns.
std::string quarks(const Matrix& turn) {
  const Number v[] = {{0.6, 0.2}, {-0.3, 0.1}, {0.1, 0.7}};
  std::string source;
  for (int i = 0; i < 3; ++i) {
    Number sum = 0;
    for (int j = 0; j < 3; ++j) sum += turn.at(i, j) * v[j];
    source += fmt::format("{}({} + {}*1i)*spinor(2, {})", i == 0 ? "" : " + ",
                          testing::exact(sum.real()), testing::exact(sum.imag()), i);
  }
  return "model invariant \"quarks\"\nparam kappa = 0.13\nlattice grid: [2, 4, 2, 4]\n"
         "gauge U: SU(3)\nfermion psi: spinor, boundary(t) = antiperiodic\n"
         "D(psi) = psi - kappa*sum((1 - gamma[k])*U[k]*psi@k + (1 + gamma[k])*U[-k]*psi@-k, k)\n"
         "here = index(x) == 0 and index(y) == 0 and index(z) == 0 and index(t) == 0\n"
         "S[s,c] = solve(D, here*spinor(s, c), solver = cgne(1e-13))\n"
         "one = solve(D, here*(" +
         source +
         "), solver = cgne(1e-13))\npion = sum(norm2(S[s,c]), s, c)\n"
         "wall(t0, u) = total(u*(index(t) == t0))\n"
         "at end: pion0 = wall(0, pion), pion1 = wall(1, pion), pion2 = wall(2, pion), "
         "tensor1 = wall(1, re(1i*sum(dot(S[s,c], gamma[x]*gamma[t]*S[s,c]), s, c))), "
         "far = wall(2, norm2(one)) -> \"q.csv\"\n";
}

TEST(Invariance, MesonsAndTheirSources) {
  if (!native()) GTEST_SKIP() << "no native device";
  const auto t = transformed(3, {2, 4, 2, 4}, 31);
  expect_same(measured(t.before, quarks(Matrix(3, 1)), "native"),
              measured(t.after, quarks(t.at_origin), "native"), 1e-11);
}

}  // namespace
}  // namespace vphi
