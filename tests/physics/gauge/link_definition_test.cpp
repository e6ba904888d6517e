// Links that a definition makes of others, V[mu] = exp(A)*U[mu], against numbers of an independent
// program, against plain loops over matrices, and in operators that are solved.
#include <cmath>

#include "tests/physics/gauge/fixed_links.hpp"

namespace vphi {
namespace {

using namespace testing::flow;
using testing::last;

constexpr const char* kPlaneLoops =
    "P[mu,nu] = loop(mu, nu, -mu, -nu)\n"
    "V[mu] = exp(-rho*d(S, U[mu]))*U[mu]\n"
    "W[mu] = exp(-rho*d(S, V[mu]))*V[mu]\n"
    "once = mean(re(tr(loop(V, mu, nu, -mu, -nu)))/n, mu < nu)\n"
    "twice = mean(re(tr(loop(W, mu, nu, -mu, -nu)))/n, mu < nu)\n"
    "long = mean(re(tr(loop(W, 2*x, y, -2*x, -y)))/n)\n"
    "written = mean(re(tr(W[x]*W[x]@x*W[y]@(2,0,0,0)*adj(W[x]@x@y)*W[-x]@(1,1,0,0)*W[-y]@y))/n)\n";

std::string smeared(const std::string& gauge, int n, const std::string& lattice,
                    const std::string& file, const std::string& more) {
  return "model smeared \"links of a definition\"\nparam rho = 0.1, n = " + std::to_string(n) +
         "\nlattice grid: " + lattice + "\ngauge U: " + gauge + "\n" + kPlaneLoops +
         "S = 2*sum(n - re(tr(P[mu,nu])), mu < nu)\n" + from_file(file) + "\n" + more;
}

/// Plaquettes after one and two steps of stout smearing.
TEST(LinkDefinitions, StoutLinksOfAnotherProgram) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  testing::fixed_box(3, {4, 2, 6, 4}, 0.7).save(scratch / "c4.ildg");
  for (const char* gauge : {"SU(3)", "SU(3), store = rows(2)"}) {
    const auto result = testing::run_text(
        smeared(gauge, 3, "4 * 2 * 6 * 4", scratch / "c4.ildg",
                "at end: plain = mean(re(tr(P[mu,nu]))/n, mu < nu), once, twice -> \"s.h5\"\n"),
        {});
    EXPECT_NEAR(last(result, "plain"), 0.642941889967134, 1e-12);
    EXPECT_NEAR(last(result, "once"), 0.9267733492980, 1e-12);
    EXPECT_NEAR(last(result, "twice"), 0.9829452086489, 1e-12);
  }
}

// ---- projections to the group -------------------------------------------------------------------

const char* const kApe =
    "A[mu] = project((1 - alpha)*U[mu] + alpha/(2*dims - 2)*sum(path(nu, mu, -nu) + path(-nu, mu, "
    "nu), "
    "nu != mu))\n"
    "B[mu] = project((1 - alpha)*A[mu] + alpha/(2*dims - 2)*sum(path(A, nu, mu, -nu) + path(A, "
    "-nu, "
    "mu, nu), nu != mu))\n"
    "ape = mean(re(tr(loop(A, mu, nu, -mu, -nu)))/n, mu < nu)\n"
    "ape2 = mean(re(tr(loop(B, mu, nu, -mu, -nu)))/n, mu < nu)\n";
std::string projected(const std::string& gauge, int n, int dims, const std::string& lattice,
                      double alpha, const std::string& file, const std::string& more) {
  return "model smeared \"projected links\"\nparam alpha = " + testing::exact(alpha) +
         ", n = " + std::to_string(n) + ", dims = " + std::to_string(dims) +
         "\nlattice grid: " + lattice + "\ngauge U: " + gauge + "\n" + kApe + from_file(file) +
         "\n" + more;
}

/// APE smearing of an independent program, whose polar decompositions are singular value
/// decompositions. SU(3) in four dimensions and HYP smearing: tests/long/smearing_test.cpp.
TEST(LinkDefinitions, ProjectedLinksOfAnotherProgram) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  testing::fixed_box(3, {4, 2, 6}, 0.7).save(scratch / "c3.ildg");
  const auto result = testing::run_text(
      projected("SU(3)", 3, 3, "4 * 2 * 6", 0.5, scratch / "c3.ildg", "at end: ape -> \"s.h5\"\n"),
      {});
  EXPECT_NEAR(last(result, "ape"), 0.949183232580473, 1e-12);
}

