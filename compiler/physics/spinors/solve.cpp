#include "compiler/physics/spinors/solve.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_definition.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/even_odd.hpp"
#include "compiler/physics/spinors/linear_map.hpp"
#include "compiler/physics/spinors/solve_errors.hpp"
#include "compiler/physics/spinors/stored_blocks.hpp"
#include "compiler/physics/stages/program.hpp"
#include "compiler/text/solver.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Whether the system is solved at half of the sites, where that is possible: `even_odd = off`
/// keeps it as written, and `even_odd = on` refuses an operator for which it is not.
bool even_odd_wanted(const Program& d, const dsl::Expr& e, const SpinorForm* form) {
  const dsl::Expr* asked = even_odd_option(d, e);
  if (asked == nullptr) return true;
  if (asked->text == "off") return false;
  std::string why = "it does not act on spinors by paths of links";
  const auto parts = form ? parted(d, *form, &why) : std::nullopt;
  if (!parts)
    d.fail(errors::no_halves(asked->span, e.args[0]->text, why,
                             "the system is then solved at all sites"));
  return true;
}

}  // namespace

Expr right_sides(const Declared& d, const dsl::Expr& e, Expr value) {
  const double number = static_cast<double>(value->number.real);
  if (number < 1 || number > 4096 || number != std::floor(number))
    d.fail(errors::option_value(e.span, "together", "a whole number from 1 on"));
  return value;
}

/// The solver that a call names, `cg` where it names none, with its options.
void Lowerer::choose_solver(const dsl::Expr& e, const Scope& scope, LinearSystem& solve,
                            const std::string& option, const std::vector<Expr>* shifts) {
  const dsl::Expr* choice = nullptr;
  for (const dsl::NamedArgument& named : e.named) {
    if (named.name == option) choice = named.value.get();
  }
  const std::string chosen = choice ? choice->text : shifts ? "multishift" : "cg";
  const dsl::Symbol* symbol = d_.resolved.find(chosen);
  if (!symbol || symbol->kind != dsl::SymbolKind::Solver || !symbol->line) {
    d_.fail(errors::unknown_name(choice ? choice->span : e.span, chosen));
  }
  solve.solver = text::read_solver(symbol->line->clause, e.span, d_.diagnostics);
  if (!solve.solver) throw Failure{};
  if (text::finds_eigenvalue(*solve.solver))
    d_.fail(errors::eigenvalue_for_solution(choice->span, chosen));
  if (shifts && !text::has_shifts(*solve.solver))
    d_.fail(errors::fraction_of_determinant(
        choice->span, fmt::format("`{}` does not solve for the poles of a fraction", chosen),
        "take a text with lines x[k] = ..., `multishift`"));
  const int count = shifts ? static_cast<int>(shifts->size()) : 0;
  solve.solver = text::with_shifts(*solve.solver, count);
  for (int k = 1; k <= count; ++k)
    solve.options.emplace_back(text::shifted_name("shift", k),
                               (*shifts)[static_cast<std::size_t>(k - 1)]);
  std::vector<std::string> names;
  for (const dsl::NamedArgument& named : symbol->value->named) {
    if (named.name.find('(') != std::string::npos) continue;
    names.push_back(named.name);
    solve.options.emplace_back(named.name, fixed(*named.value, "an option of a solver"));
  }
  const auto set = [&](const std::string& name, const dsl::Expr& to) {
    for (auto& [known, old] : solve.options) {
      if (known == name) old = fixed(to, fmt::format("`{}`", name), scope);
    }
  };
  for (std::size_t i = 0; choice && i < choice->args.size() && i < names.size(); ++i) {
    set(names[i], *choice->args[i]);
  }
  if (choice) {
    for (const dsl::NamedArgument& named : choice->named) {
      if (named.name == "inner") {
        if (shifts)
          d_.fail(errors::fraction_of_determinant(
              named.span, "the poles of a fraction are not solved for in two precisions",
              "leave `inner` out"));
        solve.options.emplace_back("inner", integer(32));
        solve.refining = text::refining_text(*solve.solver, d_.resolved);
        if (!solve.refining) d_.fail(errors::no_refining_text(named.span, chosen));
      } else {
        set(named.name, *named.value);
      }
    }
  }
}

