#include "compiler/physics/chains/link_definition.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/gauge/action.hpp"
#include "compiler/gauge/projected.hpp"
#include "compiler/physics/chains/gauge_fixing.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/loop_actions.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/linear_map.hpp"
#include "compiler/text/solver.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

using dsl::ExprKind;

namespace {

/// U or U[mu]: the name of the links; null where it is neither.
const std::string* links_named(const dsl::Expr& e) {
  const dsl::Expr& base = e.kind == ExprKind::Index && e.args.size() == 2 ? *e.args[0] : e;
  return base.kind == ExprKind::Name ? &base.text : nullptr;
}

/// Whether the expression, or a definition that it names, holds the gradient d(S, U).
bool holds_gradient(const Declared& d, const dsl::Expr& e, const std::string& base, int depth) {
  if (e.kind == ExprKind::Call && e.text == "d" && e.args.size() == 2) {
    const std::string* by = links_named(*e.args[1]);
    if (by && *by == base) return true;
  }
  const std::string* name = links_named(e);
  const NamedFact* fact = name ? d.facts.find(*name) : nullptr;
  if (fact && fact->value && depth > 0 && holds_gradient(d, *fact->value, base, depth - 1))
    return true;
  return std::ranges::any_of(
      e.args, [&](const dsl::ExprPtr& arg) { return holds_gradient(d, *arg, base, depth); });
}

bool is_projection(const dsl::Expr& e) {
  const dsl::Builtin* builtin = e.kind == ExprKind::Call ? dsl::find_builtin(e.text) : nullptr;
  return builtin && builtin->rule == dsl::Rule::GroupProjection && e.args.size() == 1;
}

bool is_link_along(const Declared& d, const dsl::Expr& link, const std::string& index,
                   const std::string& made) {
  if (link.kind != ExprKind::Index || link.args.size() != 2 ||
      link.args[0]->kind != ExprKind::Name || link.args[1]->kind != ExprKind::Name ||
      link.args[1]->text != index)
    return false;
  const std::string& base = link.args[0]->text;
  const StateField* field = d.field(base);
  return field ? field->links.has_value() : base != made && defines_links(d, base);
}

/// gauge_fixed(U[mu], M), in the definition of V[mu].
bool fixes_gauge(const Declared& d, const NamedFact& fact) {
  const dsl::Expr& e = *fact.value;
  const dsl::Builtin* builtin = e.kind == ExprKind::Call ? dsl::find_builtin(e.text) : nullptr;
  return builtin && builtin->rule == dsl::Rule::GroupProjection && e.args.size() == 2 &&
         fact.parameters.size() == 1 && is_link_along(d, *e.args[0], fact.parameters[0], fact.name);
}

/// The links of the model that the expression, or a definition that it names, holds; the only ones
/// of the model, or the first of several.
const std::string* links_in(const Declared& d, const dsl::Expr& e, int depth) {
  const StateField* only = nullptr;
  int count = 0;
  for (const StateField& field : d.fields)
    if (field.links) only = &field, ++count;
  if (count <= 1) return only ? &only->name : nullptr;
  if (e.kind == ExprKind::Name) {
    const StateField* field = d.field(e.text);
    if (field && field->links) return &field->name;
    const NamedFact* fact = d.facts.find(e.text);
    if (fact && fact->value && depth > 0) return links_in(d, *fact->value, depth - 1);
  }
  for (const dsl::ExprPtr& arg : e.args)
    if (const std::string* found = links_in(d, *arg, depth)) return found;
  return nullptr;
}

}  // namespace

std::optional<LinkDefinition> definition_of_links(const Declared& d, const std::string& name) {
  constexpr int kDepth = 8;
  const NamedFact* fact = d.facts.find(name);
  if (!fact || fact->kind != NamedFact::Kind::Indexed || fact->parameters.empty()) return {};
  const dsl::Expr& e = *fact->value;
  if (is_projection(e)) {
    const std::string* base = links_in(d, *e.args[0], kDepth);
    if (!base) return {};
    return LinkDefinition{*fact, *e.args[0], *base, true};
  }
  if (fixes_gauge(d, *fact))
    return LinkDefinition{*fact, *e.args[1], e.args[0]->args[0]->text, false, &e};
  if (fact->parameters.size() != 1) return {};
  if (e.kind != ExprKind::Binary || e.text != "*") return {};
  const dsl::Expr &exponential = *e.args[0], &link = *e.args[1];
  if (exponential.kind != ExprKind::Call || exponential.text != "exp" ||
      exponential.args.size() != 1)
    return {};
  if (!is_link_along(d, link, fact->parameters[0], name)) return {};
  const std::string& base = link.args[0]->text;
  if (!holds_gradient(d, *exponential.args[0], base, kDepth)) return {};
  return LinkDefinition{*fact, *exponential.args[0], base};
}