/// The same of the numbers of the hash on two-dimensional boxes.
TEST(LinkDefinitions, ProjectedLinksOfSmallGroups) {
  if (!native()) GTEST_SKIP() << "no native device";
  struct Known {
    const char *gauge, *lattice;
    int n, sites;
    double scale, ape;
    io::Extents extent;
  };
  const Known all[] = {{"SU(2)", "4 * 6", 2, 24, 1.2, 0.938247400397910, {4, 6, 1, 1}},
                       {"U(1)", "4^2", 1, 16, 1.5, 0.725764495572056, {4, 4, 1, 1}}};
  for (const Known& known : all) {
    const testing::ScratchFolder scratch;
    testing::fixed_box(known.n, {known.extent[0], known.extent[1]}, known.scale)
        .save(scratch / "c2.ildg");
    for (const char* device : {"native", "opencl"}) {
      if (!testing::device(device)) continue;
      if (known.n > 1 && device == std::string("opencl")) continue;  // compiles long; LongSmearing
      testing::Simulation setup;
      setup.device = device;
      const auto result =
          testing::run_text(projected(known.gauge, known.n, 2, known.lattice, 0.4,
                                      scratch / "c2.ildg", "at end: ape -> \"s.h5\"\n"),
                            setup);
      EXPECT_NEAR(last(result, "ape"), known.ape, 1e-12) << known.gauge << ", " << device;
    }
  }
}

/// Functions of links give what their texts say; the model has the names that these bind.
TEST(LinkDefinitions, FunctionsOfTheLibrary) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  random_box(2, {4, 2, 3}, 0.7, 5).save(scratch / "c.ildg");
  const std::string head =
      "model words \"words\"\nlattice grid: 4 * 2 * 3\ngauge U: SU(2)\n"
      "param nu = 0.1, p = 0.4, steps = 2\n";
  const std::string ends =
      "a = mean(re(tr(loop(V, q, k, -q, -k)))/2, q < k)\n"
      "b = mean(re(tr(loop(W, q, k, -q, -k)))/2, q < k)\n"
      "c = mean(re(tr(loop(X, q, k, -q, -k)))/2, q < k)\n"
      "stay = mean(re(tr(Y[z]*U[x]@z*adj(Y[z]@x)*adj(U[x]))))\n" +
      from_file(scratch / "c.ildg") + "\n";
  const auto written = testing::run_text(
      head +
          "S = 2*sum(2 - re(tr(loop(j, k, -j, -k))), j < k)\n"
          "S_space = 2*(2 - re(tr(loop(x, y, -x, -y))))\n"
          "Z[mu] = exp(-nu*d(S, U[mu]))*U[mu]\nV[mu] = exp(-nu*d(S, Z[mu]))*Z[mu]\n"
          "W[mu] = project((1 - p)*U[mu] + p/4*sum(path(k, mu, -k) + path(-k, mu, k), k != mu))\n"
          "X[mu] = exp(-nu*d(S_space, U[mu]))*U[mu]\n"
          "Y[mu] = U[mu]\n" +
          ends + "at end: a, b, c, stay -> \"s.h5\"\n",
      {});
  const auto words = testing::run_text(
      head +
          "V = stout(U, nu, steps)\nW[mu] = ape(U, p)[mu]\nX = stout_space(U, nu, z)\n"
          "Y = ape_space(U, p, z)\n" +
          ends +
          "inside = mean(re(tr(loop(stout(stout(U, nu), nu), q, k, -q, -k)))/2, q < k)\n"
          "wide(A, c)[q] = project(A[q] + c*sum(path(A, k, q, -k) + path(A, -k, q, k), k != q))\n"
          "own = mean(re(tr(loop(wide(U, p/4/(1 - p)), q, k, -q, -k)))/2, q < k)\n"
          "at end: a, b, c, inside, own, stay -> \"s.h5\"\n",
      {});
  for (const char* name : {"a", "b", "c", "stay"})
    EXPECT_NEAR(last(words, name), last(written, name), 1e-14) << name;
  EXPECT_NEAR(last(words, "inside"), last(written, "a"), 1e-14);
  EXPECT_NEAR(last(words, "own"), last(written, "b"), 1e-14);
}

