// Links: products along paths.
//
// A link of U(1) is stored as its angle, U[i] = exp(1i*theta_i), so that the product along a path
// is one complex number of the sum of angles: a plaquette costs one cosine. Matrices (SU(n))
// multiply instead (compiler/gauge). While an action is read a product of links is its path.
#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/gauge/projected.hpp"
#include "compiler/physics/chains/gauge_fixing_errors.hpp"
#include "compiler/physics/chains/link_definition.hpp"
#include "compiler/physics/chains/link_field.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/fields/link_motion_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

bool Lowerer::has_links() const {
  return std::ranges::any_of(d_.fields, [](const StateField& f) { return f.links.has_value(); });
}

const StateField& Lowerer::links(dsl::Span span) const {
  const StateField* found = nullptr;
  for (const StateField& field : d_.fields) {
    if (!field.links) continue;
    if (found) d_.fail(errors::which_links(span, found->name, field.name));
    found = &field;
  }
  return *found;
}

gauge::LinkOf links_of(const Declared& d, const StateField& field) {
  return gauge::remembered([&d, &field](int axis, Offset at) {
    const int reals = field.links->reals();
    const Expr outside = leaves_box(d, field, {{axis, at, false}});
    const auto inside = [&](Expr part) {
      return outside ? gauge::select(outside, gauge::number(part, 0), part) : part;
    };
    std::vector<Expr> stored;
    for (int i = 0; i < reals; ++i) {
      const Expr part =
          d.arena().load(field.arrays[static_cast<std::size_t>(axis * reals + i)], at, field.span);
      stored.push_back(field.angle ? part : inside(part));
    }
    gauge::Matrix u = gauge::load(*field.links, stored);
    if (field.angle) u.parts[0] = {inside(u.parts[0].re), inside(u.parts[0].im)};
    return u;
  });
}

Value Lowerer::along(const StateField& field, const LinkPath& walked, dsl::Span span,
                     const Reading& reading) {
  Arena& arena = d_.arena();
  LinkPath path = walked;
  path.links = field.arrays.empty() ? -1 : field.arrays[0];
  const int n = field.links->group.n;
  const bool defined = path.of == 0 && d_.field(field.name) == nullptr;
  if (defined && (reading.trace_of || reading.closed_trace))
    d_.fail(errors::loops_of_made_links(span, field.name));
  if (reading.trace_of) {
    if (reading.joins_links) {
      for (gauge::Step& step : path.word) step.axis += gauge::kOtherLinks * path.of;
      path.of = 0, path.links = -1;
    }
    const Expr open = arena.symbol(Reading::kOpenPath, span);
    const std::vector<Component> parts(static_cast<std::size_t>(n * n), Component{open, open});
    return {n, n, parts, sole_path(arena, path)};
  }
  if (field.angle) {
    Expr angle = arena.integer(0);
    for (const gauge::LinkAt& link : gauge::links(path.word, path.start)) {
      const Expr part =
          arena.load(field.arrays[static_cast<std::size_t>(link.axis)], link.at, span);
      angle = link.adjoint ? angle - part : angle + part;
    }
    Value phase = Value::of(arena.make(Op::Cos, {angle}, span), arena.make(Op::Sin, {angle}, span));
    if (const Expr outside = leaves_box(d_, field, gauge::links(path.word, path.start)))
      for (Expr* part : {&phase.parts[0].re, &phase.parts[0].im})
        *part = arena.make(Op::Select, {outside, arena.integer(0), *part}, span);
    if (!defined) phase.links = sole_path(arena, path);
    return phase;
  }
  const gauge::Matrix product = path.word.empty()
                                    ? gauge::identity(arena, n)
                                    : gauge::along(path.word, path.start, links_of(d_, field));
  Value result{n, n, {}};
  for (const gauge::Complex& part : product.parts) result.parts.push_back({part.re, part.im});
  if (!defined) result.links = sole_path(arena, path);  // paths are those of the model's links
  return result;
}

std::optional<MadeLinks> Lowerer::made_links(const std::string& name, const dsl::Expr& at,
                                             const Reading& reading, const std::set<int>& axes,
                                             const std::vector<int>& labels) {
  if (reading.made_links) return reading.made_links(name, at, axes, labels);
  const auto field = defined_links(d_, *this, name, at, labels, axes);
  return field ? std::optional(MadeLinks{0, *field}) : std::nullopt;
}