StateField named_links(const LinkDefinition& definition, const StateField& base,
                       const std::vector<int>& labels) {
  StateField field = base;
  field.name = definition.fact.name;
  for (const int axis : labels) field.name += fmt::format("[{}]", algebra::kAxisNames[axis]);
  field.span = definition.fact.span;
  field.hamiltonian = false;
  field.velocities.clear();
  field.arrays.clear();
  return field;
}

namespace {

class LinkMaker {
 public:
  LinkMaker(const Program& d, Lowerer& lower, const LinkDefinition& definition,
            const StateField& base, const std::vector<int>& labels)
      : d_(d),
        lower_(lower),
        definition_(definition),
        base_(base),
        labels_(labels),
        name_(named_links(definition, base, labels).name) {}

  /// The arrays of the links along `axis`, which are made where they are not there yet and
  /// `wanted`; else -1.
  std::vector<int> along(int axis, bool wanted) {
    const std::string name = fmt::format("{} along {}", name_, algebra::kAxisNames[axis]);
    for (const LinearSystem& solve : d_.collected.solves)
      if (solve.name == name && solve.span == definition_.fact.span) return solve.arrays;
    if (wanted) return made(axis, name);
    return std::vector<int>(static_cast<std::size_t>(base_.links->reals()), -1);
  }

 private:
  Arena& arena() const { return d_.arena(); }
  const gauge::Group& group() const { return base_.links->group; }

  std::vector<int> made(int axis, const std::string& name) {
    if (definition_.fixes) {
      const std::size_t gauge = gauge_of(d_, lower_, definition_, base_);
      const gauge::Matrix v = gauge::reunitarised(
          group(), turned_link(d_, lower_, definition_, d_.collected.solves[gauge], base_, axis));
      std::vector<Expr> numbers = gauge::store(*base_.links, v);
      for (Expr& part : numbers) part = in_box(d_, base_, axis, part, arena().integer(0));
      return stored(numbers, name, true);
    }
    if (definition_.projects) {
      if (!gauge::has_projection(group()))
        d_.fail(errors::not_yet(definition_.argument.span, "a projection to SU(n) with n > 3"));
      return stored(
          gauge::store(*base_.links, gauge::projected(group(), argument(axis, Reading{}))), name);
    }
    const std::vector<int> z = stored(exponent(axis), "exponent of " + name);
    std::vector<Expr> p;
    for (const int array : z) p.push_back(arena().load(array));
    const auto first = static_cast<std::size_t>(axis * base_.links->reals());
    std::vector<Expr> moved;
    if (base_.angle) {
      moved = {gauge::plus(arena().load(base_.arrays[first]), p[0])};
    } else {
      const int terms = gauge::exponential_terms(0x1p-53);
      const gauge::Matrix u =
          gauge::times(gauge::exponential(group(), p, terms), links_of(d_, base_)(axis, {}));
      moved = gauge::store(*base_.links, gauge::reunitarised(group(), u));
    }
    return stored(moved, name);
  }

  /// A or M for the link along `axis`.
  gauge::Matrix argument(int axis, const Reading& reading) {
    Scope scope = Scope::in(reading);
    const auto add = [&](std::size_t place, int value) {
      IndexValue direction;
      direction.value = value;
      direction.direction = true;
      scope.indices.emplace(definition_.fact.parameters[place], direction);
    };
    add(0, axis);
    for (std::size_t i = 0; i < labels_.size(); ++i) add(i + 1, labels_[i]);
    // a reader of its own: a name in A has another value along each axis
    const Value a = Lowerer(d_).value(definition_.argument, scope);
    const int n = group().n;
    if (a.rows != n || a.columns != n)
      d_.fail(definition_.projects ? errors::wrong_shape(definition_.argument.span,
                                                         "`project` takes a matrix like a link")
                                   : errors::flow_not_of_loops(definition_.argument.span,
                                                               "of another shape than the links"));
    gauge::Matrix m{n, n, {}};
    for (const Component& part : a.parts)
      m.parts.push_back({part.re, part.im ? part.im : arena().integer(0)});
    return m;
  }

  /// The coordinates z_a of A = i z_a T_a for the link along `axis`.
  std::vector<Expr> exponent(int axis) {
    Reading reading;
    reading.gradient_by_links = [this, axis](const dsl::Expr& f, int by, dsl::Span,
                                             const Scope& scope) {
      return gradient(f, by < 0 ? axis : by, scope);
    };
    const gauge::Matrix m = argument(axis, reading);
    // Im tr(T_a A) is half of z_a but for U(1)
    const Expr scale = arena().integer(group().kind == gauge::Kind::U1 ? 1 : 2);
    std::vector<Expr> z;
    for (const Expr part : gauge::projection(group(), m)) z.push_back(gauge::times(scale, part));
    return z;
  }

