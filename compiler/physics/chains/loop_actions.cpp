#include "compiler/physics/chains/loop_actions.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_definition.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/chains/trajectory_links.hpp"
#include "compiler/physics/fields/source_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

/// One loop and the symbol that stands for its trace while the actions are read.
struct Known {
  int of = 0;  ///< whose links
  gauge::Word loop;
  Offset at = {};  ///< where it begins, seen from the site; 0 where that does not matter
  Expr real, imaginary;
};

/// Reads one expression.
class LoopActionReader {
 public:
  LoopActionReader(const Motion& d, const StateField* field, Refusal refuse,
                   const TrajectoryLinks* made = nullptr)
      : d_(d), field_(field), refuse_(std::move(refuse)), made_(made) {}

  gauge::LoopAction read(const dsl::Expr& whole, const Scope& scope, Expr* shown) {
    const dsl::Expr& e = density(whole);
    std::set<std::string> seen;
    if (const dsl::Expr* average = reduction(e, seen))
      d_.fail(refuse_(average->span, "a reduction over sites, where a density is meant"));
    refuse_rates(e, {});
    const Reading reading = with_traces();
    Scope inner = Scope::in(reading);
    inner.parent = &scope;
    Expr s = Lowerer(d_).real(e, "an action", inner);
    if (algebra::depends_on(s, arena().symbol(Reading::kOpenPath)))
      d_.fail(errors::action_not_invariant(e.span));
    if (algebra::per_site(s)) {
      if (!of_places(s)) d_.fail(errors::not_yet(e.span, "an action with other fields than links"));
      keep_places();
      s = Lowerer(d_).real(e, "an action", inner);
    }
    if (shown) *shown = s;
    return gauge::collected(coefficients(s, e.span));
  }

  /// Reads loops whose coefficients are numbers; the rest is kept as written.
  void read_any(const dsl::Expr& whole, NamedAction& action) {
    const dsl::Expr& e = density(whole);
    std::set<std::string> seen;
    if (const dsl::Expr* average = reduction(e, seen))
      d_.fail(refuse_(average->span, "a reduction over sites, where a density is meant"));
    refuse_rates(e, action.name);
    Reading reading, plain;
    if (made_) reading = plain = made_->reading();
    if (field_) reading.closed_trace = [&](const LinkPath& path) { return trace(path); };
    Expr rest = action.shown.right = Lowerer(d_).real(e, "an action", Scope::in(reading));
    if (std::ranges::any_of(known_, [&](const Known& k) {
          const Expr slopes[] = {algebra::derivative(rest, k.real),
                                 algebra::derivative(rest, k.imaginary)};
          return std::ranges::any_of(slopes,
                                     [](Expr s) { return algebra::per_site(s) && of_places(s); });
        })) {
      keep_places();
      rest = Lowerer(d_).real(e, "an action", Scope::in(reading));
    }
    const auto holds_trace = [&](Expr value) {
      return std::ranges::any_of(known_, [&](const Known& k) {
        return algebra::depends_on(value, k.real) || algebra::depends_on(value, k.imaginary);
      });
    };
    std::map<int, gauge::LoopAction> loops;
    for (const Known& loop : known_) {
      for (const bool imaginary : {false, true}) {
        const Expr name = imaginary ? loop.imaginary : loop.real;
        const Expr slope = algebra::derivative(rest, name);
        if (slope.is_zero() || !of_places(slope) || holds_trace(slope)) continue;
        loops[loop.of].push_back(term(loop, slope, imaginary));
        rest = algebra::substitute(rest, name, arena().integer(0));
      }
    }
    if (holds_trace(
            rest)) {  // in a product the site of a loop matters, which its symbol does not have
      rest = Lowerer(d_).real(e, "an action", Scope::in(plain));
    } else {
      for (const auto& [of, own] : loops)
        (of == 0 ? action.loops : action.made_loops[of]) = gauge::collected(own);
    }
    // what reads no array is a constant, though it may differ from site to site
    if (!algebra::per_site(rest) || of_places(rest)) return;
    check_rest(e, rest);
    action.rest = rest;
  }

