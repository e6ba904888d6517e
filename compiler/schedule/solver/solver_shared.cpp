// Systems with one operator and many right sides, some of them at a time by the same kernels.
#include "compiler/algebra/rewriting.hpp"
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

SharedSolve further_column(const physics::System& system, const SharedSolve& first,
                           const std::string& suffix, Slots& slots, Storage& storage) {
  algebra::Arena& arena = *system.arena;
  SharedSolve shared = first;
  physics::LinearSystem& solve = shared.system;
  std::map<int, int> moved;
  for (std::size_t i = 0; i < solve.arrays.size(); ++i) {
    shared.right[i] = storage.allocate_new(work(system, "right_side"));
    solve.source[i] = arena.load(shared.right[i]);
    solve.arrays[i] = storage.allocate_new(work(system, "solution"));
    moved[first.system.arrays[i]] = solve.arrays[i];
  }
  std::vector<physics::LinearMap*> maps{&solve.op, &solve.adjoint};
  if (solve.even_odd) {
    for (int& array : solve.even_odd->arrays) array = moved[array] = storage.number();
    for (physics::LinearMap* map : {&solve.even_odd->op, &solve.even_odd->adjoint,
                                    &solve.even_odd->source, &solve.even_odd->back})
      maps.push_back(map);
  }
  const auto rename = [&](std::vector<Expr>& values) {
    // together: the operations keep their order
    values = algebra::Rewriting([&](Expr node) {
      const auto to = node.is(Op::Load) ? moved.find(node->index) : moved.end();
      return to == moved.end() ? node : arena.load(to->second, node->offset, node->span);
    })(values);
  };
  for (physics::LinearMap* map : maps) {
    for (physics::LinearMap::Stage& stage : map->stages) {
      rename(stage.values);
      for (int& array : stage.arrays) {
        const auto [to, fresh] = moved.try_emplace(array, 0);
        if (fresh) to->second = storage.number();
        array = to->second;
      }
    }
    rename(map->image);
  }
  solve.iterations = slots.fresh("solve_iterations_" + suffix);
  solve.residual = slots.fresh("solve_residual_" + suffix);
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
