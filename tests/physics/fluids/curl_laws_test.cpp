// Laws with a curl: fields whose divergence stays 0. References: waves of ideal
// magnetohydrodynamics in closed form, a spectral integration of the Orszag-Tang vortex, and a
// field that a wind carries.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;

runtime::RunResult run_kept(const std::string& text) {
  const auto result = testing::run_text(text, {});
  EXPECT_FALSE(result.expectations.empty());
  for (const auto& e : result.expectations) EXPECT_TRUE(e.ok) << e.text;
  return result;
}

/// Error of a field B = curl(A) that a wind has carried once through the box.
double wind_error(const std::string& scheme, int cells) {
  const auto result = run_kept(fmt::format(R"(model loop "A field in a wind"
lattice box: {}^2, length = 1, boundary = periodic
primitive b: vec(2)
conserve B = b: curl(b[0] - 2*b[1])     # v = (2, 1)
recover {{
  b = B
}}
scheme {}
evolve rk4, dt = 0.05*dx, until = t >= 1
init b = [cos(2*pi*y), sin(2*pi*x) + cos(2*pi*x)]
precision real = f64
at end: max(norm(b - [cos(2*pi*y), sin(2*pi*x) + cos(2*pi*x)])), max(abs(div(b))) -> "loop.h5"
expect conserved(B) within 1e-12
)",
                                           cells, scheme));
  EXPECT_LT(last(result, "max(abs(div(b)))"), 1e-11) << scheme;
  return last(result, "max(norm(b - [cos(2*pi*y), sin(2*pi*x) + cos(2*pi*x)]))");
}

TEST(CurlLaws, AFieldIsCarriedWithOrderTwoAndNoDivergence) {
  for (const char* scheme : {"central", "kt, speed = 2", "hlle, fastest = 2, slowest = -2"}) {
    const double coarse = wind_error(scheme, 16), fine = wind_error(scheme, 32);
    EXPECT_GT(std::log2(coarse / fine), 1.3) << scheme << " " << coarse << ", " << fine;
  }
}

TEST(CurlLaws, AFieldInThreeDimensionsToo) {
  const auto error = [](int cells) {
    const auto result = run_kept(fmt::format(R"(model loop "A field in a wind"
lattice box: {}^3, length = 1, boundary = periodic
primitive b: vec(3)
conserve B = b: curl(cross(b, [1, 2, -1]))
recover {{
  b = B
}}
scheme central
evolve rk4, dt = 0.1*dx, until = t >= 1
start = [cos(2*pi*y), sin(2*pi*z), cos(2*pi*x)]
init b = start
precision real = f64
at end: max(norm(b - start)), max(abs(div(b))) -> "loop.h5"
expect conserved(B) within 1e-12
)",
                                             cells));
    EXPECT_LT(last(result, "max(abs(div(b)))"), 1e-11);
    return last(result, "max(norm(b - start))");
  };
  const double coarse = error(12), fine = error(24);
  EXPECT_GT(std::log2(coarse / fine), 1.3) << coarse << ", " << fine;
}

// ---- magnetohydrodynamics -----------------------------------------------------------------------

/// Ideal magnetohydrodynamics in two dimensions, gamma = 5/3; `rest` has the scheme and the start.
std::string magnetic_gas(int cells, const std::string& rest) {
  return fmt::format(R"(model gas "A magnetised gas"
lattice box: {}^2, length = 1, boundary = periodic
primitive rho, p: real, v, b: vec(2)
h = 5/2*p + rho*norm2(v)/2 + norm2(b)
conserve D = rho:   div(rho*v)
conserve M = rho*v: div(outer(M, v) - outer(b, b)) + grad(p + norm2(b)/2)
conserve E = h - p - norm2(b)/2: div(h*v - dot(b, v)*b)
conserve B = b:     curl(v[1]*b[0] - v[0]*b[1])
recover {{
  rho = D
  v   = M/D
  b   = B
  p   = 2/3*(E - norm2(M)/(2*D) - norm2(B)/2)
}}
precision real = f64
expect conserved(D, M, E, B) within 1e-12
{})",
                     cells, rest);
}

