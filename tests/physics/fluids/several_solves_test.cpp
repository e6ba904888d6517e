// Several equations in one `recover`: one after the other, or iterated together.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tests/support/places.hpp"
#include "tests/support/simulate.hpp"

namespace vphi {
namespace {

using testing::last;
using testing::run_text;
using testing::shipped;

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto place = text.find(from);
  if (place == std::string::npos) throw std::runtime_error("no " + from);
  return text.replace(place, from.size(), to);
}

std::string model_text(const std::string& name) {
  std::ifstream file(shipped(name));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A relativistic gas beside a number n = T^2 + T^3 in its frame: T is found from what `solve u`
/// has found, though its line is the first.
std::string gas(const std::string& pressure) {
  return changed(R"(model seq "one solve after the other"
lattice line: 32, length = 1, boundary = periodic
primitive eps, T: real, v: vec(1)
p(eps) = %p
W = 1/sqrt(1 - norm2(v))
conserve M = (eps + p)*W^2*v:    div(M*v) + grad(p)
conserve E = (eps + p)*W^2 - p:  div((E + p)*v)
conserve N = (T^2 + T^3)*W:      div(N*v)
recover {
  T   = T*(n/(T^2 + T^3))^(1/2)
  n   = N*sqrt(1 - u^2)
  u   = norm(M)/(E + p)
  eps = E - norm(M)*u
  v   = M/(E + p)
  solve T by newton, tol = 1e-13, start = 1, from = 1e-6, to = 1e6
  solve u by fixed_point, tol = 1e-14, max = 60, start = 0
}
scheme kt, speed = 1
evolve heun, dt = 0.2*dx, until = t > 0.5
init eps = 1 + 0.2*sin(2*pi*x), v = [0.3], T = 1 + 0.1*cos(2*pi*x)
precision real = f64
off = max(abs((T^2 + T^3)*W - N))
apart = max(abs(T - 1))
every 20 steps: off, apart, E = mean(eps), left = max(residual) -> "seq.h5"
expect conserved(N) within 1e-13
)",
                 "%p", pressure);
}

TEST(SeveralSolves, OneAfterTheOther) {
  // the equation of u is quadratic with the first pressure, and iterated with the second
  for (const char* pressure : {"eps/3", "eps/3 + 0.01*eps/(1 + eps)"}) {
    const auto result = run_text(gas(pressure), {});
    for (const auto& promise : result.expectations) EXPECT_TRUE(promise.ok) << promise.text;
    EXPECT_LT(last(result, "off"), 1e-12);
    EXPECT_GT(last(result, "apart"), 0.05);
    EXPECT_LT(last(result, "left"), 1e-12);
  }
}

/// A start at each site changes nothing but the number of iterations: of a name found by itself, of
/// one whose start is a name that is found before it, and of names found together.
TEST(SeveralSolves, StartFromFormulas) {
  const std::string numbers = gas("eps/3 + 0.01*eps/(1 + eps)");
  const std::string formulas =
      changed(changed(numbers, "tol = 1e-13, start = 1", "tol = 1e-13, start = sqrt(n)"),
              "max = 60, start = 0", "max = 60, start = norm(M)/(4/3*E)");
  const auto first = run_text(numbers, {}), second = run_text(formulas, {});
  for (const char* column : {"off", "apart", "E"})
    EXPECT_NEAR(last(first, column), last(second, column), 1e-12) << column;
  for (const char* start : {"start = 1, from", "start = (E/2)^(1/4), from"}) {
    for (const char* of_v : {"start = 0", "start = M/(4/3*E)"}) {
      std::string text = R"(model joint "T and v together"
lattice line: 32, length = 1, boundary = periodic
primitive T: real, v: vec(1)
p = T^4/3 + 0.01*T^3
h = T*d(p, T)
W = 1/sqrt(1 - norm2(v))
conserve M = h*W^2*v:    div(M*v) + grad(p)
conserve E = h*W^2 - p:  div((E + p)*v)
recover {
  T = T*(max(E - dot(M, v), 1e-20)/(h - p))^(1/3)
  v = M/(E + p)
  solve T by newton, tol = 1e-13, start = 1, from = 1e-6, to = 1e6
  solve v by fixed_point, tol = 1e-13, max = 90, start = 0
}
scheme kt, speed = 1
evolve heun, dt = 0.2*dx, until = t > 0.5
init T = 1 + 0.3*sin(2*pi*x), v = [0.5*cos(2*pi*x)]
precision real = f64
every 20 steps: T4 = mean(T^4), flow = mean(v[0]^2), left = max(residual) -> "joint.h5"
)";
      text = changed(text, "start = 1, from", start);
      text = changed(text, "start = 0\n}", std::string(of_v) + "\n}");
      const auto result = run_text(text, {});
      static const double t4 = last(result, "T4"), flow = last(result, "flow");  // of the first
      EXPECT_NEAR(last(result, "T4"), t4, 1e-12);
      EXPECT_NEAR(last(result, "flow"), flow, 1e-12);
      EXPECT_LT(last(result, "left"), 1e-11);
    }
  }
}

