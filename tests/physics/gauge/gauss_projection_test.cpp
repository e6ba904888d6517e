// `init gauss = 0` about links that are not 1: what obeys the law is the orthogonal projection of
// what was drawn, with the kinetic energy as the square of the length. It is known by its
// properties: the law holds, the change is orthogonal to all momenta that obey it, and drawn
// momenta keep their temperature in the directions that are left.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/physics/gauge/first_moment.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Begun;
using testing::first_moment;
using testing::largest;
using testing::last;
using testing::run_text;
using testing::Simulation;

/// The sum of K u (v - w) over all sites of the arrays whose name begins with `first`, where K
/// is 1.
double kinetic_product(const Begun& u, const Begun& v, const Begun* w, const std::string& first) {
  double sum = 0;
  for (const auto& [name, values] : u.arrays) {
    if (!name.starts_with(first)) continue;
    for (std::size_t i = 0; i < values.size(); ++i)
      sum += values[i] * (v.arrays.at(name)[i] - (w ? w->arrays.at(name)[i] : 0));
  }
  return sum;
}

/// `n` of SU(n), `links` the start of the links, `seed` that of the momenta.
std::string thermal(int n, const std::string& box, const std::string& links, int seed,
                    const std::string& law, const std::string& extra = "") {
  const std::string group = std::to_string(n);
  return "model thermal \"Links with electric fields that are drawn\"\nlattice box: " + box +
         ", spacing = 1\ngauge U: SU(" + group + "), E: su(" + group +
         ")\nP[i,j] = loop(i, j, -i, -j)\nH = total(sum(norm2(E[i]), i) + 2*sum(" + group +
         R"( - re(tr(P[i,j])), i < j))
random seed = )" +
         std::to_string(seed) + "\ninit " + links + ", E ~ normal" + law + "\n" + extra +
         R"(precision real = f64
evolve leapfrog, dt = 0.05, until = t > 1.01
every 1 step: max(abs(gauss)), kinetic, H -> "t.h5"
)";
}

const std::string kTurnedLinks =
    "U[k] = [[cos(0.4*(k + 1)*f), 1i*sin(0.4*(k + 1)*f)], [1i*sin(0.4*(k + 1)*f), "
    "cos(0.4*(k + 1)*f)]]*[[exp(1i*g), 0], [0, exp(-1i*g)]]";
const std::string kLinkWaves =
    "f = 1 + sin(2*pi*index(x)/4)*cos(2*pi*index(y)/2)\ng = 0.7*cos(2*pi*index(z)/3)*(1 + f)\n";

TEST(GaussProjection, TheChangeIsOrthogonalToEveryFieldThatObeysTheLaw) {
  const auto text = [&](int seed, const std::string& law) {
    return thermal(2, "4 * 2 * 3", kTurnedLinks, seed, law, kLinkWaves);
  };
  const Begun before = first_moment(text(1, "")), after = first_moment(text(1, ", gauss = 0"));
  const Begun other = first_moment(text(2, ", gauss = 0"));
  EXPECT_GT(largest(before.result, "max(abs(gauss))"), 1);
  EXPECT_LT(largest(after.result, "max(abs(gauss))"), 1e-13);
  const double size = kinetic_product(before, before, nullptr, "E");
  const double change = size - kinetic_product(after, after, nullptr, "E");
  EXPECT_GT(change, 0.1 * size);
  EXPECT_LT(change, 0.6 * size);
  EXPECT_LT(std::abs(kinetic_product(after, after, &before, "E")), 1e-12 * size);
  EXPECT_LT(std::abs(kinetic_product(other, after, &before, "E")), 1e-12 * size);
}