  /// i T_a dS/dw_a of the link along `axis`.
  Value gradient(const dsl::Expr& f, int axis, const Scope& scope) const {
    const Refusal refuse = [](dsl::Span span, const std::string& why) {
      return errors::flow_not_of_loops(span, why);
    };
    gauge::LoopAction loops = read_loops(d_, base_, f, scope, refuse);
    for (gauge::LoopTerm& term : loops) term.coefficient = -term.coefficient;
    const gauge::LinkOf link = links_of(d_, base_);
    std::vector<Expr> g(static_cast<std::size_t>(group().generators()), arena().integer(0));
    if (!gauge::staple_paths(loops, axis).empty()) {
      gauge::LinkPathPlan plan;
      const gauge::Matrix v = gauge::staple_sum(loops, axis, link, &plan);
      g = gauge::projection(group(), gauge::times(link(axis, {}), v));
    }
    const gauge::Matrix a = gauge::algebra_element(group(), g);
    Value result{a.rows, a.columns, {}};
    for (const gauge::Complex& part : a.parts) result.parts.push_back({part.re, part.im});
    return result;
  }

  /// Arrays that hold the values while outputs are computed; `wide`: in f64.
  std::vector<int> stored(const std::vector<Expr>& values, const std::string& name,
                          bool wide = false) {
    LinearSystem system;
    system.wide = wide;
    const std::string number = std::to_string(d_.collected.solves.size() + 1);
    system.name = name;
    system.iterations = "solve_iterations_" + number;
    system.residual = "solve_residual_" + number;
    system.rows = static_cast<int>(values.size());
    system.span = definition_.fact.span;
    system.source = values;
    system.positive = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      system.arrays.push_back(d_.new_array());
      system.op.image.push_back(arena().load(system.arrays.back()));
    }
    const dsl::Symbol* solver = d_.resolved.find("cg");
    system.solver = text::read_solver(solver->line->clause, system.span, d_.diagnostics);
    for (const dsl::NamedArgument& option : solver->value->named) {
      if (option.name.find('(') == std::string::npos)
        system.options.emplace_back(option.name, lower_.fixed(*option.value, "an option"));
    }
    const auto& known = d_.collected.solves;
    for (std::size_t i = 0; i < known.size() && system.like < 0; ++i)
      if (known[i].like < 0 && alike(known[i], system)) system.like = static_cast<int>(i);
    if (system.like >= 0) system.op = {};
    d_.collected.solves.push_back(system);
    return system.arrays;
  }

  const Program& d_;
  Lowerer& lower_;
  const LinkDefinition& definition_;
  const StateField& base_;
  const std::vector<int>& labels_;
  const std::string name_;
};

}  // namespace

namespace {

/// The links that a definition moves.
StateField base_of(const Program& d, Lowerer& lower, const LinkDefinition& definition,
                   const dsl::Expr& at) {
  const StateField* own = d.field(definition.base);
  return own ? *own : *defined_links(d, lower, definition.base, at);
}

}  // namespace

bool defines_links(const Declared& d, const std::string& name) {
  return definition_of_links(d, name).has_value();
}

void check_labels(const Declared& d, const LinkDefinition& definition, const dsl::Expr& at,
                  const std::vector<int>& labels) {
  const std::size_t count = definition.fact.parameters.size();
  if (labels.size() + 1 != count)
    d.fail(errors::wrong_shape(at.span,
                               fmt::format("`{}` has {} indices", definition.fact.name, count)));
}

std::optional<std::size_t> gauge_of_links(const Program& d, Lowerer& lower, const std::string& name,
                                          const dsl::Expr& at) {
  const auto definition = definition_of_links(d, name);
  if (!definition || !definition->fixes) return std::nullopt;
  return gauge_of(d, lower, *definition, base_of(d, lower, *definition, at));
}

std::optional<StateField> defined_links(const Program& d, Lowerer& lower, const std::string& name,
                                        const dsl::Expr& at, const std::vector<int>& labels,
                                        const std::optional<std::set<int>>& axes) {
  const auto definition = definition_of_links(d, name);
  if (!definition) return std::nullopt;
  check_labels(d, *definition, at, labels);
  const StateField base = base_of(d, lower, *definition, at);
  LinkMaker maker(d, lower, *definition, base, labels);
  StateField field = named_links(*definition, base, labels);
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    const std::vector<int> arrays = maker.along(axis, !axes || axes->contains(axis));
    field.arrays.insert(field.arrays.end(), arrays.begin(), arrays.end());
  }
  return field;
}

}  // namespace vphi::physics
