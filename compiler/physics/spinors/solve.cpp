#include "compiler/physics/spinors/solve.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/even_odd.hpp"
#include "compiler/physics/spinors/solve_errors.hpp"
#include "compiler/physics/stages/program.hpp"
#include "compiler/text/solver.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// Powers of the arrays in an expression: 0, 1, both fit (the number 0), or neither.
struct Degree {
  enum class Kind { Any, None, Linear, Broken };
  Kind kind = Kind::None;
  Expr where;  ///< Broken: the subtree that is neither
};

class DegreeReader {
 public:
  explicit DegreeReader(const std::vector<int>& arrays) : arrays_(arrays) {}

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

/// `even_odd = off` keeps the system as it is written.
bool even_odd_wanted(const Program& d, const dsl::Expr& e) {
  for (const dsl::NamedArgument& named : e.named) {
    if (named.name != "even_odd") continue;
    if (named.value->text == "off") return false;
    if (named.value->text != "on")
      d.fail(errors::option_value(named.value->span, "even_odd", "on or off"));
  }
  return true;
}

/// A^+ x: the derivative of sum(y.A(x)) by x, with y called x again.
std::vector<Expr> adjoint_of(const Program& d, const LinearSystem& solve) {
  Arena& arena = d.arena();
  if (!solve.op.stages.empty()) return {};
  for (int axis = 0; axis < d.grid.dims; ++axis) {
    const Boundary b = d.grid.boundary[axis];
    if (b != Boundary::Periodic && b != Boundary::Antiperiodic) return {};
  }
  const int first = d.collected.arrays;
  d.collected.arrays += static_cast<int>(solve.arrays.size());
  Expr product = arena.integer(0);
  for (std::size_t i = 0; i < solve.op.image.size(); ++i) {
    product = product + arena.load(first + static_cast<int>(i)) * solve.op.image[i];
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

/// A number for each leaf, the same at every call.
double number_for(const algebra::Node& leaf, int sample) {
  std::uint64_t key = 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(sample + 1);
  const auto mix = [&](std::uint64_t more) {
    key = (key ^ more) * 0xbf58476d1ce4e5b9ULL;
    key ^= key >> 29;
  };
  mix(static_cast<std::uint64_t>(leaf.op) + 7);
  mix(static_cast<std::uint64_t>(leaf.index) + 11);
  for (const auto part : leaf.offset.d) mix(static_cast<std::uint64_t>(part + 100));
  for (const char letter : leaf.name) mix(static_cast<std::uint64_t>(letter));
  return static_cast<double>(key >> 11) * 0x1p-53 + 0.25;
}

/// Whether two maps differ on numbers at all of their leaves.
bool differ(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  constexpr int kSamples = 3;
  const auto value = [](Expr e, int sample) {
    const Expr plain = algebra::rewrite(e, [](Expr node) {
      if (!node.is(Op::Stencil)) return node;
      Arena& arena = *node->arena;
      return algebra::written_out(arena.stencil_data(node->index), node.arg(0), arena.symbol("dx"));
    });
    return algebra::evaluate(plain,
                             {[&](const algebra::Node& leaf) { return number_for(leaf, sample); }});
  };
  for (int sample = 0; sample < kSamples; ++sample) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double left = value(a[i], sample), right = value(b[i], sample);
      if (std::abs(left - right) > 1e-9 * (1 + std::abs(left) + std::abs(right))) return true;
    }
  }
  return false;
}

/// Whether the solver counts on a hermitian operator: the option `hermitian` of its head is not 0.
bool wants_hermitian(const LinearSystem& solve) {
  return std::ranges::any_of(solve.options, [](const auto& option) {
    return option.first == "hermitian" && !option.second.is_zero();
  });
}

}  // namespace

Expr not_linear(Expr value, const std::vector<int>& arrays) {
  const Degree degree = DegreeReader(arrays).of(value);
  if (degree.kind == Degree::Kind::None) return value;
  return degree.kind == Degree::Kind::Broken ? degree.where : Expr();
}

