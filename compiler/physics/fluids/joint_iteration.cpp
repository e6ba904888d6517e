// Unknowns of `solve` that are iterated together (recovery_equation.hpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/recovery_equation.hpp"
#include "compiler/physics/fluids/wave_check.hpp"

namespace vphi::physics {

using algebra::Op;

JointIteration::JointIteration(const Equations& d, std::vector<Unknown> unknowns)
    : d_(d), unknowns_(std::move(unknowns)) {
  algebra::Arena& arena = d_.arena();
  for (const Unknown& unknown : unknowns_) {
    first_.push_back(symbols_.size());
    symbols_.insert(symbols_.end(), unknown.symbols.begin(), unknown.symbols.end());
    std::vector<Expr>& steps = steps_.emplace_back();
    for (std::size_t i = 0; i < unknown.g.size(); ++i) {
      const Expr g = snap_numbers(unknown.g[i]), x = unknown.symbols[i];
      if (unknown.solve->method == Solve::Method::FixedPoint) {
        steps.push_back(g);
        continue;
      }
      const Expr slope = snap_numbers(slope_of(unknown));
      Expr step = x - (x - g) / (arena.integer(1) - slope);
      if (unknown.solve->from) step = arena.make(Op::Max, {step, arena.real(*unknown.solve->from)});
      if (unknown.solve->to) step = arena.make(Op::Min, {step, arena.real(*unknown.solve->to)});
      steps.push_back(step);
    }
    made_by_steps_.emplace_back(steps);
    made_by_g_.emplace_back(unknown.g);
  }
}

/// dg/dx of Newton's method where the others follow x: each has been found by its line, or by a
/// step of Newton's method, for the x of now, and changes with it.
Expr JointIteration::slope_of(const Unknown& unknown) const {
  const Expr x = unknown.symbols[0], g = unknown.g[0];
  Expr slope = algebra::derivative(g, x);
  for (const Unknown& other : unknowns_) {
    if (&other == &unknown) continue;
    for (std::size_t k = 0; k < other.symbols.size(); ++k) {
      const Expr y = other.symbols[k];
      Expr follows = algebra::derivative(other.g[k], x);
      if (other.solve->method == Solve::Method::Newton)
        follows = follows / (d_.arena().integer(1) - algebra::derivative(other.g[k], y));
      slope = slope + algebra::derivative(g, y) * follows;
    }
  }
  return slope;
}

std::vector<double> JointIteration::first(const Numbers& quantities) const {
  std::vector<double> x;
  for (const Unknown& unknown : unknowns_) {
    for (const Expr start : unknown.solve->start_of_state)
      x.push_back(evaluated(start, quantities));
    if (unknown.solve->start_of_state.empty())
      x.insert(x.end(), unknown.symbols.size(), static_cast<double>(unknown.solve->start));
  }
  return x;
}

std::vector<double> JointIteration::values(const algebra::Evaluation& of, const Numbers& quantities,
                                           const std::vector<double>& x) const {
  return of([&](const algebra::Node& leaf) -> double {
    if (leaf.op == Op::Load) return quantities.at(leaf.index);
    for (std::size_t i = 0; i < symbols_.size(); ++i)
      if (&leaf == symbols_[i].get()) return x[i];
    return leaf.op == Op::Symbol ? 1 : 0;
  });
}

/// An iteration of Newton's method may also end at one of its bounds.
bool JointIteration::solves(const Numbers& quantities, const std::vector<double>& x) const {
  constexpr double kClose = 1e-6;
  for (std::size_t name = 0; name < unknowns_.size(); ++name) {
    if (unknowns_[name].solve->method == Solve::Method::FixedPoint) continue;
    const double u = x[first_[name]];
    const double rest = u - values(made_by_g_[name], quantities, x)[0];
    if (!(std::abs(rest) <= kClose * std::max(1.0, std::abs(u)))) return false;
  }
  return true;
}

std::vector<double> JointIteration::next(const Numbers& quantities, std::vector<double> x) const {
  for (std::size_t name = 0; name < unknowns_.size(); ++name) {
    std::ranges::copy(values(made_by_steps_[name], quantities, x),
                      x.begin() + static_cast<std::ptrdiff_t>(first_[name]));
  }
  return x;
}

/// The largest difference of a component of an unknown.
double JointIteration::distance(const std::vector<double>& a, const std::vector<double>& b,
                                std::size_t name) const {
  double most = 0;
  for (std::size_t k = 0; k < unknowns_[name].symbols.size(); ++k) {
    const std::size_t i = first_[name] + k;
    const double apart = std::abs(a[i] - b[i]);
    if (!(apart <= most)) most = apart;
  }
  return std::isnan(most) ? std::numeric_limits<double>::infinity() : most;
}

std::vector<double> JointIteration::solved(const Numbers& quantities) const {
  std::vector<double> x = first(quantities);
  double before = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<double> then = next(quantities, x);
    double step = 0;  // relative to each name, at least to 1
    for (std::size_t name = 0; name < unknowns_.size(); ++name) {
      double size = 1;
      for (std::size_t k = 0; k < unknowns_[name].symbols.size(); ++k)
        size = std::max(size, std::abs(then[first_[name] + k]));
      const double apart = distance(then, x, name);
      step = std::isfinite(apart) ? std::max(step, apart / size) : apart;
      if (!std::isfinite(step)) break;
    }
    if (!std::isfinite(step)) break;
    x = std::move(then);
    // a step of Newton's method is no smaller than the rounding of its equation
    if (step <= 1e-15 || (step <= 1e-12 && step >= before)) {
      if (solves(quantities, x)) return x;
      break;
    }
    before = step;
  }
  return std::vector<double>(symbols_.size(), std::nan(""));
}

