// Viscous Gubser flow, component by component, also with tau_pi_pi = 10/7 tau and around an origin
// that is shifted in time, where all components of stress and flow in proper time and rapidity are
// at work. The reference is the pair of ordinary differential equations of Marrochio and others,
// Phys. Rev. C 91 (2015) 014903, integrated here and held to published numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "tests/support/places.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;

/// That and pibar = pi^ee/(e + p).
using GubserPoint = std::array<double, 2>;

GubserPoint gubser_slope(double rho, const GubserPoint& at, double t_pp) {
  const auto [hot, share] = at;
  const double th = std::tanh(rho);
  return {hot * (share - 2) * th / 3,
          -4.0 / 3 * share * share * th - hot * share + 4.0 / 15 * th + t_pp / 3 * th * share};
}

/// The solution with That(0) = 1.2, pibar(0) = 0, eta/s = 0.2; t_pp is tau_pi_pi over tau.
GubserPoint gubser_point(double rho, double t_pp) {
  constexpr int kSteps = 400;
  const double step = rho / kSteps;
  GubserPoint now{1.2, 0};
  const auto ahead = [&](const GubserPoint& slope, double way) {
    return GubserPoint{now[0] + way * slope[0], now[1] + way * slope[1]};
  };
  for (int i = 0; i < kSteps; ++i) {
    const double at = i * step;
    const auto a = gubser_slope(at, now, t_pp),
               b = gubser_slope(at + step / 2, ahead(a, step / 2), t_pp),
               c = gubser_slope(at + step / 2, ahead(b, step / 2), t_pp),
               d = gubser_slope(at + step, ahead(c, step), t_pp);
    for (std::size_t k = 0; k < 2; ++k) now[k] += step / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]);
  }
  return now;
}

/// Rows of rho, That^4 and the stress across, over t^4, as a model reads them.
std::string gubser_rows(const testing::ScratchFolder& folder, double t_pp) {
  const std::string path = (folder / "gubser.txt").string();
  std::ofstream out(path);
  for (int i = -448; i <= 448; ++i) {
    const auto [hot, share] = gubser_point(i / 128.0, t_pp);
    out << fmt::format("{} {:.14g} {:.14g}\n", i / 128.0, std::pow(hot, 4),
                       -2.0 / 3 * std::pow(hot, 4) * share);
  }
  return path;
}

TEST(ViscousGubser, TheIntegrationIsThePublishedOne) {
  struct Row {
    double rho, hot, share;
  };
  for (const Row& row : {Row{-2, .5551566820, .4850972812}, Row{-.5, 1.1084900683, .0391702420},
                         Row{.5, 1.1082668152, .0265983810}, Row{2, .5210939862, .1982989440}}) {
    const auto [hot, share] = gubser_point(row.rho, 0);
    EXPECT_NEAR(hot, row.hot, 1e-9) << row.rho;
    EXPECT_NEAR(share, row.share, 1e-9) << row.rho;
  }
}