void step(Box& box, double rho) {
  const std::vector<Matrix> rates = box.rates(1, 0);
  for (std::size_t i = 0; i < rates.size(); ++i)
    box.links[i] = exponential(Number(rho) * rates[i]) * box.links[i];
}

TEST(LinkDefinitions, AreThePlainLoops) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  for (const int n : {1, 2}) {
    Box box = random_box(n, {3, 4, 2, 3}, 0.7, 5);
    box.save(scratch / "start.ildg");
    const auto result = testing::run_text(
        smeared(n == 1 ? "U(1)" : "SU(2)", n, "3 * 4 * 2 * 3", scratch / "start.ildg",
                "at end: once, twice, long, written -> \"s.h5\"\n"),
        {});
    const double rho = n == 1 ? 0.2 : 0.1;  // S of U(1) is twice the one of `rates`
    step(box, rho);
    EXPECT_NEAR(last(result, "once"), box.mean_loop(false), 1e-13);
    step(box, rho);
    EXPECT_NEAR(last(result, "twice"), box.mean_loop(false), 1e-13);
    EXPECT_NEAR(last(result, "written"), last(result, "long"), 1e-13);
  }
}

/// A name for the gradient has another value along each axis.
TEST(LinkDefinitions, NamesOfGradients) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  random_box(2, {3, 2, 2, 2}, 0.7, 5).save(scratch / "start.ildg");
  const auto result = testing::run_text(
      smeared(
          "SU(2)", 2, "3 * 2 * 2 * 2", scratch / "start.ildg",
          "G = d(S, U)\nX[mu] = exp(-rho*G)*U[mu]\n"
          "at end: once, named = mean(re(tr(loop(X, mu, nu, -mu, -nu)))/n, mu < nu) -> \"s.h5\"\n"),
      {});
  EXPECT_GT(last(result, "once"), 0.3);
  EXPECT_NEAR(last(result, "named"), last(result, "once"), 1e-13);
}

/// A propagator on smeared links is that of a configuration of these links.
TEST(LinkDefinitions, StandInOperators) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  Box box = random_box(2, {4, 2, 2, 4}, 0.8, 7);
  box.save(scratch / "start.ildg");
  step(box, 0.1);
  step(box, 0.1);
  box.save(scratch / "smeared.ildg");
  const auto total = [&](const std::string& links, const std::string& file) {
    return last(testing::run_text(
                    smeared("SU(2)", 2, "4 * 2 * 2 * 4", scratch / file,
                            "fermion psi: spinor, boundary(t) = antiperiodic\n"
                            "D(psi) = psi + 0.05i*gamma5*psi - 0.14*sum((1 - gamma[mu])*" +
                                links +
                                "[mu]*psi@mu, mu = directions(+,-))\n"
                                "here = index(x) + index(y) + index(z) + index(t) == 0\n"
                                "S0 = solve(D, here*spinor(0, 1), solver = cgne(1e-12))\n"
                                "at end: pion = total(norm2(S0)*(1 + index(t))) -> \"s.h5\"\n"),
                    {}),
                "pion");
  };
  const double known = total("U", "smeared.ildg");
  EXPECT_GT(known, 1);
  EXPECT_NEAR(total("W", "start.ildg"), known, 1e-10 * known);
  EXPECT_GT(std::abs(total("U", "start.ildg") - known), 1e-3);
}

}  // namespace
}  // namespace vphi
