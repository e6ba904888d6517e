// The nucleon of three quarks, as text: colours contracted antisymmetrically, spins by C gamma5,
// against an independent program with dense matrices.
#include "tests/physics/gauge/fixed_links.hpp"

namespace vphi {
namespace {

using namespace testing::flow;
using testing::last;

constexpr const char* kNucleon =
    "model nucleon \"nucleon\"\nparam kappa = 0.12\nlattice grid: 2^3 * 4\ngauge U: SU(3)\n"
    "fermion psi: spinor, basis = dirac, boundary(t) = antiperiodic\n"
    "D(psi) = psi - kappa*sum((1 - gamma[mu])*U[mu]*psi@mu, mu = directions(+,-))\n"
    "here = index(x) + index(y) + index(z) + index(t) == 0\n"
    "S[s,c] = solve(D, here*spinor(s, c), solver = cgne(1e-13))\n"
    "eps(a, b, c) = (a - b)*(b - c)*(c - a)/2\n"
    "K(q) = gamma[t]*gamma[y]*gamma5*q\n"
    "pair(f, g, c) = sum(eps(a, b, c)*f[s,a]*K(g)[s,b], s = 0..3, a = 0..2, b = 0..2, a != b, "
    "a != c, b != c)\n"
    "three(f, g, h, s) = sum(pair(f, g, c)*h[s,c], c = 0..2)\n"
    "both(f, g, h, s) = three(f, g, h, s) - three(h, g, f, s)\n"
    "weight(p, q) = K(spinor(q, 0))[p,0]\n"
    "nucleon = re(sum(weight(p, q)*eps(a, b, c)*both(S[p,a], S[q,b], S[s,c], s), p = 0..3, "
    "q = 0..3, s = 0..1, a = 0..2, b = 0..2, c = 0..2, a != b, b != c, a != c, p != q))\n"
    "pion = sum(norm2(S[s,c]), s, c)\n"
    "wall(n, u) = total(u*(index(t) == n))\n"
    "at end: n0 = wall(0, nucleon), n1 = wall(1, nucleon), n2 = wall(2, nucleon), "
    "n3 = wall(3, nucleon), p0 = wall(0, pion), p3 = wall(3, pion) -> \"n.csv\"\n";

void expect_nucleon(const std::string& start, const std::vector<double>& nucleon, double pion,
                    double pion_before) {
  const auto result = testing::run_text(kNucleon + start + "\n", {});
  for (std::size_t t = 0; t < nucleon.size(); ++t)
    EXPECT_NEAR(last(result, "n" + std::to_string(t)), nucleon[t], 1e-9 * nucleon[0]) << t;
  EXPECT_NEAR(last(result, "p0"), pion, 1e-7);
  EXPECT_NEAR(last(result, "p3"), pion_before, 1e-7);
}

/// Free quarks have one colour matrix, 1: the program sums them over momenta.
TEST(Nucleon, OfFreeQuarks) {
  if (!native()) GTEST_SKIP() << "no native device";
  expect_nucleon("init U ~ cold",
                 {96.10684171432686, 8.377085436090068, 4.905113336511099, 4.348323357325078},
                 19.13303350, 5.00882516);
}

TEST(Nucleon, OfQuarksOnFixedLinks) {
  if (!native()) GTEST_SKIP() << "no native device";
  const testing::ScratchFolder scratch;
  testing::fixed_box(3, {2, 2, 2, 4}, 0.7).save(scratch / "links.ildg");
  expect_nucleon(from_file(scratch / "links.ildg"),
                 {97.30968373907733, 3.9007503399218333, 0.8839518683341547, 0.7754324207113672},
                 20.48248975, 2.58844816);
}

}  // namespace
}  // namespace vphi