/// The shipped model, with mean errors of each component relative to its mean, r < 3 fm.
std::string plane_flow(const std::string& cells, const std::string& rows, bool more) {
  std::ifstream file(testing::shipped("hydro/viscous_gubser"));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto put = [&text](const std::string& from, const std::string& to) {
    std::size_t place = text.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    for (; place != std::string::npos; place = text.find(from, place + to.size()))
      text.replace(place, from.size(), to);
  };
  put("viscous_gubser.txt", rows);
  put("101^2", cells);
  if (more)
    put("Z = -8/15*tau*eps*S - tau*(", "Z = -8/15*tau*eps*S - tau*(10/7*traceless(s, S, u, v) + ");
  text.erase(text.find("every 10 steps"));
  return text + R"(q_exact = table(")" + rows + R"(:3", asinh((t^2 - r^2 - 1)/(2*t)), order = 3)/t^4
    *([1, 0, 1] + 4*t^2*[x^2, x*y, y^2]/((1 + t^2 + r^2)^2 - 4*t^2*r^2))
near = (1 if r < 3 else 0)
u_exact = 2*t*x/sqrt((1 + t^2 + r^2)^2 - 4*t^2*r^2)
ee(w, b) = third([[w[0], w[1]], [w[1], w[2]]], b)
v_exact = 2*t*[x, y]/(1 + t^2 + r^2)
off_e = mean(near*abs(eps - exact))/mean(near*exact)
off_u = mean(near*abs(u[0] - u_exact))/mean(near)
off_xx = mean(near*abs(q[0] - q_exact[0]))/mean(near*abs(q_exact[0]))
off_xy = mean(near*abs(q[1] - q_exact[1]))/mean(near*abs(q_exact[1]))
off_yy = mean(near*abs(q[2] - q_exact[2]))/mean(near*abs(q_exact[2]))
off_ee = mean(near*abs(ee(q, v) - ee(q_exact, v_exact)))/mean(near*abs(ee(q_exact, v_exact)))
at end: off_e, off_u, off_xx, off_xy, off_yy, off_ee -> "g.h5"
)";
}

/// The exact state of the plane at the start, by the library's words for the stress.
std::string state_at(const std::string& t, const std::string& rows) {
  std::string text = plane_flow("7^2", rows, false);
  const auto put = [&text](const std::string& from, const std::string& to) {
    const auto place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    text.replace(place, text.find('\n', place) - place, to);
  };
  put("lattice plane", "lattice plane: 7^2, spacing = 1, boundary = outflow");
  put("evolve heun", "evolve heun, dt = 0.1, until = t >= " + t);
  put("init t = 1", "init t = " + t + ", eps = exact, v = v_exact");
  put("init q", "init q = q_exact");
  text.erase(text.find("at end"));
  return text;
}

// T in GeV, u^x, u^y, and pi^xx, pi^yy, pi^xy, pi^ee in GeV/fm^3 at t, x and y in fm, computed
// elsewhere.
TEST(ViscousGubser, TheTableOfTheFlow) {
  constexpr double kUnit = 0.1973269804, kDensity = 13.8996929 * kUnit;
  struct Row {
    const char *t, *x, *y;
    double known[7];
  };
  const testing::ScratchFolder folder;
  const std::string rows = gubser_rows(folder, 0);
  for (const auto& [t, x, y, known] :
       {Row{"1.2", "0", "0", {.195166704, 0, 0, -.007181613, -.007181613, 0, .014363227}},
        Row{"1.2", "2", "0", {.136739565, 1.117985466, 0, -.216871690, -.096392066, 0, .192784132}},
        Row{"1.5",
            "1",
            "1",
            {.154710348, .970142500, .970142500, -.011987735, -.011987735, -.005812235,
             .012351000}},
        Row{"2", "0", "0", {.102215681, 0, 0, -.006108276, -.006108276, 0, .012216551}},
        Row{"2", "1", "0", {.109961930, .894427191, 0, -.007891989, -.004384438, 0, .008768877}},
        Row{"2", "3", "0", {.081671495, 1.664100589, 0, -.046902143, -.012443426, 0, .024886851}},
        Row{"2",
            "2",
            "2",
            {.087684903, 1.249390095, 1.249390095, -.033047162, -.033047162, -.020143032,
             .025808260}},
        Row{"3", "2", "2", {.078930792, 2, 2, 0, 0, 0, 0}}}) {
    const auto result = testing::run_text(
        state_at(t, rows) +
            fmt::format("here = (1/t if abs(x - {}) + abs(y - {}) < 0.01 else 0)\n", x, y) +
            "every 1 steps: T = total(here*eps^(1/4)), u_x = total(here*u[0]), u_y = "
            "total(here*u[1]), q_xx = total(here*q[0]), q_yy = total(here*q[2]), q_xy = "
            "total(here*q[1]), q_ee = total(here*ee(q, v)) -> \"s.h5\"\n",
        {});
    const std::array names{"T", "u_x", "u_y", "q_xx", "q_yy", "q_xy", "q_ee"};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double unit = i == 0 ? kUnit : i < 3 ? 1 : kDensity;
      EXPECT_NEAR(unit * last(result, names[i]), known[i], i < 3 ? 5e-9 : 2e-8)
          << names[i] << t << x << y;
    }
  }
}

