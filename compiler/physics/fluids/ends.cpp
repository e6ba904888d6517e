#include "compiler/physics/fluids/ends.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;
using dsl::ExprKind;

GivenEnds::GivenEnds(const Equations& d, Lowerer& lower) : d_(d) {
  for (const dsl::Clause* clause : d.ledger.clauses("beyond")) read(*clause, lower);
  choose();
}

void GivenEnds::read(const dsl::Clause& clause, Lowerer& lower) {
  std::vector<End*> ends;
  for (const dsl::Item* where : dsl::positional(clause)) {
    const auto more = ends_of(*where->value);
    ends.insert(ends.end(), more.begin(), more.end());
  }
  for (const dsl::Item& item : clause.items) {
    if (!item.head || !item.value) continue;
    d_.ledger.use(item);
    give(item, lower, ends);
    d_.remark(fmt::format("beyond {}: {}", written(d_, dsl::positional(clause)[0]->span),
                          written(d_, item.span)));
  }
}

/// `x` has two ends, `low(x)` and `high(x)` are one each.
std::vector<GivenEnds::End*> GivenEnds::ends_of(const dsl::Expr& where) {
  const bool one = where.kind == ExprKind::Call;
  const std::string& name = one ? where.args.at(0)->text : where.text;
  int axis = -1;
  for (int k = 0; k < std::min(d_.grid.dims, 3); ++k)
    if (name == algebra::kAxisNames[k]) axis = k;
  if (axis < 0) d_.fail(errors::beyond_no_axis(where.span, name, d_.grid.dims));
  if (d_.grid.boundary[static_cast<std::size_t>(axis)] == Boundary::Periodic)
    d_.fail(errors::beyond_no_end(where.span, name, d_.grid.span));
  std::vector<End*> ends;
  for (const bool high : {false, true}) {
    if (one && high != (where.text == "high")) continue;
    End& end = ends_[{axis, high}];
    end.axis = axis;
    end.high = high;
    ends.push_back(&end);
  }
  return ends;
}

void GivenEnds::give(const dsl::Item& item, Lowerer& lower, const std::vector<End*>& ends) {
  const StateField& field = *d_.field(item.head->name);
  const Value value = lower.value(*item.value);
  const bool spread = value.parts.size() == 1 && value.parts[0].re.is_zero();  // `v = 0`
  if (!spread && value.parts.size() != field.arrays.size())
    d_.fail(errors::wrong_shape(
        item.value->span, fmt::format("`{}` has {} component{}", field.name, field.arrays.size(),
                                      field.arrays.size() == 1 ? "" : "s")));
  for (std::size_t i = 0; i < field.arrays.size(); ++i) {
    const Component& part = value.parts[spread ? 0 : i];
    if (!part.real()) d_.fail(errors::not_real(item.value->span, "a state beyond an end"));
    refuse_other_cells(part.re, item);
    for (End* end : ends)
      if (!end->given.emplace(field.arrays[i], part.re).second)
        d_.fail(
            errors::beyond_twice(item.span, field.name, algebra::kAxisNames[end->axis], end->high));
  }
}

/// A cell beyond an end has no neighbours, no rate and no averages of its own.
void GivenEnds::refuse_other_cells(Expr value, const dsl::Item& item) const {
  std::set<int> rates;
  for (const auto& [primitive, stand_in] : d_.primitive_rates) rates.insert(stand_in);
  algebra::visit(value, [&](Expr node) {
    const bool read = node.is(Op::Load) && (!node->offset.zero() || is_gradient(node->index) ||
                                            rates.contains(node->index));
    if (read || node.is(Op::Stencil) || node.is(Op::PairSum) || algebra::reduces_sites(node.op()))
      d_.fail(errors::beyond_reads_others(item.value->span, item.head->name));
  });
}

Expr GivenEnds::choice(int array, int axis, Expr low, Expr high) const {
  Arena& arena = d_.arena();
  const Expr site = arena.site(axis);
  const std::int64_t last = d_.grid.extent[static_cast<std::size_t>(axis)] - 1;
  Expr value = arena.load(array);
  if (low) {
    const Expr test = arena.raw(Op::Less, {site, arena.integer(0)});
    value = arena.raw(Op::Select, {test, low, value});
  }
  if (high) {
    const Expr test = arena.raw(Op::Less, {arena.integer(last), site});
    value = arena.raw(Op::Select, {test, high, value});
  }
  return value;
}

