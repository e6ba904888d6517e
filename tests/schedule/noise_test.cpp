// The classes of noise that the compiler finds, and the properties of stochastic integrators.
#include <cmath>
#include <map>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/noise/noise.hpp"
#include "compiler/schedule/integrator/match.hpp"
#include "compiler/schedule/integrator/trial.hpp"
#include "compiler/schedule/steps/noise.hpp"
#include "compiler/schedule/steps/step.hpp"
#include "tests/schedule/systems.hpp"

namespace vphi::test {
namespace {

using physics::Calculus;

struct Text {
  dsl::Resolved resolved;
  dsl::Diagnostics diagnostics;
  schedule::Integrator integrator;
  schedule::Head head;

  explicit Text(const std::string& name, const std::string& own = {}) : resolved(integrators(own)) {
    integrator = find(resolved, name);
    head = schedule::read_head(integrator, diagnostics).value();
  }
};

physics::System one_variable(double dt) {
  physics::System system = empty_system(1, 1, 1, dt);
  return system;
}

void add(physics::System& system, const std::string& name, physics::Role role, int partner,
         Expr rate) {
  physics::Variable v;
  v.name = v.shown = name;
  v.array = system.arrays++;
  v.role = role;
  v.partner = partner;
  v.rate = rate;
  system.variables.push_back(v);
}

/// x'' = -w2 x - gamma x' + sqrt(2 gamma T) noise, x at `start`.
physics::System langevin(double w2, double gamma, double dt, double start = 0) {
  physics::System system = one_variable(dt);
  Arena& a = *system.arena;
  add(system, "x", physics::Role::Coordinate, 1, a.load(1));
  add(system, "v", physics::Role::Momentum, 0,
      -a.real(w2) * a.load(0) - a.real(gamma) * a.load(1) +
          a.real(std::sqrt(2 * gamma)) * a.random(Op::Noise, 0));
  system.initial.push_back({0, a.real(start)});
  return system;
}

TEST(Noise, CalculusIsMeasuredFromTheText) {
  const std::map<std::string, Calculus> known = {
      {"euler_maruyama", Calculus::Ito}, {"srk2", Calculus::Stratonovich},
      {"milstein", Calculus::Ito},       {"platen", Calculus::Ito},
      {"platen_weak2", Calculus::Ito},   {"sri", Calculus::Ito}};
  for (const auto& [name, calculus] : known) {
    Text text(name);
    const auto found = schedule::measured_calculus(text.integrator, text.head);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(*found, calculus) << name;
  }
  // half of the noise behind the drift: neither of the two
  Text between("odd", R"(integrator odd(x' = f(x, t) + g(x, t)*noise) {
  dW = sqrt(dt)*normal
  x = x + dt*f(x, t) + g(x + g(x, t)*dW/4, t)*dW
})");
  EXPECT_FALSE(schedule::measured_calculus(between.integrator, between.head));
}

// What the option of the head says decides: x + g(x + theta*g*dW) dW has the drift theta*g*dg/dx.
TEST(Noise, CalculusIsThatOfTheOptionsGiven) {
  Text text("theta", R"(integrator theta(x' = f(x, t) + g(x, t)*noise, theta = 0) {
  dW = sqrt(dt)*normal
  x = x + dt*f(x, t) + g(x + theta*g(x, t)*dW, t)*dW
})");
  Arena arena;
  const auto at = [&](long double theta) {
    return schedule::measured_calculus(text.integrator, text.head, {{"theta", arena.real(theta)}});
  };
  EXPECT_EQ(schedule::measured_calculus(text.integrator, text.head), Calculus::Ito);
  EXPECT_EQ(at(0), Calculus::Ito);
  EXPECT_EQ(at(0.5), Calculus::Stratonovich);
  EXPECT_FALSE(at(0.25));
}

