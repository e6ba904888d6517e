// `recover`: facts about primitive variables, and one equation u = g(u) that is solved.
//
// u is the root of a quadratic equation where g makes one; otherwise u_n of u_(i+1) = g(u_i), with
// n from q^n d0/(1 - q) <= tol (Banach), q the largest |dg/du| at the solutions of random states
// and d0 the largest |g(start) - start|. For the relativistic equations of specs/hydro.md 2.4 q is
// v^2 c_s^2. The states come from random primitive variables by the forward map of `conserve`, and
// the recovery must find these again (LANGUAGE rule 20).
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/conservation.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

using Numbers = std::map<int, double>;  ///< array -> value

constexpr int kStates = 120;     ///< random states looked at
constexpr int kRounds = 4000;    ///< until a fixed point counts as not found
constexpr double kClose = 1e-5;  ///< relative distance of what was recovered, f64

double evaluated(Expr e, const Numbers& numbers, Expr open, double value) {
  return algebra::evaluate(e, {[&](const algebra::Node& leaf) -> double {
                             if (leaf.op == Op::Load) return numbers.at(leaf.index);
                             if (open && &leaf == open.get()) return value;
                             if (leaf.op == Op::Symbol) return 1;  // time, a swept name
                             return 0;
                           }});
}

class Recovery {
 public:
  Recovery(Derivation& d, Lowerer& lower, const std::vector<Law>& laws)
      : d_(d), lower_(lower), laws_(laws) {}

  std::vector<Derived> read() {
    const dsl::Clause* clause = d_.resolved.clause("recover");
    if (!clause) d_.fail(errors::no_recovery(laws_.front().span));
    clause_ = clause;
    read_solve();
    read_facts();
    std::vector<Derived> result;
    if (solve_) {
      solved_ = arena().symbol("recover:" + solve_->name + ":0");
      const Expr g = full(fact(solve_->name).values[0], solve_->span);
      make_states(g);
      const Solution solution = solution_of(g);
      result.push_back({d_.system.arrays++, solve_->name, solution.value, true});
      u_ = arena().load(result.back().array);
      d_.system.conservation->residual = arena().make(Op::Abs, {solution.residual});
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
        if (u_) value = algebra::substitute(value, solved_, u_);
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
      for (const dsl::Item& item : line.clause.items) {
        if (!item.head) {
          if (item.value) solve.name = item.value->text;
          for (const auto& [word, method] : item.words) {
            if (word == "by" && method && method->text != "fixed_point") {
              d_.fail(errors::not_yet(method->span, "a solve by " + method->text));
            }
          }
          continue;
        }
        const std::string& name = item.head->name;
        if (name == "tol") solve.tolerance = lower_.fixed_number(*item.value, "the tolerance");
        if (name == "max") solve.most = lower_.fixed_integer(*item.value, "the most rounds");
        if (name == "start") solve.start = lower_.fixed_number(*item.value, "the start");
      }
      if (!(solve.tolerance > 0) || solve.most < 1 || solve.most > 1000) {
        d_.fail(errors::solve_bounds(line.span));
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
    for (int round = 0; round < 2; ++round) {
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

  struct Sample {
    Numbers primitives, quantities;
    double u = 0;
  };

  /// Densities over six decades, vectors of any direction and of length up to 1 - 1e-3 or so: what
  /// has no finite conserved values is left out.
  void make_states(Expr g) {
    std::mt19937_64 random(20140105);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<double> normal;
    for (int attempt = 0; attempt < 20 * kStates && std::ssize(states_) < kStates; ++attempt) {
      Sample sample;
      for (const StateField& field : d_.fields) {
        if (!field.primitive) continue;
        if (field.rows == 1 && field.cells.size() == 1 && !is_vector(field)) {
          sample.primitives[field.arrays[0]] = std::pow(10.0, 6 * uniform(random) - 3);
          continue;
        }
        std::vector<double> direction;
        double square = 0;
        for (std::size_t i = 0; i < field.arrays.size(); ++i) {
          direction.push_back(normal(random));
          square += direction.back() * direction.back();
        }
        const double length =
            attempt % 2 == 0 ? uniform(random) : 1 - std::pow(10.0, -3 * uniform(random));
        for (std::size_t i = 0; i < field.arrays.size(); ++i) {
          sample.primitives[field.arrays[i]] = length * direction[i] / std::sqrt(square);
        }
      }
      bool finite = true;
      for (const Law& law : laws_) {
        for (std::size_t i = 0; i < law.arrays.size(); ++i) {
          const double value = evaluated(law.density.parts[i].re, sample.primitives, {}, 0);
          finite = finite && std::isfinite(value);
          sample.quantities[law.arrays[i]] = value;
        }
      }
      if (!finite) continue;
      if (g) sample.u = fixed_point(g, sample);
      states_.push_back(std::move(sample));
    }
  }

  bool is_vector(const StateField& field) const {
    const dsl::Symbol* symbol = d_.resolved.find(field.name);
    return symbol && symbol->type.base == dsl::Type::Base::Vector;
  }

  double fixed_point(Expr g, const Sample& sample) const {
    double u = static_cast<double>(solve_->start);
    for (int round = 0; round < kRounds; ++round) {
      const double next = evaluated(g, sample.quantities, solved_, u);
      if (!std::isfinite(next)) return next;
      const bool there = std::abs(next - u) <= 1e-15 * std::max(1.0, std::abs(u));
      u = next;
      if (there) return u;
    }
    return std::nan("");
  }

  // ---- the solution -----------------------------------------------------------------------------

  Solution solution_of(Expr g) {
    if (const auto root = closed_form(g)) return *root;
    return iterated(g);
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
    d_.system.remarks.push_back(
        fmt::format("`{}` is the root of an equation of second degree: no rounds", solve_->name));
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
    solution.rounds = std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, solve_->most);
    if (wanted > static_cast<double>(solve_->most)) {
      const double reached = first * std::pow(q, static_cast<double>(solve_->most));
      d_.diagnostics.add(
          errors::solve_stops_early(solve_->span, solve_->name, q, wanted, solve_->most, reached));
    }
    d_.system.remarks.push_back(
        fmt::format("`{}` is solved in {} rounds: a round takes its error to {:.3g} of it at most",
                    solve_->name, solution.rounds, q));
    const Expr whole = g;
    const std::vector<Guard> guards = strip(g);
    g = snap_numbers(g);
    Expr u = arena().real(solve_->start);
    for (std::int64_t i = 0; i < solution.rounds; ++i) u = algebra::substitute(g, solved_, u);
    solution.value = guarded(u, guards);
    solution.residual = solution.value - algebra::substitute(whole, solved_, solution.value);
    return solution;
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

  Derivation& d_;
  Lowerer& lower_;
  const std::vector<Law>& laws_;
  const dsl::Clause* clause_ = nullptr;
  std::optional<Solve> solve_;
  std::vector<RecoveredFact> facts_;
  std::vector<Sample> states_;
  Expr solved_, u_;
};

}  // namespace

std::vector<Derived> read_recovery(Derivation& d, Lowerer& lower, const std::vector<Law>& laws) {
  return Recovery(d, lower, laws).read();
}

}  // namespace vphi::physics
