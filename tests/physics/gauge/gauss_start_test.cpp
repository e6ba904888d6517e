// `init gauss = 0`: drawn fields and momenta with the electric field that Gauss's law asks for. The
// field is known by three properties of what the run starts from: the law holds, a field that was 0
// has no curl and no mean; a field that was there loses a gradient alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "tests/physics/gauge/first_moment.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::Begun;
using testing::exact;
using testing::first_moment;
using testing::largest;
using testing::last;
using testing::run_text;
using testing::Simulation;

constexpr std::array<int, 3> kBox{6, 4, 5};

double most(const std::vector<double>& values) {
  double found = 0;
  for (const double v : values) found = std::max(found, std::abs(v));
  return found;
}

std::size_t site(std::array<int, 3> x) {
  std::size_t number = 0;
  for (int a = 3; a-- > 0;)
    number = number * static_cast<std::size_t>(kBox[a]) +
             static_cast<std::size_t>((x[a] + kBox[a]) % kBox[a]);
  return number;
}

/// Largest curl of the links' field e, and its largest mean along an axis.
std::array<double, 2> curl_and_mean(const std::array<std::vector<double>, 3>& e) {
  double curl = 0, mean = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0;
    for (const double v : e[i]) sum += v;
    mean = std::max(mean, std::abs(sum) / static_cast<double>(e[i].size()));
  }
  std::array<int, 3> x{};
  for (x[2] = 0; x[2] < kBox[2]; ++x[2])
    for (x[1] = 0; x[1] < kBox[1]; ++x[1])
      for (x[0] = 0; x[0] < kBox[0]; ++x[0])
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t j = 0; j < i; ++j) {
            auto after_i = x, after_j = x;
            ++after_i[i], ++after_j[j];
            curl = std::max(curl, std::abs(e[i][site(x)] + e[j][site(after_i)] -
                                           e[i][site(after_j)] - e[j][site(x)]));
          }
  return {curl, mean};
}

// ---- U(1)
// ---------------------------------------------------------------------------------------

/// Vacuum fluctuations about `mean` that rotate about 0; E starts as `field`, links as `link`.
std::string drawn_higgs(const std::string& mean, const std::string& field, const std::string& link,
                        const std::string& law, bool expanding = false,
                        const std::string& extra = "") {
  const std::string a = expanding ? "a" : "1";
  return R"(model higgs "a drawn field with the electric field of its charges"
units reduced_planck
lattice box: 6 * 4 * 5, spacing = 0.6
)" + extra +
         (expanding ? "metric frw(a)\n" : "metric minkowski\n") +
         R"(field phi, q: complex
gauge U: U(1), E: real
P[i,j] = loop(i, j, -i, -j)
D[i] = (U[i]*phi@i - phi)/dx
V = (norm2(phi) - 1)^2/2
links = 0.25*dx^2*sum(E[i]^2, i)/(2*)" +
         a + R"() + sum(1 - re(P[i,j]), i < j)/(0.25*dx^4*)" + a + R"()
H = total(norm2(q)/)" +
         a + R"(^3 + )" + a + R"(*sum(norm2(D[i]), i) + )" + a + R"(^3*V + links)
init phi ~ )" +
         mean + R"( + vacuum, q ~ 0.2i + vacuum, U[i] = )" + link + R"(, E[i] = )" + field + law +
         R"(
precision real = f64
evolve leapfrog, dt = 0.01, until = t > 0.205
every 1 step: max(abs(gauss)), charge = total(im(conj(phi)*q)) -> "g.h5"
)" + (expanding ? "every 1 step: off = mean(rho)/(3*frw.H^2) - 1 -> \"g.h5\"\n" : "");
}

std::array<std::vector<double>, 3> electric(const Begun& begun, const std::string& name) {
  return {begun.arrays.at(name + "[0]"), begun.arrays.at(name + "[1]"),
          begun.arrays.at(name + "[2]")};
}