/// docs/formulas.md 5.4: the stationary variance of an Ornstein-Uhlenbeck process, relative.
TEST(Noise, BiasOfTheOrnsteinUhlenbeckProcessIsTheClosedForm) {
  for (const double h : {0.1, 0.05}) {
    physics::System system = one_variable(h);
    Arena& a = *system.arena;
    add(system, "x", physics::Role::FirstOrder, -1, -a.load(0) + a.random(Op::Noise, 0));
    const auto bias = [&](const char* name) {
      Text text(name);
      return schedule::largest_bias(system, text.integrator, text.head).value().relative;
    };
    EXPECT_NEAR(bias("euler_maruyama"), 1 / (1 - h / 2) - 1, 1e-12);
    const double srk2 = 2 * h * std::pow(1 - h / 2, 2) / (1 - std::pow(1 - h + h * h / 2, 2));
    EXPECT_NEAR(bias("srk2"), std::abs(srk2 - 1), 1e-12);
    EXPECT_NEAR(bias("srk2"), h == 0.1 ? 2.6e-3 : 6.4e-4, 5e-5);
  }
}

/// u' = lap(u) - m u + noise on a line: the wave (-1)^x decays with m + 4/dx^2, and Euler and
/// Maruyama's variance of it is 1/(1 - h rate/2) of the exact one.
TEST(Noise, BiasOfAFieldIsThatOfItsFastestWave) {
  const double h = 0.1, m = 0.8, dx = 0.8;
  const auto bias = [&](auto rate_of) {
    physics::System system = one_variable(h);
    system.lattice.dx = dx;
    Arena& a = *system.arena;
    add(system, "u", physics::Role::FirstOrder, -1, rate_of(a) + a.random(Op::Noise, 0));
    Text text("euler_maruyama");
    return schedule::largest_bias(system, text.integrator, text.head).value();
  };
  algebra::Offset right, left;
  right.d[0] = 1, left.d[0] = -1;
  const double expected = 1 / (1 - h * (m + 4 / (dx * dx)) / 2) - 1;
  EXPECT_GT(expected, 0.4);
  const auto by_hand = bias([&](Arena& a) {
    return (a.load(0, right) - a.integer(2) * a.load(0) + a.load(0, left)) / a.real(dx * dx) -
           a.real(m) * a.load(0);
  });
  EXPECT_NEAR(by_hand.relative, expected, 1e-12);
  EXPECT_NE(by_hand.what.find("k = pi/dx"), std::string::npos) << by_hand.what;
  const auto by_stencil = bias([&](Arena& a) {
    algebra::StencilData three;
    three.dims = 1;
    three.offsets = {left, {}, right};
    three.weights = {1, -2, 1};
    return a.stencil(a.add_stencil(three), a.load(0)) - a.real(m) * a.load(0);
  });
  EXPECT_NEAR(by_stencil.relative, expected, 1e-12);
  // carried along by c d(u, x): at k = pi/2 the wave turns by c/dx as it decays
  const double c = 1.5;
  const auto carried = bias([&](Arena& a) {
    return a.real(c / (2 * dx)) * (a.load(0, left) - a.load(0, right)) - a.real(m) * a.load(0);
  });
  const double factor = std::pow(1 - m * h, 2) + std::pow(c / dx * h, 2);
  EXPECT_NEAR(carried.relative, std::abs(2 * m * h / (1 - factor) - 1), 0.2);
}

/// A junction at the paper's step: Euler and Maruyama's velocities are far too hot.
TEST(Noise, EulerMaruyamaHeatsTheOscillator) {
  const double w2 = 4 * std::pow(std::numbers::pi, 2), gamma = 0.9;
  const double dt = 0.01 * 2 * std::numbers::pi / 4.9;
  const auto bias = [&](const char* name) {
    Text text(name);
    return schedule::largest_bias(langevin(w2, gamma, dt), text.integrator, text.head)
        .value()
        .relative;
  };
  EXPECT_GT(bias("euler_maruyama"), 0.5);
  EXPECT_LT(bias("srk2"), 0.02);
  // exact in the positions, of order dt^2 in the velocities
  EXPECT_LT(bias("baoab"), 0.002);
}

