#include "compiler/physics/solve.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/calculus.hpp"
#include "compiler/physics/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/steps.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Powers of the arrays in an expression: 0, 1, both fit (the number 0), or neither.
struct Degree {
  enum class Kind { Any, None, Linear, Broken };
  Kind kind = Kind::None;
  Expr where;  ///< Broken: the subtree that is neither
};

class Reading {
 public:
  explicit Reading(const std::vector<int>& arrays) : arrays_(arrays) {}

  Degree of(Expr e) {
    if (const auto known = known_.find(e.get()); known != known_.end()) return known->second;
    const Degree degree = read(e);
    known_.emplace(e.get(), degree);
    return degree;
  }

 private:
  using Kind = Degree::Kind;

  Degree read(Expr e) {
    if (e.is_zero()) return {Kind::Any, {}};
    if (e.is(Op::Load)) {
      return {std::ranges::count(arrays_, e->index) > 0 ? Kind::Linear : Kind::None, {}};
    }
    std::vector<Degree> parts;
    for (const Expr arg : e.args()) {
      parts.push_back(of(arg));
      if (parts.back().kind == Kind::Broken) return parts.back();
    }
    const auto linear = std::ranges::count(parts, Kind::Linear, &Degree::kind);
    const auto none = std::ranges::count(parts, Kind::None, &Degree::kind);
    if (linear == 0) return {Kind::None, {}};
    switch (e.op()) {
      case Op::Add:
      case Op::Sub:
        return none == 0 ? Degree{Kind::Linear, {}} : Degree{Kind::Broken, e};
      case Op::Neg:
      case Op::Stencil:
      case Op::Mean:
      case Op::Total:
        return {Kind::Linear, {}};
      case Op::Mul:
        return linear == 1 ? Degree{Kind::Linear, {}} : Degree{Kind::Broken, e};
      case Op::Div:
        return parts[1].kind == Kind::None ? Degree{Kind::Linear, {}} : Degree{Kind::Broken, e};
      case Op::Select:
        return parts[0].kind == Kind::None && none == 1 ? Degree{Kind::Linear, {}}
                                                        : Degree{Kind::Broken, e};
      default:
        return {Kind::Broken, e};
    }
  }

  const std::vector<int>& arrays_;
  std::unordered_map<const algebra::Node*, Degree> known_;
};

std::vector<Expr> real_parts(Arena& arena, const Value& v, bool complex) {
  std::vector<Expr> parts;
  for (const Component& c : v.parts) {
    parts.push_back(c.re);
    if (complex) parts.push_back(c.im ? c.im : arena.integer(0));
  }
  return parts;
}

bool holds(Expr e, const std::vector<int>& arrays) {
  return e && algebra::contains(e, [&](Expr node) {
           return node.is(Op::Load) && std::ranges::count(arrays, node->index) > 0;
         });
}

/// A^+ x: the derivative of sum(y.A(x)) by x, with y called x again.
std::vector<Expr> adjoint_of(Derivation& d, const LinearSystem& solve) {
  Arena& arena = d.arena();
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    const Boundary b = d.grid.boundary[axis];
    if (b != Boundary::Periodic && b != Boundary::Antiperiodic) return {};
  }
  const int first = d.system.arrays;
  d.system.arrays += static_cast<int>(solve.arrays.size());
  Expr product = arena.integer(0);
  for (std::size_t i = 0; i < solve.image.size(); ++i) {
    product = product + arena.load(first + static_cast<int>(i)) * solve.image[i];
  }
  std::vector<Expr> result;
  try {
    for (const int array : solve.arrays) {
      const Expr slope = algebra::variation(algebra::expand(product), array);
      result.push_back(algebra::rewrite(slope, [&](Expr node) {
        if (!node.is(Op::Load) || node->index < first) return node;
        const auto i = static_cast<std::size_t>(node->index - first);
        if (i >= solve.arrays.size()) return node;
        return arena.load(solve.arrays[i], node->offset, node->span);
      }));
    }
  } catch (const std::invalid_argument&) {  // a mean over the lattice inside of A
    return {};
  }
  return result;
}

}  // namespace

Expr not_linear(Expr value, const std::vector<int>& arrays) {
  const Degree degree = Reading(arrays).of(value);
  if (degree.kind == Degree::Kind::None) return value;
  return degree.kind == Degree::Kind::Broken ? degree.where : Expr();
}

