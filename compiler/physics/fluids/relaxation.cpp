#include "compiler/physics/fluids/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/curvature.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"
#include "compiler/physics/fluids/recovery_equation.hpp"
#include "compiler/physics/fluids/signals.hpp"
#include "compiler/physics/lower/angles.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

/// div(v) by central differences, with the areas of the faces in coordinates.
Expr divergence_at_site(const Equations& d, const std::vector<Expr>& v) {
  Expr sum = d.arena().integer(0);
  const Expr volume = d.coordinates.curved ? cell_volume(d) : Expr{};
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    const Expr along = v[static_cast<std::size_t>(axis)];
    if (!d.coordinates.curved) {
      sum = sum + per_coordinate(d, slope_along(d, along, axis), axis);
      continue;
    }
    Offset next, back;
    next.d[static_cast<std::size_t>(axis)] = 1;
    back.d[static_cast<std::size_t>(axis)] = -1;
    const Expr through = face_area(d, axis) * (along + neighbour(along, next));
    sum = sum + (through - neighbour(through, back)) / (d.arena().integer(2) * volume * d.grid.dx);
  }
  return sum;
}

Law read_relaxation(const Equations& d, Lowerer& lower, const dsl::Clause& clause) {
  const dsl::Item& item = clause.items.front();
  d.ledger.line(clause);
  d.ledger.use(item);
  const StateField& stored = *std::ranges::find_if(d.fields, [&](const StateField& field) {
    return field.conserved && field.relaxed && field.name == item.head->name;
  });
  const auto dims = static_cast<std::size_t>(d.grid.dims);
  Law law;
  law.name = stored.name;
  law.arrays = stored.arrays;
  law.span = stored.span;
  std::vector<Component> parts;
  for (const int array : d.field(stored.name)->arrays)
    parts.push_back({d.arena().load(array, {}, law.span), {}});
  law.density = parts.size() == 1 ? Value::of(parts[0].re) : Value::vector(std::move(parts));
  const Expr zero = d.arena().integer(0);
  law.flux.assign(law.arrays.size(), std::vector<Expr>(dims, zero));

  const Value target = lower.value(*item.value);
  if (target.parts.size() != law.arrays.size()) {
    d.fail(errors::wrong_shape(item.value->span,
                               fmt::format("`{}` has {} component{}", law.name, law.arrays.size(),
                                           law.arrays.size() == 1 ? "" : "s")));
  }
  const dsl::ExprPtr time = d.ledger.option(clause, "time");
  law.time = lower.real(*time, "the time of a relaxation");
  Expr dilution = zero;
  std::vector<Expr> carried;
  if (const dsl::ExprPtr along = d.ledger.option(clause, "along")) {
    for (const Component& part : lower.value(*along).parts) carried.push_back(part.re);
    if (carried.size() != dims) {
      d.fail(errors::wrong_shape(
          along->span, fmt::format("a velocity has a component for each of the {} ax{}", dims,
                                   dims == 1 ? "is" : "es")));
    }
    if (law.arrays.size() > 1 && d.coordinates.curved)
      d.fail(errors::relaxes_in_turning_frame(law.span, d.coordinates.span, law.name));
    dilution = divergence_at_site(d, carried);
  }
  for (std::size_t i = 0; i < law.arrays.size(); ++i) {
    const Expr own = d.arena().load(law.arrays[i]);
    if (!target.parts[i].real()) d.fail(errors::not_real(item.value->span, "the target"));
    law.source.push_back((target.parts[i].re - own) / law.time + own * dilution);
    for (std::size_t k = 0; k < carried.size(); ++k) law.flux[i][k] = own * carried[k];
  }
  return law;
}

std::string shown_rate(const Equations& d, int primitive) {
  const StateField& field = *d.field_of(primitive);
  if (field.arrays.size() == 1) return field.name + "'";
  return fmt::format("{}[{}]'", field.name, field.place(primitive));
}

// Sums and products that keep their order, in which 0 and 1 vanish.
Expr sum_of(Expr a, Expr b) {
  return a.is_zero() ? b : b.is_zero() ? a : a->arena->raw(Op::Add, {a, b});
}
Expr difference_of(Expr a, Expr b) {
  if (b.is_zero()) return a;
  return a.is_zero() ? a->arena->raw(Op::Neg, {b}) : a->arena->raw(Op::Sub, {a, b});
}
Expr product_of(Expr a, Expr b) {
  if (a.is_zero() || b.is_zero()) return a->arena->integer(0);
  return a.is_one() ? b : b.is_one() ? a : a->arena->raw(Op::Mul, {a, b});
}