TEST(Noise, ClassAndDriftOfTheOtherCalculus) {
  physics::System system = one_variable(0.1);
  Arena& a = *system.arena;
  const Expr x = a.load(0), noise = a.random(Op::Noise, 0);
  add(system, "x", physics::Role::FirstOrder, -1, -x + algebra::pow(x, 2) * noise);
  // 1/2 g g' = 1/2 x^2 2x
  const Expr drift = physics::drift_correction(system, 0);
  EXPECT_EQ(drift, algebra::pow(x, 3));
  const auto split = physics::split_noise(system.variables[0].rate);
  EXPECT_TRUE(split.linear);
  EXPECT_EQ(split.rest, -x);
  EXPECT_FALSE(physics::split_noise(noise * noise).linear);
  EXPECT_FALSE(physics::split_noise(a.make(Op::Mean, {x * noise})).linear);
}

/// Declared Ito, stepped by a Stratonovich scheme: the drift -1/2 g g' is added.
TEST(Noise, DeclaredCalculusIsConverted) {
  const auto rate_after = [](Calculus declared) {
    physics::System system = one_variable(0.1);
    Arena& a = *system.arena;
    const Expr x = a.load(0);
    add(system, "x", physics::Role::FirstOrder, -1, x * a.random(Op::Noise, 0));
    system.noise.kind = physics::NoiseClass::Diagonal;
    system.noise.streams.resize(1);
    system.noise.calculus = declared;
    const dsl::Resolved resolved = integrators();
    follow(system, resolved, "srk2");
    dsl::Diagnostics diagnostics;
    const auto prepared = schedule::with_calculus(system, diagnostics);
    EXPECT_TRUE(prepared);
    const Expr rest = physics::split_noise(prepared->variables[0].rate).rest;
    return algebra::constant(algebra::derivative(rest, x)).value().real;
  };
  EXPECT_EQ(rate_after(Calculus::Stratonovich), 0);
  EXPECT_EQ(rate_after(Calculus::Ito), -0.5L);
}

TEST(Noise, CompositionsThatRunBackwardsAreRefused) {
  physics::System system = langevin(1, 1, 0.1);
  system.noise.kind = physics::NoiseClass::Additive;
  system.noise.streams.resize(1);
  const dsl::Resolved resolved =
      integrators("integrator back = compose(srk2, w, 1 - 2*w, w) where w = 1.3512071919596578\n");
  follow(system, resolved, "back");
  dsl::Diagnostics diagnostics;
  EXPECT_FALSE(schedule::with_calculus(system, diagnostics));
  EXPECT_EQ(diagnostics.all().front().code, "E0763");
}

/// The two kicks of a step are one evaluation of the force, with one Gaussian in between.
TEST(Noise, BaoabHasOneForceAndOneGaussianAStep) {
  physics::System system = langevin(1, 0.5, 0.1);
  Arena& a = *system.arena;
  // a force that can be counted
  system.variables[1].rate =
      a.make(Op::Sin, {a.load(0)}) - a.real(0.5) * a.load(1) + a.random(Op::Noise, 0);
  const Running run(std::move(system), "baoab");
  ASSERT_EQ(run.plan->program.step.size(), 1u);
  const auto& sweep = run.plan->kernels[static_cast<std::size_t>(run.plan->program.step[0].kernel)];
  std::set<const algebra::Node*> forces, draws;
  for (const kernel::Store& store : sweep.stores) {
    algebra::visit(store.value, [&](Expr e) {
      if (e.is(Op::Sin)) forces.insert(e.get());
      if (e.is(Op::Normal)) draws.insert(e.get());
    });
  }
  EXPECT_EQ(forces.size(), 1u);
  EXPECT_EQ(draws.size(), 1u);
}

}  // namespace
}  // namespace vphi::test