/// The same flow along its radius R: the stress across, s_a, and along the rapidity, s_e, are
/// numbers that are carried along, and the third follows from its trace.
std::string radial_flow(int cells, const std::string& rows) {
  return fmt::format(R"(model radial "Viscous Gubser flow along its radius"
lattice line: {0}, length = 5, boundary = outflow
R = x + 2.5
metric scale(1, R, t), energy = E
primitive eps, s_a, s_e: real, v: vec(1)
W = 1/sqrt(1 - norm2(v))
u = W*v[0]
s_r = -s_a - s_e
conserve E = (4/3*eps + s_r)*W^2 - eps/3 - s_r:  div(M) + (s_e - s_r)/t
conserve M = (4/3*eps + s_r)*W^2*v:              div(M*v) + grad(eps/3 + s_r) + [(s_r - s_a)/R]
expands = W' + d(u, x) + u/R + W/t
tau = 5*0.2/eps^(1/4)
relax s_a = -8/15*tau*eps*(u/R - expands/3) - tau*4/3*expands*s_a, time = W*tau, along = v
relax s_e = -8/15*tau*eps*(W/t - expands/3) - tau*4/3*expands*s_e, time = W*tau, along = v
recover {{
  eps = E - dot(M, v)
  v   = M/(E + eps/3 + s_r)
  solve v by fixed_point, tol = 1e-9, max = 60, start = 0
}}
scheme kt_primitive, speed = 1, theta = 1.8
evolve heun, dt = 0.2*dx, until = t > 1.9999
rho = asinh((t^2 - R^2 - 1)/(2*t))
exact = table("{1}:2", rho, order = 3)/t^4
s_exact = table("{1}:3", rho, order = 3)/t^4
u_exact = 2*t*R/sqrt((1 + t^2 + R^2)^2 - 4*t^2*R^2)
init t = 1, eps = exact, v = [2*R/(2 + R^2)], s_a = s_exact, s_e = -2*s_exact
precision real = f64
near = (R if R < 3 else 0)
off_e = mean(near*abs(eps - exact))/mean(near*exact)
off_u = mean(near*abs(u - u_exact))/mean(near)
off_a = mean(near*abs(s_a - s_exact))/mean(near*abs(s_exact))
off_ee = mean(near*abs(s_e + 2*s_exact))/mean(near*abs(2*s_exact))
at end: off_e, off_u, off_a, off_ee -> "g.h5"
)",
                     cells, rows);
}

TEST(ViscousGubser, AlongItsRadiusItIsOfOrderTwo) {
  const testing::ScratchFolder folder;
  const std::string rows = gubser_rows(folder, 0);
  const auto coarse = testing::run_text(radial_flow(50, rows), {});
  const auto fine = testing::run_text(radial_flow(100, rows), {});
  // with cells of 0.1 fm as close as in the plane
  for (const auto& [name, within] : {std::pair{"off_e", 6.5e-3}, std::pair{"off_u", 5.5e-3},
                                     std::pair{"off_a", 3.3e-2}, std::pair{"off_ee", 1.8e-2}}) {
    EXPECT_LT(last(coarse, name), within) << name;
    EXPECT_GT(std::log2(last(coarse, name) / last(fine, name)), 1.9) << name;
  }
}

