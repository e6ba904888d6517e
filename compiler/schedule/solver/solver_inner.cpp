#include "compiler/schedule/solver/solver_inner.hpp"

#include <map>

#include "compiler/algebra/rewriting.hpp"
#include "compiler/physics/lower/values.hpp"
#include "compiler/text/solver.hpp"

namespace vphi::schedule {

using algebra::Expr;
using algebra::Op;

physics::System in_lower_precision(physics::System system) {
  system.numerics.real = system.numerics.store = physics::Precision::F32;
  system.numerics.stores.clear();
  return system;
}

physics::LinearSystem inner_of(const physics::LinearSystem& solve, Slots& slots, Storage& storage) {
  algebra::Arena& arena = *solve.source[0]->arena;
  physics::LinearSystem inner = solve;
  const std::vector<int>& from = solve.even_odd ? solve.even_odd->arrays : solve.arrays;
  std::map<int, int> moved;
  const auto allocate = [&](const char* name) {
    program::Buffer buffer;
    buffer.name = name;
    buffer.precision = program::Precision::F32;
    buffer.scratch = true;
    return storage.allocate_new(buffer);
  };
  for (std::size_t i = 0; i < from.size(); ++i) {
    inner.arrays[i] = allocate("inner");
    inner.source[i] = arena.load(allocate("rest"));
    moved[from[i]] = inner.arrays[i];
  }
  const auto renamed = [&](physics::LinearMap map) {
    const auto rename = [&](std::vector<Expr>& values) {
      // together: the operations keep their order
      values = algebra::Rewriting([&](Expr node) {
        const auto to = node.is(Op::Load) ? moved.find(node->index) : moved.end();
        return to == moved.end() ? node : arena.load(to->second, node->offset, node->span);
      })(values);
    };
    for (physics::LinearMap::Stage& stage : map.stages) rename(stage.values);
    rename(map.image);
    return map;
  };
  inner.op = renamed(solve.even_odd ? solve.even_odd->op : solve.op);
  inner.adjoint = renamed(solve.even_odd ? solve.even_odd->adjoint : solve.adjoint);
  inner.even_odd.reset();
  inner.past.clear();
  inner.iterations = slots.fresh("inner_iterations_" + solve.iterations);
  inner.residual = slots.fresh("inner_residual_" + solve.iterations);
  for (auto& [name, number] : inner.options) {
    if (name == "tol")
      number = physics::decimal(arena, text::inner_call(*solve.refining)->args[1]->text);
  }
  return inner;
}

physics::LinearSystem system_around(const physics::LinearSystem& solve) {
  physics::LinearSystem outer = solve;
  algebra::Arena& arena = *solve.source[0]->arena;
  outer.solver = solve.refining;
  outer.options.clear();
  for (const auto& [option, value] : solve.refining->options) {
    Expr number = physics::decimal(arena, value->text);
    for (const auto& [name, given] : solve.options)
      if (name == option && name == "tol") number = given;
    outer.options.emplace_back(option, number);
  }
  return outer;
}

}  // namespace vphi::schedule
