#include "compiler/physics/chains/link_definition.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/gauge/action.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/loop_actions.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/linear_map.hpp"
#include "compiler/text/solver.hpp"

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

}  // namespace

std::optional<LinkDefinition> definition_of_links(const Declared& d, const std::string& name) {
  constexpr int kDepth = 8;
  const NamedFact* fact = d.facts.find(name);
  if (!fact || fact->kind != NamedFact::Kind::Indexed || fact->parameters.size() != 1) return {};
  const dsl::Expr& e = *fact->value;
  if (e.kind != ExprKind::Binary || e.text != "*") return {};
  const dsl::Expr &exponential = *e.args[0], &link = *e.args[1];
  if (exponential.kind != ExprKind::Call || exponential.text != "exp" ||
      exponential.args.size() != 1)
    return {};
  if (link.kind != ExprKind::Index || link.args.size() != 2 ||
      link.args[0]->kind != ExprKind::Name || link.args[1]->kind != ExprKind::Name ||
      link.args[1]->text != fact->parameters[0])
    return {};
  const std::string& base = link.args[0]->text;
  const StateField* field = d.field(base);
  if (field ? !field->links : base == name || !defines_links(d, base)) return {};
  if (!holds_gradient(d, *exponential.args[0], base, kDepth)) return {};
  return LinkDefinition{*fact, *exponential.args[0], base};
}

StateField named_links(const LinkDefinition& definition, const StateField& base) {
  StateField field = base;
  field.name = definition.fact.name;
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
            const StateField& base)
      : d_(d), lower_(lower), definition_(definition), base_(base) {}

  StateField make() {
    StateField made = named_links(definition_, base_);
    for (int axis = 0; axis < d_.grid.dims; ++axis) {
      const std::vector<int> stored = links_along(axis);
      made.arrays.insert(made.arrays.end(), stored.begin(), stored.end());
    }
    return made;
  }

 private:
  Arena& arena() const { return d_.arena(); }
  const gauge::Group& group() const { return base_.links->group; }

  std::vector<int> links_along(int axis) {
    const char* shown = algebra::kAxisNames[axis];
    const std::vector<int> z = stored(
        exponent(axis), fmt::format("exponent of {} along {}", definition_.fact.name, shown));
    std::vector<Expr> p;
    for (const int array : z) p.push_back(arena().load(array));
    const auto first = static_cast<std::size_t>(axis * base_.links->reals());
    std::vector<Expr> moved;
    if (base_.angle) {
      moved = {gauge::plus(arena().load(base_.arrays[first]), p[0])};
    } else {
      const int terms = gauge::exponential_terms(0x1p-53);
      const gauge::Matrix u =
          gauge::times(gauge::exponential(group(), p, terms), links_of(arena(), base_)(axis, {}));
      moved = gauge::store(*base_.links, gauge::reunitarised(group(), u));
    }
    return stored(moved, fmt::format("{} along {}", definition_.fact.name, shown));
  }

  /// The coordinates z_a of A = i z_a T_a for the link along `axis`.
  std::vector<Expr> exponent(int axis) {
    Reading reading;
    reading.gradient_by_links = [this, axis](const dsl::Expr& f, int by, dsl::Span,
                                             const Scope& scope) {
      return gradient(f, by < 0 ? axis : by, scope);
    };
    IndexValue direction;
    direction.value = axis;
    direction.direction = true;
    Scope scope = Scope::in(reading);
    scope.indices.emplace(definition_.fact.parameters[0], direction);
    // a reader of its own: a name in A has another value along each axis
    const Value a = Lowerer(d_).value(definition_.exponent, scope);
    const int n = group().n;
    if (a.rows != n || a.columns != n)
      d_.fail(
          errors::flow_not_of_loops(definition_.exponent.span, "of another shape than the links"));
    gauge::Matrix m{n, n, {}};
    for (const Component& part : a.parts)
      m.parts.push_back({part.re, part.im ? part.im : arena().integer(0)});
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
    const gauge::LinkOf link = links_of(arena(), base_);
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

  /// Arrays that hold the values while outputs are computed.
  std::vector<int> stored(const std::vector<Expr>& values, const std::string& name) {
    LinearSystem system;
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
};

/// The field as it has been made before.
std::optional<StateField> known_links(const Program& d, const LinkDefinition& definition,
                                      const StateField& base) {
  StateField field = named_links(definition, base);
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    const std::string name = fmt::format("{} along {}", field.name, algebra::kAxisNames[axis]);
    for (const LinearSystem& solve : d.collected.solves) {
      if (solve.name == name && solve.span == field.span)
        field.arrays.insert(field.arrays.end(), solve.arrays.begin(), solve.arrays.end());
    }
  }
  if (field.arrays.size() != base.arrays.size()) return std::nullopt;
  return field;
}

}  // namespace

bool defines_links(const Declared& d, const std::string& name) {
  return definition_of_links(d, name).has_value();
}

std::optional<StateField> defined_links(const Program& d, Lowerer& lower, const std::string& name,
                                        const dsl::Expr& at) {
  const auto definition = definition_of_links(d, name);
  if (!definition) return std::nullopt;
  const StateField* own = d.field(definition->base);
  const StateField base = own ? *own : *defined_links(d, lower, definition->base, at);
  if (const auto known = known_links(d, *definition, base)) return known;
  return LinkMaker(d, lower, *definition, base).make();
}

}  // namespace vphi::physics
