// What models/std/flow.vphi measures, on shapes, stresses and ensembles for which it is known.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::exact;
using testing::last;
using testing::run_text;

/// Gaussians off the middle: an ellipse with eps_2 = (a^2 - b^2)/(a^2 + b^2), and a circle that has
/// got three corners, with <r^6> = 48 and <r^3> = 3 sqrt(pi/2) before.
TEST(FlowMeasures, EccentricitiesOfShapes) {
  const char* text = R"(model shapes "Eccentricities about the centre"
lattice plane: 160^2, length = 32, boundary = periodic
field f: real
f' = 0*f
init f = 0
evolve euler, dt = 1, until = t > 0
precision real = f64
X = x - 0.65
Y = y + 0.3
oval = exp(-X^2/8 - Y^2/4)
corners = exp(-(X^2 + Y^2)/2)*(1 + 0.02*re(exp(0.6i)*(X + 1i*Y)^3))
two = eccentricity(oval, 2)
turned_two = im(eccentricity_vector(oval, 2))
three = eccentricity_vector(corners, 3)
right = weighted_mean(x > 0.65, oval)
centre = weighted_mean(x, oval)
area = plane_integral(oval)
middle = in_the_middle(1 + 3*x - y + x*y)
at end: two, turned_two, re(three), im(three), centre, right, area, middle -> "shapes.h5"
)";
  const double pi = std::numbers::pi;
  for (const char* device : {"native", "opencl"}) {
    if (testing::device(device) == nullptr) continue;
    testing::Simulation setup;
    setup.device = device;
    const auto result = run_text(text, setup);
    // the box ends at 1e-13 of the height
    EXPECT_NEAR(last(result, "two"), 1.0 / 3, 1e-12) << device;
    EXPECT_NEAR(last(result, "turned_two"), 0, 1e-12) << device;
    const double size = 0.01 * 48 / (3 * std::sqrt(pi / 2));  // |z|^3 is not smooth at 0: 1e-7
    EXPECT_NEAR(last(result, "re(three)"), size * std::cos(0.6), 3e-8) << device;
    EXPECT_NEAR(last(result, "im(three)"), -size * std::sin(0.6), 3e-8) << device;
    EXPECT_NEAR(last(result, "centre"), 0.65, 1e-12) << device;
    EXPECT_NEAR(last(result, "area"), 4 * pi * std::numbers::sqrt2, 1e-12) << device;
    EXPECT_NEAR(last(result, "middle"), 1, 1e-14) << device;
    // the share of an even function on one side, but for the sites within dx/2 of its middle
    EXPECT_NEAR(last(result, "right"), 0.5, 0.03) << device;
  }
}

using Three = std::array<double, 3>;
using Matrix3 = std::array<Three, 3>;

/// The stress with principal values `values` along axes turned by the angles, in the frame in which
/// the matter moves with the velocity `v`.
Matrix3 moving_stress(const Three& values, double about_z, double about_y, const Three& v) {
  const double c = std::cos(about_z), s = std::sin(about_z);
  const double C = std::cos(about_y), S = std::sin(about_y);
  const Matrix3 axes{Three{c * C, s * C, -S}, Three{-s, c, 0}, Three{c * S, s * S, C}};
  const double v2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2], W = 1 / std::sqrt(1 - v2);
  Matrix3 boost{}, stress{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      boost[i][j] = (i == j ? 1 : 0) + (v2 > 0 ? (W - 1) * v[i] * v[j] / v2 : 0);
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 3; ++k)
          for (std::size_t l = 0; l < 3; ++l)
            stress[i][j] += values[n] * boost[i][k] * axes[n][k] * boost[j][l] * axes[n][l];
  return stress;
}

std::string measured(int axes, const std::string& lines) {
  return "model stress \"Principal values of stress\"\nlattice box: " +
         std::string(axes == 2 ? "4^2" : "4^3") +
         ", length = 1, boundary = periodic\nfield f: real\nf' = 0*f\ninit f = 0\n"
         "evolve euler, dt = 1, until = t > 0\nprecision real = f64\n" +
         lines;
}

std::string list(std::initializer_list<double> numbers) {
  std::string text;
  for (const double x : numbers) text += (text.empty() ? "[" : ", ") + exact(x);
  return text + "]";
}