std::string JointIteration::names() const {
  std::string text;
  for (std::size_t i = 0; i < unknowns_.size(); ++i)
    text += fmt::format("{}`{}`",
                        i == 0                      ? ""
                        : i + 1 == unknowns_.size() ? " and "
                                                    : ", ",
                        unknowns_[i].solve->name);
  return text;
}

JointSolution JointIteration::solution(const std::vector<TrialState>& states,
                                       const std::vector<std::vector<double>>& exact) {
  const std::size_t count = unknowns_.size();
  const Solve& told = *unknowns_.front().solve;
  const TrialState* lost = nullptr;
  tolerance_.clear();
  std::int64_t most = told.most;
  for (std::size_t s = 0; s < states.size() && !lost; ++s)
    if (std::isnan(exact[s].front())) lost = &states[s];
  if (lost && count == 1)
    fail_at(d_, *lost,
            errors::no_vector_found(told.span, told.name, kMostRounds, shown_state(d_, *lost)));
  if (lost)
    fail_at(d_, *lost,
            errors::no_joint_solution(told.span, names(), kMostRounds, shown_state(d_, *lost)));
  const double unit = real_precision(d_) == Precision::F32 ? 0x1p-26 : 0x1p-55;
  for (std::size_t name = 0; name < count; ++name) {
    const Solve& solve = *unknowns_[name].solve;
    const std::vector<double> zero(symbols_.size(), 0.0);
    double largest = 0;
    for (const std::vector<double>& x : exact) largest = std::max(largest, distance(x, zero, name));
    const bool from_zero = solve.start == 0 && solve.start_of_state.empty();
    tolerance_.push_back(
        std::max(static_cast<double>(solve.tolerance), from_zero ? unit * largest : 0.0));
    most = std::min(most, solve.most);
  }
  JointSolution made;
  made.names.resize(count);
  double contraction = 0;
  for (std::size_t s = 0; s < states.size(); ++s) {
    std::vector<double> x = first(states[s].quantities);
    const auto errors_of = [&] {
      std::vector<double> errors;
      for (std::size_t name = 0; name < count; ++name)
        errors.push_back(distance(x, exact[s], name));
      return errors;
    };
    const auto beyond = [&](const std::vector<double>& errors) {
      double largest = 0;  // of the tolerance
      for (std::size_t name = 0; name < count; ++name)
        largest = std::max(largest, errors[name] / tolerance_[name]);
      return largest;
    };
    std::vector<double> errors = errors_of();
    std::int64_t rounds = 0;
    for (; beyond(errors) > 1 && rounds < most; ++rounds) {
      const double before = beyond(errors);
      x = next(states[s].quantities, std::move(x));
      errors = errors_of();
      if (before > 1e3) contraction = std::max(contraction, beyond(errors) / before);
    }
    made.iterations = std::max(made.iterations, rounds);
    for (std::size_t name = 0; name < count; ++name)
      made.names[name].reached = std::max(made.names[name].reached, errors[name]);
  }
  made.iterations = std::max<std::int64_t>(made.iterations, 1);
  settled_ = settled_within(states, exact, made.iterations);
  for (std::size_t name = 0; name < count; ++name) {
    const Solve& solve = *unknowns_[name].solve;
    if (made.names[name].reached > tolerance_[name])
      d_.diagnostics.add(
          errors::solve_stops_short(solve.span, solve.name, most, made.names[name].reached));
  }
  if (count == 1) {
    d_.remark(fmt::format(
        "{} is solved in {} iterations of all components at once, what the slowest of {} states "
        "tried takes; one of them multiplies the error by {:.3g} at most",
        names(), made.iterations, states.size(), contraction));
  } else {
    d_.remark(fmt::format(
        "{} are solved together in {} iterations, in each of which they take a step one after the "
        "other; the slowest of {} states tried takes as many",
        names(), made.iterations, states.size()));
  }
  try_other_starts(states, exact, made);
  write(made);
  return made;
}

