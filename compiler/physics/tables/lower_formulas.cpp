// `inverse`, `tabulate` and `integral` in expressions: functions of a formula of one name that has
// a range, `x = a..b`.
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/evaluation.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/lower/open_names.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/tables/formula_errors.hpp"
#include "compiler/physics/tables/known_function.hpp"
#include "compiler/physics/tables/tables.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

/// The call read: the formula with a symbol for its name, and the ends of the range.
struct Lowerer::Formula {
  const dsl::NamedArgument* bound = nullptr;
  Expr open, of, first, last;
};

namespace {

constexpr double kTolerance = 1e-9, kLeastTolerance = 1e-12, kMostTolerance = 1e-2;
constexpr std::int64_t kMostPoints = 256;  // terms of a sum that is written out

const dsl::NamedArgument* option_of(const dsl::Expr& e, std::string_view name) {
  for (const dsl::NamedArgument& option : e.named)
    if (option.name == name) return &option;
  return nullptr;
}

constexpr std::string_view kBound = "bound ";  // before the name of a range, in its symbol

/// What `part` holds beside the symbol `open` and numbers.
struct Varying {
  std::string what;       ///< empty where it holds nothing else
  bool of_range = false;  ///< the name of a range around it
};
Varying varying(Expr part, Expr open) {
  Varying found;
  algebra::visit(part, [&](Expr node) {
    if (node == open || node.is_number() || !found.what.empty()) return;
    if (node.is(Op::Symbol)) {
      found.of_range = node->name.starts_with(kBound);
      std::string_view name = node->name;
      if (found.of_range)
        name = name.substr(kBound.size(), name.find(' ', kBound.size()) - kBound.size());
      found.what = fmt::format("`{}`", name);
    } else if (node.args().empty() || node.is(Op::Stencil) || node.op() >= Op::PairSum) {
      found.what = "a value of the run";
    }
  });
  return found;
}

/// A place in the range as the user would write it: with the unit of its end.
std::string place_in(const Context& d, const dsl::NamedArgument& bound, double where) {
  for (const dsl::ExprPtr& end : bound.value->args) {
    if (end->kind != ExprKind::Unit) continue;
    const auto unit = d.resolved.units.find(end->text);
    if (unit == d.resolved.units.end()) continue;
    return fmt::format("{} = {:.6g} [{}]", bound.name, where / unit->second, end->text);
  }
  return fmt::format("{} = {:.6g}", bound.name, where);
}

/// Value and slope of a formula that holds nothing but `open`.
KnownFunction known_function(Expr of, Expr open) {
  const std::array<Expr, 2> roots{of, algebra::derivative(of, open)};
  return [all = algebra::Evaluation(roots)](double x) {
    const std::vector<double> found = all([x](const algebra::Node&) { return x; });
    return Sampled{found[0], found[1]};
  };
}

/// What changes its sign where the formula changes its form.
std::vector<Expr> switches(Expr of) {
  std::vector<Expr> found;
  const std::set<Op> compares{Op::Less, Op::LessEqual, Op::Min, Op::Max};
  algebra::visit(of, [&](Expr node) {
    if (compares.contains(node.op())) found.push_back(node.arg(0) - node.arg(1));
    if (node.is(Op::Abs) || node.is(Op::Sign)) found.push_back(node.arg(0));
  });
  std::erase_if(found, [](Expr e) { return e.is_number(); });
  return found;
}

/// The parts of a range in which a formula keeps its form. They end and begin at neighbouring
/// numbers.
std::vector<Smooth> smooth_parts(Expr of, double first, double last) {
  constexpr int kSteps = 1024;
  const std::vector<Expr> of_switches = switches(of);
  std::vector<Smooth> parts{{first, last}};
  if (of_switches.empty()) return parts;
  const algebra::Evaluation all(of_switches);
  const auto signs = [&](double x) {
    std::vector<int> positive;
    for (const double v : all([x](const algebra::Node&) { return x; }))
      positive.push_back(v > 0 ? 1 : v < 0 ? -1 : 0);
    return positive;
  };
  double before = first;
  for (int i = 1; i <= kSteps; ++i) {
    const double here = i == kSteps ? last : first + (last - first) * i / kSteps;
    const auto end = signs(here);
    while (signs(before) != end) {
      double low = before, high = here;  // halved to the first change behind `before`
      const auto start = signs(low);
      for (double m = low + (high - low) / 2; m > low && m < high; m = low + (high - low) / 2)
        (signs(m) == start ? low : high) = m;
      parts.back().last = low;
      parts.push_back({high, last});
      before = high;
    }
    before = here;
  }
  std::erase_if(parts, [&](const Smooth& p) { return p.last - p.first < 1e-12 * (last - first); });
  return parts;
}

Expr in_section(Arena& arena, const Section& section, Expr argument) {
  const Expr kept = arena.make(Op::Min, {arena.make(Op::Max, {argument, arena.real(section.low)}),
                                         arena.real(section.high)});
  const Expr at = section.logarithmic ? arena.make(Op::Log, {kept}) : kept;
  return cubics(section.at, section.values, section.slopes, at);
}

/// What the table has at `argument`; outside of it `outside` applies.
Expr looked_up(Arena& arena, const Pieces& table, Expr argument, const Outside& outside) {
  const auto& sections = table.sections;
  Expr value = in_section(arena, sections.back(), argument);
  for (std::size_t i = sections.size() - 1; i-- > 0;) {
    const Expr middle = arena.real((sections[i].high + sections[i + 1].low) / 2);
    value = arena.make(Op::Select, {arena.make(Op::LessEqual, {argument, middle}),
                                    in_section(arena, sections[i], argument), value});
  }
  if (outside.kind != Outside::Kind::Value) return value;
  const Expr low = arena.real(sections.front().low), high = arena.real(sections.back().high);
  const Expr within = arena.make(Op::And, {arena.make(Op::LessEqual, {low, argument}),
                                           arena.make(Op::LessEqual, {argument, high})});
  return arena.make(Op::Select, {within, value, outside.value});
}

}  // namespace

