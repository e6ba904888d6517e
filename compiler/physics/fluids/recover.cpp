// `recover`: facts about primitive variables, and one equation u = g(u) that is solved.
//
// u is the root of a quadratic equation where g makes one. Otherwise it is u_n of
//   fixed_point   u_(i+1) = g(u_i)
//   newton        u_(i+1) = u_i - (u_i - g(u_i))/(1 - dg/du), between `from` and `to` if given:
//   they
//                 close in on the solution, and where Newton leaves them their middle is taken
//   bisection     the half of what is left between `from` and `to` in which u - g(u) changes sign
// with n from what random states need: q^n d0 <= tol, q the largest |dg/du| at their solutions and
// d0 the largest distance of the start; log2((to - from)/tol) halves; and of Newton, for which
// nothing is proved, `max` rounds, or without it as many as the slowest state takes. For the
// relativistic equations of docs/formulas.md 4.3 q is v^2 c_s^2. The states come from random
// primitive variables by the forward map of `conserve`, and the recovery must find these again
// (docs/rules.md rule 20).
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

constexpr int kStates = 120;           ///< random states looked at
constexpr int kMostIterations = 4000;  ///< until a fixed point counts as not found
constexpr double kClose = 1e-5;        ///< relative distance of what was recovered, f64

class Recovery {
 public:
  Recovery(const Equations& d, Lowerer& lower, Conservation& made)
      : d_(d), lower_(lower), made_(made), laws_(d.laws), trials_(d, lower, d.laws) {}

