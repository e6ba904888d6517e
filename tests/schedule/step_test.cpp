// The step of an integrator: the number of sweeps, the arrays stored, and the result.
#include <algorithm>

#include "compiler/kernel/kernel.hpp"
#include "tests/schedule/systems.hpp"

namespace vphi::test {
namespace {

TEST(Step, PreheatingIsOneSweepWithThreeWordsAField) {
  const Running run(preheating(8, 0.05), "leapfrog");
  const program::Program& p = run.plan->program;
  ASSERT_EQ(p.step.size(), 1u);
  const kernel::Kernel& sweep = run.plan->kernels[static_cast<std::size_t>(p.step[0].kernel)];
  const kernel::Cost cost = kernel::cost(sweep);
  EXPECT_EQ(cost.loads, 4);
  EXPECT_EQ(cost.stores, 4);
  int words = 0;
  for (const program::Buffer& buffer : p.buffers) {
    if (!buffer.state) continue;
    EXPECT_EQ(buffer.doubled, buffer.name == "phi" || buffer.name == "chi") << buffer.name;
    words += buffer.doubled ? 2 : 1;
  }
  EXPECT_EQ(words, 6);
  EXPECT_EQ(p.step[0].swap.size(), 2u);
  // <pi^2> and <V>; for alpha = 0 the gradient drops out of b'.
  EXPECT_EQ(sweep.reductions.size(), 2u);
}

TEST(Step, GradientAverageIsTakenBetweenStartAndEnd) {
  const Running run(preheating(8, 0.05, 1), "leapfrog");
  ASSERT_EQ(run.plan->program.step.size(), 1u);
  EXPECT_TRUE(std::ranges::any_of(run.plan->remarks, [](const std::string& remark) {
    return remark.find("(n+1)*lap(") != std::string::npos;
  }));
}

/// Exact solution of the discrete equations: sin^2(Omega dt/2) = dt^2 k_eff^2/4.
TEST(Step, StandingWaveIsExact) {
  for (const char* integrator : {"leapfrog", "position_verlet"}) {
    const std::int64_t n = 32;
    const int mode = 3;
    const double dt = 0.2;
    Running run(wave(n, mode, dt), integrator);
    ASSERT_EQ(run.plan->program.step.size(), 1u) << integrator;
    const double k_eff2 = 4 * std::pow(std::sin(std::numbers::pi * mode / n), 2) / 0.25;
    // The other order of the same two maps has the same frequency.
    const double omega = 2 / dt * std::asin(dt / 2 * std::sqrt(k_eff2));
    run.machine->start();
    for (int i = 1; i <= 200; ++i) {
      run.machine->step();
      run.look();
      EXPECT_NEAR(run.field("u")[0], std::cos(omega * i * dt), 2e-14 * i) << integrator << i;
      EXPECT_NEAR(run.scalar("t"), i * dt, 1e-12);
    }
    EXPECT_EQ(run.machine->scalar("step"), 200);
  }
}

struct End {
  double a;
  std::vector<double> phi;
};

End at_end(physics::System system, const std::string& integrator, int steps,
           const std::string& text = {}) {
  Running run(std::move(system), integrator, text);
  run.machine->start();
  run.machine->step(steps);
  run.look();
  return {run.scalar("a"), run.field("phi")};
}

/// Observed order in a and phi from three step sizes.
void expect_order(const std::string& integrator, int alpha, double order, int steps,
                  const std::string& text = {}, double tolerance = 0.1) {
  const double time = 0.8;
  const auto run = [&](int factor) {
    return at_end(preheating(4, time / (steps * factor), alpha), integrator, steps * factor, text);
  };
  const End coarse = run(1), middle = run(2), fine = run(4);
  const double in_a = std::log2(std::abs(coarse.a - middle.a) / std::abs(middle.a - fine.a));
  const double in_phi =
      std::log2(distance(coarse.phi, middle.phi) / distance(middle.phi, fine.phi));
  EXPECT_NEAR(in_a, order, tolerance) << integrator << " alpha = " << alpha;
  EXPECT_NEAR(in_phi, order, tolerance) << integrator << " alpha = " << alpha;
}

TEST(Step, OrderInScaleFactorAndField) {
  for (const int alpha : {-1, 0, 1}) {
    expect_order("leapfrog", alpha, 2, 16);
    expect_order("position_verlet", alpha, 2, 64, {}, 0.15);
  }
  expect_order("omelyan2", 1, 2, 16);
  expect_order("symplectic_euler", 0, 1, 64);
  expect_order("vv4", 1, 4, 16, {}, 0.15);
  expect_order("yoshida4", 0, 4, 16, {}, 0.15);
}

TEST(Step, OrderOfRungeKutta) {
  expect_order("heun", 0, 2, 32);
  expect_order("rk3_3", 1, 3, 32);
  expect_order("luscher3", 1, 3, 32);
  expect_order("euler", 0, 1, 256);
  expect_order("rk4", 0, 4, 16);
  expect_order("rk4_5", 1, 4, 16, {}, 0.2);
}

/// Out with dt, back with -dt from the synchronised state.
TEST(Step, ReversibleToRoundOff) {
  for (const auto& [integrator, alpha] : {std::pair{"leapfrog", 0},
                                          {"leapfrog", 1},
                                          {"leapfrog", -1},
                                          {"position_verlet", 0},
                                          {"position_verlet", 1},
                                          {"vv4", 1},
                                          {"pv4", 1},
                                          {"omelyan2", 0}}) {
    SCOPED_TRACE(integrator);
    const double dt = 0.05;
    Running out(preheating(8, dt, alpha), integrator);
    out.machine->start();
    out.look();
    const std::vector<double> phi = out.field("phi"), momentum = out.field("pi_chi");
    const double a = out.scalar("a"), b = out.scalar("b");
    out.machine->step(64);
    out.look();
    EXPECT_GT(distance(phi, out.field("phi")), 0.1);

    physics::System back = preheating(8, -dt, alpha);
    Arena& arena = *back.arena;
    back.initial.clear();
    for (const auto& v : std::vector(back.variables)) {
      const int array = back.arrays++;
      back.random.push_back({physics::RandomField::Kind::Normal, array});
      back.initial.push_back({v.array, arena.load(array)});
    }
    for (auto& s : back.scalars) s.initial = arena.real(out.scalar(s.symbol));
    Running in(std::move(back), integrator);
    for (std::size_t i = 0; i < in.plan->program.random.size(); ++i) {
      in.machine->buffer(in.plan->program.random[i].buffer) =
          out.field(in.system.variables[i].name);
    }
    in.machine->start();
    in.machine->step(64);
    in.look();
    EXPECT_LT(distance(phi, in.field("phi")), 3e-14);
    EXPECT_LT(distance(momentum, in.field("pi_chi")), 3e-14);
    EXPECT_NEAR(in.scalar("a"), a, 1e-14);
    EXPECT_NEAR(in.scalar("b"), b, 1e-13);
  }
}

/// docs/formulas.md 1.9: orders of the compositions on the homogeneous quartic potential.
TEST(Step, CompositionsReachTheirOrder) {
  const struct {
    const char* integrator;
    double order;
    int coarse, fine;  // steps: past the first errors, before round-off
  } rows[] = {{"velocity_verlet", 2, 500, 1000},
              {"vv4", 4, 200, 400},
              {"vv6", 6, 100, 200},
              {"vv6_2", 6, 50, 100},
              {"vv8", 8, 150, 200},
              {"vv10", 10, 100, 120}};
  const auto scale_factor = [](const char* integrator, int steps) {
    Running run(quartic(10.0 / steps), integrator);
    run.machine->start();
    run.machine->step(steps);
    run.look();
    return run.scalar("a");
  };
  const double exact = scale_factor("vv10", 200);
  EXPECT_NEAR(exact, 10.0771569055, 5e-10);
  for (const auto& row : rows) {
    const double coarse = std::abs(scale_factor(row.integrator, row.coarse) - exact);
    const double fine = std::abs(scale_factor(row.integrator, row.fine) - exact);
    const double slope = std::log(coarse / fine) / std::log(double(row.fine) / row.coarse);
    EXPECT_NEAR(slope, row.order, 0.15) << row.integrator;
  }
}

TEST(Step, CompositionsUseOneKernelForAllStages) {
  const struct {
    const char* integrator;
    std::size_t launches;
  } rows[] = {{"leapfrog", 1}, {"vv4", 3}, {"vv6", 7}, {"vv8", 15}, {"vv10", 31}, {"omelyan2", 2}};
  for (const auto& row : rows) {
    const Running run(preheating(4, 0.05), row.integrator);
    const auto& step = run.plan->program.step;
    EXPECT_EQ(step.size(), row.launches) << row.integrator;
    for (const program::Launch& launch : step) EXPECT_EQ(launch.kernel, step[0].kernel);
  }
}

/// A text that is in no library: Forest and Ruth's composition, written out.
TEST(Step, AnIntegratorNobodyWroteBefore) {
  const std::string text = R"(
integrator mine(x' = V(v), v' = F(x)) {
  c = 1/(2 - 2^(1/3))
  x = x + c/2*dt*V(v)
  v = v + c*dt*F(x)
  x = x + (1 - c)/2*dt*V(v)
  v = v + (1 - 2*c)*dt*F(x)
  x = x + (1 - c)/2*dt*V(v)
  v = v + c*dt*F(x)
  x = x + c/2*dt*V(v)
}
integrator midpoint(x' = f(x, t)) {
  half = x + dt/2*f(x, t)
  x = x + dt*f(half, t + dt/2)
}
integrator taylor(x' = V(v), v' = F(x)) {
  old = F(x)
  x = x + dt*V(v + dt/2*old)
  v = v + dt/2*(old + F(x))
}
)";
  // Its moves are merged by hand, so in an expanding box, where each is of order 2, it stays there.
  expect_order("mine", 0, 2, 32, text, 0.5);
  const auto error = [&](int steps) {
    Running run(wave(16, 2, 6.4 / steps), "mine", text);
    run.machine->start();
    run.machine->step(steps);
    run.look();
    const double omega = 2 * std::sin(std::numbers::pi * 2 / 16) / 0.5;
    return std::abs(run.field("u")[0] - std::cos(omega * 6.4));
  };
  EXPECT_NEAR(std::log2(error(16) / error(32)), 4, 0.2);
  expect_order("midpoint", 0, 2, 32, text);
  // kick, drift, kick in other words; flat space, where the groups have no scalars to order
  Running other(wave(16, 2, 0.1), "taylor", text), same(wave(16, 2, 0.1), "leapfrog");
  for (Running* run : {&other, &same}) {
    run->machine->start();
    run->machine->step(50);
    run->look();
  }
  EXPECT_LT(distance(other.field("u"), same.field("u")), 1e-13);
}

TEST(Step, OutputDoesNotTouchTheTrajectory) {
  Running watched(preheating(4, 0.05, 1), "leapfrog"), alone(preheating(4, 0.05, 1), "leapfrog");
  watched.machine->start();
  alone.machine->start();
  for (int i = 0; i < 10; ++i) {
    watched.look();
    watched.machine->watch();
    watched.machine->step();
    alone.machine->step();
  }
  for (const char* name : {"phi", "pi_phi", "chi", "pi_chi"}) {
    EXPECT_EQ(watched.machine->buffer(name), alone.machine->buffer(name)) << name;
  }
}

TEST(Step, StopsAndStandsStill) {
  for (const char* integrator : {"leapfrog", "vv4", "rk4"}) {
    physics::System system = preheating(4, 0.05);
    Arena& arena = *system.arena;
    system.until = arena.make(Op::Less, {arena.rational(31, 100), arena.symbol("t")});
    Running run(std::move(system), integrator);
    run.machine->start();
    run.machine->step(6);
    EXPECT_EQ(run.machine->scalar("stop"), 0) << integrator;
    run.machine->step();
    EXPECT_EQ(run.machine->scalar("stop"), 1) << integrator;
    run.look();
    const auto phi = run.field("phi"), momentum = run.field("pi_phi");
    const double a = run.scalar("a"), t = run.scalar("t");
    run.machine->step(3);
    run.look();
    EXPECT_EQ(run.field("phi"), phi) << integrator;
    EXPECT_EQ(run.field("pi_phi"), momentum) << integrator;
    EXPECT_EQ(run.scalar("a"), a);
    EXPECT_EQ(run.scalar("t"), t);
    EXPECT_EQ(run.machine->scalar("step"), 7);
  }
}

TEST(Step, ATermWithoutAPlaceIsNamed) {
  physics::System system = wave(16, 2, 0.1);
  Arena& arena = *system.arena;
  system.variables[1].rate = system.variables[1].rate - arena.rational(1, 3) * arena.load(1);
  dsl::Resolved resolved = integrators();
  follow(system, resolved, "leapfrog");
  dsl::Diagnostics diagnostics;
  EXPECT_FALSE(schedule::schedule(system, resolved, diagnostics).has_value());
  ASSERT_EQ(diagnostics.errors(), 1);
  const dsl::Diagnostic& d = diagnostics.all()[0];
  EXPECT_EQ(d.code, "E0749");
  EXPECT_NE(d.message.find("u'/3"), std::string::npos) << d.message;
  EXPECT_NE(d.hint.find("rk4"), std::string::npos) << d.hint;
}

/// a = t^(1/2) with d(eta) = dt/a: t is a function of itself, t(eta) = (1 + eta/2)^2.
TEST(Step, PrescribedBackgroundKeepsItsOrder) {
  const auto at_end = [](const char* integrator, int steps) {
    physics::System system = wave(8, 1, 1.6 / steps);
    Arena& arena = *system.arena;
    const Expr a = pow(arena.symbol("t"), arena.rational(1, 2));
    system.variables[0].rate = pow(a, -2) * arena.load(1);
    system.variables[1].rate = pow(a, 2) * system.variables[1].rate;
    system.scalars[0].rate = a;
    system.scalars[0].initial = arena.integer(1);
    Running run(std::move(system), integrator);
    run.machine->start();
    run.machine->step(steps);
    run.look();
    return std::pair(run.scalar("t"), run.field("u")[0]);
  };
  const struct {
    const char* integrator;
    double order;
  } rows[] = {{"leapfrog", 2}, {"vv4", 4}};
  for (const auto& row : rows) {
    const auto coarse = at_end(row.integrator, 20), middle = at_end(row.integrator, 40),
               fine = at_end(row.integrator, 80);
    EXPECT_NEAR(fine.first, 1.8 * 1.8, 1e-4);
    EXPECT_NEAR(
        std::log2(std::abs(coarse.second - middle.second) / std::abs(middle.second - fine.second)),
        row.order, 0.15)
        << row.integrator;
  }
}

TEST(Step, FrictionIsBoundToItsCoefficient) {
  const std::string text = R"(
integrator damped(x' = V(v), v' = F(x) - gamma*v) {
  v = v + dt/2*F(x)
  v = exp(-gamma*dt/2)*v
  x = x + dt*V(v)
  v = exp(-gamma*dt/2)*v
  v = v + dt/2*F(x)
}
)";
  // u'' = -gamma u' without forces: u' falls as exp(-gamma t), exactly.
  physics::System system = wave(16, 2, 0.1);
  Arena& arena = *system.arena;
  system.variables[1].rate = -(arena.rational(1, 3) * arena.load(1));
  system.initial[1].value = arena.integer(1);
  Running run(std::move(system), "damped", text);
  run.machine->start();
  run.machine->step(20);
  run.look();
  EXPECT_NEAR(run.field("pi_u")[3], std::exp(-2.0 / 3), 1e-13);
}

}  // namespace
}  // namespace vphi::test