void GivenEnds::choose() {
  Arena& arena = d_.arena();
  const auto fixed = [](Expr e) { return kernel::with_fixed_order(snap_numbers(e)); };
  std::map<int, std::map<int, std::array<Expr, 2>>> beyond;  // axis, array, end
  for (const auto& [key, end] : ends_) {
    const std::size_t side = end.high ? 1 : 0;
    std::unordered_map<const algebra::Node*, Expr> known;
    for (const auto& [array, value] : end.given) {
      known[arena.load(array).get()] = value;
      beyond[end.axis][array][side] = fixed(value);
    }
    for (const Law& law : d_.laws) {
      for (std::size_t i = 0; i < law.arrays.size(); ++i) {
        const Expr density = law.density.parts[i].re;
        const Expr there = algebra::substitute(density, known);
        if (!(there == density)) beyond[end.axis][law.arrays[i]][side] = fixed(there);
      }
    }
  }
  for (const auto& [axis, arrays] : beyond)
    for (const auto& [array, values] : arrays)
      chosen_[axis][array] = choice(array, axis, values[0], values[1]);
}

/// `everywhere`: the value may be that of a cell beyond an end, so that reads of its own cell are
/// choices too.
Expr GivenEnds::in_value(Expr value, const Chosen& chosen, bool everywhere) {
  return algebra::rewrite(value, [&](Expr node) -> Expr {
    if (!node.is(Op::Load)) return node;
    Expr result = node;
    for (const auto& [axis, arrays] : chosen) {
      const auto known = arrays.find(node->index);
      const bool beyond = everywhere || node->offset.d[static_cast<std::size_t>(axis)] != 0;
      if (known == arrays.end() || !beyond) continue;
      const Expr there = algebra::shift(known->second, node->offset);
      // at a corner the later axis decides where both are left
      result = result == node ? there : algebra::substitute(there, node, result);
    }
    return result;
  });
}

/// The same along an axis, with primitive variables at the middle of the step.
std::map<int, Expr> GivenEnds::halfway(int axis) const {
  Arena& arena = d_.arena();
  const Expr half =
      arena.raw(Op::Mul, {arena.rational(1, 2), arena.symbol(Conservation::kStepLength)});
  const Expr middle = arena.raw(Op::Add, {d_.time(), half});
  std::map<int, Expr> arrays = chosen_.at(axis);
  for (auto& [array, value] : arrays)
    if (d_.field_of(array)->primitive) value = algebra::substitute(value, d_.time(), middle);
  return arrays;
}

void GivenEnds::put_into(AxisScheme& scheme, bool half_step) const {
  if (!chosen_.contains(scheme.axis)) return;
  std::set<int> away;  // lines of which cells beyond an end are read
  const auto look = [&](Expr value, bool everywhere) {
    for (const Expr read : algebra::reads(value))
      if (read.is(Op::Load) && (everywhere || !read->offset.zero())) away.insert(read->index);
  };
  for (const auto& [quantity, value] : scheme.face) look(value, true);
  for (const auto& [quantity, value] : scheme.result) look(value, false);
  for (std::size_t i = scheme.lines.size(); i-- > 0;)
    look(scheme.lines[i].value, away.contains(scheme.lines[i].array));
  const Chosen chosen{{scheme.axis, half_step ? halfway(scheme.axis) : chosen_.at(scheme.axis)}};
  const auto put = [&](Expr& value, bool everywhere) {
    value = in_value(value, chosen, everywhere);
  };
  for (Derived& line : scheme.lines) put(line.value, away.contains(line.array));
  for (auto& [quantity, value] : scheme.result) put(value, false);
  for (auto& [quantity, value] : scheme.face) put(value, true);
}

std::vector<Law> GivenEnds::in_sources(std::vector<Law> laws) const {
  for (Law& law : laws)
    for (Expr& source : law.source) source = in_value(source, chosen_, false);
  return laws;
}

}  // namespace vphi::physics