  std::vector<Derived> read() {
    const dsl::Clause* clause = d_.ledger.clause("recover");
    if (!clause) d_.fail(errors::no_recovery(laws_.front().span));
    clause_ = clause;
    d_.ledger.body(*clause);
    read_solve();
    read_facts();
    std::vector<Derived> result;
    if (solve_) {
      solved_ = arena().symbol("recover:" + solve_->name + ":0");
      const Expr g = full(fact(solve_->name).values[0], solve_->span);
      make_states(g);
      const Solution solution = solution_of(g);
      result.push_back({d_.new_array(), solve_->name, solution.value, true});
      u_ = arena().load(result.back().array);
      made_.residual = arena().make(Op::Abs, {solution.residual});
      made_.residual_left = solution.reached;
      if (solution.iterations == 0) closed_ = solution.value;
    } else {
      make_states({});
    }
    for (const StateField& field : d_.fields) {
      if (!field.primitive) continue;
      const RecoveredFact* found = find(field.name);
      if (!found) d_.fail(errors::not_recovered(field.span, field.name));
      if (found->values.size() != field.arrays.size()) {
        d_.fail(errors::wrong_shape(
            found->span, fmt::format("`{}` has {} components", field.name, field.arrays.size())));
      }
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        Expr value = full(found->values[i], found->span);
        if (u_)
          value = closed_ ? with_root(value, closed_) : algebra::substitute(value, solved_, u_);
        refuse_primitive(value, found->span);
        result.push_back(
            {field.arrays[i],
             field.arrays.size() > 1 ? fmt::format("{}_{}", field.name, i) : field.name,
             snap_numbers(value), solve_.has_value()});
      }
    }
    check_inverse(result);
    return result;
  }

 private:
  Arena& arena() { return d_.arena(); }

  /// A fact with the closed form in the place of u, where roots meet themselves and vanish; the
  /// choices around the form go around the fact.
  Expr with_root(Expr fact, Expr root) {
    if (!algebra::depends_on(fact, solved_)) return fact;
    if (!root.is(Op::Select)) return algebra::substitute(fact, solved_, root);
    return arena().make(Op::Select, {root.arg(0), with_root(fact, root.arg(1)),
                                     algebra::substitute(fact, solved_, root.arg(2))});
  }

  void refuse_primitive(Expr value, dsl::Span span) {
    algebra::visit(value, [&](Expr node) {
      const StateField* field = node.is(Op::Load) ? d_.field_of(node->index) : nullptr;
      if (field && field->primitive) d_.fail(errors::not_recovered(span, field->name));
    });
  }

  void read_solve() {
    for (const dsl::Line& line : clause_->body) {
      if (line.kind != dsl::Line::Kind::Clause || line.clause.keyword != "solve") continue;
      if (solve_) d_.fail(errors::not_yet(line.span, "a second `solve`"));
      Solve solve;
      solve.span = line.span;
      d_.ledger.use(line.clause);
      for (const dsl::Item& item : line.clause.items) {
        if (!item.head) {
          if (item.value) solve.name = item.value->text;
          for (const auto& [word, method] : item.words) {
            if (word != "by" || !method) continue;
            d_.ledger.words(item);
            if (method->text == "newton") {
              solve.method = Solve::Method::Newton;
            } else if (method->text == "bisection") {
              solve.method = Solve::Method::Bisection;
            } else if (method->text != "fixed_point") {
              d_.fail(errors::option_value(method->span, "by", "fixed_point, newton or bisection"));
            }
          }
          continue;
        }
        const std::string& name = item.head->name;
        d_.ledger.use(item);
        if (name == "tol") solve.tolerance = lower_.fixed_number(*item.value, "the tolerance");
        if (name == "max") {
          solve.most = lower_.fixed_integer(*item.value, "the most iterations");
          solve.most_given = true;
        }
        if (name == "start") solve.start = lower_.fixed_number(*item.value, "the start");
        if (name == "from") solve.from = lower_.fixed_number(*item.value, "the least value");
        if (name == "to") solve.to = lower_.fixed_number(*item.value, "the largest value");
      }
      if (!(solve.tolerance > 0) || solve.most < 1 || solve.most > 1000) {
        d_.fail(errors::solve_bounds(line.span));
      }
      const bool bisects = solve.method == Solve::Method::Bisection;
      if ((bisects && (!solve.from || !solve.to)) ||
          (solve.from && solve.to && !(*solve.from < *solve.to))) {
        d_.fail(errors::solve_range(line.span, solve.name));
      }
      solve_ = solve;
    }
  }

  /// All names of facts are open symbols while facts are read; shapes of names that are no
  /// primitive variable follow from their own formula, so two rounds settle them.
  void read_facts() {
    std::map<std::string, std::size_t> sizes;
    for (const dsl::Line& line : clause_->body) {
      if (line.kind != dsl::Line::Kind::Definition) continue;
      const std::string& name = line.definition.head.name;
      if (sizes.contains(name)) d_.fail(errors::two_facts(line.definition.head.span, name));
      const StateField* field = d_.field(name);
      sizes[name] = field ? field->arrays.size() : 1;
    }
    if (solve_ && !sizes.contains(solve_->name)) {
      d_.fail(errors::solve_without_fact(solve_->span, solve_->name));
    }
    for (int iteration = 0; iteration < 2; ++iteration) {
      facts_.clear();
      Scope scope;
      scope.dynamic = true;
      for (const auto& [name, size] : sizes) {
        std::vector<Component> parts;
        for (std::size_t i = 0; i < size; ++i) {
          parts.push_back({arena().symbol(fmt::format("recover:{}:{}", name, i)), {}});
        }
        scope.values.emplace(name, Value::vector(std::move(parts)));
      }
      for (const dsl::Line& line : clause_->body) {
        if (line.kind != dsl::Line::Kind::Definition) continue;
        const std::string& name = line.definition.head.name;
        const Value v = lower_.value(*line.definition.value, scope);
        RecoveredFact fact;
        fact.name = name;
        fact.span = line.definition.head.span;
        for (const Component& part : v.parts) fact.values.push_back(part.re);
        for (const Component& part : scope.values.at(name).parts) fact.symbols.push_back(part.re);
        sizes[name] = fact.values.size();
        facts_.push_back(std::move(fact));
      }
    }
    if (solve_ && fact(solve_->name).values.size() != 1) {
      d_.fail(errors::wrong_shape(solve_->span, "what is solved for is one number"));
    }
  }

  const RecoveredFact* find(const std::string& name) const {
    const auto found = std::ranges::find(facts_, name, &RecoveredFact::name);
    return found == facts_.end() ? nullptr : &*found;
  }
  const RecoveredFact& fact(const std::string& name) const { return *find(name); }

  /// Every open name but the solved one replaced by what stands for it.
  Expr full(Expr value, dsl::Span span) {
    std::unordered_map<const algebra::Node*, Expr> known;
    std::set<const algebra::Node*> open;
    const std::function<Expr(Expr)> close = [&](Expr e) -> Expr {
      std::unordered_map<const algebra::Node*, Expr> inside;
      algebra::visit(e, [&](Expr node) {
        if (!node.is(Op::Symbol) || node == solved_) return;
        for (const RecoveredFact& other : facts_) {
          for (std::size_t i = 0; i < other.symbols.size(); ++i) {
            if (!(other.symbols[i] == node)) continue;
            auto& done = known[node.get()];
            if (!done) {
              if (!open.insert(node.get()).second) {
                d_.fail(errors::recovery_circle(span, other.name));
              }
              const Expr closed = close(other.values[i]);
              open.erase(node.get());
              known[node.get()] = closed;
            }
            inside[node.get()] = known[node.get()];
          }
        }
      });
      return inside.empty() ? e : algebra::substitute(e, inside);
    };
    return close(value);
  }

  // ---- random states ----------------------------------------------------------------------------

  using Sample = TrialState;

  void make_states(Expr g) { states_ = solved(trials_.drawn(kStates), g); }
  std::vector<Sample> solved(std::vector<Sample> states, Expr g) const {
    for (Sample& sample : states) {
      if (g) sample.u = solution_at(g, sample);
    }
    return states;
  }

  double fixed_point(Expr g, const Sample& sample) const {
    double u = static_cast<double>(solve_->start);
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
      const double next = evaluated(g, sample.quantities, solved_, u);
      if (!std::isfinite(next)) return next;
      const bool there = std::abs(next - u) <= 1e-15 * std::max(1.0, std::abs(u));
      u = next;
      if (there) return u;
    }
    return std::nan("");
  }

  double held(double u) const {
    if (solve_->from) u = std::max(u, static_cast<double>(*solve_->from));
    if (solve_->to) u = std::min(u, static_cast<double>(*solve_->to));
    return u;
  }
  /// A place of Newton's method and the bounds of the solution, where there are such.
  struct Step {
    double u = 0, low = 0, high = 0;
  };
  bool bounded() const { return solve_->from && solve_->to; }
  Step first_step() const {
    Step at{held(static_cast<double>(solve_->start)), 0, 0};
    if (bounded()) {
      at.low = static_cast<double>(*solve_->from), at.high = static_cast<double>(*solve_->to);
    }
    return at;
  }
  /// Between bounds each round narrows them by the sign of g - u, `side` at the lower one, and
  /// where Newton would leave them takes the middle.
  void newton_iteration(Expr g, Expr slope, const Sample& sample, double side, Step& at) const {
    const double rest = evaluated(g, sample.quantities, solved_, at.u) - at.u;
    const double next = at.u + rest / (1 - evaluated(slope, sample.quantities, solved_, at.u));
    if (!bounded()) {
      at.u = held(next);
      return;
    }
    (side * rest > 0 ? at.low : at.high) = at.u;
    at.u = at.low <= next && next <= at.high ? next : (at.low + at.high) / 2;
  }
  /// Of g - u at the lower bound.
  double side_of(Expr g, const Sample& sample) const {
    if (!solve_->from) return 1;
    const double low = static_cast<double>(*solve_->from);
    return evaluated(g, sample.quantities, solved_, low) - low < 0 ? -1 : 1;
  }
  /// The same for all states, or a mistake.
  double common_side(Expr g, const std::vector<Sample>& states) {
    const double low = static_cast<double>(*solve_->from), high = static_cast<double>(*solve_->to);
    double side = 0;
    for (const Sample& sample : states) {
      const auto rest = [&](double at) {
        return evaluated(g, sample.quantities, solved_, at) - at;
      };
      const double below = rest(low), above = rest(high);
      if (side == 0) side = below > 0 ? 1 : below < 0 ? -1 : 0;
      // at a pole (a velocity of 1) the value may be NaN: then the lower end alone decides
      const bool wrong = std::isfinite(above) && above * side > 0;
      if (!(below * side >= 0) || wrong) {
        d_.fail(errors::no_sign_change(solve_->span, solve_->name, low, high, shown(sample)));
      }
    }
    return side < 0 ? -1 : 1;
  }

  /// By the method of the model, to the last digits; NaN where it has none.
  double solution_at(Expr g, const Sample& sample) const {
    if (solve_->method == Solve::Method::FixedPoint) return fixed_point(g, sample);
    if (solve_->method == Solve::Method::Newton) {
      const Expr slope = algebra::derivative(g, solved_);
      const double side = side_of(g, sample);
      Step at = first_step();
      for (int iteration = 0; iteration < 200 && std::isfinite(at.u); ++iteration) {
        const double before = at.u;
        newton_iteration(g, slope, sample, side, at);
        if (std::abs(at.u - before) <= 1e-16 * std::max(1.0, std::abs(at.u))) break;
      }
      const double rest = at.u - evaluated(g, sample.quantities, solved_, at.u);
      return std::abs(rest) <= 1e-9 * std::max(1.0, std::abs(at.u)) ? at.u : std::nan("");
    }
    double low = static_cast<double>(*solve_->from), high = static_cast<double>(*solve_->to);
    const auto rest = [&](double at) { return evaluated(g, sample.quantities, solved_, at) - at; };
    const double below = rest(low);
    if (below * rest(high) > 0) return std::nan("");
    for (int iteration = 0; iteration < 200; ++iteration) {
      const double middle = (low + high) / 2;
      (rest(middle) * below > 0 ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  // ---- the solution -----------------------------------------------------------------------------

  Solution solution_of(Expr g) {
    if (const auto root = closed_form(g)) return *root;
    if (solve_->method == Solve::Method::Newton) return newton(g);
    if (solve_->method == Solve::Method::Bisection) return bisected(g);
    return iterated(g);
  }

  /// Rounds of Newton, written out: `max`, or as many as the slowest of the random states takes.
  Solution newton(Expr g) {
    const Expr slope = algebra::derivative(g, solved_);
    const double tolerance = static_cast<double>(solve_->tolerance);
    Solution solution;
    std::vector<Sample> states = states_;
    for (Sample& sample : solved(trials_.hard(states_), g)) states.push_back(std::move(sample));
    const double side = bounded() ? common_side(g, states) : 1;
    std::vector<Step> now(states.size(), first_step());
    const Sample* worst = nullptr;
    for (;; ++solution.iterations) {
      solution.reached = 0;
      for (std::size_t i = 0; i < states.size(); ++i) {
        const double error = std::isfinite(states[i].u) ? std::abs(now[i].u - states[i].u)
                                                        : std::numeric_limits<double>::infinity();
        if (!(error <= solution.reached)) solution.reached = error, worst = &states[i];
      }
      if (solution.reached <= tolerance || solution.iterations == solve_->most) break;
      for (std::size_t i = 0; i < states.size(); ++i) {
        newton_iteration(g, slope, states[i], side, now[i]);
      }
    }
    if (!(solution.reached <= std::max(1e-3, tolerance))) {
      d_.fail(errors::iterations_diverge(solve_->span, solve_->name, solve_->most, solution.reached,
                                         shown(*worst)));
    }
    if (solution.reached > tolerance) {
      d_.diagnostics.add(
          errors::solve_stops_short(solve_->span, solve_->name, solve_->most, solution.reached));
    }
    const std::int64_t slowest = solution.iterations;
    if (solve_->most_given) solution.iterations = solve_->most;
    d_.remark(fmt::format(
        "`{}` is solved in {} iteration{} of Newton's method: {}", solve_->name,
        solution.iterations, solution.iterations == 1 ? "" : "s",
        solve_->most_given
            ? fmt::format("its max, of which the slowest of {} states tried takes {}",
                          states.size(), slowest)
            : fmt::format(
                  "what the slowest of {} states tried takes; max = ... says another number",
                  states.size())));
    const Expr whole = g;
    const std::vector<Guard> guards = strip(g);
    g = snap_numbers(g);
    const Expr steep = snap_numbers(algebra::derivative(g, solved_));
    const Expr one = arena().integer(1);
    const Expr iteration = solved_ - (solved_ - g) / (one - steep);
    Expr u = arena().real(held(static_cast<double>(solve_->start)));
    Expr low = solve_->from ? arena().real(*solve_->from) : Expr{};
    Expr high = solve_->to ? arena().real(*solve_->to) : Expr{};
    for (std::int64_t i = 0; i < solution.iterations; ++i) {
      const Expr next = algebra::substitute(iteration, solved_, u);
      if (!bounded()) {
        u = next;
        if (low) u = arena().make(Op::Max, {u, low});
        if (high) u = arena().make(Op::Min, {u, high});
        continue;
      }
      const Expr rest = algebra::substitute(g, solved_, u) - u, zero = arena().integer(0);
      const Expr above =
          side < 0 ? arena().make(Op::Less, {rest, zero}) : arena().make(Op::Less, {zero, rest});
      low = arena().make(Op::Select, {above, u, low});
      high = arena().make(Op::Select, {above, high, u});
      const Expr inside = arena().make(Op::And, {arena().make(Op::LessEqual, {low, next}),
                                                 arena().make(Op::LessEqual, {next, high})});
      u = arena().make(Op::Select, {inside, next, (low + high) * arena().rational(1, 2)});
    }
    return ended(std::move(solution), guarded(u, guards), whole);
  }

  /// Halves of the interval, written out. Which half is found by the sign at the lower end, the
  /// same for all states.
  Solution bisected(Expr g) {
    const double low = static_cast<double>(*solve_->from), high = static_cast<double>(*solve_->to);
    const double tolerance = static_cast<double>(solve_->tolerance);
    const double side = common_side(g, states_);
    Solution solution;
    const double wanted = std::max(1.0, std::ceil(std::log2((high - low) / tolerance)));
    solution.iterations = std::min<std::int64_t>(static_cast<std::int64_t>(wanted), solve_->most);
    solution.reached = (high - low) * std::pow(0.5, static_cast<double>(solution.iterations));
    if (wanted > static_cast<double>(solve_->most)) {
      d_.diagnostics.add(
          errors::solve_stops_short(solve_->span, solve_->name, solve_->most, solution.reached));
    }
    d_.remark(fmt::format("`{}` is solved in {} bisections of {:g} to {:g}", solve_->name,
                          solution.iterations, low, high));
    const Expr whole = g;
    const std::vector<Guard> guards = strip(g);
    g = snap_numbers(g);
    Expr left = arena().real(*solve_->from);
    long double width = *solve_->to - *solve_->from;
    const Expr zero = arena().integer(0);
    for (std::int64_t i = 0; i < solution.iterations; ++i) {
      width /= 2;
      const Expr middle = left + arena().real(width);
      const Expr rest = algebra::substitute(g, solved_, middle) - middle;
      const Expr further =
          side < 0 ? arena().make(Op::Less, {rest, zero}) : arena().make(Op::Less, {zero, rest});
      left = arena().make(Op::Select, {further, middle, left});
    }
    return ended(std::move(solution), guarded(left + arena().real(width / 2), guards), whole);
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
      value = arena().make(Op::Select, {guards[i].condition, value, guards[i].otherwise});
    }
    return value;
  }

  /// u = g(u) as a*u^2 + b*u + c = 0: u = -2c/(b + s*sqrt(b^2 - 4ac)), which loses no digits where
  /// it is small; the sign s is that of the fixed point.
  std::optional<Solution> closed_form(Expr g) {
    const Expr whole = g;
    const std::vector<Guard> guards = strip(g);
    // multiplied by what is below the fraction
    Expr below = arena().integer(1);
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
    const Expr two = arena().integer(2), four = arena().integer(4);
    const Expr under = algebra::pow((*c)[1], 2) - four * (*c)[0] * (*c)[2];
    const Expr positive = arena().make(Op::Max, {under, arena().integer(0)});
    for (const int sign : {1, -1}) {
      const Expr s = arena().integer(sign);
      root = -(two * (*c)[0] / ((*c)[1] + s * algebra::pow(positive, arena().rational(1, 2))));
      if (agrees(root)) return done(guarded(root, guards), whole);
    }
    return std::nullopt;
  }

  bool agrees(Expr root) const {
    int seen = 0;
    for (const Sample& sample : states_) {
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
                          solve_->name));
    return {value, value - algebra::substitute(g, solved_, value), 0, 0};
  }

  Solution iterated(Expr g) {
    const Expr slope = algebra::derivative(g, solved_);
    double q = 0, first = 0;
    const Sample* worst = nullptr;
    for (const Sample& sample : states_) {
      const double here = std::isfinite(sample.u)
                              ? std::abs(evaluated(slope, sample.quantities, solved_, sample.u))
                              : std::numeric_limits<double>::infinity();
      if (!(here <= q)) q = here, worst = &sample;
      if (std::isfinite(sample.u)) {
        first = std::max(first, std::abs(sample.u - static_cast<double>(solve_->start)));
      }
    }
    if (!(q < 1)) d_.fail(errors::no_contraction(solve_->span, solve_->name, q, shown(*worst)));
    Solution solution;
    solution.contraction = q;
    const double tolerance = static_cast<double>(solve_->tolerance);
    const double wanted =
        q < 1e-9 ? 2 : std::ceil(std::log(tolerance / std::max(first, tolerance)) / std::log(q));
    solution.iterations =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, solve_->most);
    const double reached = first * std::pow(q, static_cast<double>(solution.iterations));
    solution.reached = std::max(reached, tolerance);
    if (wanted > static_cast<double>(solve_->most)) {
      d_.diagnostics.add(
          errors::solve_stops_early(solve_->span, solve_->name, q, wanted, solve_->most, reached));
    }
    d_.remark(fmt::format(
        "`{}` is solved in {} iterations, each of which multiplies the error by {:.3g} at most",
        solve_->name, solution.iterations, q));
    const Expr whole = g;
    const std::vector<Guard> guards = strip(g);
    g = snap_numbers(g);
    Expr u = arena().real(solve_->start);
    for (std::int64_t i = 0; i < solution.iterations; ++i) u = algebra::substitute(g, solved_, u);
    return ended(std::move(solution), guarded(u, guards), whole);
  }

  std::string shown(const Sample& sample) const {
    std::string text;
    for (const StateField& field : d_.fields) {
      if (!field.primitive) continue;
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        text += fmt::format("{}{}{} = {:.4g}", text.empty() ? "" : ", ", field.name,
                            field.arrays.size() > 1 ? fmt::format("[{}]", i) : "",
                            sample.primitives.at(field.arrays[i]));
      }
    }
    return text;
  }

  /// The recovery of the forward map is the identity, on most random states at least: a limit of
  /// the recovery (a vacuum) may cut off others.
  void check_inverse(const std::vector<Derived>& recovered) {
    int wrong = 0;
    const Sample* example = nullptr;
    std::string name;
    double found_value = 0, true_value = 0;
    for (const Sample& sample : states_) {
      Numbers numbers = sample.quantities;
      bool good = true;
      for (const Derived& value : recovered) {
        numbers[value.array] = evaluated(value.value, numbers, {}, 0);
        if (u_ && value.array == u_->index) {
          if (std::isfinite(sample.u)) numbers[value.array] = sample.u;
          continue;
        }
        const double expected = sample.primitives.at(value.array), got = numbers[value.array];
        // a density of a fast state is a difference of large numbers
        double size = std::abs(expected);
        for (const auto& [array, q] : sample.quantities) size = std::max(size, 1e-3 * std::abs(q));
        if (std::abs(got - expected) <= kClose * std::max(size, 1e-3)) continue;
        if (good && !example) {
          example = &sample, name = value.name, found_value = got, true_value = expected;
        }
        good = false;
      }
      wrong += good ? 0 : 1;
    }
    if (20 * wrong > std::ssize(states_) || states_.empty()) {
      if (!example) d_.fail(errors::no_finite_state(clause_->keyword_span));
      d_.fail(errors::no_inverse(find_span(name), name, shown(*example), true_value, found_value));
    }
  }
  dsl::Span find_span(const std::string& name) const {
    for (const RecoveredFact& f : facts_) {
      if (name == f.name || name.starts_with(f.name + "_")) return f.span;
    }
    return clause_->keyword_span;
  }

  const Equations& d_;
  Lowerer& lower_;
  Conservation& made_;
  const std::vector<Law>& laws_;
  TrialStates trials_;
  const dsl::Clause* clause_ = nullptr;
  std::optional<Solve> solve_;
  std::vector<RecoveredFact> facts_;
  std::vector<Sample> states_;
  Expr solved_, u_, closed_;
};

}  // namespace

void read_recovery(const Equations& d, Conservation& c) {
  Lowerer lower(d);
  c.recovered = Recovery(d, lower, c).read();
}

}  // namespace vphi::physics
