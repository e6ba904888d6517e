// Whether the variables that `recover` has found are those of the state: what a run checks.
#include <algorithm>
#include <map>
#include <stdexcept>

#include "compiler/algebra/transform.hpp"
#include "compiler/model/recovery_equations.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/checks.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

constexpr double kPart = 0.1;      ///< of the largest value on the lattice
constexpr double kNoticed = 1e-3;  ///< a part of it that the tolerance of an iteration was to spare

/// How far the recovered values are from the solution of the equations of `solve`, to first order.
struct Distance {
  struct Unknown {
    int array = 0;
    Expr off;         ///< x - g(x)
    Expr step;        ///< of Newton's method for all unknowns at once
    double left = 0;  ///< bound of its error after the iterations
  };
  std::vector<Unknown> unknowns;
  std::map<int, Expr> moves;  ///< of each recovered value that the steps move, by its array
};

/// The solution of J step = off, J the slopes of all x - g(x). The pivots are those of the
/// diagonal: where iterations converge these are not 0.
void solve_steps(std::vector<Distance::Unknown>& unknowns) {
  const std::size_t n = unknowns.size();
  std::vector<std::vector<Expr>> slope(n);
  for (std::size_t r = 0; r < n; ++r) {
    algebra::Arena& arena = *unknowns[r].off->arena;
    for (const Distance::Unknown& other : unknowns)
      slope[r].push_back(algebra::derivative(unknowns[r].off, arena.load(other.array)));
    unknowns[r].step = unknowns[r].off;
  }
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t r = c + 1; r < n; ++r) {
      if (slope[r][c].is_zero()) continue;
      const Expr part = slope[r][c] / slope[c][c];
      for (std::size_t k = c + 1; k < n; ++k) slope[r][k] = slope[r][k] - part * slope[c][k];
      unknowns[r].step = unknowns[r].step - part * unknowns[c].step;
    }
  for (std::size_t c = n; c-- > 0;) {
    for (std::size_t k = c + 1; k < n; ++k)
      unknowns[c].step = unknowns[c].step - slope[c][k] * unknowns[k].step;
    unknowns[c].step = unknowns[c].step / slope[c][c];
  }
}

/// A small residual is no small error where an iteration hardly changes anything: the distance from
/// the solution is that residual over the slope. Nothing where all equations have closed forms, or
/// one has no derivative.
Distance distance_of(const Conservation& c) {
  Distance made;
  for (const Conservation::Solved& solved : c.solved) {
    if (!(solved.left > 0)) continue;
    const auto equations = equations_of(solved);
    if (equations.empty()) return {};
    for (const auto& [array, off] : equations)
      made.unknowns.push_back({array, off, {}, solved.left});
  }
  try {
    solve_steps(made.unknowns);
    for (const Distance::Unknown& unknown : made.unknowns)
      made.moves.emplace(unknown.array, unknown.step);
    for (const Derived& value : c.recovered) {
      if (made.moves.empty() || made.moves.contains(value.array)) continue;
      algebra::Arena& arena = *value.value->arena;
      Expr move = arena.integer(0);
      for (const auto& [array, of_other] : made.moves)
        move = move + algebra::derivative(value.value, arena.load(array)) * of_other;
      if (!move.is_zero()) made.moves.emplace(value.array, move);
    }
  } catch (const std::invalid_argument&) {  // no derivative is defined
    return {};
  }
  return made;
}

/// 1 where no recovered value is further from the solution than this part of its largest.
Expr moves_little(const Distance& distance, double part) {
  Expr little;
  for (const auto& [array, move] : distance.moves) {
    algebra::Arena& arena = *move->arena;
    const Expr largest = arena.make(Op::Maximum, {arena.make(Op::Abs, {arena.load(array)})});
    const Expr beyond = arena.make(
        Op::Less, {arena.real(part) * largest + arena.real(1e-6), arena.make(Op::Abs, {move})});
    const Expr below = arena.make(Op::Not, {beyond});
    little = little ? arena.make(Op::And, {little, below}) : below;
  }
  return little;
}

/// 1 where the equations hold to rounding: more iterations would not help.
Expr hold_to_rounding(const std::vector<std::pair<int, Expr>>& equations, Precision precision) {
  constexpr double kRoundings = 64;
  const double unit = precision == Precision::F32 ? 0x1p-24 : 0x1p-53;
  Expr all;
  for (const auto& [array, off] : equations) {
    algebra::Arena& arena = *off->arena;
    const auto size = [&](Expr e) { return arena.make(Op::Abs, {e}); };
    const Expr own = arena.make(
        Op::LessEqual, {size(off), arena.real(kRoundings * unit) * size(arena.load(array))});
    all = all ? arena.make(Op::And, {all, own}) : own;
  }
  return all;
}

/// 1 where the unknowns are as near to the solution as the compiler has told.
Expr as_near_as_told(const Distance& distance) {
  constexpr double kSlack = 10;
  Expr all;
  for (const Distance::Unknown& unknown : distance.unknowns) {
    algebra::Arena& arena = *unknown.off->arena;
    const Expr own = arena.make(
        Op::LessEqual, {arena.make(Op::Abs, {unknown.step}), arena.real(kSlack * unknown.left)});
    all = all ? arena.make(Op::And, {all, own}) : own;
  }
  return all;
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
  const Distance distance = distance_of(c);
  const Precision precision = real_precision(d);
  const Expr near = moves_little(distance, kPart);
  // what is worth a note
  Expr exact, rounded;
  for (Conservation::Solved& solved : c.solved) {
    constexpr double kLoose = 0.01;  // of the value, and 100 times what the rounds leave
    Expr size;
    for (const int array : solved.arrays) {
      const Expr part = arena.make(Op::Abs, {arena.load(array)});
      size = size ? arena.make(Op::Max, {size, part}) : part;
    }
    solved.holds = holds(solved.residual,
                         arena.real(kLoose) * size + arena.real(std::max(1e-6, 100 * solved.left)));
    const auto equations = equations_of(solved);
    if (!near || !(solved.left > 0) || equations.empty()) continue;
    const Expr own = hold_to_rounding(equations, precision);
    rounded = rounded ? arena.make(Op::And, {rounded, own}) : own;
    solved.holds = arena.make(Op::And, {solved.holds, arena.make(Op::Or, {own, near})});
  }
  if (near) {
    sound = arena.make(Op::And, {sound, near});
    exact = arena.make(Op::Or, {arena.make(Op::Or, {rounded, as_near_as_told(distance)}),
                                moves_little(distance, kNoticed)});
  }
  c.sound = sound;
  const int last = d.grid.dims - 1;
  const auto n = static_cast<std::int64_t>(system.lattice.extent[static_cast<std::size_t>(last)]);
  const Expr number = arena.site(last) + arena.integer(1), none = arena.integer(n + 1);
  const auto first = [&](Expr fine) {
    return arena.make(Op::Minimum, {arena.make(Op::Select, {fine, none, number})});
  };
  const auto if_any = [&](Expr place, Expr value, Expr otherwise) {
    return arena.make(Op::Select, {arena.make(Op::Less, {place, none}), value, otherwise});
  };
  const Expr bad = first(sound);
  Expr otherwise = arena.integer(0);
  if (exact) {
    const Expr rough = first(exact);
    otherwise = if_any(rough, -rough, otherwise);
  }
  c.unsound = units.quantity(if_any(bad, bad, otherwise));
}

}  // namespace vphi::physics