// An independent code has 5.0e-3, 2.05e-3 (not relative), 3.0e-2 and 1.5e-2 of e, u^x, pi^xx and
// pi^ee with cells of 0.1 fm, and 5.05e-3, 2.1e-3, 2.6e-2 and 1.3e-2 with 10/7. The order of the
// stress is 1.78 at these cells for 10/7, and more than 1.85 for all else.
TEST(ViscousGubser, EachComponentInAPlaneIsOfOrderTwo) {
  const testing::ScratchFolder folder;
  for (const bool more : {false, true}) {
    const std::string rows = gubser_rows(folder, more ? 10.0 / 7 : 0);
    const auto coarse = testing::run_text(plane_flow("101^2", rows, more), {});
    const auto fine = testing::run_text(plane_flow("151^2", rows, more), {});
    for (const auto& [name, within] :
         {std::pair{"off_e", 5.5e-3}, std::pair{"off_u", 2.7e-3}, std::pair{"off_xx", 3.3e-2},
          std::pair{"off_xy", 6e-2}, std::pair{"off_yy", 3.3e-2}, std::pair{"off_ee", 1.8e-2}}) {
      EXPECT_LT(last(coarse, name), within) << name << more;
      EXPECT_GT(std::log(last(coarse, name) / last(fine, name)) / std::log(151.0 / 101), 1.75)
          << name << more;
    }
  }
}

/// Gubser's flow lives in t_s = t cosh(z) + 1/2 and z_s = t sinh(z); t and z are those of the run.
std::string shifted_flow(const std::string& box, const std::string& rows, const std::string& start,
                         const std::string& end) {
  return "model shifted \"Gubser's flow around an origin shifted in time\"\nlattice box: " + box +
         ", boundary = outflow\nrows_e(a) = table(\"" + rows +
         ":2\", a, order = 3)\nrows_s(a) = table(\"" + rows + ":3\", a, order = 3)\n" + R"(
metric scale(1, 1, t), energy = E
primitive eps: real, q: vec(5), v: vec(3)
t_p = sqrt((t*cosh(z) + 0.5)^2 - (t*sinh(z))^2)
ch = (t + 0.5*cosh(z))/t_p
sh = -0.5*sinh(z)/t_p
r2 = x^2 + y^2
u_n = sqrt((1 + t_p^2 + r2)^2 - 4*t_p^2*r2)
u_t = (1 + t_p^2 + r2)/u_n
u_x = 2*t_p*x/u_n
u_y = 2*t_p*y/u_n
rho = asinh((t_p^2 - r2 - 1)/(2*t_p))
e_exact = rows_e(rho)/t_p^4
v_exact = [u_x/(u_t*ch), u_y/(u_t*ch), sh/ch]
q_exact = rows_s(rho)/t_p^4*[1 + u_x^2, u_x*u_y, u_x*u_t*sh, 1 + u_y^2, u_y*u_t*sh]
h = 4/3*eps
W = 1/sqrt(1 - norm2(v))
s = in_space(q, v)
conserve E = h*W^2 - eps/3 + dot(s*v, v): div(M)
conserve M = h*W^2*v + s*v:               div(M*v) + div(s - outer(s*v, v)) + grad(eps/3)
u = W*v
a = space_acceleration(u, W, v)
expands = space_expansion(u, W)
S = space_strain(space_gradients(u, W), u, a, expands)
tau = 1/eps^(1/4)
relax q = five(-tau*(2/5*h*S + 4/3*expands*s + 10/7*space_traceless(s, S, u, v)
    - turned(s, u, v, a) + space_carried(s, u, v))), time = W*tau, along = v
recover {
  eps = E - dot(M, v)
  v   = (M - s*v)/(E - dot(s*v, v) + eps/3)
  solve v by fixed_point, tol = 1e-9, max = 60, start = 0
}
beyond x: eps = e_exact, v = v_exact, q = q_exact
beyond y: eps = e_exact, v = v_exact, q = q_exact
beyond z: eps = e_exact, v = v_exact, q = q_exact
scheme kt_primitive, speed = 1, theta = 1.8
evolve heun, dt = 0.15*dx, until = )" +
         end + "\ninit t = " + start + R"(, eps = e_exact, v = v_exact, q = q_exact
precision real = f64
)";
}