/// Viscous Gubser flow with the temperature for the energy density: T and the velocity need each
/// other. The numbers are those of the model with one solve; slopes are of conserved quantities,
/// since those of T are not those of T^4.
TEST(SeveralSolves, TheTemperatureAndTheVelocityTogether) {
  std::string text = model_text("hydro/viscous_gubser");
  text = changed(text, "scheme kt_primitive", "scheme kt");
  for (const char* column : {"2", "3"})
    text = changed(text, std::string("\"viscous_gubser.txt:") + column,
                   std::string("\"" VPHI_SOURCE_DIR "/models/hydro/viscous_gubser.txt:") + column);
  testing::Simulation coarse;
  coarse.lattice = "41^2", coarse.until = "t > 1.2";
  const double single = last(run_text(text, coarse), "apart");
  text = changed(text, "primitive eps: real", "primitive T: real");
  text = changed(text, "W = 1/sqrt", "eps = T^4\nW = 1/sqrt");
  text = changed(text, "  eps = E - dot(M, v)\n",
                 "  T = T*(max(E - dot(M, v), 1e-20)/T^4)^(1/3)\n"
                 "  solve T by newton, tol = 1e-6, start = 1, from = 1e-6, to = 1e6\n");
  text = changed(text, "tol = 1e-9, max = 60, start = 0", "tol = 1e-6, max = 90, start = 0");
  text = changed(text, "init t = 1, eps = exact", "init t = 1, T = exact^(1/4)");
  EXPECT_NEAR(last(run_text(text, coarse), "apart"), single, 1e-5);
}

/// A collision of gold with the HotQCD equation of state and 14-moment shear stress: numbers of an
/// independent code at dx = 0.2 and 0.133 fm, whose last digits are uncertain. Here dx = 0.32 fm.
TEST(SeveralSolves, ACollisionIsThatOfAnIndependentCode) {
  std::ifstream file(VPHI_SOURCE_DIR "/docs/viscous.md");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.erase(0, text.find("model event2d"));
  text = changed(text, "64^2, length", "80^2, length");
  text = changed(text, "until = max(T) < T_f", "until = t > 6.9999 [fm]");
  const auto every = text.find("every 5 steps");
  text.replace(every, std::string::npos, R"(precision real = f64
w = (h - p)*W
top = max(T)/(1 [GeV])
eps_x = mean(w*(y^2 - x^2))/mean(w*(x^2 + y^2))
eps_p = momentum_anisotropy(h, p, u, s)
v_T = transverse_velocity(v, w)
entropy = plane_integral(h/T*W)
eps_2 = eccentricity(w, 2)
middle = in_the_middle(T)/(1 [GeV])
by_hand = mean(h*(u[0]^2 - u[1]^2) + q[0] - q[2])/mean(h*norm2(u) + 2*p + q[0] + q[2])
every 1 step: t, top, eps_x, eps_p, v_T, entropy, eps_2, middle, by_hand -> "event.h5"
)");
  const auto result = run_text(text, {});
  EXPECT_NEAR(last(result, "top"), 0.16453, 2e-4);
  EXPECT_NEAR(last(result, "eps_x"), 0.0649, 0.002);
  EXPECT_NEAR(last(result, "eps_p"), 0.0806, 0.001);
  EXPECT_NEAR(last(result, "v_T"), 0.4979, 0.002);
  EXPECT_NEAR(last(result, "entropy") / 3274.5, 1, 0.003);
  // the long axis is y; the middle is between four cells, the hottest of them at 4e-5 from it
  EXPECT_NEAR(last(result, "eps_2"), last(result, "eps_x"), 1e-12);
  EXPECT_NEAR(last(result, "middle"), 0.16453, 2e-4);
  EXPECT_NEAR(last(result, "by_hand"), last(result, "eps_p"), 1e-12);
}

std::string equation_of_state(const std::string& p, const std::string& start) {
  return "model eos \"matter at rest\"\nunits fm\nlattice line: 4, length = 1, boundary = "
         "periodic\n"
         "primitive T: real\np = " +
         p +
         R"(
s = d(p, T)
conserve E = T*s - p: d(0*T, x)
recover {
  T = T*(E/(T*s - p))^(1/4)
  solve T by newton, tol = 1e-13, start = 0.2 [GeV], from = 1e-6 [GeV], to = 1000 [GeV]
}
scheme upwind, speed = 1
evolve heun, dt = 1e-14, until = t > 0
init )" + start +
         R"(