TEST(FlowMeasures, PrincipalValuesOfMovingStress) {
  const Three values{0.7, -0.2, -0.5}, v{0.5, -0.3, 0.6};
  const Matrix3 m = moving_stress(values, 0.8, 1.1, v);
  const auto space = run_text(
      measured(3, "s = in_space(" + list({m[0][0], m[0][1], m[0][2], m[1][1], m[1][2]}) + ", " +
                      list({v[0], v[1], v[2]}) + ")\nv = " + list({v[0], v[1], v[2]}) + R"(
large = principal_value(s, v, 0)
middle = principal_value(s, v, 1)
small = principal_value(s, v, -1)
re = space_reynolds(s, v, 2, 1)
at end: large, middle, small, re -> "stress.h5"
)"),
      {});
  EXPECT_NEAR(last(space, "large"), 0.7, 1e-12);
  EXPECT_NEAR(last(space, "middle"), -0.2, 1e-12);
  EXPECT_NEAR(last(space, "small"), -0.5, 1e-12);
  EXPECT_NEAR(last(space, "re"), std::sqrt(0.49 + 0.04 + 0.25) / 2, 1e-12);

  const Three in_plane{0.5, -0.3, 0};
  const Matrix3 p = moving_stress({0.4, -0.3, -0.1}, 0.8, 0, in_plane);
  const auto plane =
      run_text(measured(2, "s = [" + list({p[0][0], p[0][1]}) + ", " + list({p[0][1], p[1][1]}) +
                               "]\nv = [0.5, -0.3]\n" + R"(
large = in_plane_value(s, v, 1)
small = in_plane_value(s, v, -1)
across = third(s, v)
re = shear_reynolds(s, v, 2, 1)
bulk = bulk_reynolds(-0.3, 2, 1)
at end: large, small, across, re, bulk -> "stress.h5"
)"),
               {});
  EXPECT_NEAR(last(plane, "large"), 0.4, 1e-12);
  EXPECT_NEAR(last(plane, "small"), -0.3, 1e-12);
  EXPECT_NEAR(last(plane, "across"), -0.1, 1e-12);
  EXPECT_NEAR(last(plane, "re"), std::sqrt(0.16 + 0.09 + 0.01) / 2, 1e-12);
  EXPECT_NEAR(last(plane, "bulk"), 0.15, 1e-12);
}

/// Squares of the speeds of small waves exp(k n x - w t) in matter at rest with enthalpy h, bulk
/// stress Pi and shear stress of the principal values L along n and K across. The equations are
/// linear in the gradient of the velocity: with S = diag(2, -1, -1)/3 for sound and S_LK = 1/2 for
/// shear the stress gains -(2 eta + l_pP Pi) S - d_pp pi - t_pp <pi S>, the bulk stress -zeta -
/// d_PP Pi - l_Pp pi:S, over their times; and the momentum of the velocity u is (h + Pi + pi_uu) u.
double sound_squared_of(double L, double h, double Pi, double c2) {
  const double tau = 0.7, eta = h * tau / 5;  // the speed must not depend on it
  const double bulk_tau = 0.3, zeta = 14.55 * std::pow(1.0 / 3 - c2, 2) * h * bulk_tau;
  const double d_pp = 4.0 / 3 * tau, t_pp = 10.0 / 7 * tau, l_pP = 6.0 / 5 * tau;
  const double d_PP = 2.0 / 3 * bulk_tau, l_Pp = 8.0 / 5 * (1.0 / 3 - c2) * bulk_tau;
  // pi = diag(L, M, -L - M): (pi S)_nn = 2 L/3, its trace 2 L/3 + L/3
  const double product = 2 * L / 3 - (2 * L / 3 + L / 3) / 3;
  const double energy = h + Pi + L;  // e' = -(h + Pi + L) u_x
  const double shear = ((2 * eta + l_pP * Pi) * 2 / 3 + d_pp * L + t_pp * product) / tau;
  const double bulk = (zeta + d_PP * Pi + l_Pp * L) / bulk_tau;
  return (c2 * energy + shear + bulk) / (h + Pi + L);
}

double shear_squared_of(double L, double K, double h, double Pi) {
  const double tau = 0.7, eta = h * tau / 5, t_pp = 10.0 / 7 * tau, l_pP = 6.0 / 5 * tau;
  const double product = (L + K) / 2 * 0.5;
  return ((2 * eta + l_pP * Pi) * 0.5 + t_pp * product) / tau / (h + Pi + K);
}