/// `mu`, `-mu`, and `3*mu` for three steps.
std::vector<IndexValue> Lowerer::steps_of(const dsl::Expr& arg, const Scope& scope) {
  constexpr std::int64_t kMostSteps = 64;
  const auto k = direction(arg, scope);
  if (k && k->direction && k->value >= 0 && k->value < d_.grid.dims) return {*k};
  const bool negative = arg.kind == dsl::ExprKind::Unary && arg.text == "-";
  const dsl::Expr& product = negative ? *arg.args[0] : arg;
  if (product.kind == dsl::ExprKind::Binary && product.text == "*") {
    auto step = direction(*product.args[1], scope);
    const auto count = fixed_integer(*product.args[0], "the number of steps", scope);
    if (step && step->direction && std::abs(count) <= kMostSteps) {
      if (negative != (count < 0)) step->sign = -step->sign;
      return std::vector<IndexValue>(static_cast<std::size_t>(std::abs(count)), *step);
    }
  }
  d_.fail(errors::wrong_shape(arg.span, "a path is a list of directions: i, -j, x, 3*i"));
}

std::optional<Value> Lowerer::path_product(const dsl::Expr& e, const Scope& scope) {
  if (!has_links()) return std::nullopt;
  LinkPath path;
  const dsl::Expr& first = *e.args[0];
  const bool named = first.kind == dsl::ExprKind::Name && !scope.index(first.text);
  const StateField* of = named ? d_.field(first.text) : nullptr;
  if (of && !of->links) of = nullptr;
  const bool defined = named && defines_links(d_, first.text);
  std::set<int> axes;
  for (std::size_t i = defined || of ? 1 : 0; i < e.args.size(); ++i) {
    for (const IndexValue& k : steps_of(*e.args[i], scope)) {
      path.word.push_back({k.value, k.sign < 0});
      axes.insert(k.value);
    }
  }
  const auto made = defined ? made_links(first.text, e, scope.reading(), axes) : std::nullopt;
  if (made) path.of = made->number;
  if (e.text == "loop" && !gauge::closed(path.word)) d_.fail(errors::path_open(e.span));
  return along(made ? made->field : of ? *of : links(e.span), path, e.span, scope.reading());
}

/// U[i] of matrices; U[-i] is adj(U[i]@-i) (docs/rules.md rule 12).
std::optional<Value> Lowerer::link_value(const dsl::Expr& e, const Scope& scope) {
  const dsl::Expr& base = *e.args[0];
  if (base.kind != dsl::ExprKind::Name || scope.value(base.text) || e.args.size() < 2) return {};
  std::vector<int> labels;
  if (e.args.size() > 2) {
    if (!defines_links(d_, base.text)) return {};
    for (std::size_t i = 2; i < e.args.size(); ++i) {
      const auto axis = direction(*e.args[i], scope);
      if (!axis || axis->value < 0 || axis->value >= d_.grid.dims)
        d_.fail(
            errors::wrong_shape(e.args[i]->span, "an index of links is an axis of the lattice"));
      labels.push_back(axis->value);
    }
  }
  const StateField* own = d_.field(base.text);
  if (own && own->algebra && own->link) return link_momentum(*own, e, scope);
  const bool defined = defines_links(d_, base.text);
  if (!defined && (!own || !own->links)) return {};
  const auto k = direction(*e.args[1], scope);
  if (!k && own && own->angle) return {};
  if (!k || k->value < 0 || k->value >= d_.grid.dims) {
    d_.fail(errors::wrong_shape(e.args[1]->span, "a link has a direction of the lattice"));
  }
  const auto made =
      defined ? made_links(base.text, e, scope.reading(), {k->value}, labels) : std::nullopt;
  const StateField* field = made ? &made->field : own;
  return along(*field, {{}, {{k->value, k->sign < 0}}, made ? made->number : 0}, e.span,
               scope.reading());
}

std::optional<Value> Lowerer::colours_of_links(const dsl::Expr& e, const Scope&) {
  std::string name = e.args[0]->text;
  while (const auto definition = definition_of_links(d_, name)) name = definition->base;
  const StateField* field = d_.field(name);
  if (!field || !field->links)
    d_.fail(errors::wrong_shape(e.args[0]->span, "`colours` takes the name of links"));
  return Value::of(integer(field->links->group.n));
}

std::optional<Value> Lowerer::projected_value(const dsl::Expr& e, const Scope& scope) {
  if (e.args.size() > 1) d_.fail(errors::gauge_not_defined(e.span));
  if (!has_links()) return std::nullopt;
  const gauge::Group group = links(e.span).links->group;
  if (!gauge::has_projection(group))
    d_.fail(errors::not_yet(e.span, "a projection to SU(n) with n > 3"));
  const Value x = value(*e.args[0], scope);
  if (x.rows != group.n || x.columns != group.n || x.acts || x.spinor)
    d_.fail(errors::wrong_shape(e.args[0]->span, "`project` takes a matrix like a link"));
  gauge::Matrix m{x.rows, x.columns, {}};
  for (const Component& part : x.parts)
    m.parts.push_back({part.re, part.im ? part.im : integer(0)});
  Value result{x.rows, x.columns, {}};
  for (const gauge::Complex& part : gauge::projected(group, m).parts)
    result.parts.push_back({part.re, part.im});
  return result;
}