/// The expression with numbers for params that the reader keeps as symbols: a table is made of
/// numbers, also for the form of an equation that is printed.
Expr Lowerer::with_numbers(Expr e) {
  if (!keep_parameters_) return e;
  Lowerer numbers(d_);
  return algebra::rewrite(e, [&](Expr node) {
    const NamedFact* fact = node.is(Op::Symbol) ? d_.facts.find(node->name) : nullptr;
    if (node.is(Op::Symbol) && node->name == "dx") return d_.grid.dx;
    if (!fact || fact->kind != NamedFact::Kind::Parameter) return node;
    dsl::Expr name;
    name.kind = ExprKind::Name;
    name.text = node->name;
    name.span = fact->span;
    return numbers.real(name, "a param");
  });
}

Lowerer::Formula Lowerer::formula(const dsl::Expr& e, const Scope& scope) {
  Formula f;
  for (const dsl::NamedArgument& named : e.named)
    if (named.value->kind == ExprKind::Range && !f.bound) f.bound = &named;
  if (!f.bound)
    d_.fail(errors::wrong_shape(e.span, fmt::format("`{}` needs the range of a name", e.text)));
  f.open = open_symbol(d_.arena(), scope, std::string(kBound) + f.bound->name, f.bound->span);
  Scope inner;
  inner.parent = &scope;
  inner.values.emplace(f.bound->name, Value::of(f.open));
  f.of = real(*e.args[0], fmt::format("the formula of `{}`", e.text), inner);
  f.first = real(*f.bound->value->args[0], "the end of a range", scope);
  f.last = real(*f.bound->value->args[1], "the end of a range", scope);
  return f;
}

std::optional<Value> Lowerer::of_formula(const dsl::Expr& e, const Scope& scope) {
  const Formula f = formula(e, scope);
  const Expr value = e.text == "integral" ? integral(e, f, scope) : from_table(e, f, scope);
  return Value::of(d_.arena().mark(value, e.span));
}

