// Whether the variables that `recover` has found are those of the state: what a run checks.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/checks.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

constexpr double kPart = 0.1;  ///< of the largest value on the lattice

/// A small residual is no small error where an iteration hardly changes anything: with the slope k
/// of u - g(u) the solution is off by (u - g(u))/k to first order. 1 where that moves no recovered
/// value by more than a part of its largest; null where several numbers are found together, or by a
/// formula.
Expr moves_little(const Conservation& c, const Conservation::Solved& solved) {
  if (solved.arrays.size() != 1 || !(solved.left > 0) || !solved.residual.is(Op::Abs)) return {};
  algebra::Arena& arena = *solved.residual->arena;
  const Expr found = arena.load(solved.arrays[0]), off = solved.residual.arg(0);
  std::map<int, Expr> slopes;  // by the array of a recovered value, of it by what was found
  Expr little;
  try {
    const Expr step = off / algebra::derivative(off, found);
    for (const Derived& value : c.recovered) {
      Expr slope = arena.integer(0);
      if (value.array == solved.arrays[0]) {
        slope = arena.integer(1);
      } else {
        for (const auto& [array, of_other] : slopes)
          slope = slope + algebra::derivative(value.value, arena.load(array)) * of_other;
      }
      if (slope.is_zero()) continue;
      slopes.emplace(value.array, slope);
      const Expr size = arena.make(Op::Abs, {arena.load(value.array)});
      const Expr bound = arena.real(kPart) * arena.make(Op::Maximum, {size});
      const Expr below = arena.make(
          Op::LessEqual, {arena.make(Op::Abs, {slope * step}), bound + arena.real(1e-6)});
      little = little ? arena.make(Op::And, {little, below}) : below;
    }
  } catch (const std::invalid_argument&) {  // no derivative is defined
    return {};
  }
  return little;
}

}  // namespace

void watch_recovery(const Program& d, ProgramUnits& units, System& system) {
  const std::vector<Law>& laws = d.laws;
  Conservation& c = *system.conservation;
  Arena& arena = d.arena();
  constexpr double kLargest = 1e37;  // a float: NaN and infinity are not below it
  Expr sound = arena.integer(1);
  const auto holds = [&](Expr value, Expr bound) {
    const Expr below = arena.make(Op::LessEqual, {arena.make(Op::Abs, {value}), bound});
    sound = arena.make(Op::And, {sound, below});
    return below;
  };
  for (const Derived& value : c.recovered) {
    holds(arena.load(value.array), arena.real(kLargest));
  }
  // a state that does not exist, such as one faster than light, makes something NaN
  const Program seen = as_laws_see_it(d);
  Lowerer lower(seen);
  for (const Expr value : made_of(d, lower)) holds(value, arena.real(kLargest));
  // the densities of the recovered variables must agree with the quantities, to this part of the
  // largest quantity
  for (const Law& law : laws) {
    Expr largest;
    for (const int array : law.arrays) {
      const Expr size = arena.make(Op::Maximum, {arena.make(Op::Abs, {arena.load(array)})});
      largest = largest ? arena.make(Op::Max, {largest, size}) : size;
    }
    for (std::size_t i = 0; i < law.arrays.size(); ++i) {
      holds(law.density.parts[i].re - arena.load(law.arrays[i]), arena.real(kPart) * largest);
    }
  }
  for (Conservation::Solved& solved : c.solved) {
    constexpr double kLoose = 0.01;  // of the value, and 100 times what the rounds leave
    Expr size;
    for (const int array : solved.arrays) {
      const Expr part = arena.make(Op::Abs, {arena.load(array)});
      size = size ? arena.make(Op::Max, {size, part}) : part;
    }
    solved.holds = holds(solved.residual,
                         arena.real(kLoose) * size + arena.real(std::max(1e-6, 100 * solved.left)));
    if (const Expr near = moves_little(c, solved)) {
      solved.holds = arena.make(Op::And, {solved.holds, near});
      sound = arena.make(Op::And, {sound, near});
    }
  }
  c.sound = sound;
  const int last = d.grid.dims - 1;
  const auto n = static_cast<std::int64_t>(system.lattice.extent[static_cast<std::size_t>(last)]);
  const Expr number = arena.site(last) + arena.integer(1), none = arena.integer(n + 1);
  const Expr first = arena.make(Op::Minimum, {arena.make(Op::Select, {sound, none, number})});
  c.unsound = units.quantity(
      arena.make(Op::Select, {arena.make(Op::Less, {first, none}), first, arena.integer(0)}));
}

}  // namespace vphi::physics