namespace {

/// Whether it makes complex numbers of fields: `dot` with nothing around that makes it real.
bool wants_complex(const text::Solver& solver) {
  const std::function<bool(const dsl::Expr&)> within = [&](const dsl::Expr& e) {
    const bool call = e.kind == dsl::ExprKind::Call;
    if (call && (e.text == "re" || e.text == "im" || e.text == "abs" || e.text == "norm2"))
      return false;
    if (call && e.text == "dot") return true;
    return std::ranges::any_of(e.args, [&](const dsl::ExprPtr& arg) { return within(*arg); });
  };
  const auto in = [&](const text::Statement& line) { return within(*line.value); };
  return std::ranges::any_of(solver.before, in) || std::ranges::any_of(solver.iteration, in) ||
         std::ranges::any_of(solver.after, in);
}

/// A(i u) = i A(u), tried with numbers: what is linear and agrees for these agrees for all. An
/// operator that holds a reduction is taken to be so.
bool complex_linear(const LinearSystem& solve) {
  std::unordered_map<std::string, double> numbers;
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  const auto number = [&](const std::string& leaf) {
    const auto [place, fresh] = numbers.try_emplace(leaf, 0);
    if (fresh) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      place->second = 0.25 + static_cast<double>(state >> 40U) / static_cast<double>(1U << 24U);
    }
    return place->second;
  };
  const auto value_at = [&](Expr part, bool times_i) {
    algebra::Environment environment;
    environment.leaf = [&](const algebra::Node& node) {
      const bool stencil = node.op == Op::Stencil;
      const algebra::Node& load = stencil ? *node.args[0] : node;
      if (load.op != Op::Load) return number(fmt::format("{}", static_cast<const void*>(&node)));
      const auto at = std::ranges::find(solve.arrays, load.index);
      const auto place = at - solve.arrays.begin();
      const bool own = at != solve.arrays.end();
      // i(re + i im): re is -im, im is re
      const auto source =
          own && times_i ? solve.arrays[static_cast<std::size_t>(place ^ 1)] : load.index;
      const double sign = own && times_i && place % 2 == 0 ? -1 : 1;
      const auto& o = load.offset.d;
      return sign * number(fmt::format("{} {} {},{},{},{}", stencil ? node.index : -1, source, o[0],
                                       o[1], o[2], o[3]));
    };
    return algebra::evaluate(part, environment);
  };
  try {
    for (std::size_t i = 0; i < solve.op.image.size(); i += 2) {
      const double re = value_at(solve.op.image[i], false),
                   im = value_at(solve.op.image[i + 1], false);
      const double off = std::fabs(value_at(solve.op.image[i], true) + im) +
                         std::fabs(value_at(solve.op.image[i + 1], true) - re);
      if (off > 1e-9 * (std::fabs(re) + std::fabs(im))) return false;
    }
  } catch (const std::invalid_argument&) {
    return true;
  }
  return true;
}

/// Numbers of the arrays that an operator is written in: the argument, then the stages.
std::vector<int> arrays_of(const LinearSystem& solve) {
  std::vector<int> arrays = solve.arrays;
  for (const LinearMap::Stage& stage : solve.op.stages)
    arrays.insert(arrays.end(), stage.arrays.begin(), stage.arrays.end());
  return arrays;
}

std::vector<Expr> values_of(const LinearMap& map) {
  std::vector<Expr> values;
  for (const LinearMap::Stage& stage : map.stages)
    values.insert(values.end(), stage.values.begin(), stage.values.end());
  values.insert(values.end(), map.image.begin(), map.image.end());
  return values;
}

/// Both have the same operator and the same solver.
bool alike(const LinearSystem& a, const LinearSystem& b) {
  const std::vector<int> from = arrays_of(a), to = arrays_of(b);
  const std::vector<Expr> x = values_of(a.op), y = values_of(b.op);
  if (a.solver->span != b.solver->span || a.options != b.options || a.rows != b.rows ||
      a.columns != b.columns || a.antiperiodic != b.antiperiodic || from.size() != to.size() ||
      x.size() != y.size()) {
    return false;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Expr renamed = algebra::rewrite(x[i], [&](Expr node) {
      if (!node.is(Op::Load)) return node;
      const auto at = std::ranges::find(from, node->index);
      if (at == from.end()) return node;
      return node->arena->load(to[static_cast<std::size_t>(at - from.begin())], node->offset,
                               node->span);
    });
    if (renamed != y[i]) return false;
  }
  return true;
}

}  // namespace