Expr Lowerer::from_table(const dsl::Expr& e, const Formula& f, const Scope& scope) {
  const auto end = [&](std::size_t i, Expr written) {
    const auto number = algebra::constant(with_numbers(written));
    if (!number) d_.fail(errors::not_fixed(f.bound->value->args[i]->span, "the end of a range"));
    return number->real;
  };
  const long double first = end(0, f.first), last = end(1, f.last);
  if (!(first < last) || !std::isfinite(first) || !std::isfinite(last))
    d_.fail(errors::option_value(f.bound->value->span, f.bound->name,
                                 "a range from a number to a larger one"));
  long double tol = kTolerance;
  if (const auto* option = option_of(e, "tol")) {
    tol = fixed_number(*option->value, "`tol`", scope);
    if (!(tol >= kLeastTolerance && tol <= kMostTolerance))
      d_.fail(errors::option_value(option->span, "tol", "1e-12 to 1e-2"));
  }
  const Expr of = with_numbers(f.of);
  if (const Varying found = varying(of, f.open); !found.what.empty())
    d_.fail(errors::formula_varies(e.args[0]->span, e.text, found.what, found.of_range));
  const bool turned = e.text == "inverse";
  auto& known = d_.collected.formulas[{of.get(), f.open.get(), first, last, tol, turned}];
  if (!known) {
    const KnownFunction function = known_function(of, f.open);
    const auto parts = smooth_parts(of, static_cast<double>(first), static_cast<double>(last));
    const auto made = turned ? pieces_of_inverse(function, parts, static_cast<double>(tol))
                             : pieces_of(function, parts, static_cast<double>(tol));
    if (const auto* unfit = std::get_if<Unfit>(&made))
      d_.fail(errors::formula_unfit(e.args[0]->span, e.text, *unfit,
                                    place_in(d_, *f.bound, unfit->where)));
    known = std::make_shared<const Pieces>(std::get<Pieces>(made));
  }
  Outside outside;
  if (const auto* option = option_of(e, "outside")) {
    const bool name = option->value->kind == ExprKind::Name;
    if (name && option->value->text == "periodic")
      d_.fail(errors::option_value(option->span, "outside", "`clamp`, or a value"));
    if (!name || option->value->text != "clamp")
      outside = {Outside::Kind::Value, real(*option->value, "`outside`", scope)};
  }
  const Expr argument = real(*e.args[1], fmt::format("the argument of `{}`", e.text), scope);
  if (option_of(e, "outside") == nullptr)
    d_.collected.ends.push_back(
        {argument, known->sections.front().low, known->sections.back().high, e.span});
  return looked_up(d_.arena(), *known, argument, outside);
}

Expr Lowerer::integral(const dsl::Expr& e, const Formula& f, const Scope& scope) {
  Arena& arena = d_.arena();
  if (const auto* option = option_of(e, "points")) {
    const auto points = fixed_integer(*option->value, "`points`", scope);
    if (points < 1 || points > kMostPoints)
      d_.fail(errors::option_value(option->span, "points",
                                   fmt::format("a whole number from 1 to {}", kMostPoints)));
    const GaussRule rule = gauss_rule(static_cast<int>(points));
    const Expr width = f.last - f.first;
    Expr sum = arena.integer(0);
    for (std::size_t i = 0; i < rule.at.size(); ++i) {
      const Expr at = f.first + arena.real(rule.at[i]) * width;
      sum = sum + arena.real(rule.weight[i]) * algebra::substitute(f.of, f.open, at);
    }
    return sum * width;
  }
  const Expr of = with_numbers(f.of), first = with_numbers(f.first), last = with_numbers(f.last);
  for (const Expr part : {of, first, last})
    if (const Varying found = varying(part, f.open); !found.what.empty())
      d_.fail(errors::formula_varies(e.span, e.text, found.what, found.of_range));
  const KnownFunction function = known_function(of, f.open);
  const auto number = [](Expr end) {
    return static_cast<double>(algebra::constant(end).value().real);
  };
  const auto found =
      integral_of([&](double x) { return function(x).value; }, number(first), number(last));
  if (const auto* unfit = std::get_if<Unfit>(&found))
    d_.fail(errors::formula_unfit(e.args[0]->span, e.text, *unfit,
                                  place_in(d_, *f.bound, unfit->where)));
  return arena.real(std::get<double>(found));
}

}  // namespace vphi::physics