Value Lowerer::staged(const Value& v, const Reading& reading) {
  const auto plain = [](Expr e) { return !e || e.is(Op::Load) || e.is_number(); };
  const bool stored =
      std::ranges::all_of(v.parts, [&](const Component& c) { return plain(c.re) && plain(c.im); });
  if (!reading.stages || stored) return v;
  LinearMap::Stage stage{{}, real_parts(d_.arena(), v, true), -1};
  const LinearMap::Stage* known = nullptr;
  for (const LinearMap::Stage& other : *reading.stages) {
    if (other.values == stage.values) known = &other;
  }
  if (!known) {
    for (std::size_t i = 0; i < stage.values.size(); ++i) stage.arrays.push_back(d_.new_array());
    d_.mark_spinor(stage.arrays.front(), {});  // its edges follow with those of the unknown
    reading.stages->push_back(std::move(stage));
    known = &reading.stages->back();
  }
  Value result = spinor_of_arrays(d_.arena(), known->arrays.front(), v.rows, v.columns);
  result.form = v.form;
  return result;
}

EdgePhases Lowerer::edges_of(const dsl::Expr& at, const NamedFact& op) {
  const auto& all = d_.spinor_edges;
  if (all.empty()) return {};
  const auto named = all.find(op.parameters[0]);
  if (named != all.end()) return named->second;
  const auto& first = all.begin()->second;
  if (!std::ranges::all_of(all, [&](const auto& other) { return other.second == first; })) {
    std::vector<std::string> names;
    for (const auto& [name, edges] : all) names.push_back(name);
    d_.fail(errors::whose_boundary(at.span, op.name, op.parameters[0], names, op.span));
  }
  return first;
}

namespace {

/// The unknown of a system: a value of the shape of `b` in arrays from `first` on, two for each
/// component that is complex.
Value unknown_like(Arena& arena, const Value& b, bool complex, int first, dsl::Span span) {
  Value x{b.rows, b.columns, {}};
  x.spinor = b.spinor;
  for (std::size_t i = 0; i < b.parts.size(); ++i) {
    const int at = first + static_cast<int>(complex ? 2 * i : i);
    x.parts.push_back({arena.load(at, {}, span), complex ? arena.load(at + 1, {}, span) : Expr{}});
  }
  return x;
}

/// The function of one field that `solve` is given by its name.
const NamedFact& solved_operator(const Program& d, const dsl::Expr& e) {
  const dsl::Expr& op = *e.args[0];
  const NamedFact* fact = d.facts.find(op.text);
  if (!d.grid.present) d.fail(errors::no_lattice(e.span, "solve"));
  if (!fact || fact->kind != NamedFact::Kind::Function || fact->parameters.size() != 1) {
    d.fail(errors::wrong_shape(op.span, "`solve` takes the name of a function of one field first"));
  }
  return *fact;
}

void check_linear(const Program& d, const LinearSystem& solve, const dsl::Expr& op,
                  const NamedFact& fact) {
  for (const Expr part : values_of(solve.op)) {
    if (const Expr wrong = not_linear(part, arrays_of(solve))) {
      d.fail(errors::not_linear(op.span, op.text, written(d, wrong->span), fact.span));
    }
  }
}

/// What an operator makes of the unknown.
struct Image {
  const Value& of_unknown;
  const Value& shape;  ///< of the unknown: the right side
  std::function<gauge::LinkOf()> links;
};

/// The same of its adjoint.
std::vector<Expr> adjoint_image(const Program& d, const LinearSystem& solve, const Image& image) {
  const auto& form = image.of_unknown.form;
  if (!form) return adjoint_of(d, solve);
  const Value unknown = unknown_like(d.arena(), image.shape, true, solve.arrays[0], solve.span);
  return real_parts(d.arena(), apply(adjoint(*form, around(d.grid)), image.links(), unknown), true);
}

/// What the solver asks of the operator beside that it is linear.
void check_for_solver(const Program& d, const LinearSystem& solve, const dsl::Expr& op,
                      const NamedFact& fact, const Image& image) {
  // what is recognised as a sum of matrices before its argument is linear for complex factors
  if (solve.complex && !image.of_unknown.form && solve.op.stages.empty() &&
      wants_complex(*solve.solver) && !complex_linear(solve)) {
    d.fail(errors::only_real_linear(op.span, op.text, solve.solver->name, fact.span));
  }
  if (!wants_hermitian(solve) || !solve.op.stages.empty()) return;
  const int arrays = d.collected.arrays;
  const std::vector<Expr> adjoint_values = adjoint_image(d, solve, image);
  d.collected.arrays = arrays;
  if (!adjoint_values.empty() && differ(solve.op.image, adjoint_values))
    d.fail(errors::not_hermitian(op.span, op.text, solve.solver->name, fact.span));
}

void forget_edges(const Program& d, int first) {
  auto& parts = d.collected.spinor_parts;
  parts.erase(parts.lower_bound(first), parts.end());
}

void set_edges(const Program& d, int first, const EdgePhases& edges) {
  forget_edges(d, first);
  d.mark_spinor(first, edges);
}

/// The same system, if it has been asked for before; systems with the same operator are noted in
/// LinearSystem::like.
const LinearSystem* known_system(const Program& d, LinearSystem& solve) {
  const LinearSystem* found = nullptr;
  const auto& solves = d.collected.solves;
  for (std::size_t i = 0; i < solves.size() && !found; ++i) {
    const LinearSystem& known = solves[i];
    if (known.like >= 0 || !alike(known, solve)) continue;
    if (d.edges_from(known.arrays[0]) != d.edges_from(solve.arrays[0])) continue;
    solve.like = static_cast<int>(i);
    for (const LinearSystem& other : solves) {
      const bool same = &other == &known || other.like == solve.like;
      if (same && other.source == solve.source) found = &other;
    }
  }
  return found;
}

/// Names, and what the solver applies beside the operator; arrays of its own for a new operator.
void complete(const Program& d, LinearSystem& solve, const Image& image, bool even_odd) {
  const int first = solve.arrays[0];
  const auto& form = image.of_unknown.form;
  if (solve.like < 0 && even_odd && form)
    solve.even_odd = system_of_halves(d, *form, image.links(), solve.columns, solve.span);
  const std::string number = std::to_string(d.collected.solves.size() + 1);
  solve.name = written(d, solve.span);
  solve.iterations = "solve_iterations_" + number;
  solve.residual = "solve_residual_" + number;
  if (solve.like >= 0) {
    solve.op = {};
    d.collected.arrays = first + static_cast<int>(solve.arrays.size());
  } else {
    if (text::calls(*solve.solver, "adj")) solve.adjoint.image = adjoint_image(d, solve, image);
  }
  if (solve.spinor) set_edges(d, first, d.edges_from(first));
}

}  // namespace