bool JointIteration::starts_from_others(const std::vector<TrialState>& states,
                                        const std::vector<std::vector<double>>& exact,
                                        const JointSolution& made,
                                        const std::vector<Change>& changes) const {
  constexpr std::size_t kEach = 3;  // one state of three is tried
  for (std::size_t s = 0; s < states.size(); s += kEach) {
    for (const Change& change : changes) {
      Numbers other = states[s].quantities;
      for (const int array : change.arrays) other.at(array) *= change.factor;
      std::vector<double> x = solved(other);
      if (std::isnan(x.front())) continue;  // there is no such state
      for (std::int64_t i = 0; i < made.iterations; ++i)
        x = unless_settled(x, next(states[s].quantities, x), settled_);
      for (std::size_t name = 0; name < unknowns_.size(); ++name) {
        const double most =
            std::max(2 * made.names[name].reached, settled_.empty() ? 0.0 : tolerance_[name]);
        if (!(distance(x, exact[s], name) <= most)) return false;
      }
    }
  }
  return true;
}

/// The states that start close to others: with other relaxing variables, which limits by recovered
/// values change, and with half and twice the densities.
void JointIteration::try_other_starts(const std::vector<TrialState>& states,
                                      const std::vector<std::vector<double>>& exact,
                                      JointSolution& made) const {
  std::vector<int> relaxing, densities;
  for (const StateField& field : d_.fields) {
    if (!field.conserved) continue;
    std::vector<int>& arrays = field.relaxed ? relaxing : densities;
    arrays.insert(arrays.end(), field.arrays.begin(), field.arrays.end());
  }
  const bool of_limits =
      relaxing.empty() || starts_from_others(states, exact, made, {{relaxing, 0}, {relaxing, 2}});
  const std::vector<Change> changes{{densities, 0.5}, {densities, 2}};
  made.from_stages = of_limits && starts_from_others(states, exact, made, changes);
  made.from_others = made.from_stages || (of_limits && !relaxing.empty());
}

/// `then` unless each of its numbers is as close to `x` as that.
std::vector<double> JointIteration::unless_settled(std::vector<double> x, std::vector<double> then,
                                                   const std::vector<double>& within) const {
  if (within.empty()) return then;
  for (std::size_t name = 0; name < unknowns_.size(); ++name)
    if (!(distance(then, x, name) <= within[name])) return then;
  return x;
}

std::vector<double> JointIteration::settled_within(const std::vector<TrialState>& states,
                                                   const std::vector<std::vector<double>>& exact,
                                                   std::int64_t iterations) const {
  constexpr int kHalvings = 8;
  std::vector<double> within = tolerance_;
  for (int halving = 0; halving < kHalvings; ++halving) {
    bool good = true;
    for (std::size_t s = 0; s < states.size() && good; ++s) {
      std::vector<double> plain = first(states[s].quantities), x = plain;
      for (std::int64_t i = 0; i < iterations; ++i) {
        plain = next(states[s].quantities, std::move(plain));
        x = unless_settled(x, next(states[s].quantities, x), within);
      }
      for (std::size_t name = 0; name < unknowns_.size(); ++name)
        good = good && distance(x, exact[s], name) <=
                           std::max(tolerance_[name], distance(plain, exact[s], name));
    }
    if (good) return within;
    for (double& each : within) each /= 2;
  }
  return {};
}