// The energies of 6 of 9 momenta a site are left, of any links: T/2 each.
TEST(GaussProjection, DrawnFieldsKeepTheirTemperature) {
  const auto kinetic = [](const std::string& law) {
    const std::string text =
        thermal(2, "4 * 4 * 3", "U ~ hot", 1, law,
                "sweep chain = 1..64\n"
                "every 1 step: energy = mean(kinetic, over = chain) -> \"k.h5\"\n");
    const auto result = first_moment(text).result;
    return result.find("energy")->points.front().second;
  };
  const double sites = 48;  // times 64: an error of sqrt(2/18432) of the mean
  EXPECT_NEAR(kinetic("") / (sites * 9 / 2), 1, 0.04);
  EXPECT_NEAR(kinetic(", gauss = 0") / (sites * 6 / 2), 1, 0.04);
}

TEST(GaussProjection, HoldsAlongTheRunOfAnyGroupInAnyDimension) {
  for (const int n : {2, 3})
    for (const char* box : {"4 * 2", "2 * 3 * 2", "2 * 2 * 3 * 2"}) {
      if (n == 3 && box[1] == ' ' && std::string(box).size() > 9) continue;  // a long kernel
      const auto result = run_text(thermal(n, box, "U ~ hot", 1, ", gauss = 0"), {});
      EXPECT_LT(largest(result, "max(abs(gauss))"), 3e-13) << n << " in " << box;
      EXPECT_GT(result.find("kinetic")->points.front().second, 1) << n << " in " << box;
    }
}

// Links along one generator leave a direction that changes nothing. The operator is 0 there, and
// drawn fields have no law along it.
TEST(GaussProjection, ADirectionThatChangesNothingHasNoLaw) {
  const auto result =
      run_text(thermal(2, "4 * 4 * 2", "U[k] = [[exp(1i*f[k]), 0], [0, exp(-1i*f[k])]]", 3,
                       ", gauss = 0", "f[k] = 0.7*sin(2*pi*index(x)/4)*(k == 1) + 0.2*(k == 2)\n"),
               {});
  EXPECT_LT(largest(result, "max(abs(gauss))"), 2e-13);
}

// What obeys the law already keeps every bit, also where its terms cancel only to rounding.
TEST(GaussProjection, AStartThatObeysTheLawStays) {
  std::string text = thermal(2, "4 * 4 * 2", "U[k] = [[exp(1i*f[k]), 0], [0, exp(-1i*f[k])]]", 3,
                             "", "f[k] = 0.7*sin(2*pi*index(x)/4)*(k == 1)\n");
  const auto at = text.find("E ~ normal");
  text.replace(at, 10, "E[i] = [[e[i], 0], [0, -e[i]]]");
  text += "e[i] = 0.3*cos(0.1 + 2*pi*index(y)/4)*(i == 0) + 0.1/3*(i == 2)\n";
  const auto seed = text.find("random seed");
  text.erase(seed, text.find('\n', seed) + 1 - seed);  // nothing is drawn
  std::string with = text;
  with.replace(with.find("[0, -e[i]]]"), 11, "[0, -e[i]]], gauss = 0");
  const Begun before = first_moment(text), after = first_moment(with);
  for (const auto& [name, values] : before.arrays) EXPECT_EQ(values, after.arrays.at(name)) << name;
}

// ---- charged fields
// -------------------------------------------------------------------------------

/// A doublet and a triplet of SU(2) and U(1), everything drawn. K is 2 for q and T, (g dx)^2 for E
/// and (e dx)^2 for B.
std::string charged(const std::string& box, int seed, const std::string& law,
                    bool expanding = false) {
  const std::string a = expanding ? "a" : "1";
  return "model charged \"SU(2) x U(1) about any links\"\nunits reduced_planck\nlattice box: " +
         box + ", spacing = 0.8\nparam g = 0.9, e = 0.5\nmetric " +
         (expanding ? "frw(a)" : "minkowski") +
         R"(
field phi, q: vec(2, complex)
field S, T: su(2)
gauge U: SU(2), E: su(2)
gauge W: U(1), B: real
P[i,j] = loop(U, i, j, -i, -j)
R[i,j] = loop(W, i, j, -i, -j)
D[i] = (W[i]*U[i]*phi@i - phi)/dx
F[i] = (U[i]*S@i*adj(U[i]) - S)/dx
V = norm2(phi)^2/2 + norm2(S)/2
links = (g*dx)^2*sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4) + (e*dx)^2*sum(B[i]^2, i)/2 + sum(1 - re(R[i,j]), i < j)/(e^2*dx^4)
H = total((norm2(q) + norm2(T))/)" +
         a + "^3 + " + a + "*sum(norm2(D[i]) + norm2(F[i]), i) + " + a + "^3*V + links/" + a +
         R"()
