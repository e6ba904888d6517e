// The kernels of a step for each kind of dynamics.
#include "compiler/model/dynamics.hpp"

#include "compiler/schedule/prepare.hpp"
#include "tests/schedule/systems.hpp"

namespace vphi::test {
namespace {

/// Six sites with one array u, 0 at the start.
physics::System ring() {
  physics::System system = empty_system(1, 6, 1, 1);
  const int u = system.arrays++;
  Arena& arena = *system.arena;
  system.variables.push_back({"u", "u", u, physics::Role::FirstOrder, -1, arena.integer(0), {}});
  system.initial.push_back({u, arena.integer(0)});
  return system;
}

struct Planned {
  dsl::Resolved resolved = integrators();
  dsl::Diagnostics diagnostics;
  std::optional<schedule::Plan> plan;
  explicit Planned(const physics::System& system)
      : plan(schedule::schedule(system, resolved, diagnostics)) {}
};

TEST(Dynamics, WithoutVariablesNothingMoves) {
  const Planned still(empty_system(1, 6, 1, 1));
  ASSERT_TRUE(still.plan);
  EXPECT_EQ(still.plan->program.steps, 0);
}

TEST(Dynamics, VariablesThatNothingMovesAreRefused) {
  const Planned still(ring());
  EXPECT_FALSE(still.plan);
  ASSERT_EQ(still.diagnostics.errors(), 1);
  EXPECT_EQ(still.diagnostics.all().front().code, "E0741");
}

/// u = 1 + its right neighbour: even sites first, then odd ones from the new even ones.
TEST(Dynamics, AChainGoesThroughTheColoursInPlace) {
  physics::System system = ring();
  Arena& arena = *system.arena;
  physics::Update update;
  update.name = "grow";
  update.modulus = 2;
  update.weights = {1, 0, 0, 0};
  update.values = {{0, arena.load(0, {{1, 0, 0, 0}}) + arena.integer(1)}};
  physics::MarkovChain chain;
  chain.method = "test";
  chain.sweeps = 7;
  chain.updates = {update};
  chain.cycle = {{0}};
  system.dynamics = chain;
  const Planned planned(system);
  ASSERT_TRUE(planned.plan);
  EXPECT_TRUE(planned.plan->program.chain);
  EXPECT_EQ(planned.plan->program.steps, 7);
  kernel::Interpreter machine(*planned.plan);
  machine.start();
  machine.step();
  EXPECT_EQ(machine.buffer("u"), (std::vector<double>{1, 2, 1, 2, 1, 2}));
  machine.step();
  EXPECT_EQ(machine.buffer("u"), (std::vector<double>{3, 4, 3, 4, 3, 4}));
}

/// Successive sweeps take the orders of a cycle in turn.
TEST(Dynamics, AChainTakesItsCycleInTurn) {
  physics::System system = ring();
  Arena& arena = *system.arena;
  physics::MarkovChain chain;
  chain.method = "test";
  for (const int factor : {2, 3}) {
    physics::Update& update = chain.updates.emplace_back();
    update.name = "times" + std::to_string(factor);
    update.values = {{0, arena.load(0) * arena.integer(factor) + arena.integer(1)}};
  }
  chain.cycle = {{0}, {0, 1}};
  system.dynamics = chain;
  const Planned planned(system);
  ASSERT_TRUE(planned.plan);
  ASSERT_EQ(planned.plan->program.cycle.size(), 2u);
  EXPECT_EQ(planned.plan->program.cycle[1].size(), planned.plan->program.cycle[0].size() + 1);
}

TEST(Dynamics, EveryExpressionIsMet) {
  Arena arena;
  const auto update = [&](int array) {
    physics::Update u;
    u.values = {{array, arena.load(array)}};
    return u;
  };
  physics::Trajectory t;
  t.increase = arena.integer(1);
  t.draw = arena.integer(2);
  t.refresh = update(0), t.begin = update(1), t.drift = update(2), t.close = update(3);
  t.levels.resize(2);
  t.levels[0].kicks = {update(4)};
  t.levels[1].kicks = {update(5), update(6)};
  physics::LinkFlow flow;
  flow.gradients = {update(0)}, flow.rates = {update(1)}, flow.moves = {update(2)};
  flow.options = {{"c", arena.integer(1)}};
  physics::MarkovChain chain;
  chain.updates = {update(0), update(1)};
  const std::pair<physics::Dynamics, int> rows[] = {
      {physics::Still{}, 0},
      {physics::Evolution{{}, {{"c", arena.integer(1)}}}, 1},
      {physics::FluxStep{}, 0},
      {chain, 2},
      {flow, 4},
      {t, 9}};
  for (const auto& [dynamics, expected] : rows) {
    physics::Dynamics own = dynamics;
    int met = 0;
    physics::for_each_expression(own, [&](Expr&) { ++met; });
    EXPECT_EQ(met, expected) << dynamics.index();
  }
}

/// A stage takes a system and gives one back: what it was given stays as it was.
TEST(Dynamics, PreparationChangesACopy) {
  physics::System system = ring();
  Arena& arena = *system.arena;
  const Expr x = arena.load(0);
  system.variables[0].rate = x * arena.random(Op::Noise, 0);
  system.noise.kind = physics::NoiseClass::Diagonal;
  system.noise.streams.resize(1);
  system.noise.calculus = physics::Calculus::Ito;
  system.dt = system.dt_physical = 0.1;
  follow(system, integrators(), "srk2");
  const Expr before = system.variables[0].rate;
  dsl::Diagnostics diagnostics;
  const auto prepared = schedule::prepare(system, diagnostics);
  ASSERT_TRUE(prepared);
  EXPECT_EQ(system.variables[0].rate, before);
  EXPECT_FALSE(prepared->variables[0].rate == before);
}

}  // namespace
}  // namespace vphi::test
