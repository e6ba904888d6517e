#include "compiler/schedule/steps/wall_fluxes.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::schedule {

using algebra::Offset;
using algebra::Op;

namespace {

/// Operations of the fluxes of all axes from which on they are stored. On an H200 a step of
/// `event3d`, with 2422 of them, takes 0.55 of the time in f32 and 0.44 in f64; `event2d_bulk` and
/// `event2d` with 1142 and 1032 take 0.89 to 0.95; `viscous_gubser` and `riemann2d` with 740 and
/// 598 took 1.05 and 1.2 in f32; lines of 127 to 203 took 1.2 to 2.
constexpr int kMany = 1000;
/// Of the operations of a flux, the part that may be left at a wall, where all sites compute it:
/// what a recovery at the face leaves, 0.45, gained nothing.
constexpr int kPartAtWalls = 3;

/// Whether a value is not above 0 (`bound` is Min) or not below it (Max), as nested bounds show.
bool bounded_by_zero(Expr e, Op bound) {
  return e.is_zero() || (e.is(bound) && std::ranges::any_of(e.args(), [&](Expr arg) {
                           return bounded_by_zero(arg, bound);
                         }));
}

/// The value of an operation in fixed order, of arguments that may be 0 or the same.
Expr without_zeros(Expr node) {
  algebra::Arena& arena = *node->arena;
  const auto zero = [](Expr e) { return e.is_zero(); };
  const bool none = std::ranges::any_of(node.args(), zero);
  if (none && (node.is(Op::Mul) || node.is(Op::Minmod))) return arena.integer(0);
  if (none && (node.is(Op::Max) || node.is(Op::Min))) {
    const Op other = node.is(Op::Max) ? Op::Min : Op::Max;
    if (std::ranges::all_of(node.args(), [&](Expr e) { return bounded_by_zero(e, other); }))
      return arena.integer(0);
  }
  const bool twice = node.is(Op::Div) && node.arg(0).is(Op::Add) &&
                     node.arg(0).args().size() == 2 && node.arg(0).arg(0) == node.arg(0).arg(1);
  if (twice && node.arg(1) == arena.integer(2)) return node.arg(0).arg(0);
  if ((node.is(Op::Div) && node.arg(0).is_zero()) || (none && node.is(Op::Neg)))
    return arena.integer(0);
  if (node.is(Op::Sub)) {
    if (node.arg(0) == node.arg(1)) return arena.integer(0);
    if (node.arg(1).is_zero()) return node.arg(0);
    return none ? arena.raw(Op::Neg, {node.arg(1)}) : node;
  }
  if (!none || !node.is(Op::Add)) return node;
  std::vector<Expr> terms(node.args().begin(), node.args().end());
  std::erase_if(terms, zero);
  if (terms.empty()) return arena.integer(0);
  return terms.size() == 1 ? terms.front() : arena.raw(Op::Add, std::move(terms));
}

}  // namespace

int operations_in(std::span<const Expr> values) {
  int cost = 0;
  algebra::visit(values, [&](Expr, Expr node) {
    const algebra::OpInfo& row = algebra::info(node.op());
    cost += node.args().empty() ? 0 : row.flops + 4 * row.special;
  });
  return cost;
}

bool WallFluxes::worthwhile(int axis, std::span<const Expr> fluxes, int all) const {
  if (fluxes.empty() || all < kMany) return false;
  std::vector<Expr> walls;
  Offset before;
  before.d[static_cast<std::size_t>(axis)] = -1;
  for (const Expr flux : fluxes) walls.push_back(beyond({axis, flux}, before, 1));
  return kPartAtWalls * operations_in(walls) <= operations_in(fluxes);
}

void WallFluxes::add(int axis, Expr stored, Expr flux) {
  fluxes_.insert_or_assign(stored->index, Flux{axis, flux});
}

/// The flux at the distance `read` from a site, which is `cells` beyond the end that lies there.
Expr WallFluxes::beyond(const Flux& flux, Offset read, int cells) const {
  const auto axis = static_cast<std::size_t>(flux.axis);
  const bool low = read.d[axis] < 0;
  const auto last = static_cast<std::int16_t>(low ? read.d[axis] + cells : read.d[axis] - cells);
  return algebra::rewrite(algebra::shift(flux.value, read), [&](Expr node) -> Expr {
    if (!node.is(Op::Load)) return without_zeros(node);
    Offset there = node->offset;
    if (low ? there.d[axis] >= last : there.d[axis] <= last) return node;
    there.d[axis] = last;
    return system_.arena->load(node->index, there, node->span);
  });
}

Expr WallFluxes::operator()(Expr value) const {
  if (fluxes_.empty()) return value;
  algebra::Arena& arena = *system_.arena;
  return algebra::rewrite(value, [&](Expr node) -> Expr {
    const auto flux = node.is(Op::Load) ? fluxes_.find(node->index) : fluxes_.end();
    if (flux == fluxes_.end()) return node;
    const auto axis = static_cast<std::size_t>(flux->second.axis);
    const int distance = node->offset.d[axis];
    Expr result = node;
    for (int cells = 1; cells <= std::abs(distance); ++cells) {
      const std::int64_t site =
          (distance < 0 ? -cells : system_.lattice.extent[axis] - 1 + cells) - distance;
      const Expr there = arena.raw(Op::Equal, {arena.site(flux->second.axis), arena.integer(site)});
      result = arena.raw(Op::Select,
                         {there, beyond(flux->second, node->offset, cells), std::move(result)});
    }
    return result;
  });
}

}  // namespace vphi::schedule