std::optional<Value> Lowerer::solve(const dsl::Expr& e, const Scope& scope) {
  // A column is named as often as it stands in a contraction: it is read once for each set of
  // indices where nothing else can change its meaning.
  if (scope.parent || !scope.values.empty() || &scope.reading() != &Scope{}.reading())
    return read_solve(e, scope);
  SolvePlace place{&e, {}};
  for (const auto& [name, index] : scope.indices) {
    if (index.direction || index.body != IndexValue::Body::None) return read_solve(e, scope);
    place.second.emplace(name, index.value);
  }
  if (const auto known = solved_.find(place); known != solved_.end()) return known->second;
  const std::optional<Value> x = read_solve(e, scope);
  if (x) solved_.emplace(std::move(place), *x);
  return x;
}

std::optional<Value> Lowerer::read_solve(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  const dsl::Expr& op = *e.args[0];
  const NamedFact& fact = solved_operator(d_, e);
  const Value b = value(*e.args[1], scope);
  if (b.acts) d_.fail(errors::wrong_shape(e.args[1]->span, kOperatorAlone));
  LinearSystem solve;
  solve.rows = b.rows;
  solve.columns = b.columns;
  solve.spinor = b.spinor;
  solve.complex = b.spinor || b.complex();
  solve.span = e.span;
  const EdgePhases edges = b.spinor ? edges_of(op, fact) : EdgePhases{};
  solve.antiperiodic = turned(edges);
  // arrays of the operator are counted from the unknown on
  for (const auto& [name, named] : d_.facts.named)
    if (named.parameters.size() == 1) defined_links(d_, *this, name, e);
  const int first = d_.collected.arrays;
  const std::size_t systems = d_.collected.solves.size();
  const auto unknown = [&](bool complex) { return unknown_like(arena, b, complex, first, e.span); };
  const auto image_of = [&](bool complex) {
    dsl::Expr call = op;
    call.kind = dsl::ExprKind::Call;
    Reading operators = scope.reading();
    operators.stages = b.spinor ? &solve.op.stages : nullptr;
    Scope inner = Scope::in(operators);
    inner.parent = &scope;
    Value x = unknown(complex);
    if (b.spinor) x.form = unknown_spinor(arena, b.rows, b.columns).form;
    inner.values.emplace("the unknown", x);
    auto argument = std::make_shared<dsl::Expr>(op);
    argument->text = "the unknown";
    call.args = {argument};
    solve.op.stages.clear();
    d_.collected.arrays = first + static_cast<int>(b.parts.size()) * (complex ? 2 : 1);
    if (b.spinor) set_edges(d_, first, edges);
    return user_function(fact, call, inner);
  };
  Value image = image_of(solve.complex);
  if (!solve.complex && image.complex()) {
    solve.complex = true;
    image = image_of(true);
  }
  if (d_.collected.solves.size() != systems)
    d_.fail(errors::not_yet(op.span, "links with more than one index in an operator"));
  if (image.rows != b.rows || image.columns != b.columns || image.spinor != b.spinor) {
    d_.fail(errors::wrong_shape(op.span,
                                "`solve` takes a function that keeps the shape of its argument"));
  }
  solve.op.image = real_parts(arena, image, solve.complex);
  solve.source = real_parts(arena, b, solve.complex);
  for (std::size_t i = 0; i < solve.op.image.size(); ++i)
    solve.arrays.push_back(first + static_cast<int>(i));
  if (b.spinor) set_edges(d_, first, edges);
  check_linear(d_, solve, op, fact);
  choose_solver(e, scope, solve);
  const Image applied{image, b, [this] { return link_matrices(); }};
  check_for_solver(d_, solve, op, fact, applied);
  const bool even_odd = even_odd_wanted(d_, e, image.form.get());
  if (!even_odd) solve.options.emplace_back("even_odd", integer(0));
  for (const dsl::NamedArgument& named : e.named)
    if (named.name == "together")
      solve.options.emplace_back(
          "together", right_sides(d_, *named.value, fixed(*named.value, "`together`", scope)));
  if (const LinearSystem* found = known_system(d_, solve)) {
    d_.collected.arrays = first;
    forget_edges(d_, first);
    return unknown_like(arena, b, found->complex, found->arrays[0], e.span);
  }
  complete(d_, solve, applied, even_odd);
  const Value x = unknown(solve.complex);
  d_.collected.solves.push_back(std::move(solve));
  return x;
}