 private:
  /// Products of links are gauge invariant along closed paths only. A coefficient that differs from
  /// site to site cannot be combined with neighbours, since it would be needed beyond the edge.
  void check_rest(const dsl::Expr& e, Expr rest) {
    bool links = false, others = false, sites = false, neighbours = false;
    algebra::visit(rest, [&](Expr node) {
      sites = sites || node.is(Op::Site);
      neighbours =
          neighbours || node.is(Op::Stencil) || (node.is(Op::Load) && !node->offset.zero());
      if (!node.is(Op::Load)) return;
      const bool link = field_ && is_link(node->index);
      (link ? links : others) = true;
    });
    if (sites && neighbours) d_.fail(errors::action_of_places(e.span));
    if (!links || others) return;
    Reading reading = with_traces();
    // links of definitions transform as those of the model do
    if (made_)
      reading.made_links = [this](const std::string& name, const dsl::Expr&, const std::set<int>&,
                                  const std::vector<int>&) {
        return defines_links(d_, name) ? std::optional(MadeLinks{0, *field_}) : std::nullopt;
      };
    const Expr traces = Lowerer(d_).real(e, "an action", Scope::in(reading));
    if (algebra::depends_on(traces, arena().symbol(Reading::kOpenPath)))
      d_.fail(errors::action_not_invariant(e.span));
  }

  bool is_link(int array) const {
    for (int of = 0; of < (made_ ? made_->count() : 1); ++of)
      if ((of == 0 ? *field_ : made_->field(of)).place(array) >= 0) return true;
    return false;
  }

  Arena& arena() { return d_.arena(); }

  /// Whether it differs between sites by their coordinates alone, or not at all.
  static bool of_places(Expr e) {
    return !algebra::per_site(e) || !algebra::contains(e, [](Expr node) {
      return !node.is(Op::Site) && node.args().empty() && algebra::per_site(node);
    });
  }

  /// From now on loops that begin at other sites have symbols of their own, since their
  /// coefficients differ.
  void keep_places() {
    places_ = true;
    known_.clear();
  }

  gauge::LoopTerm term(const Known& loop, Expr slope, bool imaginary) const {
    if (!algebra::per_site(slope)) return {slope, loop.loop, imaginary};
    const algebra::Mover move = around(d_.grid);
    return {move(slope, algebra::mirrored(loop.at)), loop.loop, imaginary, move};
  }

  Reading with_traces() {
    Reading reading;
    reading.trace_of = [this](const LinkPath& path) { return trace(path); };
    return reading;
  }

  static bool names_reduction(const dsl::Expr& e) {
    static const std::set<std::string, std::less<>> kReductions{"mean", "total", "var", "min",
                                                                "max"};
    return e.kind == dsl::ExprKind::Call && e.args.size() == 1 && kReductions.contains(e.text);
  }

  /// The density that is summed over the sites: the argument of a `total`.
  const dsl::Expr& density(const dsl::Expr& e) const {
    const NamedFact* fact =
        e.kind == dsl::ExprKind::Name && !d_.field(e.text) ? d_.facts.find(e.text) : nullptr;
    const dsl::Expr& meant = fact && fact->value ? *fact->value : e;
    return names_reduction(meant) && meant.text == "total" ? *meant.args[0] : e;
  }

  /// A reduction over sites in the expression or in a definition that it names; null where there is
  /// none.
  const dsl::Expr* reduction(const dsl::Expr& e, std::set<std::string>& seen) const {
    if (names_reduction(e)) return &e;
    if (e.kind == dsl::ExprKind::Name || e.kind == dsl::ExprKind::Call) {
      const NamedFact* fact = d_.facts.find(e.text);
      if (fact && fact->value && seen.insert(e.text).second && reduction(*fact->value, seen))
        return &e;
    }
    for (const dsl::ExprPtr& arg : e.args)
      if (const dsl::Expr* found = reduction(*arg, seen)) return found;
    return nullptr;
  }

  void refuse_rates(const dsl::Expr& e, const std::string& name) const {
    std::set<std::string> seen;
    if (const dsl::Expr* rate = time_derivative(e, seen))
      d_.fail(errors::velocity_in_action(rate->span, name));
  }

  /// The time derivative of a field in the expression or in a definition that it names; null where
  /// there is none.
  const dsl::Expr* time_derivative(const dsl::Expr& e, std::set<std::string>& seen) const {
    if (e.kind == dsl::ExprKind::Prime) return &e;
    if (e.kind == dsl::ExprKind::Name || e.kind == dsl::ExprKind::Call) {
      const NamedFact* fact = d_.facts.find(e.text);
      if (fact && fact->value && seen.insert(e.text).second && time_derivative(*fact->value, seen))
        return &e;
    }
    for (const dsl::ExprPtr& arg : e.args)
      if (const dsl::Expr* found = time_derivative(*arg, seen)) return found;
    return nullptr;
  }

