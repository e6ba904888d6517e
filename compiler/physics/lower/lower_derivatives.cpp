// `d(f, x)`: by a field, its conjugate or component, by a scalar name, or along a lattice axis.
#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/link_definition.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/fields/source_errors.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/lower/open_names.hpp"
#include "compiler/physics/lower/variation.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/edges.hpp"
#include "compiler/physics/spinors/solve_errors.hpp"
#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

/// The derivative by a symbol; refused where an extremum over the sites depends on it.
Expr by_symbol(const Space& d, Expr part, Expr symbol, dsl::Span span) {
  const bool extremum = algebra::contains(part, [&](Expr node) {
    return (node.is(Op::Minimum) || node.is(Op::Maximum)) && algebra::depends_on(node, symbol);
  });
  if (extremum) d.fail(errors::extremum_in_source(span));
  return algebra::derivative(part, symbol);
}

constexpr const char* kOpen = "open ";  // what begins the names of these symbols

/// Whether a text holds a name otherwise than as what a derivative is by.
bool mentions(const dsl::Expr& e, const std::string& name) {
  if (e.kind == ExprKind::Call && e.text == "d" && e.args.size() == 2)
    return mentions(*e.args[0], name);
  if ((e.kind == ExprKind::Name || e.kind == ExprKind::Call) && e.text == name) return true;
  for (const dsl::ExprPtr& arg : e.args)
    if (arg && mentions(*arg, name)) return true;
  for (const dsl::NamedArgument& option : e.named)
    if (mentions(*option.value, name)) return true;
  return false;
}

/// What varies: state, positions and symbols other than those of the model's numbers.
bool varies(const Space& d, Expr node) {
  if (node.is(Op::Symbol))
    return !d.facts.find(node->name) && node->name != "dx" && node->name != "pi";
  return node.is(Op::Load) || node.is(Op::Site);
}

/// Whether `part` holds something that `argument` is made of and that varies.
bool shares(const Space& d, Expr part, Expr argument) {
  return algebra::contains(argument, [&](Expr own) {
    return varies(d, own) && algebra::contains(part, [&](Expr node) {
             if (own.is(Op::Load)) return node.is(Op::Load) && node->index == own->index;
             return node == own;
           });
  });
}

/// Whether an average, a stencil or a neighbour in `part` varies with `argument`.
bool spread(const Space& d, Expr part, Expr argument) {
  return algebra::contains(part, [&](Expr node) {
    const bool elsewhere =
        node.is(Op::Stencil) || node.is(Op::PairSum) || algebra::reduces_sites(node.op());
    return elsewhere && shares(d, node, argument);
  });
}

/// Refuses a derivative by a definition that the value does not hold, where both are made of the
/// same variables: it would be 0.
void check_by_definition(const Space& d, const Value& f, Expr open, Expr definition,
                         const dsl::Expr& e) {
  const auto any = [&](const auto& holds) {
    return std::ranges::any_of(f.parts, [&](const Component& c) {
      return (c.re && holds(c.re)) || (c.im && holds(c.im));
    });
  };
  if (any([&](Expr part) { return algebra::depends_on(part, open); })) return;
  if (any([&](Expr part) { return shares(d, part, definition); }))
    d.fail(errors::derivative_by_definition(e.args[0]->span, e.args[1]->text));
}

/// A parameter by which the body of a function is differentiated.
struct Parameter {
  Expr open;      ///< its symbol meanwhile
  Expr value;     ///< of its argument; derivatives around may have made a symbol of that too
  Expr argument;  ///< without these
  bool known;     ///< whether `argument` is
  bool written;   ///< whether the text that is differentiated has its name
};

/// What of `part` varies with the parameter, with the symbol in its place. A text that does not
/// hold the parameter may have another argument's value that depends on the same variable: then
/// that variable is what it is differentiated by. Refused where it holds both, or where what the
/// value depends on is not the argument alone.
Expr along_parameter(const Space& d, Expr part, const Parameter& by, const dsl::Expr& e) {
  const auto refuse = [&] {
    d.fail(errors::derivative_by_parameter(e.args[0]->span, e.args[1]->text));
  };
  if (algebra::depends_on(part, by.open)) {
    if (varies(d, by.argument) && (shares(d, part, by.argument) || shares(d, part, by.value)))
      refuse();
    return part;
  }
  if (by.written) {
    if (shares(d, part, by.argument) || shares(d, part, by.value)) refuse();
    return part;
  }
  Expr varied = algebra::substitute(part, by.value, by.open);
  if (by.known) varied = algebra::substitute(varied, by.argument, by.open);
  const bool number = !algebra::contains(by.argument, [&](Expr node) { return varies(d, node); });
  const bool found = algebra::depends_on(varied, by.open);
  if (number || (!by.known && !found) || shares(d, varied, by.argument) ||
      spread(d, part, by.argument))
    refuse();
  return varied;
}

}  // namespace