random seed = )" +
         std::to_string(seed) + R"(
X = 2*pi*index(x)/4
init phi = [0.7*cos(X), 0.2 + 0.4i*sin(X)], q ~ normal(0, 0.4) + 1i*normal(0, 0.4)
init S = [[0.3, 0.1 + 0.2i*sin(X)], [0.1 - 0.2i*sin(X), -0.3]], T ~ normal
init U[k] = [[cos(0.4*(k + 1)*X), 1i*sin(0.4*(k + 1)*X)], [1i*sin(0.4*(k + 1)*X), cos(0.4*(k + 1)*X)]]
init E ~ normal, W[k] = exp(0.3i*X*(k == 1)), B ~ normal)" +
         law + R"(
precision real = f64
evolve vv4, dt = 0.01, until = t > 0.105
every 1 step: max(abs(gauss)), total(norm2(q)) -> "c.h5"
)" + (expanding ? "every 1 step: off = mean(rho)/(3*frw.H^2) - 1 -> \"c.h5\"\n" : "");
}

TEST(GaussProjection, MomentaOfChargedFieldsAreProjectedWithTheLinks) {
  const auto start = [](int seed, const char* law) {
    return first_moment(charged("4 * 2 * 3", seed, law));
  };
  const Begun before = start(1, ""), after = start(1, ", gauss = 0"),
              other = start(2, ", gauss = 0");
  EXPECT_GT(largest(before.result, "max(abs(gauss))"), 0.5);
  EXPECT_LT(largest(after.result, "max(abs(gauss))"), 1e-13);
  const auto energy = [&](const Begun& u, const Begun& v, const Begun* w) {
    const double dx = 0.8, g = 0.9, e = 0.5;
    double sum = std::pow(g * dx, 2) * kinetic_product(u, v, w, "E") +
                 std::pow(e * dx, 2) * kinetic_product(u, v, w, "B") +
                 kinetic_product(u, v, w, "T");
    for (const char* part : {"re(q", "im(q"}) sum += 2 * kinetic_product(u, v, w, part);
    return sum;
  };
  const double size = energy(before, before, nullptr);
  EXPECT_LT(energy(after, after, nullptr), 0.95 * size);
  EXPECT_LT(std::abs(energy(after, after, &before)), 1e-12 * size);
  EXPECT_LT(std::abs(energy(other, after, &before)), 1e-12 * size);
  for (const char* kept : {"re(phi[0])", "im(phi[1])"})
    EXPECT_EQ(before.arrays.at(kept), after.arrays.at(kept));
}

TEST(GaussProjection, HoldsWithChargesInFourDimensionsAndInAnExpandingBox) {
  EXPECT_LT(largest(run_text(charged("4 * 2 * 2 * 3", 1, ", gauss = 0"), {}), "max(abs(gauss))"),
            3e-13);
  const auto result = run_text(charged("4 * 2 * 3", 1, ", gauss = 0", true), {});
  EXPECT_LT(largest(result, "max(abs(gauss))"), 3e-13);
  EXPECT_LT(std::abs(result.find("off")->points.front().second), 1e-13);
}

TEST(GaussProjection, OpenCLFindsTheSameMomenta) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  Simulation setup;
  const std::string text = charged("4 * 2 * 3", 1, ", gauss = 0");
  const double there = last(run_text(text, setup), "total(norm2(q))");
  setup.device = "opencl";
  const auto opencl = run_text(text, setup);
  EXPECT_LT(largest(opencl, "max(abs(gauss))"), 3e-13);
  EXPECT_NEAR(last(opencl, "total(norm2(q))"), there, 1e-11 * std::abs(there));
}

}  // namespace
}  // namespace vphi
