// `recover`: formulas for primitive variables, and equations u = g(u) that are solved one after the
// other or, where they need each other, together (recovery_equation.hpp). It is tested on states
// made from random primitive variables by the forward map of `conserve`; the recovery must find
// these variables again (docs/rules.md rule 20).
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
#include "compiler/physics/fluids/wave_check.hpp"
#include "compiler/physics/lower/recovery_names.hpp"
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

  /// Laws::iterations; known after `read`.
  Expr iterations() const { return iterations_; }

  std::vector<Derived> read() {
    const dsl::Clause* clause = d_.ledger.clause("recover");
    if (!clause) d_.fail(errors::no_recovery(laws_.front().span));
    clause_ = clause;
    d_.ledger.body(*clause);
    read_solves();
    read_facts();
    read_starts();
    states_ = trials_.drawn(kStates);
    std::vector<Derived> result;
    for (const std::vector<std::size_t>& group : groups()) {
      if (group.size() == 1 && fact(solves_[group[0]].name).values.size() == 1)
        solve_number(group[0], result);
      else
        solve_together(group, result);
    }
    for (const StateField& field : d_.fields) {
      if (!field.primitive) continue;
      if (field.relaxed) {
        relaxed(field, result);
        continue;
      }
      const RecoveredFact* own = find(field.name);
      if (!own) d_.fail(errors::not_recovered(field.span, field.name));
      if (own->values.size() != field.arrays.size()) {
        d_.fail(errors::wrong_shape(
            own->span, fmt::format("`{}` has {} components", field.name, field.arrays.size())));
      }
      for (std::size_t i = 0; i < field.arrays.size(); ++i) {
        const Found* found = found_of(own->symbols[i]);
        const Expr value =
            found && found->joint ? found->load : with_found(full(own->values[i], own->span));
        refuse_primitive(value, own->span);
        result.push_back(
            {field.arrays[i],
             field.arrays.size() > 1 ? fmt::format("{}_{}", field.name, i) : field.name,
             snap_numbers(value), !solves_.empty()});
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

  /// A component of a name that is solved for.
  struct Found {
    Expr symbol;  ///< in the formulas
    Expr load;    ///< its recovered value
    Expr closed;  ///< the same written out, where it is the root of an equation of second degree
    bool joint = false;  ///< found together with other names
  };

  const Found* found_of(Expr symbol) const {
    const auto found = std::ranges::find(found_, symbol, &Found::symbol);
    return found == found_.end() ? nullptr : &*found;
  }

  /// The `solve`s that are one after the other, and within each those whose lines need each other.
  std::vector<std::vector<std::size_t>> groups() {
    const std::size_t n = solves_.size();
    for (const Solve& solve : solves_)
      for (const Expr symbol : fact(solve.name).symbols) open_.insert(symbol.get());
    std::vector<std::vector<bool>> needs(n, std::vector<bool>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (const Expr value : fact(solves_[i].name).values) {
        const Expr whole = full(value, solves_[i].span);
        for (std::size_t k = 0; k < n; ++k)
          for (const Expr symbol : fact(solves_[k].name).symbols)
            if (algebra::depends_on(whole, symbol)) needs[i][k] = true;
      }
    }
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          if (needs[i][k] && needs[k][j]) needs[i][j] = true;
    std::vector<std::vector<std::size_t>> result;
    std::vector<bool> done(n);
    const auto group_of = [&](std::size_t i) {
      std::vector<std::size_t> group;
      for (std::size_t k = 0; k < n; ++k)
        if (k == i || (needs[i][k] && needs[k][i])) group.push_back(k);
      return group;
    };
    const auto ready = [&](std::size_t i) {
      for (std::size_t k = 0; k < n; ++k)
        if (needs[i][k] && !needs[k][i] && !done[k]) return false;
      return !done[i];
    };
    while (std::ranges::count(done, false) > 0) {
      for (std::size_t i = 0; i < n; ++i) {
        if (!ready(i)) continue;
        result.push_back(group_of(i));
        for (const std::size_t k : result.back()) done[k] = true;
      }
    }
    return result;
  }

  /// `solve u` of a number that no other unknown needs.
  void solve_number(std::size_t which, std::vector<Derived>& result) {
    close_start(solves_[which]);
    const Solve& solve = solves_[which];
    const RecoveredFact& own = fact(solve.name);
    const Expr symbol = own.symbols[0];
    const Expr g = with_loads(full(own.values[0], solve.span));
    refuse_primitive(g, own.span);
    const RecoveryEquation equation(d_, solve, symbol, trials_, [this](auto& states) {
      for (const auto& earlier : earlier_) earlier(states);
    });
    states_ = equation.solved(std::move(states_), g);
    const Solution solution = equation.solution_of(g, states_);
    const int array = d_.new_array();
    result.push_back({array, solve.name, solution.value, true});
    Found found{symbol, arena().load(array), {}, false};
    made_.solved.push_back({solve.name,
                            {array},
                            arena().make(Op::Abs, {with_loads(solution.residual)}),
                            solution.reached,
                            {}});
    if (solution.iterations > 0)
      made_.solved.back().residual =
          arena().make(Op::Abs, {found.load - algebra::substitute(g, symbol, found.load)});
    count(solution.needed);
    if (solution.iterations == 0) found.closed = solution.value;
    found_.push_back(found);
    for (Sample& sample : states_) sample.quantities[array] = sample.u;
    earlier_.emplace_back([equation, g, array](std::vector<Sample>& states) {
      states = equation.solved(std::move(states), g);
      for (Sample& sample : states) sample.quantities[array] = sample.u;
    });
  }

  /// A vector, or names whose lines need each other.
  void solve_together(const std::vector<std::size_t>& group, std::vector<Derived>& result) {
    std::vector<Unknown> unknowns;
    for (const std::size_t which : group) {
      close_start(solves_[which]);
      const Solve& solve = solves_[which];
      const RecoveredFact& own = fact(solve.name);
      if (own.values.size() > 1 && solve.method != Solve::Method::FixedPoint)
        d_.fail(errors::vector_by(solve.span, solve.name));
      if (solve.method == Solve::Method::Bisection)
        d_.fail(errors::bisected_together(solve.span, solve.name,
                                          solves_[group[group[0] == which ? 1 : 0]].name));
      Unknown unknown{&solve, own.symbols, {}};
      for (const Expr value : own.values) unknown.g.push_back(with_loads(full(value, solve.span)));
      for (const Expr value : unknown.g) refuse_primitive(value, solve.span);
      unknowns.push_back(std::move(unknown));
    }
    if (states_.empty()) d_.fail(errors::no_finite_state(clause_->keyword_span));
    JointIteration iteration(d_, unknowns);
    std::vector<std::vector<double>> exact;
    for (const Sample& sample : states_) exact.push_back(iteration.solved(sample.quantities));
    const JointSolution solution = iteration.solution(states_, exact);
    if (!solution.from_stages) made_.starts_from_stages = false;
    std::vector<int> all;
    for (std::size_t k = 0; k < unknowns.size(); ++k) {
      const JointSolution::Name& name = solution.names[k];
      const std::string& shown = unknowns[k].solve->name;
      Conservation::Solved solved{shown, {}, name.residual, name.reached, {}};
      for (std::size_t i = 0; i < name.values.size(); ++i) {
        const int array = d_.new_array();
        const bool vector = name.values.size() > 1;
        result.push_back(
            {array, vector ? fmt::format("{}_{}", shown, i) : shown, name.values[i], true});
        if (!name.again.empty()) result.back().from_recovered = name.again[i];
        found_.push_back({unknowns[k].symbols[i], arena().load(array), {}, group.size() > 1});
        solved.arrays.push_back(array);
        all.push_back(array);
      }
      made_.solved.push_back(std::move(solved));
    }
    for (std::size_t k = 0; k < unknowns.size(); ++k) {
      Expr& residual = made_.solved[made_.solved.size() - unknowns.size() + k].residual;
      residual = with_loads(residual);
    }
    count(solution.needed);
    ++together_;
    for (std::size_t i = result.size() - all.size(); i < result.size(); ++i) {
      result[i].clause = together_;
      if (result[i].from_recovered) result[i].from_recovered = with_loads(result[i].from_recovered);
    }
    const auto keep = [all](Sample& sample, const std::vector<double>& values) {
      for (std::size_t i = 0; i < all.size(); ++i) sample.quantities[all[i]] = values[i];
    };
    for (std::size_t s = 0; s < states_.size(); ++s) keep(states_[s], exact[s]);
    earlier_.emplace_back([iteration, keep](std::vector<Sample>& states) {
      for (Sample& sample : states) keep(sample, iteration.solved(sample.quantities));
    });
  }

  void count(Expr needed) {
    if (!needed) return;
    const Expr own = with_loads(needed);
    iterations_ = iterations_ ? arena().make(Op::Max, {iterations_, own}) : own;
  }

  /// Recovered values in place of the names that have been found.
  Expr with_loads(Expr value) const {
    std::unordered_map<const algebra::Node*, Expr> known;
    for (const Found& found : found_) known[found.symbol.get()] = found.load;
    return algebra::substitute(value, known);
  }
  /// The same with roots of equations of second degree written out.
  Expr with_found(Expr value) {
    for (const Found& found : found_)
      if (found.closed) value = with_root(value, found.symbol, found.closed);
    return with_loads(value);
  }

  /// A formula with the closed form in place of u, where squares of roots cancel the roots. The
  /// conditions around the closed form are put around the formula.
  Expr with_root(Expr fact, Expr symbol, Expr root) {
    if (!algebra::depends_on(fact, symbol)) return fact;
    if (!root.is(Op::Select)) return algebra::substitute(fact, symbol, root);
    return arena().make(Op::Select, {root.arg(0), with_root(fact, symbol, root.arg(1)),
                                     algebra::substitute(fact, symbol, root.arg(2))});
  }

  /// Means, totals and the like: a state is recovered at its site.
  void refuse_reductions(const Value& value, dsl::Span span) {
    for (const Component& part : value.parts)
      algebra::visit(part.re, [&](Expr node) {
        if (node.op() >= Op::Mean && node.op() <= Op::Maximum)
          d_.fail(errors::recovers_from_all_sites(span));
      });
  }

  void refuse_primitive(Expr value, dsl::Span span) {
    algebra::visit(value, [&](Expr node) {
      const StateField* field = node.is(Op::Load) ? d_.field_of(node->index) : nullptr;
      if (field && field->primitive) d_.fail(errors::not_recovered(span, field->name));
    });
  }

  /// `start = ...`: a number, or a formula of the densities.
  void read_starts() {
    for (Solve& solve : solves_) {
      const auto found = starts_.find(solve.name);
      if (found == starts_.end()) continue;
      const Value value = lower_.value(*found->second, scope_);
      refuse_reductions(value, found->second->span);
      const bool of_state = std::ranges::any_of(value.parts, [](const Component& part) {
        bool found_any = false;
        algebra::visit(part.re, [&](Expr node) {
          found_any = found_any || node.is(Op::Load) || node.is(Op::Site);
        });
        return found_any || names_of_recovery(part.re);
      });
      if (!of_state) {
        solve.start = lower_.fixed_number(*found->second, "the start");
        continue;
      }
      const std::size_t size = fact(solve.name).symbols.size();
      if (value.parts.size() != size && value.parts.size() != 1)
        d_.fail(errors::wrong_shape(found->second->span,
                                    fmt::format("`{}` has {} components", solve.name, size)));
      for (std::size_t i = 0; i < size; ++i)
        solve.start_of_state.push_back(value.parts[value.parts.size() == 1 ? 0 : i].re);
    }
  }
  static bool names_of_recovery(Expr value) {
    bool found = false;
    algebra::visit(value, [&](Expr node) { found = found || node.is(Op::Symbol); });
    return found;
  }

  /// The start as a function of stored quantities and of what has been found before.
  void close_start(Solve& solve) {
    for (Expr& value : solve.start_of_state) {
      const dsl::Span span = starts_.at(solve.name)->span;
      value = snap_numbers(with_loads(full(value, span)));
      refuse_primitive(value, span);
      algebra::visit(value, [&](Expr node) {
        if (open_.contains(node.get())) d_.fail(errors::start_is_open(span, solve.name));
        if (node.is(Op::Stencil) || (node.is(Op::Load) && !node->offset.zero()))
          d_.fail(errors::start_of_other_sites(span, solve.name));
      });
    }
  }

  void read_solves() {
    for (const dsl::Line& line : clause_->body) {
      if (line.kind != dsl::Line::Kind::Clause || line.clause.keyword != "solve") continue;
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
        if (name == "start") starts_[solve.name] = item.value.get();
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
      const auto twice = std::ranges::find(solves_, solve.name, &Solve::name);
      if (twice != solves_.end()) d_.fail(errors::solved_twice(line.span, twice->span, solve.name));
      solves_.push_back(solve);
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
    for (const Solve& solve : solves_)
      if (!sizes.contains(solve.name)) d_.fail(errors::solve_without_fact(solve.span, solve.name));
    for (int iteration = 0; iteration < 2; ++iteration) {
      facts_.clear();
      Scope& scope = scope_ = Scope{};
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
          parts.push_back({arena().symbol(recovery_name(name, i)), {}});
        }
        scope.values.emplace(name, Value::vector(std::move(parts)));
      }
      for (const dsl::Line& line : clause_->body) {
        if (line.kind != dsl::Line::Kind::Definition) continue;
        const std::string& name = line.definition.head.name;
        const Value v = lower_.value(*line.definition.value, scope);
        refuse_reductions(v, line.definition.value->span);
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

  /// The value with every name but those that are solved for replaced by its formula.
  Expr full(Expr value, dsl::Span span) {
    std::unordered_map<const algebra::Node*, Expr> known;
    std::set<const algebra::Node*> open;
    const std::function<Expr(Expr)> close = [&](Expr e) -> Expr {
      std::unordered_map<const algebra::Node*, Expr> inside;
      algebra::visit(e, [&](Expr node) {
        if (!node.is(Op::Symbol) || open_.contains(node.get())) return;
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
        const bool solved = std::ranges::any_of(
            found_, [&](const Found& f) { return f.load->index == value.array; });
        if (solved && std::isfinite(sample.quantities.at(value.array))) continue;
        numbers[value.array] = evaluated(value.value, numbers, {}, 0);
        if (solved) continue;
        const double expected = sample.primitives.at(value.array), got = numbers[value.array];
        // a density of a fast state is a difference of large numbers
        double size = std::abs(expected);
        for (const int array : made_.quantities)
          size = std::max(size, 1e-3 * std::abs(sample.quantities.at(array)));
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
      fail_at(d_, *example,
              errors::no_inverse(find_span(name), name, shown_state(d_, *example), true_value,
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
  std::vector<Solve> solves_;
  std::map<std::string, const dsl::Expr*> starts_;  ///< as written, by the name that is solved for
  Scope scope_;                                     ///< of the formulas
  std::vector<RecoveredFact> facts_;
  std::vector<Sample> states_;
  std::set<const algebra::Node*> open_;  ///< symbols of the names that are solved for
  std::vector<Found> found_;             ///< of those that have been found
  /// Each adds what it finds to states.
  std::vector<std::function<void(std::vector<Sample>&)>> earlier_;
  int together_ = 0;  ///< groups of names that are iterated together
  Expr iterations_;
};

}  // namespace

Expr read_recovery(const Equations& d, Conservation& c) {
  Lowerer lower(d);
  Recovery recovery(d, lower, c);
  c.recovered = recovery.read();
  return recovery.iterations();
}

}  // namespace vphi::physics