// T in 1/fm and the stress in units of T^4 at x = 1, y = 1/2, z = 0 and 1/2, t = 3/2, computed
// elsewhere: the start is that flow.
TEST(ViscousGubser, TheShiftedStateIsThatOfOthers) {
  const testing::ScratchFolder folder;
  const auto result = testing::run_text(
      shifted_flow("5*3*3, spacing = 0.5", gubser_rows(folder, 10.0 / 7), "1.5", "t >= 1.5") +
          "here = (1 if abs(x - 1) + abs(y - 0.5) + abs(z) < 0.01 else 0)\n"
          "there = (1 if abs(x - 1) + abs(y - 0.5) + abs(z - 0.5) < 0.01 else 0)\n"
          "every 1 steps: T_0 = (total(here*eps)/t)^(1/4), T_1 = (total(there*eps)/t)^(1/4), "
          "v_1[i] = total(there*v[i])/t, i = 0..2 -> \"s.h5\"\n"
          "every 1 steps: at_0[i] = total(here*q[i])/t, i = 0..4 -> \"s.h5\"\n"
          "every 1 steps: at_1[i] = total(there*q[i])/t, i = 0..4 -> \"s.h5\"\n"
          "every 1 steps: ee_0 = total(here*s[2,2])/t, ee_1 = total(there*s[2,2])/t -> \"s.h5\"\n",
      {});
  constexpr double kUnit = 13.8996929;
  EXPECT_NEAR(last(result, "T_0"), .566147790, 1e-8);
  EXPECT_NEAR(last(result, "T_1"), .548047739, 1e-8);
  constexpr double kFlow[] = {.630579583, .315289792, -.126245767};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(last(result, fmt::format("v_1[{}]", i)), kFlow[i], 1e-8);
  // xx, xy, xz, yy, yz
  constexpr double kMiddle[] = {-.035534520, -.008107698, 0, -.023372973, 0};
  constexpr double kAside[] = {-.035376008, -.007950327, .003183405, -.023450517, .001591703};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(kUnit * last(result, fmt::format("at_0[{}]", i)), kMiddle[i], 2e-8) << i;
    EXPECT_NEAR(kUnit * last(result, fmt::format("at_1[{}]", i)), kAside[i], 2e-8) << i;
  }
  EXPECT_NEAR(kUnit * last(result, "ee_0"), .038638248, 2e-8);
  EXPECT_NEAR(kUnit * last(result, "ee_1"), .039259645, 2e-8);
}

// Errors relative to the mean of each component; what lies beyond the box is the exact flow.
TEST(ViscousGubser, AroundAShiftedOriginEachComponentIsOfOrderTwo) {
  const testing::ScratchFolder folder;
  const std::string rows = gubser_rows(folder, 10.0 / 7);
  const std::string outputs = R"(off_e = mean(abs(eps - e_exact))/mean(e_exact)
off_v[i] = mean(abs(v[i] - v_exact[i]))/mean(abs(v_exact[i]))
off_q[i] = mean(abs(q[i] - q_exact[i]))/mean(abs(q_exact[i]))
at end: off_e, off_v[0], off_v[1], off_v[2], off_q[i], i = 0..4 -> "s.h5"
)";
  const auto run = [&](const std::string& box) {
    return testing::run_text(shifted_flow(box, rows, "1", "t > 1.4999") + outputs, {});
  };
  const auto coarse = run("16*16*8, length = [2, 2, 1]"),
             fine = run("32*32*16, length = [2, 2, 1]");
  for (const char* name : {"off_e", "off_v[0]", "off_v[1]", "off_v[2]", "off_q[0]", "off_q[1]",
                           "off_q[2]", "off_q[3]", "off_q[4]"}) {
    EXPECT_LT(last(fine, name), 0.08) << name;
    EXPECT_GT(std::log2(last(coarse, name) / last(fine, name)), 1.75) << name;
  }
  EXPECT_LT(last(fine, "off_e"), 1e-3);
  EXPECT_LT(last(fine, "off_v[2]"), 2e-3);
}

}  // namespace
}  // namespace vphi