namespace {

/// Among the watched actions: one whose forces are read, not the rounds of its solves alone.
std::string force_of(const std::string& action) { return "force(" + action + ")"; }

}  // namespace

/// A scalar of the last trajectory, where the argument is an action of `sample hmc`.
std::optional<Value> Lowerer::of_action(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& of = *e.args[0];
  const bool name = of.kind == dsl::ExprKind::Name && !scope.value(of.text);
  const NamedFact* fact = name ? d_.facts.find(of.text) : nullptr;
  if (!fact || !fact->clause || fact->clause->keyword != "action") return std::nullopt;
  const auto* trajectory = std::get_if<Trajectory>(&d_.dynamics);
  if (!trajectory) d_.fail(errors::of_no_trajectory(e.span, e.text));
  const auto level =
      std::ranges::find(trajectory->levels, of.text, [](const auto& one) { return one.shown; });
  if (level == trajectory->levels.end()) d_.fail(errors::of_no_trajectory(e.span, e.text));
  if (e.text != "force" && level->solves.empty())
    d_.fail(errors::action_without_solves(e.span, e.text, of.text, fact->span));
  if ((e.text == "smallest" || e.text == "largest") && level->smallest.empty())
    d_.fail(errors::action_without_fraction(e.span, e.text, of.text, fact->span));
  if (e.text == "logdet") {
    const auto own = d_.collected.actions_at_end.find(of.text);
    if (own == d_.collected.actions_at_end.end() || own->second.logarithm < 0)
      d_.fail(errors::action_without_logarithm(e.span, of.text, fact->span));
    own->second.read = true;
    return reduce("total", Value::of(d_.arena().load(own->second.logarithm)), e);
  }
  std::set<int> kicked;
  for (const Update& kick : level->kicks) {
    if (e.text != "force" || !kick.force2) continue;
    for (const auto& [momentum, value] : kick.values)
      if (!kicked.insert(momentum).second)
        d_.fail(errors::not_yet(
            e.span, "`force` of an action whose loops and other terms move the same momenta"));
  }
  d_.collected.watched_actions.insert(of.text);
  if (e.text == "force") d_.collected.watched_actions.insert(force_of(of.text));
  const auto place = static_cast<std::size_t>(level - trajectory->levels.begin());
  return Value::of(d_.arena().symbol(Trajectory::of_level(e.text, place), e.span));
}

std::optional<Value> Lowerer::of_solve(const dsl::Expr& e, const Scope& scope) {
  if (const auto of = of_action(e, scope)) return of;
  const auto number = [&](const LinearSystem& solve) {
    return Value::of(
        d_.arena().symbol(e.text == "iterations" ? solve.iterations : solve.residual, e.span));
  };
  const dsl::Expr& of = *e.args[0];
  if (of.kind == dsl::ExprKind::Name && !scope.value(of.text))
    if (const auto gauge = gauge_of_links(d_, *this, of.text, of))
      return number(d_.collected.solves[*gauge]);
  const Value x = value(of, scope);
  const Expr part = x.parts[0].re;
  for (const LinearSystem& solve : d_.collected.solves)
    if (part.is(Op::Load) && part->index == solve.arrays[0]) return number(solve);
  d_.fail(errors::wrong_shape(e.args[0]->span,
                              fmt::format("`{}` takes what `solve` has given, as it is", e.text)));
}