  /// The symbols of the trace of a closed path; loops with the same trace share them.
  Component trace(const LinkPath& path) {
    const gauge::Word reduced = gauge::reduced(path.word);
    if (reduced.empty()) return {arena().integer(field_->links->group.n), {}};
    bool reversed = false;
    const gauge::Word loop = gauge::canonical_loop(reduced, &reversed);
    const Offset at =
        places_ ? algebra::sum_of(path.start, gauge::canonical_start(path.word)) : Offset{};
    auto known = std::ranges::find_if(
        known_, [&](const Known& k) { return k.of == path.of && k.loop == loop && k.at == at; });
    if (known == known_.end()) {
      std::string text =
          shown_loop(loop) + (path.of > 0 ? " of " + made_->field(path.of).name : "");
      if (!at.zero())
        text += fmt::format(" at ({}, {}, {}, {})", at.d[0], at.d[1], at.d[2], at.d[3]);
      known_.push_back({path.of, loop, at, arena().symbol("re(tr(" + text + "))"),
                        arena().symbol("im(tr(" + text + "))")});
      known = known_.end() - 1;
    }
    return {known->real, reversed ? -known->imaginary : known->imaginary};
  }

  gauge::LoopAction coefficients(Expr s, dsl::Span span) {
    gauge::LoopAction action;
    for (const Known& loop : known_) {
      for (const bool imaginary : {false, true}) {
        const Expr slope = algebra::derivative(s, imaginary ? loop.imaginary : loop.real);
        if (slope.is_zero()) continue;
        for (const Known& other : known_) {
          if (algebra::depends_on(slope, other.real) || algebra::depends_on(slope, other.imaginary))
            d_.fail(refuse_(span, "a product of traces"));
        }
        action.push_back(term(loop, slope, imaginary));
      }
    }
    return action;
  }

  const Motion& d_;
  const StateField* field_;  ///< null: no links
  const Refusal refuse_;
  const TrajectoryLinks* made_;  ///< null: no links of definitions
  std::vector<Known> known_;
  bool places_ = false;  ///< Known::at counts
};

}  // namespace

std::string shown_loop(const gauge::Word& word) {
  std::vector<std::string> steps;
  for (const gauge::Step& step : word)
    steps.push_back(std::string(step.back ? "-" : "") + algebra::kAxisNames[step.axis]);
  return fmt::format("loop({})", fmt::join(steps, ", "));
}

std::vector<NamedAction> read_loop_actions(const Motion& d, const StateField& field,
                                           const dsl::Clause& sample, const std::string& method) {
  const Refusal refuse = [&](dsl::Span span, const std::string& why) {
    return errors::action_not_linear(span, method, why, sample.keyword_span);
  };
  std::vector<NamedAction> result;
  for (const dsl::Clause* clause : d.ledger.clauses("action")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head || !item.value) continue;
      d.ledger.use(item);
      NamedAction action{item.head->name, {}, {item.head->name, {}, item.value->span}};
      if (is_determinant(d, *item.value))
        d.fail(errors::determinant_of_local_update(item.value->span, method, sample.keyword_span));
      action.loops = read_loops(d, field, *item.value, {}, refuse, &action.shown.right);
      result.push_back(std::move(action));
    }
  }
  const bool none =
      std::ranges::all_of(result, [](const NamedAction& a) { return a.loops.empty(); });
  if (none) d.fail(refuse(sample.keyword_span, "no action holds a loop of links"));
  return result;
}

std::vector<NamedAction> read_actions(const Motion& d, const StateField* links,
                                      const std::string& method, const TrajectoryLinks* made) {
  const Refusal refuse = [&](dsl::Span span, const std::string&) {
    return errors::action_of_reduction(span, method);
  };
  std::vector<NamedAction> result;
  for (const dsl::Clause* clause : d.ledger.clauses("action")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head || !item.value) continue;
      d.ledger.use(item);
      NamedAction& action = result.emplace_back(
          NamedAction{item.head->name, {}, {item.head->name, {}, item.value->span}});
      action.determinants = determinant_calls(d, *item.value);
      if (action.determinants.empty()) {
        LoopActionReader(d, links, refuse, made).read_any(*item.value, action);
      } else {
        action.shown.right =
            d.arena().symbol("-log(" + written(d, item.value->span) + ")", item.value->span);
      }
    }
  }
  return result;
}

gauge::LoopAction read_loops(const Motion& d, const StateField& field, const dsl::Expr& action,
                             const Scope& scope, const Refusal& refuse, Expr* shown) {
  return LoopActionReader(d, &field, refuse).read(action, scope, shown);
}

}  // namespace vphi::physics