Value Lowerer::solve(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  const dsl::Expr& op = *e.args[0];
  const NamedFact* fact = d_.facts.find(op.text);
  if (!d_.grid.present) d_.fail(errors::no_lattice(e.span, "solve"));
  if (!fact || fact->kind != NamedFact::Kind::Function || fact->parameters.size() != 1) {
    d_.fail(
        errors::wrong_shape(op.span, "`solve` takes the name of a function of one field first"));
  }
  const Value b = value(*e.args[1], scope);
  const auto image_of = [&](const Value& x) {
    dsl::Expr call = op;
    call.kind = dsl::ExprKind::Call;
    Scope inner;
    inner.parent = &scope;
    inner.values.emplace("the unknown", x);
    auto argument = std::make_shared<dsl::Expr>(op);
    argument->text = "the unknown";
    call.args = {argument};
    return user_function(*fact, call, inner);
  };
  const auto unknown = [&](bool complex, int first) {
    Value x{b.rows, b.columns, {}};
    for (std::size_t i = 0; i < b.parts.size(); ++i) {
      const int at = first + static_cast<int>(complex ? 2 * i : i);
      x.parts.push_back(
          {arena.load(at, {}, e.span), complex ? arena.load(at + 1, {}, e.span) : Expr{}});
    }
    return x;
  };
  LinearSystem solve;
  solve.rows = b.rows;
  solve.columns = b.columns;
  solve.complex = b.complex();
  solve.span = e.span;
  const int first = d_.system.arrays;
  Value image = image_of(unknown(solve.complex, first));
  if (!solve.complex && image.complex()) {
    solve.complex = true;
    image = image_of(unknown(true, first));
  }
  if (image.rows != b.rows || image.columns != b.columns) {
    d_.fail(errors::wrong_shape(op.span,
                                "`solve` takes a function that keeps the shape of its "
                                "argument"));
  }
  solve.image = real_parts(arena, image, solve.complex);
  solve.source = real_parts(arena, b, solve.complex);
  for (std::size_t i = 0; i < solve.image.size(); ++i) {
    solve.arrays.push_back(first + static_cast<int>(i));
  }
  for (const Expr part : solve.image) {
    if (const Expr wrong = not_linear(part, solve.arrays)) {
      d_.fail(errors::not_linear(op.span, op.text, written(d_, wrong->span), fact->span));
    }
  }
  const dsl::Expr* choice = nullptr;
  for (const dsl::NamedArgument& named : e.named) {
    if (named.name == "solver") choice = named.value.get();
  }
  const std::string chosen = choice ? choice->text : "cg";
  const dsl::Symbol* symbol = d_.resolved.find(chosen);
  if (!symbol || symbol->kind != dsl::SymbolKind::Solver || !symbol->line) {
    d_.fail(errors::unknown_name(choice ? choice->span : e.span, chosen));
  }
  solve.solver = &symbol->line->clause;
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
    for (const dsl::NamedArgument& named : choice->named) set(named.name, *named.value);
  }

  const auto same = [&](const LinearSystem& known) {
    if (known.solver != solve.solver || known.options != solve.options ||
        known.source != solve.source || known.image.size() != solve.image.size()) {
      return false;
    }
    for (std::size_t i = 0; i < solve.image.size(); ++i) {
      const Expr renamed = algebra::rewrite(known.image[i], [&](Expr node) {
        if (!node.is(Op::Load)) return node;
        const auto at = std::ranges::find(known.arrays, node->index);
        if (at == known.arrays.end()) return node;
        const auto place = static_cast<std::size_t>(at - known.arrays.begin());
        return arena.load(solve.arrays[place], node->offset, node->span);
      });
      if (renamed != solve.image[i]) return false;
    }
    return true;
  };
  const LinearSystem* found = nullptr;
  for (const LinearSystem& known : d_.system.solves) {
    if (same(known)) found = &known;
  }
  if (!found) {
    for (const LinearSystem& known : d_.system.solves) {
      for (const Expr part : solve.source) {
        if (holds(part, known.arrays)) {
          d_.fail(errors::not_yet(e.span, "a solve whose right side is what another has given"));
        }
      }
    }
    d_.system.arrays += static_cast<int>(solve.arrays.size());
    const std::string number = std::to_string(d_.system.solves.size() + 1);
    solve.name = written(d_, e.span);
    solve.iterations = "solve_iterations_" + number;
    solve.residual = "solve_residual_" + number;
    solve.adjoint = adjoint_of(d_, solve);
    d_.system.solves.push_back(solve);
    found = &d_.system.solves.back();
  }
  return unknown(found->complex, found->arrays[0]);
}

Value Lowerer::of_solve(const dsl::Expr& e, const Scope& scope) {
  const Value x = value(*e.args[0], scope);
  const Expr part = x.parts[0].re;
  for (const LinearSystem& solve : d_.system.solves) {
    if (!part.is(Op::Load) || part->index != solve.arrays[0]) continue;
    return Value::of(
        d_.arena().symbol(e.text == "iterations" ? solve.iterations : solve.residual, e.span));
  }
  d_.fail(errors::wrong_shape(e.args[0]->span,
                              fmt::format("`{}` takes what `solve` has given, as it is", e.text)));
}

void finish_solves(Derivation& d, ProgramUnits& units) {
  if (d.system.solves.empty()) return;
  std::vector<int> arrays;
  std::vector<std::string> symbols;
  for (LinearSystem& solve : d.system.solves) {
    arrays.insert(arrays.end(), solve.arrays.begin(), solve.arrays.end());
    symbols.push_back(solve.iterations);
    symbols.push_back(solve.residual);
    for (auto* parts : {&solve.image, &solve.adjoint, &solve.source}) {
      for (Expr& part : *parts) part = units.quantity(part);
    }
  }
  const auto refuse = [&](Expr e, dsl::Span span) {
    const bool found = e && algebra::contains(e, [&](Expr node) {
                         return (node.is(Op::Load) && std::ranges::count(arrays, node->index)) ||
                                (node.is(Op::Symbol) && std::ranges::count(symbols, node->name));
                       });
    if (found) d.fail(errors::not_yet(span, "`solve` in what every step or the start needs"));
  };
  for (const Variable& v : d.system.variables) refuse(v.rate, v.span);
  for (const ScalarVariable& s : d.system.scalars) refuse(s.rate, d.background.span);
  for (const InitialValue& i : d.system.initial) refuse(i.value, d.grid.span);
  for (const Statistic& s : d.system.statistics) refuse(s.spans_time ? s.value : Expr(), s.span);
  for (const FirstPassage& p : d.system.passages) {
    for (const Expr part : {p.value, p.condition, p.margin}) refuse(part, p.span);
  }
  refuse(d.system.until, d.grid.span);
  for (const OutputClause& output : d.system.outputs) refuse(output.after, output.span);
  for (const Observable& o : d.system.progress) refuse(o.value, d.grid.span);
  for (const Projection& projection : d.system.projections) {
    for (const Expr part : projection.values) refuse(part, d.grid.span);
  }
}

}  // namespace vphi::physics
