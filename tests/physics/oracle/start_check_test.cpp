// The oracle of `vphi test` for drawn starts and for time derivatives of formulas. Right models
// pass; each fault of a table is found.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/algebra/transform.hpp"
#include "tests/physics/oracle/planted.hpp"

namespace vphi {
namespace {

using namespace planted;

const std::map<std::string, std::string>& start_texts() {
  static const std::map<std::string, std::string> kTexts{
      {"sites", R"(model sites "fields that are drawn"
lattice box: 5*4, spacing = 0.5
field phi, chi: real, n: vec(2), th: angle
potential V = phi^2/2 + chi^2/2 + norm2(n)^2/4 + 1 - cos(th)
init phi ~ 0.3*x + 2*normal, phi' ~ normal(0.1, 0.5), chi ~ uniform(-1, 2), chi' = 0, n ~ 0.5*normal, n' = 0, th ~ uniform(0, 2*pi), th' = 0
evolve leapfrog, dt = 0.01, until = t > 1
every 1 step: mean(phi) -> "m.h5"
)"},
      {"bodies", R"(model bodies "bodies that are drawn"
particles body: 6
var x[k]: vec(2), p[k]: vec(2), q[k]: real, v[k]: real
w[k] ~ cauchy(0.5, 2)
H = sum(norm2(p[k])/2 + norm2(x[k])/2 + v[k]^2/2 + w[k]*q[k]^2/2, k)
init x ~ ball(1.5), p ~ 0.7*normal, q = 0, v ~ waterbag(0.5)
evolve yoshida4, dt = 0.01, until = t > 1
every 1 step: H -> "m.h5"
)"},
      {"hot", R"(model hot "links anywhere in their group"
lattice grid: 4^2
gauge U: SU(3), store = rows(2)
action S = 1.4*sum(3 - re(tr(loop(mu, nu, -mu, -nu))), mu < nu)
sample heatbath, sweeps = 10
init U ~ hot
every 1 sweep: mean(re(tr(loop(x, y, -x, -y)))) -> "m.h5"
)"},
      {"vacuum", R"(model vacuum "fluctuations about a value"
units reduced_planck
param m = 2
lattice box: 4*4*4, length = 8/m, boundary = periodic
metric frw(a)
field phi, chi: real
potential V = m^2*phi^2/2 + 9*m^2*chi^2/2
rescale A = 1/2, B = m, s = 0
init phi ~ 0.5 + vacuum, phi' = -0.1, chi ~ vacuum, chi' = 0
evolve leapfrog, dt = 0.01/m, until = t > 1
every 1 step: a -> "m.h5"
)"},
      {"massless", R"(model massless "fluctuations of a field without mass in an expansion"
lattice box: 4*4*4, length = 8, boundary = periodic
metric frw(a = (1 + t/2)^(1/2))
field phi: real
potential V = 0*phi^2
init phi ~ vacuum
evolve rk4, dt = 0.01, until = t > 1
every 1 step: a -> "m.h5"
)"},
      {"curved", R"(model curved "fluctuations of a kinetic energy that holds the field"
param m = 2
lattice box: 4*4*4, length = 8/m, boundary = periodic
field phi, p: real
G = 2 + phi
H = total(p^2/(2*G) + G*norm2(grad(phi))/2 + m^2*phi^2)
init phi ~ 0.5 + vacuum
precision real = f64
evolve rk4, dt = 0.01/m, until = t > 1
every 1 step: mean(phi) -> "m.h5"
)"},
      {"rates", R"(model rates "time derivatives of formulas"
param g = 0.7
lattice box: 4*3, spacing = 0.5
field phi, chi: real
potential V = phi^4/4 + g*phi^2*chi^2/2
chi'' = derived - 0.3*chi'
q = phi^2*chi + phi@x*chi*t
e = phi'^2/2 + V
L = lap(phi)
init phi = 1, phi' = 0, chi = 0.5, chi' = 0.1
evolve rk4, dt = 0.01, until = t > 1
every 1 step: now = mean(q'), energy = mean(e'), slope = mean(phi'*L') -> "m.h5"
)"},
      {"first", R"(model first "an equation of first order"
lattice line: 7, spacing = 0.5
field u: real
u' = 0.3*lap(u) + u - u^3 + 0.1*cos(t)
square = mean(u^2)
pair = u*u@x
init u = 1
evolve rk4, dt = 0.01, until = t > 1
every 1 step: now = square', then = mean(pair') -> "m.h5"
)"},
      {"expanding", R"(model expanding "rates in a box that expands by itself"
units reduced_planck
param m = 2
lattice box: 4*3*3, length = 8/m, boundary = periodic
metric frw(a)
field phi: real
potential V = m^2*phi^2/2
rescale A = 1/2, B = m, s = 0
charge = a^3*phi*phi'
init phi = 1, phi' = 0.1
evolve leapfrog, dt = 0.01/m, until = t > 1
every 1 step: now = mean(charge'), hubble = H' -> "m.h5"
)"},
  };
  return kTexts;
}

class RightStarts : public ::testing::TestWithParam<std::string> {};

TEST_P(RightStarts, AgreeWithTheirText) {
  const auto rows = expect_right(start_texts().at(GetParam()));
  const bool asked = std::ranges::any_of(rows, [](const tools::DerivativeRow& row) {
    return row.variable.ends_with("at the start") || row.source == "the change along the equations";
  });
  EXPECT_TRUE(asked) << report(rows);
}

INSTANTIATE_TEST_SUITE_P(Texts, RightStarts,
                         ::testing::Values("sites", "bodies", "hot", "vacuum", "massless", "curved",
                                           "rates", "first", "expanding"),
                         [](const auto& info) { return info.param; });

const std::vector<Words>& words() {
  static const std::vector<Words> kWords{
      {"a width a tenth too large", "sites", "2*normal", "2.2*normal"},
      {"a width a tenth too small", "sites", "2*normal", "1.8*normal"},
      {"another mean", "sites", "normal(0.1", "normal(0.2"},
      {"a mean that does not follow the place", "sites", "0.3*x", "0*x"},
      {"another end of an interval", "sites", "uniform(-1, 2)", "uniform(-1, 2.2)"},
      {"normal for uniform", "sites", "uniform(-1, 2)", "normal(0.5, 0.866)"},
      {"half a turn of an angle", "sites", "uniform(0, 2*pi)", "uniform(0, 1.9*pi)"},
      {"a start that is not drawn", "sites", "n ~ 0.5*normal", "n = [0.5, 0.5]"},
      {"another radius of a ball", "bodies", "ball(1.5)", "ball(1.6)"},
      {"a narrower line", "bodies", "cauchy(0.5, 2)", "cauchy(0.5, 1.7)"},
      {"a line elsewhere", "bodies", "cauchy(0.5, 2)", "cauchy(0.8, 2)"},
      {"a wider waterbag", "bodies", "waterbag(0.5)", "waterbag(0.55)"},
      {"cold for hot", "hot", "~ hot", "~ cold"},
      {"fluctuations about another value", "vacuum", "0.5 + vacuum", "0.500001 + vacuum"},
      {"fluctuations of twice the size", "vacuum", "chi ~ vacuum", "chi ~ 2*vacuum"},
      {"a mass that is too small", "vacuum", "9*m^2*chi^2", "m^2*chi^2"},
      {"a value without fluctuations", "vacuum", "chi ~ vacuum", "chi = 0"},
      {"a product's other factor", "rates", "q = phi^2*chi", "q = phi^2*chi^2"},
      {"friction dropped in a rate", "rates", "- 0.3*chi'", "- 0.299999*chi'"},
      {"the explicit time", "rates", "*chi*t", "*chi*1"},
      {"a rate of first order", "first", "mean(u^2)", "mean(u^2)*2"},
      {"a drive of first order", "first", "0.1*cos(t)", "0.1*sin(t)"},
      {"a power of the scale factor", "expanding", "a^3*phi", "a^2*phi"},
  };
  return kWords;
}

class OtherStarts : public ::testing::TestWithParam<std::size_t> {};

TEST_P(OtherStarts, AreFound) { expect_found(words()[GetParam()], start_texts()); }

INSTANTIATE_TEST_SUITE_P(Table, OtherStarts, ::testing::Range<std::size_t>(0, words().size()),
                         names_of(words()));

/// In every expression of the start.
Plant in_start(const Change& change) {
  return [=](System& s) {
    bool planted = false;
    for (physics::InitialValue& value : s.initial) {
      const Expr before = value.value;
      value.value = change(s, value.value);
      planted = planted || !(value.value == before);
    }
    if (!planted) throw std::runtime_error("nothing was planted");
  };
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults{
      {"two variables of the same numbers", "sites",
       [](System& s) {
         for (auto& random : s.random) random.stream = 0;
       }},
      {"neighbours of the same numbers", "sites",
       in_start(nodes([](Expr e) { return e.is(Op::Load) && e->offset.zero(); },
                      [](Expr e) { return algebra::shift(e, {{1}}) + e; }))},
      {"numbers twice as wide", "sites",
       [](System& s) {
         for (auto& random : s.random) random.amplitude *= 1.1;
       }},
      {"fluctuations of another mass", "vacuum",
       [](System& s) {
         for (auto& random : s.random) random.mass2 = 0;
       }},
      {"fluctuations a tenth too large", "vacuum",
       [](System& s) {
         for (auto& random : s.random) random.amplitude *= 1.1;
       }},
      {"fluctuations of another kinetic energy", "curved",
       [](System& s) {
         for (auto& random : s.random) random.amplitude *= std::sqrt(2.5);
       }},
      {"fluctuations of another mass under H", "curved",
       [](System& s) {
         for (auto& random : s.random) random.mass2 *= 4;
       }},
  };
  return kFaults;
}

class PlantedStart : public ::testing::TestWithParam<std::size_t> {};

TEST_P(PlantedStart, IsFound) { expect_found(faults()[GetParam()], start_texts()); }

INSTANTIATE_TEST_SUITE_P(Table, PlantedStart, ::testing::Range<std::size_t>(0, faults().size()),
                         names_of(faults()));

}  // namespace
}  // namespace vphi