/// Whether the numbers of an iteration have moved so little that it has ended: by `settled_`, or by
/// a few units in the last place.
Expr JointIteration::settled(const std::vector<Expr>& x, const std::vector<Expr>& then) const {
  algebra::Arena& arena = d_.arena();
  const double unit = real_precision(d_) == Precision::F32 ? 0x1p-22 : 0x1p-50;
  Expr all;
  for (std::size_t name = 0; name < unknowns_.size(); ++name) {
    for (std::size_t k = 0; k < unknowns_[name].symbols.size(); ++k) {
      const std::size_t i = first_[name] + k;
      const Expr size = arena.real(unit) * arena.make(Op::Abs, {then[i]});
      const Expr bound = arena.make(Op::Max, {arena.real(settled_[name]), size});
      const Expr apart = arena.make(Op::Abs, {arena.raw(Op::Sub, {then[i], x[i]})});
      const Expr close = arena.raw(Op::LessEqual, {apart, bound});
      all = all ? arena.raw(Op::And, {all, close}) : close;
    }
  }
  return all;
}

/// The values of all components after so many iterations, which begin with `x`; in `needed` how
/// many of these change a component by more than its tolerance.
std::vector<Expr> JointIteration::after(std::int64_t rounds, std::vector<Expr> x,
                                        Expr* needed) const {
  algebra::Arena& arena = d_.arena();
  Expr count = arena.integer(0);
  std::unordered_map<const algebra::Node*, Expr> now;
  for (std::size_t i = 0; i < x.size(); ++i) now[symbols_[i].get()] = x[i];
  for (std::int64_t i = 0; i < rounds; ++i) {
    Expr change;  // of the tolerance
    for (std::size_t name = 0; name < unknowns_.size(); ++name) {
      std::vector<Expr> then;
      for (const Expr step : steps_[name]) then.push_back(algebra::substitute(step, now));
      for (std::size_t k = 0; k < then.size(); ++k) {
        Expr& value = now[unknowns_[name].symbols[k].get()];
        const Expr part =
            arena.make(Op::Abs, {then[k] - value}) / arena.real(unknowns_[name].solve->tolerance);
        change = change ? arena.make(Op::Max, {change, part}) : part;
        value = then[k];
      }
    }
    if (needed)
      count = count + arena.make(Op::Select, {arena.make(Op::Less, {arena.integer(1), change}),
                                              arena.integer(1), arena.integer(0)});
    std::vector<Expr> moved;
    for (const Expr symbol : symbols_) moved.push_back(now.at(symbol.get()));
    const Expr stays = settled_.empty() ? Expr() : settled(x, moved);
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = stays ? arena.raw(Op::Select, {stays, x[k], moved[k]}) : moved[k];
      now[symbols_[k].get()] = x[k];
    }
  }
  if (needed) *needed = count;
  return x;
}

void JointIteration::write(JointSolution& made) const {
  std::vector<Expr> starts;
  for (const Unknown& unknown : unknowns_) {
    const std::vector<Expr>& own = unknown.solve->start_of_state;
    starts.insert(starts.end(), own.begin(), own.end());
    if (own.empty())
      starts.insert(starts.end(), unknown.symbols.size(), d_.arena().real(unknown.solve->start));
  }
  const std::vector<Expr> values = after(made.iterations, std::move(starts), &made.needed);
  std::vector<Expr> again;
  if (made.from_others) again = after(made.iterations, symbols_);
  for (std::size_t name = 0; name < unknowns_.size(); ++name) {
    JointSolution::Name& own = made.names[name];
    for (std::size_t k = 0; k < unknowns_[name].symbols.size(); ++k) {
      const Expr symbol = unknowns_[name].symbols[k];
      own.values.push_back(values[first_[name] + k]);
      if (made.from_others) own.again.push_back(again[first_[name] + k]);
      const Expr apart = d_.arena().make(Op::Abs, {symbol - snap_numbers(unknowns_[name].g[k])});
      own.residual = own.residual ? d_.arena().make(Op::Max, {own.residual, apart}) : apart;
    }
  }
}

}  // namespace vphi::physics