// rho = gamma*p = 1, B = (1, 0), k = 2*pi*(1, 1). With B_n^2 = B_t^2 = 1/2 along and across k the
// fast wave has (c^2 - 1)*(c^2 - B_n^2) = c^2*B_t^2, so c^2 = 1 + sqrt(1/2).
TEST(CurlLaws, AFastWaveHasItsSpeed) {
  const auto error = [](int cells) {
    const auto result = run_kept(magnetic_gas(cells, R"(scheme central
evolve rk4, dt = 0.1*dx, until = t >= 0.4
c2 = 1 + sqrt(1/2)
c = sqrt(c2)
angle = 2*pi*(x + y)
w = 1e-6*cos(angle)
b_t = -sqrt(1/2)*c2/(c2 - 1/2)*w
v_t = -sqrt(1/2)*b_t/c
init rho = 1 + w, p = 3/5 + w, v = [c*w - v_t, c*w + v_t]/sqrt(2), b = [1 - b_t/sqrt(2), b_t/sqrt(2)]
late = 1e-6*cos(angle - 2*pi*sqrt(2)*c*t)
at end: max(abs(rho - 1 - late)), max(abs(div(b))) -> "wave.h5"
)"));
    EXPECT_LT(last(result, "max(abs(div(b)))"), 1e-12);
    return last(result, "max(abs(rho - 1 - late))") / 1e-6;
  };
  const double coarse = error(16), fine = error(32);
  EXPECT_LT(fine, 0.05);
  EXPECT_GT(std::log2(coarse / fine), 1.9) << coarse << ", " << fine;
}

// Mean energies at t = 0.1 of a Fourier code with 128 and 192 modes along each axis, which agree to
// 1e-10.
TEST(CurlLaws, TheVortexOfOrszagAndTangHasTheEnergiesOfASpectralCode) {
  std::ifstream in(testing::shipped("hydro/mhd_orszag_tang"));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string step = "dt = 0.4*dx/max(speed[0] + speed[1])";
  ASSERT_NE(text.find(step), std::string::npos);
  text.replace(text.find(step), step.size(), "dt = 0.1*dx");
  const auto errors = [&](const std::string& lattice) {
    testing::Simulation setup;
    setup.lattice = lattice;
    setup.until = "t >= 0.1 - 1e-9";
    const auto result = testing::run_text(text, setup);
    EXPECT_NEAR(last(result, "t"), 0.1, 1e-9);
    EXPECT_LT(last(result, "max(abs(div(b)))*dx"), 1e-12);
    return std::pair(std::abs(last(result, "mean(e_kin)") - 0.1022604511),
                     std::abs(last(result, "mean(e_mag)") - 0.0407152865));
  };
  const auto [kinetic, magnetic] = errors("64^2");
  const auto [finer, of_finer] = errors("128^2");
  EXPECT_GT(std::log2(kinetic / finer), 1.9) << kinetic << ", " << finer;
  EXPECT_GT(std::log2(magnetic / of_finer), 1.9) << magnetic << ", " << of_finer;
  EXPECT_LT(of_finer, 1e-4);
}

TEST(CurlLaws, ResistanceLetsAFieldDecay) {
  const auto error = [](int cells) {
    const auto result = run_kept(fmt::format(R"(model slab "A field that decays"
param eta = 0.05
lattice box: {}*8, spacing = 1/{}, boundary = periodic
primitive b: vec(2)
conserve B = b: curl(eta*(d(b[1], x) - d(b[0], y)))
recover {{
  b = B
}}
scheme central
evolve rk4, dt = dx^2, until = t >= 0.5
init b = [0.3, sin(2*pi*x)]
precision real = f64
at end: max(abs(b[1] - exp(-4*pi^2*eta*t)*sin(2*pi*x))) -> "slab.h5"
expect conserved(B) within 1e-12
)",
                                             cells, cells));
    return last(result, "max(abs(b[1] - exp(-4*pi^2*eta*t)*sin(2*pi*x)))");
  };
  const double coarse = error(16), fine = error(32);
  EXPECT_GT(std::log2(coarse / fine), 1.9) << coarse << ", " << fine;
}

// ---- curl in other places, and where it is refused
// ------------------------------------------------

TEST(Curl, IsThatOfCentralDifferences) {
  const auto result = testing::run_text(R"(model flow "A flow that is parallel to its curl"
lattice box: 12^3, length = 2*pi, boundary = periodic
field u: vec(3)
u' = -u
init u = [sin(z) + cos(y), sin(x) + cos(z), sin(y) + cos(x)]
evolve euler, dt = 1e-3, until = t > 1e-3
precision real = f64
at end: max(norm(curl(u) - sin(dx)/dx*u)) -> "flow.h5"
)",
                                        {});
  EXPECT_LT(last(result, "max(norm(curl(u) - sin(dx)/dx*u))"), 1e-12);
  const auto plane = testing::run_text(R"(model plane "A stream function"
lattice box: 12*8, spacing = 0.5, boundary = periodic
field s: real
s' = -s
init s = sin(2*pi*x/6)*cos(2*pi*y/4)
evolve euler, dt = 1e-3, until = t > 1e-3
precision real = f64
k2 = (sin(pi/6)^2 + sin(pi/4)^2)/dx^2
at end: max(abs(curl(curl(s)) - k2*s)), max(abs(div(curl(s)))) -> "plane.h5"
)",
                                       {});
  EXPECT_LT(last(plane, "max(abs(curl(curl(s)) - k2*s))"), 1e-12);
  EXPECT_LT(last(plane, "max(abs(div(curl(s))))"), 1e-12);
}

std::string first_line_of_error(const std::string& flux, const std::string& scheme,
                                const std::string& evolve, const std::string& boundary) {
  try {
    testing::compile_text(fmt::format(R"(model refused "A curl that cannot be taken"
lattice box: 8^2, length = 1, boundary = {}
primitive b: vec(2)
conserve B = b: {}
recover {{
  b = B
}}
scheme {}
evolve {}, dt = 0.01*dx, until = t > 1
init b = [1, 0]
every 10 steps: mean(b[0]) -> "refused.h5"
)",
                                      boundary, flux, scheme, evolve),
                          {});
  } catch (const std::exception& error) {
    const std::string message = error.what();
    return message.substr(0, message.find('\n'));
  }
  return {};
}

TEST(CurlLaws, OthersAreRefused) {
  const std::string end = " is not yet in this version";
  EXPECT_EQ(first_line_of_error("curl(b[0])", "central", "rk4", "outflow"),
            "error[E0901]: `curl` in a law in a box that is not periodic" + end);
  EXPECT_EQ(first_line_of_error("curl(b[0]) + grad(b[1])", "central", "rk4", "periodic"),
            "error[E0901]: another flux beside `curl` in a law" + end);
  EXPECT_EQ(first_line_of_error("curl(b[0] + noise)", "central", "srk2", "periodic"),
            "error[E0901]: noise in a law with `curl`" + end);
}

}  // namespace
}  // namespace vphi