/// (dU/dp - dS/dp') p' = known, by symbolic elimination.
class RatesOfPrimitives {
 public:
  RatesOfPrimitives(const Equations& d, const std::vector<Law>& laws,
                    const std::map<int, Expr>& of_fluxes)
      : d_(d), laws_(laws) {
    for (const auto& [primitive, stand_in] : d.primitive_rates) primitives_.push_back(primitive);
    for (const StateField& field : d.fields) {
      if (!field.beside_laws()) continue;
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        const int array = field.arrays[i];
        if (field.order == 2) {
          rates_beside_[array] = d.arena().load(field.velocities[i]);
          rates_beside_[field.velocities[i]] = d.rates.at(field.velocities[i]);
        } else {
          rates_beside_[array] = d.rates.at(array);
        }
      }
    }
    for (const Law& law : laws)
      for (std::size_t i = 0; i < law.arrays.size(); ++i) read(law, i, of_fluxes);
    if (rows_.size() != primitives_.size())
      d.fail(errors::rates_not_determined(laws.front().span, primitives_.size(), rows_.size()));
  }

  std::map<int, Expr> rates() {
    find_needed();
    eliminate();
    std::map<int, Expr> result;
    for (const Row& row : rows_) {
      Expr rate = row.flux_and_source;
      for (std::size_t j = 0; j < primitives_.size(); ++j)
        rate = sum_of(rate, product_of(row.by_rate[j], solved_[j]));
      result[row.quantity] = rate;
    }
    return result;
  }

 private:
  Arena& arena() { return d_.arena(); }

  struct Row {
    int quantity = 0;
    Expr flux_and_source;       ///< without derivatives in time
    Expr known;                 ///< right side of the system
    std::vector<Expr> by_rate;  ///< dS/dp'
    std::vector<Expr> matrix;   ///< dU/dp - dS/dp'
  };

  Expr stand_in(std::size_t j) { return arena().load(d_.primitive_rates.at(primitives_[j])); }

  void read(const Law& law, std::size_t i, const std::map<int, Expr>& of_fluxes) {
    const Expr source = law.source[i], density = law.density.parts[i].re;
    std::unordered_map<const algebra::Node*, Expr> none;
    std::set<int> stand_ins;
    for (std::size_t j = 0; j < primitives_.size(); ++j) {
      none[stand_in(j).get()] = arena().integer(0);
      stand_ins.insert(stand_in(j)->index);
    }
    for (const Expr read : algebra::reads(source)) {
      const bool elsewhere = read.is(Op::Stencil) || !read->offset.zero();
      const Expr of = read.is(Op::Stencil) ? read.arg(0) : read;
      if (elsewhere && algebra::contains(of, [&](Expr node) {
            return node.is(Op::Load) && stand_ins.contains(node->index);
          }))
        d_.fail(errors::rate_of_neighbour(law.span, law.name));
    }
    const auto fixed = [](Expr e) { return kernel::with_fixed_order(snap_numbers(e)); };
    Row row;
    row.quantity = law.arrays[i];
    row.flux_and_source = sum_of(kernel::with_fixed_order(algebra::substitute(source, none)),
                                 of_fluxes.at(row.quantity));
    Expr by_itself = algebra::derivative(density, d_.time());
    if (d_.expanding())
      by_itself =
          by_itself + algebra::derivative(density, d_.scale()) * d_.scale() * named_hubble(d_);
    for (const auto& [array, rate] : rates_beside_)
      by_itself = by_itself + algebra::derivative(density, arena().load(array)) * rate;
    row.known = difference_of(row.flux_and_source, fixed(by_itself));
    for (std::size_t j = 0; j < primitives_.size(); ++j) {
      const Expr slope = algebra::derivative(source, stand_in(j));
      for (const Expr load : algebra::reads(slope))
        if (stand_ins.contains(load->index)) d_.fail(errors::rates_not_linear(law.span, law.name));
      row.by_rate.push_back(fixed(slope));
      row.matrix.push_back(
          fixed(algebra::derivative(density, arena().load(primitives_[j])) - slope));
    }
    rows_.push_back(std::move(row));
  }

  /// Leaves out variables whose derivative nothing reads and that stand in one row alone.
  void find_needed() {
    std::set<std::size_t> rows;
    for (std::size_t i = 0; i < rows_.size(); ++i) rows.insert(i);
    for (std::size_t j = 0; j < primitives_.size(); ++j) columns_.push_back(j);
    for (bool fewer = true; fewer;) {
      fewer = false;
      for (const std::size_t j : columns_) {
        const bool read =
            std::ranges::any_of(rows_, [&](const Row& row) { return !row.by_rate[j].is_zero(); });
        std::vector<std::size_t> holding;
        for (const std::size_t i : rows)
          if (!rows_[i].matrix[j].is_zero()) holding.push_back(i);
        if (read || holding.size() != 1) continue;
        rows.erase(holding.front());
        std::erase(columns_, j);
        fewer = true;
        break;
      }
    }
    open_.assign(rows.begin(), rows.end());
  }

  /// The smallest size of each open coefficient, as a share of the largest in its row, over random
  /// states.
  std::map<std::size_t, double> least_shares(const Row& row) const {
    std::vector<std::size_t> columns;
    std::vector<Expr> entries;
    for (const std::size_t k : columns_)
      if (!done_.contains(k)) columns.push_back(k), entries.push_back(row.matrix[k]);
    const algebra::Evaluation sizes(entries);
    std::map<std::size_t, double> least;
    for (const TrialState& state : states_) {
      Numbers numbers = state.primitives;
      numbers.insert(state.quantities.begin(), state.quantities.end());
      const std::vector<double> values = evaluated(sizes, numbers);
      double largest = 0;
      for (const double value : values) largest = std::max(largest, std::abs(value));
      for (std::size_t k = 0; k < columns.size(); ++k) {
        const double here = std::abs(values[k]) / largest;
        if (std::isnan(here)) continue;
        const auto [entry, fresh] = least.try_emplace(columns[k], here);
        if (!fresh) entry->second = std::min(entry->second, here);
      }
    }
    return least;
  }

  void eliminate() {
    Lowerer lower(d_);
    const TrialStates trials(d_, lower, laws_);
    // pivots must not vanish where nothing moves either
    states_ = trials.drawn(16);
    std::vector<TrialState> resting = states_;
    for (TrialState& state : resting) {
      for (const StateField& field : d_.fields)
        if (field.primitive && trials.is_vector(field))
          for (const int array : field.arrays) state.primitives.at(array) = 0;
      if (trials.complete(state)) states_.push_back(state);
    }
    std::vector<std::pair<std::size_t, std::size_t>> pivots;  // row, column
    std::set<std::size_t> used;
    // equations that give one derivative by others first, as those of relaxed variables do
    while (done_.size() < columns_.size()) {
      std::size_t row = 0, column = 0;
      double best = 0;
      for (const std::size_t i : open_) {
        if (used.contains(i)) continue;
        for (const auto& [j, least] : least_shares(rows_[i])) {
          const double share = rows_[i].matrix[j].is_one() ? 2 : std::isfinite(least) ? least : 0;
          if (share > best) best = share, row = i, column = j;
        }
      }
      if (!(best > 1e-9)) d_.fail(errors::rates_not_determined(laws_.front().span, 0, 0));
      used.insert(row);
      done_.insert(column);
      pivots.emplace_back(row, column);
      Row& by = rows_[row];
      const Expr pivot = by.matrix[column];
      for (const std::size_t i : open_) {
        if (used.contains(i) || rows_[i].matrix[column].is_zero()) continue;
        Row& other = rows_[i];
        const Expr entry = other.matrix[column];
        const Expr factor = pivot.is_one() ? entry : arena().raw(Op::Div, {entry, pivot});
        for (const std::size_t k : columns_)
          if (!done_.contains(k))
            other.matrix[k] = difference_of(other.matrix[k], product_of(factor, by.matrix[k]));
        other.known = difference_of(other.known, product_of(factor, by.known));
        other.matrix[column] = arena().integer(0);
      }
    }
    solved_.assign(primitives_.size(), arena().integer(0));
    for (std::size_t p = pivots.size(); p-- > 0;) {
      const auto [row, column] = pivots[p];
      Expr rest = rows_[row].known;
      for (std::size_t q = p + 1; q < pivots.size(); ++q) {
        const std::size_t k = pivots[q].second;
        rest = difference_of(rest, product_of(rows_[row].matrix[k], solved_[k]));
      }
      const Expr pivot = rows_[row].matrix[column];
      solved_[column] = pivot.is_one() ? rest : arena().raw(Op::Div, {rest, pivot});
    }
  }

  const Equations& d_;
  const std::vector<Law>& laws_;
  std::vector<int> primitives_;
  std::map<int, Expr> rates_beside_;  ///< of fields that have equations of their own
  std::vector<Row> rows_;
  std::vector<std::size_t> open_, columns_;  ///< rows and columns of the system
  std::set<std::size_t> done_;               ///< columns with a pivot
  std::vector<TrialState> states_;
  std::vector<Expr> solved_;  ///< p'; 0 where it is not needed
};

}  // namespace