TEST(GaussStart, TheFieldOfDrawnChargesIsAGradient) {
  const auto begun = first_moment(drawn_higgs("0.8", "0*(i == 0)", "1", ", gauss = 0"));
  const auto e = electric(begun, "E");
  EXPECT_GT(std::max({most(e[0]), most(e[1]), most(e[2])}), 0.01) << "there is no field";
  const auto [curl, mean] = curl_and_mean(e);
  EXPECT_LT(curl, 1e-13);
  EXPECT_LT(mean, 1e-14);
  EXPECT_LT(largest(begun.result, "max(abs(gauss))"), 1e-13);
  EXPECT_LT(largest(begun.result, "charge"), 1e-12);
  // the same draws without the law: a charge in the box, and no field
  const auto drawn = first_moment(drawn_higgs("0.8", "0*(i == 0)", "1", ""));
  EXPECT_GT(largest(drawn.result, "max(abs(gauss))"), 0.1);
  EXPECT_GT(largest(drawn.result, "charge"), 0.1);
  // the field has the same bits, so that its spectrum is the one that was drawn
  EXPECT_EQ(begun.arrays.at("re(phi)"), drawn.arrays.at("re(phi)"));
  EXPECT_EQ(begun.arrays.at("im(phi)"), drawn.arrays.at("im(phi)"));
  // momenta turn together: q -> q + c*1i*phi
  double c = 0;
  const auto &re = begun.arrays.at("re(phi)"), &im = begun.arrays.at("im(phi)");
  for (std::size_t i = 0; i < re.size(); ++i) {
    const double pr = begun.arrays.at("re(q)")[i] - drawn.arrays.at("re(q)")[i];
    const double pi = begun.arrays.at("im(q)")[i] - drawn.arrays.at("im(q)")[i];
    if (i == 0) c = pi / re[i];
    EXPECT_NEAR(pi, c * re[i], 1e-13);
    EXPECT_NEAR(pr, -c * im[i], 1e-13);
  }
  EXPECT_NE(c, 0);
}

// What a field loses is a gradient: its curl and its mean stay. One that obeys the law stays.
TEST(GaussStart, AFieldThatIsThereKeepsItsCurl) {
  const std::string field = "0.3*sin(2*pi*index(y)/4)*(i == 0) + 0.2*(i == 2)*index(x)";
  const std::string link = "exp(0.3i*sin(2*pi*index(z)/5)*(i == 1))";
  const auto text = [&](const std::string& law) {
    std::string all = drawn_higgs("0.8", field, link, law);
    for (std::size_t at; (at = all.find("vacuum")) != std::string::npos;)
      all.replace(at, 6, "spectrum(0.1)");
    return all;
  };
  const auto with = first_moment(text(", gauss = 0")), without = first_moment(text(""));
  EXPECT_LT(largest(with.result, "max(abs(gauss))"), 1e-13);
  auto change = electric(with, "E");
  const auto before = electric(without, "E");
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t s = 0; s < change[i].size(); ++s) change[i][s] -= before[i][s];
  const auto [curl, mean] = curl_and_mean(change);
  EXPECT_LT(curl, 1e-13);
  EXPECT_LT(mean, 1e-14);
}

TEST(GaussStart, HoldsInTheRunAndInTheConstraintOfAnExpandingBox) {
  for (const char* extra : {"", "rescale A = 1/2, B = 3, s = -1\n"}) {
    const auto result =
        run_text(drawn_higgs("0.8", "0*(i == 0)", "1", ", gauss = 0", true, extra), {});
    EXPECT_LT(largest(result, "max(abs(gauss))"), 1e-13) << extra;
    // H at the start contains the energy of the field that was solved for
    EXPECT_LT(std::abs(result.find("off")->points.front().second), 1e-13) << extra;
    EXPECT_LT(largest(result, "off"), 1e-2) << extra;
  }
}

TEST(GaussStart, EachInstanceOfASweepHasItsOwn) {
  const auto result =
      run_text(drawn_higgs("b", "0*(i == 0)", "1", ", gauss = 0", false,
                           "sweep b = [0.8, 0.5]\nexpect max(abs(gauss)) < 1e-13\n"),
               {});
  EXPECT_EQ(result.expectations.size(), 1u);
  for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.value;
}

TEST(GaussStart, OpenCLFindsTheSameField) {
  if (!testing::device("opencl")) GTEST_SKIP() << "no OpenCL here";
  Simulation setup;
  const std::string text = drawn_higgs("0.8", "0*(i == 0)", "1", ", gauss = 0") +
                           "every 1 step: mean(sum(E[i]^2, i)) -> \"g.h5\"\n";
  const auto native = run_text(text, setup);
  setup.device = "opencl";
  const auto opencl = run_text(text, setup);
  EXPECT_LT(largest(opencl, "max(abs(gauss))"), 1e-13);
  const double there = last(native, "mean(sum(E[i]^2, i))");
  EXPECT_NEAR(last(opencl, "mean(sum(E[i]^2, i))"), there, 1e-11 * there);
}

// ---- SU(2) x U(1)
// -------------------------------------------------------------------------------

