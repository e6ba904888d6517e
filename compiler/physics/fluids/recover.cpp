// `recover`: formulas for primitive variables, and one equation u = g(u) that is solved
// (recovery_equation.hpp). It is tested on states made from random primitive variables by the
// forward map of `conserve`; the recovery must find these variables again (docs/rules.md rule 20).
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"
#include "compiler/physics/fluids/recovery_equation.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

constexpr int kStates = 120;     ///< number of random states
constexpr double kClose = 1e-5;  ///< largest relative error of recovered variables, f64

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
    if (solve_ && fact(solve_->name).values.size() > 1) {
      solve_components(result);
    } else if (solve_) {
      solved_ = arena().symbol("recover:" + solve_->name + ":0");
      const Expr g = full(fact(solve_->name).values[0], solve_->span);
      const RecoveryEquation equation(d_, *solve_, solved_, trials_);
      states_ = equation.solved(trials_.drawn(kStates), g);
      const Solution solution = equation.solution_of(g, states_);
      result.push_back({d_.new_array(), solve_->name, solution.value, true});
      u_ = arena().load(result.back().array);
      made_.residual = arena().make(Op::Abs, {solution.residual});
      made_.residual_left = solution.reached;
      if (solution.iterations == 0) closed_ = solution.value;
    } else {
      states_ = trials_.drawn(kStates);
    }
    for (const StateField& field : d_.fields) {
      if (!field.primitive) continue;
      if (field.relaxed) {
        relaxed(field, result);
        continue;
      }
      const RecoveredFact* found = find(field.name);
      if (!found) d_.fail(errors::not_recovered(field.span, field.name));
      if (found->values.size() != field.arrays.size()) {
        d_.fail(errors::wrong_shape(
            found->span, fmt::format("`{}` has {} components", field.name, field.arrays.size())));
      }
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        Expr value = full(found->values[i], found->span);
        if (!components_.empty())
          value = with_components(value);
        else if (u_)
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

  /// A variable of a `relax` line is what is stored.
  const StateField& stored(const std::string& name) const {
    return *std::ranges::find_if(d_.fields, [&](const StateField& field) {
      return field.conserved && field.relaxed && field.name == name;
    });
  }
  void relaxed(const StateField& field, std::vector<Derived>& result) {
    if (const RecoveredFact* found = find(field.name))
      d_.fail(errors::recovers_what_relaxes(found->span, field.name));
    const std::vector<int>& arrays = stored(field.name).arrays;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      result.push_back({field.arrays[i],
                        arrays.size() > 1 ? fmt::format("{}_{}", field.name, i) : field.name,
                        arena().load(arrays[i]), false});
    }
  }

  /// `solve v` of a vector: its components are the first values that are recovered.
  void solve_components(std::vector<Derived>& result) {
    if (solve_->method != Solve::Method::FixedPoint)
      d_.fail(errors::vector_by(solve_->span, solve_->name));
    const RecoveredFact& own = fact(solve_->name);
    components_ = own.symbols;
    std::vector<Expr> g;
    for (const Expr value : own.values) g.push_back(full(value, solve_->span));
    for (const Expr value : g) refuse_primitive(value, solve_->span);
    states_ = trials_.drawn(kStates);
    if (states_.empty()) d_.fail(errors::no_finite_state(clause_->keyword_span));
    const VectorSolution solution = solve_vector(d_, *solve_, components_, g, states_);
    for (std::size_t i = 0; i < components_.size(); ++i) {
      result.push_back(
          {d_.new_array(), fmt::format("{}_{}", solve_->name, i), solution.values[i], true});
      found_.push_back(arena().load(result.back().array));
    }
    made_.residual = with_components(solution.residual);
    made_.residual_left = solution.reached;
  }
  Expr with_components(Expr value) const {
    std::unordered_map<const algebra::Node*, Expr> known;
    for (std::size_t i = 0; i < components_.size(); ++i) known[components_[i].get()] = found_[i];
    return algebra::substitute(value, known);
  }

  /// A formula with the closed form in place of u, where squares of roots cancel the roots. The
  /// conditions around the closed form are put around the formula.
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
        if ((name == "from" || name == "to") && solve.method == Solve::Method::FixedPoint)
          d_.fail(errors::bound_of_fixed_point(item.head->span, name));
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

  /// Reads the formulas, with their names as symbols. The shape of a name that is not a primitive
  /// variable follows from its own formula, so two rounds are enough.
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
      for (const StateField& field : d_.fields) {
        if (!field.conserved || !field.relaxed || sizes.contains(field.name)) continue;
        std::vector<Component> parts;
        for (const int array : field.arrays) parts.push_back({arena().load(array), {}});
        scope.values.emplace(field.name, parts.size() == 1 ? Value::of(parts[0].re)
                                                           : Value::vector(std::move(parts)));
      }
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
  }

  const RecoveredFact* find(const std::string& name) const {
    const auto found = std::ranges::find(facts_, name, &RecoveredFact::name);
    return found == facts_.end() ? nullptr : &*found;
  }
  const RecoveredFact& fact(const std::string& name) const { return *find(name); }

  /// The value with every name but the solved one replaced by its formula.
  Expr full(Expr value, dsl::Span span) {
    std::unordered_map<const algebra::Node*, Expr> known;
    std::set<const algebra::Node*> open;
    const std::function<Expr(Expr)> close = [&](Expr e) -> Expr {
      std::unordered_map<const algebra::Node*, Expr> inside;
      algebra::visit(e, [&](Expr node) {
        if (!node.is(Op::Symbol) || node == solved_ || std::ranges::count(components_, node) > 0)
          return;
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
    const Expr whole = close(value);
    refuse_derivatives_of_fields(d_, whole, span);
    return whole;
  }

  using Sample = TrialState;

  /// Checks that the recovery inverts the forward map, on most random states at least: a limit of
  /// the recovery (a vacuum) may change the others.
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
        const auto component =
            std::ranges::find_if(found_, [&](Expr load) { return load->index == value.array; });
        if (component != found_.end()) {
          numbers[value.array] =
              sample.components[static_cast<std::size_t>(component - found_.begin())];
          continue;
        }
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
      d_.fail(errors::no_inverse(find_span(name), name, shown_state(d_, *example), true_value,
                                 found_value));
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
  std::vector<Expr> components_, found_;  ///< of a vector that is solved for: symbols, values
};

}  // namespace

void read_recovery(const Equations& d, Conservation& c) {
  Lowerer lower(d);
  c.recovered = Recovery(d, lower, c).read();
}

}  // namespace vphi::physics