void name_primitive_rates(Equations& d) {
  for (const StateField& field : d.fields) {
    if (!field.primitive) continue;
    for (const int array : field.arrays) {
      const int stand_in = d.new_array();
      d.primitive_rates[array] = stand_in;
      d.rates[array] = d.arena().load(stand_in);
    }
  }
}

std::vector<Law> read_relaxations(const Equations& d, Lowerer& lower) {
  std::vector<Law> laws;
  for (const dsl::Clause* clause : d.resolved.clauses("relax"))
    laws.push_back(read_relaxation(d, lower, *clause));
  return laws;
}

bool holds_primitive_rates(const Equations& d, const std::vector<Law>& laws) {
  std::set<int> stand_ins;
  for (const auto& [primitive, stand_in] : d.primitive_rates) stand_ins.insert(stand_in);
  const auto holds = [&](Expr e) {
    return algebra::contains(
        e, [&](Expr node) { return node.is(Op::Load) && stand_ins.contains(node->index); });
  };
  return std::ranges::any_of(
      laws, [&](const Law& law) { return std::ranges::any_of(law.source, holds); });
}

std::map<int, Expr> with_known_rates(const Equations& d, const std::vector<Law>& laws,
                                     const std::map<int, Expr>& of_fluxes) {
  return RatesOfPrimitives(d, laws, of_fluxes).rates();
}