TEST(FlowMeasures, WavesInStressedMatter) {
  const auto result = run_text(measured(2, R"(
sound = stressed_sound(0.3, 2, -0.1, 0.2)
calm = stressed_sound(0, 2, 0, 0.2)
shear = stressed_shear(0.3, -0.2, 2, -0.1)
at_rest = plane_acausal([[0, 0], [0, 0]], [0, 0], 2, 0, 0.2)
# with c2 = 1/3 sound is slower than light up to L = 0.35 h and real down to -0.28 h
fine = acausal(0.5, -0.25, -0.25, 2, 0, 1/3)
fast = acausal(0.8, -0.4, -0.4, 2, 0, 1/3)
still_fine = acausal(0.69, -0.345, -0.345, 2, 0, 1/3)
grows = acausal(-0.58, 0.29, 0.29, 2, 0, 1/3)
holds = acausal(-0.54, 0.27, 0.27, 2, 0, 1/3)
# at x = -3/8 and 3/8 but not at -1/8 and 1/8
share = weighted_mean(acausal(-2*abs(x), abs(x), abs(x), 1.2, 0, 1/3), 1 + x^2)
at end: sound, calm, shear, rest = (1 if at_rest else 0), fine = (1 if fine else 0),
        fast = (1 if fast else 0), still_fine = (1 if still_fine else 0),
        grows = (1 if grows else 0), holds = (1 if holds else 0), share -> "waves.h5"
)"),
                               {});
  EXPECT_NEAR(last(result, "sound"), sound_squared_of(0.3, 2, -0.1, 0.2), 1e-14);
  EXPECT_NEAR(last(result, "shear"), shear_squared_of(0.3, -0.2, 2, -0.1), 1e-14);
  EXPECT_NEAR(last(result, "calm"), 0.2 + 4.0 / 15 + 14.55 * std::pow(1.0 / 3 - 0.2, 2), 1e-14);
  for (const char* causal : {"rest", "fine", "still_fine", "holds"})
    EXPECT_EQ(last(result, causal), 0) << causal;
  for (const char* not_causal : {"fast", "grows"}) EXPECT_EQ(last(result, not_causal), 1);
  const double outer = 1 + 9.0 / 64, inner = 1 + 1.0 / 64;
  EXPECT_NEAR(last(result, "share"), outer / (outer + inner), 1e-14);
}

/// u = (-a y + b z, a x, c y) has the curl (c, b/t, 2 a), which differences of a linear flow have
/// to rounding; u.curl(u) averages to what its even terms give.
TEST(FlowMeasures, VorticityOfALinearFlow) {
  const auto result = testing::run_text(R"(model turning "a flow that turns"
lattice box: 8*8*8, length = 0.8, boundary = outflow
metric scale(1, 1, t), energy = none
a = 0.3
b = 0.5
c = -0.2
primitive n: real, u: vec(3)
conserve N = n:  div(N*u)
conserve M = u:  div(M*u)
recover {
  n = N
  u = M
}
scheme kt, speed = 1
evolve heun, dt = 1e-9, until = t > 2
init t = 2, n = 1, u = [-a*y + b*z, a*x, c*y]
precision real = f64
# neighbours of these sites lie in the box
w = (abs(x) < 0.3)*(abs(y) < 0.3)*(abs(z) < 0.3)
curl_x = max(abs(space_vorticity(u)[0] - c)*w)
curl_y = max(abs(space_vorticity(u)[1] - b/2)*w)
curl_z = max(abs(space_vorticity(u)[2] - 2*a)*w)
turns = max(abs(plane_vorticity(u) - 2*a)*w)
along = helicity(u + [c, b/2, 2*a], w)
at end: curl_x, curl_y, curl_z, turns, along -> "v.h5"
)",
                                        {});
  for (const char* name : {"curl_x", "curl_y", "curl_z", "turns"})
    EXPECT_LT(std::abs(testing::last(result, name)), 1e-8) << name;
  // of u itself odd terms average to 0; what is added is along the curl
  EXPECT_NEAR(testing::last(result, "along"), 0.04 + 0.0625 + 0.36, 1e-8);
}

/// V = 1 + g with <|g|^2> = 1/2: v{2}^2 = 3/2, and v{4} = 1 does not see g.
TEST(FlowMeasures, CumulantsOfEvents) {
  const auto result = run_text(R"(model flow "Flow that fluctuates"
sweep event = 1..20000
var a: real
var b: real
a' = 0*a
b' = 0*b
init a ~ normal(0, 1)
init b ~ normal(0, 1)
V = 1 + 0.5*(a + 1i*b)
evolve euler, dt = 1, until = t > 0
two = cumulant_two(mean(norm2(V), over = event))
four = cumulant_four(mean(abs(V)^2, over = event), mean(abs(V)^4, over = event))
at end: two, four, wide = error(four) -> "flow.h5"
)",
                               {});
  const double wide = last(result, "wide");
  EXPECT_NEAR(last(result, "two"), std::sqrt(1.5), 4 * 0.0032);
  EXPECT_LT(wide, 0.02);
  EXPECT_NEAR(last(result, "four"), 1, 4 * wide);
}

}  // namespace
}  // namespace vphi