/// E[i], a matrix of the algebra.
Value Lowerer::link_momentum(const StateField& field, const dsl::Expr& e, const Scope& scope) {
  const auto k = direction(*e.args[1], scope);
  if (!k || k->sign < 0 || k->value < 0 || k->value >= d_.grid.dims)
    d_.fail(errors::wrong_shape(e.args[1]->span, "a momentum of links has an axis of the lattice"));
  const int count = field.algebra->generators();
  std::vector<Expr> u;
  for (int a = 0; a < count; ++a)
    u.push_back(
        d_.arena().load(field.arrays[static_cast<std::size_t>(k->value * count + a)], {}, e.span));
  return algebra_value(*field.algebra, u);
}

/// The trace of closed paths while an action is read.
Value Lowerer::traced(const Value& x, const Reading& reading) const {
  const auto& trace_of = x.path ? reading.trace_of : reading.closed_trace;
  const Paths paths = x.path ? x.path : x.links;
  const auto is_loop = [](const PathTerm& term) { return gauge::closed(term.path.word); };
  if (!trace_of || !paths || !std::ranges::all_of(*paths, is_loop))
    return {x.rows, x.columns, x.parts};
  Component sum{d_.arena().integer(0), {}};
  for (const PathTerm& term : *paths) sum = add(sum, multiply(term.weight, trace_of(term.path)));
  return {1, 1, {sum}};
}

Lowerer Lowerer::keeping_gaps() const {
  Lowerer result = *this;
  result.keep_gaps_ = true;
  if (has_links()) result.known_.clear();
  return result;
}

// cos(theta) = 1 - 2 sin^2(theta/2), and re(tr(P)) = N - |1 - P|^2/2 of unitary P.
std::shared_ptr<const Gap> Lowerer::gap_of(const Value& product, int n) const {
  const bool open = std::ranges::any_of(
      d_.fields, [](const StateField& field) { return field.walls.any_open(); });
  if (!keep_gaps_ || open || !sole_path(product.links) || product.path || product.rows != n ||
      product.columns != n)
    return nullptr;
  Arena& arena = d_.arena();
  const Expr half = arena.rational(1, 2);
  if (const Expr phase = product.parts[0].re; n == 1) {
    if (!phase.is(Op::Cos)) return nullptr;
    const Expr sine = arena.make(Op::Sin, {half * phase.arg(0)});
    return std::make_shared<const Gap>(
        Gap{arena.integer(1), arena.integer(2) * algebra::pow(sine, 2)});
  }
  std::vector<Expr> squares;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const Component& x = product.parts[static_cast<std::size_t>(i * n + j)];
      squares.push_back(norm2(Component{i == j ? x.re - arena.integer(1) : x.re, x.im}));
    }
  }
  return std::make_shared<const Gap>(
      Gap{arena.integer(n), half * arena.make(Op::Add, std::move(squares))});
}

/// tr(U_t(x) U_t(x + t) ...)/n around the last axis, averaged: the same at every site of a line.
Value Lowerer::polyakov(dsl::Span span, const Reading& reading) {
  constexpr std::int64_t kMost = 64;
  const StateField& field = links(span);
  const int axis = d_.grid.dims - 1;
  const std::int64_t extent = d_.grid.extent[static_cast<std::size_t>(axis)];
  if (d_.grid.shifted(axis)) d_.fail(errors::shifted_box(span, "`polyakov`", d_.grid.span));
  if (extent > kMost) d_.fail(errors::not_yet(span, "a Polyakov loop of more than 64 links"));
  const LinkPath path{{}, gauge::Word(static_cast<std::size_t>(extent), gauge::Step{axis})};
  const Value product = along(field, path, span, reading);
  const int n = field.links->group.n;
  Component sum = product.parts[0];
  for (int i = 1; i < n; ++i) sum = add(sum, product.parts[static_cast<std::size_t>(i * n + i)]);
  const Expr norm = d_.arena().rational(1, n);
  return Value::of(d_.arena().make(Op::Mean, {norm * sum.re}, span),
                   d_.arena().make(Op::Mean, {norm * sum.im}, span));
}

}  // namespace vphi::physics
