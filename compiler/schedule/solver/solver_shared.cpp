// Systems with one operator and many right sides, one after the other by the same kernels.
#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/solver/solver.hpp"

namespace vphi::schedule {

using algebra::Op;

namespace {

program::Buffer work(const physics::System& system, const std::string& name) {
  program::Buffer buffer;
  buffer.name = name;
  buffer.precision = system.numerics.store;
  buffer.scratch = true;
  return buffer;
}

}  // namespace

SharedSolve share_solve(const physics::System& system, const physics::LinearSystem& first,
                        const std::string& suffix, Slots& slots, Storage& storage) {
  algebra::Arena& arena = *system.arena;
  SharedSolve shared{first, {}};
  std::map<int, int> moved;
  for (std::size_t i = 0; i < first.arrays.size(); ++i) {
    shared.right.push_back(storage.allocate_new(work(system, "right_side")));
    shared.system.source[i] = arena.load(shared.right.back());
    shared.system.arrays[i] = storage.allocate_new(work(system, "solution"));
    moved[first.arrays[i]] = shared.system.arrays[i];
  }
  const auto renamed = [&](Expr e) {
    return algebra::rewrite(e, [&](Expr node) {
      const auto to = node.is(Op::Load) ? moved.find(node->index) : moved.end();
      return to == moved.end() ? node : arena.load(to->second, node->offset, node->span);
    });
  };
  for (physics::LinearMap* map : {&shared.system.op, &shared.system.adjoint}) {
    for (physics::LinearMap::Stage& stage : map->stages)
      for (Expr& value : stage.values) value = renamed(value);
    for (Expr& part : map->image) part = renamed(part);
  }
  shared.system.iterations = slots.fresh("solve_iterations_" + suffix);
  shared.system.residual = slots.fresh("solve_residual_" + suffix);
  return shared;
}

SolveCopies copies_of(const physics::System& system, const SharedSolve& shared,
                      const physics::LinearSystem& own, const Stepping& stepping, Slots& slots,
                      Storage& storage) {
  algebra::Arena& arena = *system.arena;
  SolveCopies copies;
  const auto made = [&](Block& block, Wanted& wanted, const char* what) {
    wanted.pure = true;
    wanted.name = own.iterations + what;
    return make_site_loops(block, wanted);
  };
  Block load(system, slots, storage), save(system, slots, storage);
  const State state = synchronised(load, stepping);
  Wanted right, solution;
  for (std::size_t i = 0; i < own.arrays.size(); ++i) {
    right.arrays[shared.right[i]] = load.array("b", at(state, own.source[i]));
    solution.arrays[own.arrays[i]] = arena.load(shared.system.arrays[i]);
  }
  copies.load = made(load, right, "_load");
  save.assign(own.iterations, arena.symbol(shared.system.iterations));
  save.assign(own.residual, arena.symbol(shared.system.residual));
  solution.slots = {own.iterations, own.residual};
  copies.save = made(save, solution, "_save");
  return copies;
}

}  // namespace vphi::schedule