precision real = f64
at[k] = (4 if index(x) == k else 0)
pressure[k] = mean(at[k]*p/T^4)
anomaly[k] = mean(at[k]*(T*s - 4*p)/T^4)
sound[k] = mean(at[k]*sound_squared(p, T))
energy[k] = mean(at[k]*(T*s - p))/(1 [GeV/fm^3])
entropy[k] = mean(at[k]*s)
T_GeV = mean(T)/(1 [GeV])
every 1 step: T_GeV, pressure[0], anomaly[0], sound[0], energy[0], entropy[0], pressure[1], anomaly[1], sound[1],
    energy[1], entropy[1], p_GeV = pressure[0]*(T_GeV*(1 [GeV]))^4/(1 [GeV/fm^3]), pressure[3], anomaly[3], sound[3],
    energy[3], entropy[3] -> "eos.h5"
)";
}

/// Values that were computed elsewhere at 150, 200 and 300 MeV, and those at 1 GeV/fm^3.
TEST(SeveralSolves, EquationsOfStateOfTheLibrary) {
  const std::string start = "T = 0.15 [GeV] + 0.05 [GeV]*index(x)";
  const auto hot = run_text(equation_of_state("hotqcd_p(T)", start), {});
  EXPECT_NEAR(last(hot, "pressure[0]"), 0.65598236, 2e-8);
  EXPECT_NEAR(last(hot, "anomaly[0]"), 2.10842341, 2e-8);
  EXPECT_NEAR(last(hot, "sound[0]"), 0.14468492, 2e-8);
  EXPECT_NEAR(last(hot, "energy[0]"), 0.2685834658, 2e-8);
  EXPECT_NEAR(last(hot, "entropy[0]"), 2.0786978, 1e-6);
  EXPECT_NEAR(last(hot, "pressure[1]"), 1.62236273, 2e-8);
  EXPECT_NEAR(last(hot, "anomaly[1]"), 4.04755987, 2e-8);
  EXPECT_NEAR(last(hot, "sound[1]"), 0.21957607, 2e-8);
  EXPECT_NEAR(last(hot, "energy[1]"), 1.8563710, 2e-7);
  EXPECT_NEAR(last(hot, "entropy[1]"), 10.971045, 2e-6);
  EXPECT_NEAR(last(hot, "pressure[3]"), 3.08190556, 2e-8);
  EXPECT_NEAR(last(hot, "anomaly[3]"), 2.95275125, 2e-8);
  EXPECT_NEAR(last(hot, "sound[3]"), 0.28225389, 2e-8);
  EXPECT_NEAR(last(hot, "energy[3]"), 12.8597018, 2e-7);
  EXPECT_NEAR(last(hot, "entropy[3]"), 53.695553, 2e-6);
  const auto s95p = run_text(equation_of_state("s95p_p(T)", start), {});
  EXPECT_NEAR(last(s95p, "pressure[0]"), 0.6202323, 2e-7);
  EXPECT_NEAR(last(s95p, "anomaly[0]"), 1.7818908, 2e-7);
  EXPECT_NEAR(last(s95p, "sound[0]"), 0.154046, 2e-6);
  EXPECT_NEAR(last(s95p, "energy[0]"), 0.2400024, 2e-7);
  EXPECT_NEAR(last(s95p, "entropy[0]"), 1.872455, 2e-6);
  EXPECT_NEAR(last(s95p, "pressure[3]"), 3.5045883, 2e-7);
  EXPECT_NEAR(last(s95p, "anomaly[3]"), 3.2046519, 2e-7);
  EXPECT_NEAR(last(s95p, "energy[3]"), 14.4620415, 2e-7);
  EXPECT_NEAR(last(s95p, "entropy[3]"), 60.522002, 2e-6);
  EXPECT_NEAR(last(s95p, "sound[3]"), 0.297638, 2e-6);
  const auto one = run_text(equation_of_state("hotqcd_p(T)", "E = 1 [GeV/fm^3]"), {});
  EXPECT_NEAR(last(one, "T_GeV"), 0.17973481, 2e-8);
  EXPECT_NEAR(last(one, "p_GeV"), 0.16298896, 2e-8);
  EXPECT_NEAR(last(one, "sound[0]"), 0.18502408, 2e-8);
  const auto cold = run_text(equation_of_state("hotqcd_p(T)", "T = 0.148 [GeV]"), {});
  EXPECT_NEAR(last(cold, "energy[0]"), .24110175, 2e-8);
  // 42.25 degrees of freedom: e = 42.25 pi^2/30 T^4 + B
  const auto bag = run_text(equation_of_state("bag_p(T, 42.25, 0.1 [GeV/fm^3])", start), {});
  EXPECT_NEAR(last(bag, "energy[3]"), 13.899692865 * 0.0081 / 0.0076835056 + 0.1, 1e-6);
}

}  // namespace
}  // namespace vphi