namespace {

/// What no output reads of the actions at the end of a trajectory is not computed.
void leave_out_unread(const std::map<std::string, ActionAtEnd>& actions, Trajectory& trajectory) {
  const auto unread = [&](int array) {
    return std::ranges::any_of(actions, [&](const auto& own) {
      const ActionAtEnd& at = own.second;
      return !at.read && (array == at.action || array == at.logarithm);
    });
  };
  std::erase_if(trajectory.memory, [&](const auto& memory) { return unread(memory.array); });
  for (Trajectory::Level& level : trajectory.levels)
    std::erase_if(level.at_end, [&](const Update& update) {
      return !update.values.empty() && unread(update.values.front().first);
    });
}

}  // namespace

void finish_solves(const Program& d, ProgramUnits& units, System& system) {
  if (auto* trajectory = std::get_if<Trajectory>(&system.dynamics)) {
    for (Trajectory::Level& level : trajectory->levels) {
      level.watched = d.collected.watched_actions.contains(level.shown);
      if (d.collected.watched_actions.contains(force_of(level.shown))) continue;
      for (Update& kick : level.kicks) kick.force2 = {};
    }
    leave_out_unread(d.collected.actions_at_end, *trajectory);
  }
  if (system.solves.empty()) return;
  std::vector<int> arrays;
  std::vector<std::string> symbols;
  for (LinearSystem& solve : system.solves) {
    if (solve.at_start) continue;  // its own arrays, read by nothing else
    arrays.insert(arrays.end(), solve.arrays.begin(), solve.arrays.end());
    symbols.push_back(solve.iterations);
    symbols.push_back(solve.residual);
    for (Expr& part : solve.source) part = units.quantity(part);
    const auto convert = [&](LinearMap& map) {
      for (LinearMap::Stage& stage : map.stages)
        for (Expr& part : stage.values) part = units.quantity(part);
      for (Expr& part : map.image) part = units.quantity(part);
    };
    convert(solve.op);
    convert(solve.adjoint);
    if (solve.even_odd) {
      for (LinearMap* map : {&solve.even_odd->op, &solve.even_odd->adjoint, &solve.even_odd->source,
                             &solve.even_odd->back})
        convert(*map);
    }
  }
  // signs and phases of spinors beyond the edges, in kicks and other updates of a trajectory
  if (auto* trajectory = std::get_if<Trajectory>(&system.dynamics)) {
    const auto convert = [&](std::vector<Update>& updates) {
      for (Update& update : updates) {
        for (auto& [array, value] : update.values) value = units.quantity(value);
        if (update.force2) update.force2 = units.quantity(update.force2);
      }
    };
    convert(trajectory->drawn);
    for (Trajectory::Level& level : trajectory->levels)
      for (auto* updates : {&level.before_kicks, &level.kicks, &level.at_end}) convert(*updates);
  }
  const auto refuse = [&](Expr e, dsl::Span span) {
    const bool found = e && algebra::contains(e, [&](Expr node) {
                         return (node.is(Op::Load) && std::ranges::count(arrays, node->index)) ||
                                (node.is(Op::Symbol) && std::ranges::count(symbols, node->name));
                       });
    if (found) d.fail(errors::not_yet(span, "`solve` in what every step or the start needs"));
  };
  for (const Variable& v : system.variables) refuse(v.rate, v.span);
  for (const ScalarVariable& s : system.scalars) refuse(s.rate, d.background.span);
  for (const InitialValue& i : system.initial) refuse(i.value, d.grid.span);
  for (const Statistic& s : system.statistics) refuse(s.spans_time ? s.value : Expr(), s.span);
  for (const FirstPassage& p : system.passages) {
    for (const Expr part : {p.value, p.condition, p.margin}) refuse(part, p.span);
  }
  refuse(system.until, d.grid.span);
  for (const OutputClause& output : system.outputs) refuse(output.after, output.span);
  for (const Observable& o : system.progress) refuse(o.value, d.grid.span);
  for (const Projection& projection : system.projections) {
    for (const Expr part : projection.values) refuse(part, d.grid.span);
  }
}

}  // namespace vphi::physics