/// d(f, U) or d(f, U[mu]) of links, which is in the algebra of their group.
std::optional<Value> Lowerer::link_gradient(const dsl::Expr& e, const dsl::Expr& by,
                                            const Scope& scope) {
  const bool indexed = by.kind == ExprKind::Index && by.args.size() == 2;
  const dsl::Expr& base = indexed ? *by.args[0] : by;
  if (base.kind != ExprKind::Name || scope.value(base.text)) return std::nullopt;
  const StateField* field = d_.field(base.text);
  if (field ? !field->links : !defines_links(d_, base.text)) return std::nullopt;
  if (!scope.reading().gradient_by_links) d_.fail(errors::gradient_not_here(e.span, base.text));
  int axis = -1;
  if (indexed) {
    const auto k = direction(*by.args[1], scope);
    if (!k || k->sign < 0 || k->value < 0 || k->value >= d_.grid.dims)
      d_.fail(errors::wrong_shape(by.args[1]->span, "a link has a direction of the lattice"));
    axis = k->value;
  }
  return scope.reading().gradient_by_links(*e.args[0], axis, e.span, scope);
}

std::optional<Value> Lowerer::derivative(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  const dsl::Expr* by = e.args[1].get();
  bool conjugate_of = false;
  if (by->kind == ExprKind::Call && by->text == "conj" && by->args.size() == 1) {
    conjugate_of = true;
    by = by->args[0].get();
  }

  if (!conjugate_of)
    if (const auto gradient = link_gradient(e, *by, scope)) return *gradient;

  // along an axis
  if (const auto k = direction(*by, scope);
      k && !conjugate_of && !(by->kind == ExprKind::Name && d_.field(by->text))) {
    const Value of = value(*e.args[0], scope);
    Value slope = of.spinor ? spinor_slope(of, k->value, e.span, scope.reading())
                            : axis_derivative(of, k->value);
    return k->sign < 0 ? negate(slope) : slope;
  }

  // by a local or global name of a number: the name is a symbol meanwhile
  if (by->kind == ExprKind::Name && !conjugate_of) {
    const NamedFact* fact = d_.facts.find(by->text);
    const Value* local = scope.value(by->text);
    if (local || (fact && !d_.field(by->text))) {
      const Value old = local ? *local : value(*by, scope);
      if (!old.scalar() || !old.parts[0].real()) {
        d_.fail(errors::not_differentiable_by(by->span, fmt::format("`{}`", by->text)));
      }
      const Expr open = open_symbol(arena, scope, kOpen + by->text, by->span);
      Scope inner;
      inner.parent = &scope;
      // a name that definitions see, as those of `recover`, is open in them too
      const Scope* seen = scope.dynamic_part();
      inner.dynamic = local == nullptr || (seen && seen->value(by->text) == local);
      inner.values.emplace(by->text, Value::of(open));
      Parameter parameter{open, old.parts[0].re, old.parts[0].re, true, false};
      if (!inner.dynamic) {
        const bool made =
            parameter.value.is(Op::Symbol) && parameter.value->name.starts_with(kOpen);
        const Value* argument = made ? scope.value(parameter.value->name) : nullptr;
        if (argument) parameter.argument = argument->parts[0].re;
        parameter.known = !made || argument;
        parameter.written = mentions(*e.args[0], by->text);
        inner.values.emplace(open->name, Value::of(parameter.argument));
      }
      const Value f = value(*e.args[0], inner);
      if (!local) check_by_definition(d_, f, open, old.parts[0].re, e);
      Value result{f.rows, f.columns, {}};
      for (const Component& c : f.parts) {
        const auto slope = [&](Expr part) {
          if (!part) return Expr{};
          if (!inner.dynamic) part = along_parameter(d_, part, parameter, e);
          return algebra::substitute(by_symbol(d_, part, open, e.args[0]->span), open,
                                     old.parts[0].re);
        };
        result.parts.push_back({slope(c.re), slope(c.im)});
      }
      return result;
    }
  }

  const Value x = value(*by, scope);
  const Value f = value(*e.args[0], scope);
  // of the sum over all sites, so that neighbours count (docs/rules.md rule 15)
  const auto slope = [&](Expr part, Expr leaf) -> Expr {
    if (!leaf.is(Op::Load) && !leaf.is(Op::Symbol)) {
      d_.fail(errors::not_differentiable_by(by->span, "this"));
    }
    if (leaf.is(Op::Symbol)) return by_symbol(d_, part, leaf, e.args[0]->span);
    if (!leaf->offset.zero()) d_.fail(errors::not_differentiable_by(by->span, "a neighbour"));
    check_coupled_walls(d_, part, by->span);
    if (spinor_part(d_, leaf->index) && couples_with_phase(d_, part))
      d_.fail(errors::phase_in_derivative(e.args[0]->span));
    const Functional kind = algebra::per_site(part) ? Functional::Density : Functional::Number;
    return variation(d_, part, kind, leaf->index, e.args[0]->span);
  };
  if (f.parts.size() != 1) {
    d_.fail(errors::wrong_shape(e.args[0]->span, "`d` by a field takes a number"));
  }
  const Component top = f.parts[0];
  Value result{x.rows, x.columns, {}};
  for (const Component& c : x.parts) {
    const Expr half = arena.rational(1, 2);
    if (c.real()) {
      result.parts.push_back({slope(top.re, c.re), top.im ? slope(top.im, c.re) : Expr{}});
      continue;
    }
    if (!top.real()) d_.fail(errors::not_real(e.args[0]->span, "what is differentiated"));
    // d/d(conj z) = (d/d(re) + i d/d(im))/2, d/dz its conjugate
    const Expr re = half * slope(top.re, c.re), im = half * slope(top.re, c.im);
    result.parts.push_back({re, conjugate_of ? im : -im});
  }
  return result;
}

}  // namespace vphi::physics