Expr with_named_rates(const Equations& d, Expr source) {
  std::unordered_map<const algebra::Node*, Expr> names;
  for (const auto& [primitive, stand_in] : d.primitive_rates)
    names[d.arena().load(stand_in).get()] = d.arena().symbol(shown_rate(d, primitive));
  return algebra::substitute(source, names);
}

Carrier carrier_of_signals(const Program& d, const std::vector<Law>& laws,
                           const std::map<int, double>& state, int axes) {
  Carrier found;
  for (const Law& law : laws) {
    if (!law.time) continue;
    std::vector<Law> others = laws;
    others[static_cast<std::size_t>(&law - laws.data())].source.assign(law.source.size(),
                                                                       d.arena().integer(0));
    const Signals signals(d, per_coordinate(d, others), d.primitive_rates);
    double sum = 0;
    for (int axis = 0; axis < axes; ++axis) sum += signals.largest(state, axis).value_or(0);
    if (found.law == nullptr || sum < found.without) found = {&law, sum};
  }
  return found;
}

void check_relaxation(const Program& d, System& system) {
  if (!d.dt) return;
  const dsl::Clause* evolve = d.resolved.clause("evolve");
  dsl::Span span = evolve->keyword_span;
  if (const dsl::ExprPtr dt = dsl::option(*evolve, "dt")) span = dt->span;
  Arena& arena = d.arena();
  // q' = -q/time grows in steps above 2 times `time` with Euler and Heun, and little later with
  // integrators of higher order
  constexpr double kLargest = 2, kNoTime = 1e30;
  std::map<const algebra::Node*, std::string> names;  // variables with one time share a promise
  for (const Law& law : d.laws) {
    if (!law.time) continue;
    std::string& shared = names[law.time.get()];
    shared += fmt::format("{}`{}`", shared.empty() ? "" : ", ", law.name);
  }
  for (const Law& law : d.laws) {
    if (!law.time || !names.contains(law.time.get())) continue;
    const std::string shared = names.at(law.time.get());
    names.erase(law.time.get());
    TrialState worst;
    const auto least = largest_at_start(system, arena.integer(0) - law.time, &worst.primitives);
    if (least && !(*least < 0))
      d.fail(errors::relaxation_not_positive(law.span, law.name, -*least, shown_state(d, worst)));
    // a time that is not above 0 breaks the promise too
    const Expr steps = arena.make(Op::Select, {arena.make(Op::Less, {arena.integer(0), law.time}),
                                               d.dt / law.time, arena.real(kNoTime)});
    const auto most = d.adaptive() ? std::nullopt : largest_at_start(system, steps);
    if (most && !(*most < kLargest))
      d.fail(errors::relaxation_not_resolved(span, law.span, law.name, *most,
                                             static_cast<double>(d.dt->number.real)));
    const Expr largest = arena.make(Op::Maximum, {steps});
    Expectation x;
    x.kind = Expectation::Kind::Condition;
    x.text = fmt::format("max(dt/time) < {:g} of what relaxes (1e+30: a time not above 0): {}",
                         kLargest, shared);
    x.span = span;
    x.value = largest;
    x.ok = arena.make(Op::Less, {largest, arena.real(kLargest)});
    system.expectations.push_back(std::move(x));
  }
}

}  // namespace vphi::physics