/// The solver that a call names, `cg` where it names none, with its options.
void Lowerer::choose_solver(const dsl::Expr& e, const Scope& scope, LinearSystem& solve) {
  const dsl::Expr* choice = nullptr;
  for (const dsl::NamedArgument& named : e.named) {
    if (named.name == "solver") choice = named.value.get();
  }
  const std::string chosen = choice ? choice->text : "cg";
  const dsl::Symbol* symbol = d_.resolved.find(chosen);
  if (!symbol || symbol->kind != dsl::SymbolKind::Solver || !symbol->line) {
    d_.fail(errors::unknown_name(choice ? choice->span : e.span, chosen));
  }
  solve.solver = text::read_solver(symbol->line->clause, e.span, d_.diagnostics);
  if (!solve.solver) throw Failure{};
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
    reading.stages->push_back(std::move(stage));
    known = &reading.stages->back();
  }
  Value result = spinor_of_arrays(d_.arena(), known->arrays.front(), v.columns);
  result.form = v.form;
  return result;
}

std::array<bool, 4> Lowerer::antiperiodic_axes_of(const dsl::Expr& at, const NamedFact& op) {
  const auto& all = d_.spinor_antiperiodic;
  if (all.empty()) return {};
  const auto named = all.find(op.parameters[0]);
  if (named != all.end()) return named->second;
  const auto& first = all.begin()->second;
  if (!std::ranges::all_of(all, [&](const auto& other) { return other.second == first; })) {
    std::vector<std::string> names;
    for (const auto& [name, antiperiodic] : all) names.push_back(name);
    d_.fail(errors::whose_boundary(at.span, op.name, op.parameters[0], names, op.span));
  }
  return first;
}

