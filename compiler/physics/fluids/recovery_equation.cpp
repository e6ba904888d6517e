#include "compiler/physics/fluids/recovery_equation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/wave_check.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

constexpr int kMostIterations = 4000;  ///< until a fixed point counts as not found

class Solver {
 public:
  Solver(const Equations& d, const Solve& solve, Expr solved, const TrialStates& trials,
         const RecoveryEquation::Earlier& earlier, const std::vector<TrialState>& states)
      : d_(d),
        solve_(solve),
        solved_(solved),
        trials_(trials),
        earlier_(earlier),
        states_(states) {}

  Solution solution_of(Expr g) {
    if (const auto root = closed_form(g)) return *root;
    if (solve_.method == Solve::Method::Newton) return newton(g);
    if (solve_.method == Solve::Method::Bisection) return bisected(g);
    return iterated(g);
  }

  std::vector<TrialState> solved(std::vector<TrialState> states, Expr g) const {
    for (TrialState& sample : states) {
      if (g) sample.u = solution_at(g, sample);
    }
    return states;
  }

 private:
  double fixed_point(Expr g, const TrialState& sample) const {
    double u = start_of(sample);
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      const double next = evaluated(g, sample.quantities, solved_, u);
      if (!std::isfinite(next)) return next;
      const bool there = std::abs(next - u) <= 1e-15 * std::max(1.0, std::abs(u));
      u = next;
      if (there) return u;
    }
    return std::nan("");
  }

  bool starts_from_state() const { return !solve_.start_of_state.empty(); }
  double start_of(const TrialState& sample) const {
    return starts_from_state() ? evaluated(solve_.start_of_state[0], sample.quantities)
                               : static_cast<double>(solve_.start);
  }
  Expr start() const {
    return starts_from_state() ? solve_.start_of_state[0] : d_.arena().real(solve_.start);
  }

  double held(double u) const {
    if (solve_.from) u = std::max(u, static_cast<double>(*solve_.from));
    if (solve_.to) u = std::min(u, static_cast<double>(*solve_.to));
    return u;
  }

  /// An iterate of Newton's method, and the bounds of the solution where it has bounds.
  struct Step {
    double u = 0, low = 0, high = 0;
  };

  /// The error at which the iteration may stop. Started from 0, a solution u has the error q^n |u|
  /// after n rounds, and `first` is the largest |u|: half of the rounding error of u is enough.
  double tolerance_shown(double first) const {
    const double unit = real_precision(d_) == Precision::F32 ? 0x1p-26 : 0x1p-55;
    const auto asked = static_cast<double>(solve_.tolerance);
    return solve_.start == 0 && !starts_from_state() ? std::max(asked, unit * first) : asked;
  }

  bool bounded() const { return solve_.from && solve_.to; }

  Step first_step(const TrialState& sample) const {
    Step at{held(start_of(sample)), 0, 0};
    if (bounded()) {
      at.low = static_cast<double>(*solve_.from), at.high = static_cast<double>(*solve_.to);
    }
    return at;
  }

  /// One round of Newton's method. Between bounds it first narrows them by the sign of g - u, which
  /// is `side` at the lower bound, and takes the middle where Newton's step would leave them.
  void newton_iteration(Expr g, Expr slope, const TrialState& sample, double side, Step& at) const {
    const double rest = evaluated(g, sample.quantities, solved_, at.u) - at.u;
    const double next = at.u + rest / (1 - evaluated(slope, sample.quantities, solved_, at.u));
    if (!bounded()) {
      at.u = held(next);
      return;
    }
    (side * rest > 0 ? at.low : at.high) = at.u;
    at.u = at.low <= next && next <= at.high ? next : (at.low + at.high) / 2;
  }

  /// The sign of g - u at the lower bound.
  double side_of(Expr g, const TrialState& sample) const {
    if (!solve_.from) return 1;
    const double low = static_cast<double>(*solve_.from);
    return evaluated(g, sample.quantities, solved_, low) - low < 0 ? -1 : 1;
  }

  /// The sign of g - u at the lower bound, which must be the same for all states; it is an error
  /// otherwise.
  double common_side(Expr g, const std::vector<TrialState>& states) {
    const double low = static_cast<double>(*solve_.from), high = static_cast<double>(*solve_.to);
    double side = 0;
    for (const TrialState& sample : states) {
      const auto rest = [&](double at) {
        return evaluated(g, sample.quantities, solved_, at) - at;
      };
      const double below = rest(low), above = rest(high);
      if (side == 0) side = below > 0 ? 1 : below < 0 ? -1 : 0;
      // at a pole (a velocity of 1) the value may be NaN: then the lower end alone decides
      const bool wrong = std::isfinite(above) && above * side > 0;
      if (!(below * side >= 0) || wrong) {
        d_.fail(
            errors::no_sign_change(solve_.span, solve_.name, low, high, shown_state(d_, sample)));
      }
    }
    return side < 0 ? -1 : 1;
  }

  /// The solution by the method of the model, to rounding; NaN where there is none.
  double solution_at(Expr g, const TrialState& sample) const {
    if (solve_.method == Solve::Method::FixedPoint) return fixed_point(g, sample);
    if (solve_.method == Solve::Method::Newton) {
      const Expr slope = algebra::derivative(g, solved_);
      const double side = side_of(g, sample);
      Step at = first_step(sample);
      for (int iteration = 0; iteration < 200 && std::isfinite(at.u); ++iteration) {
        const double before = at.u;
        newton_iteration(g, slope, sample, side, at);
        if (std::abs(at.u - before) <= 1e-16 * std::max(1.0, std::abs(at.u))) break;
      }
      const double rest = at.u - evaluated(g, sample.quantities, solved_, at.u);
      return std::abs(rest) <= 1e-9 * std::max(1.0, std::abs(at.u)) ? at.u : std::nan("");
    }
    double low = static_cast<double>(*solve_.from), high = static_cast<double>(*solve_.to);
    const auto rest = [&](double at) { return evaluated(g, sample.quantities, solved_, at) - at; };
    const double below = rest(low);
    if (below * rest(high) > 0) return std::nan("");
    for (int iteration = 0; iteration < 200; ++iteration) {
      const double middle = (low + high) / 2;
      (rest(middle) * below > 0 ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  /// The rounds of Newton's method as one expression: `max` of them, or as many as the slowest
  /// random state takes.
  Solution newton(Expr g) {
    const Expr slope = algebra::derivative(g, solved_);
    const double tolerance = static_cast<double>(solve_.tolerance);
    Solution solution;
    std::vector<TrialState> states = states_;
    std::vector<TrialState> hard = trials_.hard(states_);
    earlier_(hard);
    for (TrialState& sample : solved(std::move(hard), g)) states.push_back(std::move(sample));
    const double side = bounded() ? common_side(g, states) : 1;
    std::vector<Step> now;
    for (const TrialState& sample : states) now.push_back(first_step(sample));
    const TrialState* worst = nullptr;
    for (;; ++solution.iterations) {
      solution.reached = 0;
      for (std::size_t i = 0; i < states.size(); ++i) {
        const double error = std::isfinite(states[i].u) ? std::abs(now[i].u - states[i].u)
                                                        : std::numeric_limits<double>::infinity();
        if (!(error <= solution.reached)) solution.reached = error, worst = &states[i];
      }
      if (solution.reached <= tolerance || solution.iterations == solve_.most) break;
      for (std::size_t i = 0; i < states.size(); ++i) {
        newton_iteration(g, slope, states[i], side, now[i]);
      }
    }
    if (!(solution.reached <= std::max(1e-3, tolerance))) {
      const dsl::Diagnostic diverges = errors::iterations_diverge(
          solve_.span, solve_.name, solve_.most, solution.reached, shown_state(d_, *worst));
      if (std::isfinite(worst->u)) d_.fail(diverges);
      fail_at(d_, *worst, diverges);
    }
    if (solution.reached > tolerance) {
      d_.diagnostics.add(
          errors::solve_stops_short(solve_.span, solve_.name, solve_.most, solution.reached));
    }
    const std::int64_t slowest = solution.iterations;
    if (solve_.most_given) solution.iterations = solve_.most;
    d_.remark(fmt::format(
        "`{}` is solved in {} iteration{} of Newton's method: {}", solve_.name, solution.iterations,
        solution.iterations == 1 ? "" : "s",
        solve_.most_given
            ? fmt::format("its max, of which the slowest of {} states tried takes {}",
                          states.size(), slowest)
            : fmt::format(
                  "what the slowest of {} states tried takes; max = ... says another number",
                  states.size())));
    const Expr whole = g;
    const std::vector<Guard> guards = strip(g);
    g = snap_numbers(g);
    const Expr steep = snap_numbers(algebra::derivative(g, solved_));
    const Expr one = d_.arena().integer(1);
    const Expr iteration = solved_ - (solved_ - g) / (one - steep);
    Expr low = solve_.from ? d_.arena().real(*solve_.from) : Expr{};
    Expr high = solve_.to ? d_.arena().real(*solve_.to) : Expr{};
    Expr u = start();
    if (low) u = d_.arena().make(Op::Max, {low, u});
    if (high) u = d_.arena().make(Op::Min, {high, u});
    for (std::int64_t i = 0; i < solution.iterations; ++i) {
      const Expr next = algebra::substitute(iteration, solved_, u);
      if (!bounded()) {
        Expr then = next;
        if (low) then = d_.arena().make(Op::Max, {then, low});
        if (high) then = d_.arena().make(Op::Min, {then, high});
        u = counted(solution, u, then);
        continue;
      }
      const Expr rest = algebra::substitute(g, solved_, u) - u, zero = d_.arena().integer(0);
      const Expr above = side < 0 ? d_.arena().make(Op::Less, {rest, zero})
                                  : d_.arena().make(Op::Less, {zero, rest});
      low = d_.arena().make(Op::Select, {above, u, low});
      high = d_.arena().make(Op::Select, {above, high, u});
      const Expr inside = d_.arena().make(Op::And, {d_.arena().make(Op::LessEqual, {low, next}),
                                                    d_.arena().make(Op::LessEqual, {next, high})});
      u = counted(
          solution, u,
          d_.arena().make(Op::Select, {inside, next, (low + high) * d_.arena().rational(1, 2)}));
    }
    return ended(std::move(solution), guarded(u, guards), whole);
  }

  /// The rounds of bisection as one expression. The half is chosen by the sign at the lower end,
  /// which is the same for all states.
  Solution bisected(Expr g) {
    const double low = static_cast<double>(*solve_.from), high = static_cast<double>(*solve_.to);
    const double tolerance = static_cast<double>(solve_.tolerance);
    const double side = common_side(g, states_);
    Solution solution;
    const double wanted = std::max(1.0, std::ceil(std::log2((high - low) / tolerance)));
    solution.iterations = std::min<std::int64_t>(static_cast<std::int64_t>(wanted), solve_.most);
    solution.reached = (high - low) * std::pow(0.5, static_cast<double>(solution.iterations));
    if (wanted > static_cast<double>(solve_.most)) {
      d_.diagnostics.add(
          errors::solve_stops_short(solve_.span, solve_.name, solve_.most, solution.reached));
    }
    d_.remark(fmt::format("`{}` is solved in {} bisections of {:g} to {:g}", solve_.name,
                          solution.iterations, low, high));
    const Expr whole = g;
    const std::vector<Guard> guards = strip(g);
    g = snap_numbers(g);
    Expr left = d_.arena().real(*solve_.from);
    long double width = *solve_.to - *solve_.from;
    const Expr zero = d_.arena().integer(0);
    for (std::int64_t i = 0; i < solution.iterations; ++i) {
      width /= 2;
      const Expr middle = left + d_.arena().real(width);
      const Expr rest = algebra::substitute(g, solved_, middle) - middle;
      const Expr further = side < 0 ? d_.arena().make(Op::Less, {rest, zero})
                                    : d_.arena().make(Op::Less, {zero, rest});
      left = d_.arena().make(Op::Select, {further, middle, left});
    }
    solution.needed = d_.arena().integer(solution.iterations);
    return ended(std::move(solution), guarded(left + d_.arena().real(width / 2), guards), whole);
  }

  /// The iterate `next`, counted where it differs from `u` by more than the tolerance.
  Expr counted(Solution& solution, Expr u, Expr next) const {
    Arena& arena = d_.arena();
    const Expr change = arena.make(Op::Abs, {next - u});
    const Expr more =
        arena.make(Op::Select, {arena.make(Op::Less, {arena.real(solve_.tolerance), change}),
                                arena.integer(1), arena.integer(0)});
    solution.needed = solution.needed ? solution.needed + more : more;
    return next;
  }

  Solution ended(Solution solution, Expr value, Expr whole) {
    solution.value = value;
    solution.residual = value - algebra::substitute(whole, solved_, value);
    return solution;
  }

  /// `value if condition else other` around the equation, the condition without u.
  struct Guard {
    Expr condition, otherwise;
  };

  std::vector<Guard> strip(Expr& g) const {
    std::vector<Guard> guards;
    while (g.is(Op::Select) && !algebra::depends_on(g.arg(0), solved_) &&
           !algebra::depends_on(g.arg(2), solved_)) {
      guards.push_back({g.arg(0), g.arg(2)});
      g = g.arg(1);
    }
    return guards;
  }

  Expr guarded(Expr value, const std::vector<Guard>& guards) {
    for (std::size_t i = guards.size(); i-- > 0;) {
      value = d_.arena().make(Op::Select, {guards[i].condition, value, guards[i].otherwise});
    }
    return value;
  }

  /// u = g(u) as a*u^2 + b*u + c = 0: u = -2c/(b + s*sqrt(b^2 - 4ac)), which loses no digits where
  /// it is small; the sign s is that of the fixed point.
  std::optional<Solution> closed_form(Expr g) {
    const Expr whole = g;
    const std::vector<Guard> guards = strip(g);
    // multiplied by the denominator of the fraction
    Expr below = d_.arena().integer(1);
    algebra::visit(g, [&](Expr node) {
      const bool fraction = node.is(Op::Pow) && node.arg(1).is_number() &&
                            node.arg(1)->number.real < 0 &&
                            algebra::depends_on(node.arg(0), solved_);
      if (fraction) below = below / node;
    });
    const Expr equation = algebra::expand(solved_ * below) - algebra::expand(g * below);
    const auto c = algebra::polynomial(algebra::expand(equation), solved_, 2);
    if (!c || c->size() < 2) return std::nullopt;
    Expr root;
    if (c->size() == 2) {
      root = -((*c)[0] / (*c)[1]);
      if (agrees(root)) return done(guarded(root, guards), whole);
      return std::nullopt;
    }
    const Expr two = d_.arena().integer(2), four = d_.arena().integer(4);
    const Expr under = algebra::pow((*c)[1], 2) - four * (*c)[0] * (*c)[2];
    const Expr positive = d_.arena().make(Op::Max, {under, d_.arena().integer(0)});
    for (const int sign : {1, -1}) {
      const Expr s = d_.arena().integer(sign);
      root = -(two * (*c)[0] / ((*c)[1] + s * algebra::pow(positive, d_.arena().rational(1, 2))));
      if (agrees(root)) return done(guarded(root, guards), whole);
    }
    return std::nullopt;
  }

  bool agrees(Expr root) const {
    int seen = 0;
    for (const TrialState& sample : states_) {
      if (!std::isfinite(sample.u)) continue;
      const double u = evaluated(root, sample.quantities, {}, 0);
      if (!(std::abs(u - sample.u) <= 1e-7 * std::max(1.0, std::abs(sample.u)))) return false;
      ++seen;
    }
    return seen > 0;
  }

  Solution done(Expr value, Expr g) {
    value = snap_numbers(value);
    d_.remark(fmt::format("`{}` is the root of an equation of second degree: no iterations",
                          solve_.name));
    return {value, value - algebra::substitute(g, solved_, value), 0, 0};
  }

  Solution iterated(Expr g) {
    const Expr slope = algebra::derivative(g, solved_);
    double q = 0, first = 0;
    const TrialState* worst = nullptr;
    for (const TrialState& sample : states_) {
      const double here = std::isfinite(sample.u)
                              ? std::abs(evaluated(slope, sample.quantities, solved_, sample.u))
                              : std::numeric_limits<double>::infinity();
      if (!(here <= q)) q = here, worst = &sample;
      if (std::isfinite(sample.u)) {
        first = std::max(first, std::abs(sample.u - start_of(sample)));
      }
    }
    if (!(q < 1))
      fail_at(d_, *worst,
              errors::no_contraction(solve_.span, solve_.name, q, shown_state(d_, *worst)));
    Solution solution;
    solution.contraction = q;
    const double tolerance = tolerance_shown(first);
    const double wanted =
        q < 1e-9 ? 2 : std::ceil(std::log(tolerance / std::max(first, tolerance)) / std::log(q));
    solution.iterations =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, solve_.most);
    const double reached = first * std::pow(q, static_cast<double>(solution.iterations));
    solution.reached = std::max(reached, tolerance);
    if (wanted > static_cast<double>(solve_.most)) {
      d_.diagnostics.add(
          errors::solve_stops_early(solve_.span, solve_.name, q, wanted, solve_.most, reached));
    }
    d_.remark(fmt::format(
        "`{}` is solved in {} iterations, each of which multiplies the error by {:.3g} at most",
        solve_.name, solution.iterations, q));
    const Expr whole = g;
    const std::vector<Guard> guards = strip(g);
    g = snap_numbers(g);
    Expr u = start();
    for (std::int64_t i = 0; i < solution.iterations; ++i)
      u = counted(solution, u, algebra::substitute(g, solved_, u));
    return ended(std::move(solution), guarded(u, guards), whole);
  }

  const Equations& d_;
  const Solve& solve_;
  Expr solved_;
  const TrialStates& trials_;
  const RecoveryEquation::Earlier& earlier_;
  const std::vector<TrialState>& states_;
};

}  // namespace

std::vector<TrialState> RecoveryEquation::solved(std::vector<TrialState> states, Expr g) const {
  return Solver(d_, solve_, solved_, trials_, earlier_, {}).solved(std::move(states), g);
}

Solution RecoveryEquation::solution_of(Expr g, const std::vector<TrialState>& states) const {
  return Solver(d_, solve_, solved_, trials_, earlier_, states).solution_of(g);
}

std::string shown_state(const Declared& d, const TrialState& sample) {
  std::string text;
  for (const StateField& field : d.fields) {
    if (!field.primitive) continue;
    for (std::size_t i = 0; i < field.arrays.size(); ++i) {
      text += fmt::format("{}{}{} = {:.4g}", text.empty() ? "" : ", ", field.name,
                          field.arrays.size() > 1 ? fmt::format("[{}]", i) : "",
                          sample.primitives.at(field.arrays[i]));
    }
  }
  return text;
}

}  // namespace vphi::physics