/// A doublet of both groups, a triplet and a complex field of one each, all drawn.
std::string drawn_electroweak(const std::string& mean, const std::string& law) {
  return R"(model electroweak "SU(2) x U(1), everything drawn"
lattice box: 6 * 4 * 5, spacing = 0.6
param g = 0.9, e = 0.5
field phi, q: vec(2, complex)
field S, T: su(2)
field chi, h: complex
gauge U: SU(2), E: su(2)
gauge W: U(1), B: real
P[i,j] = loop(U, i, j, -i, -j)
R[i,j] = loop(W, i, j, -i, -j)
D[i] = (W[i]*U[i]*phi@i - phi)/dx
C[i] = (W[i]*chi@i - chi)/dx
F[i] = (U[i]*S@i*adj(U[i]) - S)/dx
V = norm2(phi)^2/2 + norm2(S)/2 + norm2(chi) + norm2(phi)*norm2(chi)/3
links = (g*dx)^2*sum(norm2(E[i]), i) + 2*sum(2 - re(tr(P[i,j])), i < j)/(g^2*dx^4) + (e*dx)^2*sum(B[i]^2, i)/2 + sum(1 - re(R[i,j]), i < j)/(e^2*dx^4)
H = total(norm2(q) + norm2(h) + norm2(T) + sum(norm2(D[i]) + norm2(C[i]) + norm2(F[i]), i) + V + links)
init phi ~ )" +
         mean + R"( + spectrum(0.1/(1 + k^2)), q ~ [0.1, 0.2i] + spectrum(0.1)
X = 2*pi*index(x)/6
init S = [[0.3, 0.1 + 0.2i*sin(X)], [0.1 - 0.2i*sin(X), -0.3]]
init T = [[0.1*cos(X), 0.2i], [-0.2i, -0.1*cos(X)]]
init chi ~ spectrum(0.1/(1 + k^2)), h ~ spectrum(0.1)
init U = 1, E = 0, W = 1, B = 0)" +
         law + R"(
precision real = f64
evolve vv4, dt = 0.01, until = t > 0.205
every 1 step: max(abs(gauss)), H -> "e.h5"
)";
}

TEST(GaussStart, OfTwoGroupsByComponents) {
  const auto begun = first_moment(drawn_electroweak("[0.8, 0]", ", gauss = 0"));
  int fields = 0;
  for (const auto& [name, values] : begun.arrays)
    if (name.starts_with("E") || name.starts_with("B")) {
      EXPECT_GT(most(values), 1e-3) << name;
      ++fields;
    }
  EXPECT_EQ(fields, 12);
  EXPECT_LT(largest(begun.result, "max(abs(gauss))"), 1e-13);
  EXPECT_GT(largest(first_moment(drawn_electroweak("[0.8, 0]", "")).result, "max(abs(gauss))"),
            0.1);
  const auto result = run_text(drawn_electroweak("[0.8, 0]", ", gauss = 0"), {});
  EXPECT_LT(largest(result, "max(abs(gauss))"), 2e-13);
}

// A doublet that is 0 on average leaves no direction unturned; one that is alone and homogeneous
// has one that turns nothing, and no charge along it.
TEST(GaussStart, ADirectionThatTurnsNothingIsLeftAlone) {
  std::string text = drawn_electroweak("[0.8, 0]", ", gauss = 0");
  const auto put = [&](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  put("init phi ~ [0.8, 0] + spectrum(0.1/(1 + k^2)), q ~ [0.1, 0.2i] + spectrum(0.1)",
      "init phi = [0.8, 0], q = [0.3i, 0.1]");
  put("init chi ~ spectrum(0.1/(1 + k^2)), h ~ spectrum(0.1)", "init chi = 0, h = 0");
  put("init S = [[0.3, 0.1 + 0.2i*sin(X)], [0.1 - 0.2i*sin(X), -0.3]]", "init S = 0");
  put("init T = [[0.1*cos(X), 0.2i], [-0.2i, -0.1*cos(X)]]", "init T = 0*[[X, 0], [0, -X]]");
  const auto begun = first_moment(text);
  EXPECT_LT(largest(begun.result, "max(abs(gauss))"), 1e-13);
  // nothing is left of the momenta that are rotations of [0.8, 0], and no site differs
  EXPECT_LT(most(begun.arrays.at("im(q[0])")), 1e-14);
  EXPECT_LT(most(begun.arrays.at("re(q[1])")), 1e-14);
}

}  // namespace
}  // namespace vphi