std::optional<Value> Lowerer::solve(const dsl::Expr& e, const Scope& scope) {
  Arena& arena = d_.arena();
  const dsl::Expr& op = *e.args[0];
  const NamedFact* fact = d_.facts.find(op.text);
  if (!d_.grid.present) d_.fail(errors::no_lattice(e.span, "solve"));
  if (!fact || fact->kind != NamedFact::Kind::Function || fact->parameters.size() != 1) {
    d_.fail(
        errors::wrong_shape(op.span, "`solve` takes the name of a function of one field first"));
  }
  const Value b = value(*e.args[1], scope);
  if (b.acts) d_.fail(errors::wrong_shape(e.args[1]->span, kOperatorAlone));
  LinearSystem solve;
  solve.rows = b.rows;
  solve.columns = b.columns;
  solve.spinor = b.spinor;
  solve.complex = b.spinor || b.complex();
  solve.span = e.span;
  if (b.spinor) solve.antiperiodic = antiperiodic_axes_of(op, *fact);
  const int first = d_.collected.arrays;
  const auto unknown = [&](bool complex, int from) {
    Value x{b.rows, b.columns, {}};
    x.spinor = b.spinor;
    for (std::size_t i = 0; i < b.parts.size(); ++i) {
      const int at = from + static_cast<int>(complex ? 2 * i : i);
      x.parts.push_back(
          {arena.load(at, {}, e.span), complex ? arena.load(at + 1, {}, e.span) : Expr{}});
    }
    return x;
  };
  const auto image_of = [&](bool complex) {
    dsl::Expr call = op;
    call.kind = dsl::ExprKind::Call;
    Reading operators = scope.reading();
    operators.stages = b.spinor ? &solve.op.stages : nullptr;
    Scope inner = Scope::in(operators);
    inner.parent = &scope;
    Value x = unknown(complex, first);
    if (b.spinor) x.form = unknown_spinor(arena, b.columns).form;
    inner.values.emplace("the unknown", x);
    auto argument = std::make_shared<dsl::Expr>(op);
    argument->text = "the unknown";
    call.args = {argument};
    solve.op.stages.clear();
    d_.collected.arrays = first + static_cast<int>(b.parts.size()) * (complex ? 2 : 1);
    return user_function(*fact, call, inner);
  };
  Value image = image_of(solve.complex);
  if (!solve.complex && image.complex()) {
    solve.complex = true;
    image = image_of(true);
  }
  if (image.rows != b.rows || image.columns != b.columns || image.spinor != b.spinor) {
    d_.fail(errors::wrong_shape(op.span,
                                "`solve` takes a function that keeps the shape of its "
                                "argument"));
  }
  solve.op.image = real_parts(arena, image, solve.complex);
  solve.source = real_parts(arena, b, solve.complex);
  for (std::size_t i = 0; i < solve.op.image.size(); ++i) {
    solve.arrays.push_back(first + static_cast<int>(i));
  }
  for (const Expr part : values_of(solve.op)) {
    if (const Expr wrong = not_linear(part, arrays_of(solve))) {
      d_.fail(errors::not_linear(op.span, op.text, written(d_, wrong->span), fact->span));
    }
  }
  choose_solver(e, scope, solve);
  // what is recognised as a sum of matrices before its argument is linear for complex factors
  if (solve.complex && !image.form && solve.op.stages.empty() && wants_complex(*solve.solver) &&
      !complex_linear(solve)) {
    d_.fail(errors::only_real_linear(op.span, op.text, solve.solver->name, fact->span));
  }
  if (wants_hermitian(solve) && solve.op.stages.empty()) {
    const int arrays = d_.collected.arrays;
    std::vector<Expr> adjoint_values;
    if (image.form) {
      adjoint_values = real_parts(
          arena, apply(adjoint(*image.form), link_matrices(), unknown(true, first)), true);
    } else {
      adjoint_values = adjoint_of(d_, solve);
    }
    d_.collected.arrays = arrays;
    if (!adjoint_values.empty() && differ(solve.op.image, adjoint_values))
      d_.fail(errors::not_hermitian(op.span, op.text, solve.solver->name, fact->span));
  }
  const bool even_odd = even_odd_wanted(d_, e);
  if (!even_odd) solve.options.emplace_back("even_odd", integer(0));

  const LinearSystem* found = nullptr;
  for (std::size_t i = 0; i < d_.collected.solves.size() && !found; ++i) {
    const LinearSystem& known = d_.collected.solves[i];
    if (known.like >= 0 || !alike(known, solve)) continue;
    solve.like = static_cast<int>(i);
    for (const LinearSystem& other : d_.collected.solves) {
      const bool same = &other == &known || other.like == solve.like;
      if (same && other.source == solve.source) found = &other;
    }
  }
  if (found) {
    d_.collected.arrays = first;
    return unknown(found->complex, found->arrays[0]);
  }
  const std::string number = std::to_string(d_.collected.solves.size() + 1);
  solve.name = written(d_, e.span);
  solve.iterations = "solve_iterations_" + number;
  solve.residual = "solve_residual_" + number;
  if (solve.like >= 0) {
    solve.op = {};
    d_.collected.arrays = first + static_cast<int>(solve.arrays.size());
  }
  if (solve.like < 0 && even_odd && image.form)
    solve.even_odd = even_odd_system(d_, *image.form, link_matrices(), solve.columns);
  if (solve.like < 0 && text::calls(*solve.solver, "adj")) {
    if (image.form) {
      const Value adjoint_image =
          apply(adjoint(*image.form), link_matrices(), unknown(true, first));
      solve.adjoint.image = real_parts(arena, adjoint_image, true);
    } else {
      solve.adjoint.image = adjoint_of(d_, solve);
    }
  }
  if (solve.spinor) {
    for (int array = first; array < d_.collected.arrays; ++array)
      d_.collected.antiperiodic_arrays[array] = solve.antiperiodic;
  }
  const Value x = unknown(solve.complex, first);
  d_.collected.solves.push_back(std::move(solve));
  return x;
}

std::optional<Value> Lowerer::of_solve(const dsl::Expr& e, const Scope& scope) {
  const Value x = value(*e.args[0], scope);
  const Expr part = x.parts[0].re;
  for (const LinearSystem& solve : d_.collected.solves) {
    if (!part.is(Op::Load) || part->index != solve.arrays[0]) continue;
    return Value::of(
        d_.arena().symbol(e.text == "iterations" ? solve.iterations : solve.residual, e.span));
  }
  d_.fail(errors::wrong_shape(e.args[0]->span,
                              fmt::format("`{}` takes what `solve` has given, as it is", e.text)));
}

void finish_solves(const Program& d, ProgramUnits& units, System& system) {
  if (system.solves.empty()) return;
  std::vector<int> arrays;
  std::vector<std::string> symbols;
  for (LinearSystem& solve : system.solves) {
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
