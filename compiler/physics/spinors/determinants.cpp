#include "compiler/physics/spinors/determinants.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/spinors/operator_bounds.hpp"
#include "compiler/physics/spinors/solve.hpp"
#include "compiler/text/solver.hpp"
#include "dsl/words/builtins.hpp"

namespace vphi::physics {

namespace {

bool is_call(const dsl::Expr& e) {
  const dsl::Builtin* builtin = e.kind == dsl::ExprKind::Call ? dsl::find_builtin(e.text) : nullptr;
  return builtin != nullptr && builtin->rule == dsl::Rule::Determinant;
}

/// The text of the action that the name stands for; null where it is no action.
const dsl::Expr* action_text(const Context& d, const dsl::Expr& e) {
  if (e.kind != dsl::ExprKind::Name) return nullptr;
  const NamedFact* fact = d.facts.find(e.text);
  return fact && fact->value ? fact->value.get() : nullptr;
}

/// Appends the factors of `e`; false where something else stands in it.
bool take_apart(const Context& d, const dsl::Expr& e, bool divides,
                std::vector<DeterminantCall>& calls, std::set<std::string>& open) {
  if (is_call(e)) {
    calls.push_back({.call = &e, .divides = divides, .named = !open.empty()});
    return true;
  }
  if (e.kind == dsl::ExprKind::Binary && e.text == "^") {
    const std::size_t first = calls.size();
    if (!take_apart(d, *e.args[0], divides, calls, open)) return false;
    for (std::size_t i = first; i < calls.size(); ++i)
      calls[i].exponents.push_back(e.args[1].get());
    return true;
  }
  if (e.kind == dsl::ExprKind::Binary && (e.text == "*" || e.text == "/")) {
    const bool below = e.text == "/" ? !divides : divides;
    const dsl::Expr& first = *e.args[0];
    if (e.text == "/" && first.kind == dsl::ExprKind::Number && !first.imaginary &&
        first.text == "1")
      return take_apart(d, *e.args[1], below, calls, open);
    return take_apart(d, *e.args[0], divides, calls, open) &&
           take_apart(d, *e.args[1], below, calls, open);
  }
  const dsl::Expr* action = action_text(d, e);
  if (!action || !open.insert(e.text).second) return false;
  const bool fits = take_apart(d, *action, divides, calls, open);
  open.erase(e.text);
  return fits;
}

constexpr int kMostPast = 8;
constexpr long double kLargestTolerance = 1e-8L;

const dsl::Expr* option_of(const dsl::Expr& call, const char* name) {
  for (const dsl::NamedArgument& option : call.named)
    if (option.name == name) return option.value.get();
  return nullptr;
}

/// Solutions that depend on earlier ones are the same backwards only as far as they are exact.
void check_tolerance(const Context& d, const dsl::Expr& start, const LinearSystem& kicks) {
  for (const auto& [name, value] : kicks.options) {
    const auto tol = name == "tol" ? algebra::constant(value) : std::nullopt;
    if (tol && tol->real > kLargestTolerance * 1.0000001L)
      d.fail(errors::option_value(
          start.span, "start",
          "past(k) where the solver of the kicks has a tolerance of 1e-8 or less, "
          "force = cg(1e-9): with a larger one trajectories could not be reversed"));
  }
}

constexpr long double kError = 1e-11L;  // of a rational function
constexpr int kMostFractions = 32;

const dsl::Expr* fraction_option(const dsl::Expr& call) {
  for (const char* name : {"range", "tol", "order"})
    if (const dsl::Expr* option = option_of(call, name)) return option;
  return nullptr;
}

/// About as many fractions as this error takes, by Zolotarev's error for p = 1/2, two fewer: other
/// powers take less.
int first_order(const DeterminantFraction& f, long double error) {
  const long double pi = std::numbers::pi_v<long double>;
  const long double n = std::log(4 / error) * std::log(16 * f.high / f.low) / (2 * pi * pi) - 0.5L;
  return std::clamp(static_cast<int>(std::ceil(n)) - 2, 2, kMostFractions);
}

/// Both functions with n fractions each.
bool approximate(DeterminantFraction& fraction, int n) {
  const auto power = [&](long double p) {
    return p < 0 ? algebra::inverse_power(-p, fraction.low, fraction.high, n)
                 : algebra::direct_power(p, fraction.low, fraction.high, n);
  };
  const auto action = power(-fraction.power), field = power(fraction.power / 2);
  if (!action || !field) return false;
  fraction.action = *action;
  fraction.field = *field;
  return true;
}

long double number_of(Lowerer& lower, const dsl::Expr& e, const char* what) {
  const auto value = algebra::constant(lower.fixed(e, what));
  return value ? value->real : 0.0L;
}

/// The operator with every combination of the swept values that its numbers hold; nothing where
/// these are too many.
std::vector<DeterminantFactor> in_every_case(const Declared& d, const DeterminantFactor& factor) {
  constexpr std::size_t kMostCases = 4096;
  std::vector<Expr> symbols;
  for (const SpinorTerm& term : factor.form.terms)
    for (const Expr part : {term.weight.re, term.weight.im})
      algebra::contains(part, [&](Expr node) {
        if (node.is(algebra::Op::Symbol) && known_per_instance(d, node) &&
            std::ranges::count(symbols, node) == 0)
          symbols.push_back(node);
        return false;
      });
  if (symbols.empty()) return {factor};
  std::vector<DeterminantFactor> all;
  for (const std::vector<double>& values : in_all_cases(d, symbols)) {
    if (all.size() == kMostCases) return {};
    std::unordered_map<const algebra::Node*, Expr> numbers;
    for (std::size_t i = 0; i < symbols.size(); ++i)
      numbers.emplace(symbols[i].get(), d.arena().real(values[i]));
    DeterminantFactor& one = all.emplace_back(factor);
    const auto put = [&](SpinorForm& form) {
      for (SpinorTerm& term : form.terms)
        term.weight = {algebra::substitute(term.weight.re, numbers),
                       algebra::substitute(term.weight.im, numbers)};
    };
    put(one.form);
    if (one.parts) put(one.parts->local), put(one.parts->hops);
  }
  return all;
}

/// Bounds that hold for all of these operators and any links.
std::optional<SingularValues> bounds_of_all(const Declared& d,
                                            const std::vector<DeterminantFactor>& all) {
  std::optional<SingularValues> together;
  for (const DeterminantFactor& one : all) {
    auto bounds = singular_values(d, one.form);
    if (bounds && one.parts) bounds = singular_values_at_odd(d, *one.parts, *bounds);
    if (!bounds) return std::nullopt;
    if (!together) together = bounds;
    together = SingularValues{std::min(together->least, bounds->least),
                              std::max(together->most, bounds->most)};
  }
  return together;
}

/// Without `range`: the bounds of the spectrum that hold for any links and in every instance. Where
/// there is none from below, or a very small one, low is a small part of high, and a run ends where
/// the spectrum leaves it.
void bound_spectrum(const Declared& d, const dsl::Expr& call, const DeterminantFactor& factor,
                    DeterminantFraction& fraction) {
  constexpr double kSmallest = 1e-6, kRounding = 1e-9;
  const auto bounds = bounds_of_all(d, in_every_case(d, factor));
  if (!bounds)
    d.fail(errors::fraction_of_determinant(
        call.span,
        fmt::format("no bounds of the eigenvalues of {0} adj({0}) follow from its terms",
                    factor.name),
        "write range = [low, high] with the smallest and the largest eigenvalue of D adj(D)"));
  const double high = bounds->most * bounds->most * (1 + kRounding);
  const double low = bounds->least * bounds->least * (1 - kRounding);
  const bool known = low >= kSmallest * high;
  fraction.low = known ? low : kSmallest * high;
  fraction.high = high;
  d.remark(known ? fmt::format("{0}: the eigenvalues of {0} adj({0}){1} are between {2:.6g} and "
                               "{3:.6g} for any links, by the norms of its terms",
                               factor.name, factor.parts ? " at odd sites" : "", low, high)
                 : fmt::format("{0}: the eigenvalues of {0} adj({0}){1} are below {2:.6g} for any "
                               "links, by the norms of its terms; for the smallest one these give "
                               "no bound, and {3:.2g} is taken, which a run watches",
                               factor.name, factor.parts ? " at odd sites" : "", high,
                               kSmallest * high));
}

/// The rational functions of a fraction from the options `tol` and `order`.
void choose_functions(const Context& d, Lowerer& lower, const dsl::Expr& call,
                      DeterminantFraction& fraction) {
  const dsl::Expr *tol = option_of(call, "tol"), *order = option_of(call, "order"),
                  *range = option_of(call, "range");
  if (order && tol)
    d.fail(
        errors::option_value(tol->span, "tol", "left out where `order` says how many fractions"));
  if (order) {
    const std::int64_t n = lower.fixed_integer(*order, "`order`");
    if (n < 1 || n > kMostFractions || !approximate(fraction, static_cast<int>(n)))
      d.fail(errors::option_value(
          order->span, "order",
          "a whole number of fractions, at most 32, whose error is above 1e-13"));
    return;
  }
  const long double wanted = tol ? number_of(lower, *tol, "`tol`") : kError;
  if (!(wanted >= 1e-13L) || wanted > 0.1L)
    d.fail(errors::option_value(tol->span, "tol", "a relative error from 1e-13 to 0.1"));
  for (int n = first_order(fraction, wanted); n <= kMostFractions; ++n)
    if (approximate(fraction, n) && std::max(fraction.action.error, fraction.field.error) <= wanted)
      return;
  d.fail(errors::fraction_of_determinant(
      range ? range->span : call.span, "no 32 fractions are as accurate as `tol` on this range",
      "take a larger `tol`, or a larger low, as far as the spectrum allows"));
}

/// Shifts of the poles behind the first one.
std::vector<Expr> shifts_of(Arena& arena, const algebra::SimpleFractions& f) {
  std::vector<Expr> shifts;
  for (std::size_t k = 1; k < f.poles.size(); ++k)
    shifts.push_back(arena.real(f.poles[k] - f.poles[0]));
  return shifts;
}

/// Whether M = R - H R^-1 H at odd sites is hermitian and positive: R a positive number, H^+ = -H.
/// Then |det D| is det M but for a number.
bool has_hermitian_half(const DeterminantFactor& factor) {
  if (!factor.parts || !factor.adjoint_parts) return false;
  const std::vector<SpinorTerm>&local = factor.parts->local.terms, &hops = factor.parts->hops.terms,
        &back = factor.adjoint_parts->hops.terms;
  if (local.size() != 1 || !local[0].path.word.empty() || hops.size() != back.size()) return false;
  const auto a = algebra::constant(local[0].weight.re);
  if (local[0].spin != gauge::spin_identity() || !local[0].weight.im.is_zero() || !a ||
      !(a->real > 0))
    return false;
  return std::ranges::all_of(hops, [&](const SpinorTerm& hop) {
    return std::ranges::any_of(back, [&](const SpinorTerm& other) {
      return hop.spin == other.spin && hop.at == other.at && hop.path.start == other.path.start &&
             hop.path.word == other.path.word && hop.path.of == other.path.of &&
             gauge::same_number(hop.weight, gauge::negative(other.weight));
    });
  });
}

}  // namespace

bool is_determinant(const Context& d, const dsl::Expr& e) {
  return !determinant_calls(d, e).empty();
}

std::vector<DeterminantCall> determinant_calls(const Context& d, const dsl::Expr& e) {
  std::vector<DeterminantCall> calls;
  std::set<std::string> open;
  if (!take_apart(d, e, false, calls, open)) calls.clear();
  return calls;
}

std::optional<Expr> action_at_end(const Context& d, const std::string& name) {
  const auto found = d.collected.actions_at_end.find(name);
  if (found == d.collected.actions_at_end.end()) return std::nullopt;
  found->second.read = true;
  return d.arena().load(found->second.action);
}

/// The power of a fraction, and the `range` that is written; without one low = high = 0.
DeterminantFraction Lowerer::fraction_of(const dsl::Expr& call, long double power) {
  DeterminantFraction fraction;
  fraction.power = power;
  const dsl::Expr* range = option_of(call, "range");
  if (!range) return fraction;
  if (range->kind == dsl::ExprKind::List && range->args.size() == 2) {
    fraction.low = number_of(*this, *range->args[0], "`range`");
    fraction.high = number_of(*this, *range->args[1], "`range`");
  }
  if (!(fraction.low > 0) || !(fraction.high > fraction.low))
    d_.fail(errors::option_value(range->span, "range",
                                 "[low, high] with 0 < low < high, eigenvalues of D adj(D)"));
  return fraction;
}

DeterminantFactor Lowerer::determinant_factor(const dsl::Expr& call, const Reading& reading,
                                              long double power, bool beside_fraction) {
  const dsl::Expr& op = *call.args[0];
  const NamedFact* fact = d_.facts.find(op.text);
  if (!fact || fact->kind != NamedFact::Kind::Function || fact->parameters.size() != 1)
    d_.fail(errors::wrong_shape(op.span, "`pseudofermion` takes the name of a function D(psi)"));
  if (!has_fermions())
    d_.fail(errors::wrong_shape(op.span, "`pseudofermion` takes a function of a `fermion`"));
  DeterminantFactor factor;
  factor.name = op.text;
  factor.span = call.span;
  factor.colours = colours();
  factor.edges = edges_of(op, *fact);
  Scope options = Scope::in(reading);
  options.dynamic = true;
  bool force = false;
  for (const dsl::NamedArgument& option : call.named) {
    force = force || option.name == "force";
    static const std::set<std::string> kWords{"solver", "force", "start", "even_odd",
                                              "range",  "tol",   "order", "together"};
    if (kWords.contains(option.name)) continue;
    options.values.emplace(option.name, value(*option.value));
  }
  factor.form = linear_operator(*fact, call, options);
  factor.adjoint = adjoint(factor.form, around(d_.grid));
  const dsl::Expr* even_odd = even_odd_option(d_, call);
  if (even_odd && even_odd->text == "on") {
    std::string why;
    factor.parts = parted(d_, factor.form, &why);
    factor.adjoint_parts = parted(d_, factor.adjoint);
    if (!factor.parts || !factor.adjoint_parts)
      d_.fail(
          errors::no_halves(even_odd->span, factor.name, why, "the field is then at all sites"));
  }
  const bool root = power == 0.5L && !fraction_option(call) && has_hermitian_half(factor);
  if (power < 1 && !root) {
    factor.fraction = fraction_of(call, power);
    if (factor.fraction->high == 0) bound_spectrum(d_, call, factor, *factor.fraction);
    choose_functions(d_, *this, call, *factor.fraction);
  }
  if (const dsl::Expr* wrong = power < 1 || beside_fraction ? nullptr : fraction_option(call))
    d_.fail(errors::fraction_of_determinant(
        wrong->span, "the power of this determinant is whole: it takes no rational function",
        "leave `range`, `tol` and `order` out"));
  const auto plain = [&] {
    LinearSystem solve;
    solve.span = call.span;
    solve.rows = d_.spins;
    solve.columns = factor.colours;
    solve.complex = solve.spinor = solve.wide = true;
    solve.antiperiodic = turned(factor.edges);
    return solve;
  };
  const auto system = [&](const char* option, const algebra::SimpleFractions* fractions) {
    LinearSystem solve = plain();
    const std::vector<Expr> shifts =
        fractions ? shifts_of(d_.arena(), *fractions) : std::vector<Expr>{};
    choose_solver(call, {}, solve, option, fractions ? &shifts : nullptr);
    if (const dsl::Expr* together = option_of(call, "together"))
      solve.options.emplace_back("together",
                                 right_sides(d_, *together, fixed(*together, "`together`")));
    return solve;
  };
  const auto* action = factor.fraction ? &factor.fraction->action : nullptr;
  factor.solver = system("solver", action);
  if (force) factor.kicks = system("force", action);
  if (factor.fraction) {
    factor.fraction->field_solver = system("solver", &factor.fraction->field);
    LinearSystem& ends = factor.fraction->ends = plain();
    ends.solver = text::eigenvalue_text(d_.resolved);
    if (!ends.solver)
      d_.fail(errors::fraction_of_determinant(
          call.span, "the library has no text that finds an end of the spectrum",
          fmt::format("take a text that sets `{}`, with an option `{}`", text::kEigenvalue,
                      text::kSide)));
    for (const auto& [name, value] : ends.solver->options)
      ends.options.emplace_back(name, fixed(*value, "an option of a solver"));
  }
  if (const dsl::Expr* start = option_of(call, "start")) {
    factor.past = past_of(*start);
    if (factor.fraction && factor.past > 0)
      d_.fail(errors::fraction_of_determinant(
          start->span, "the poles of a fraction are solved for from 0 together",
          "leave `start` out"));
    if (factor.past > 0) check_tolerance(d_, *start, force ? *factor.kicks : factor.solver);
  }
  return factor;
}

/// The number of solutions that `start = past(k)` keeps; 0 of `start = zero`.
int Lowerer::past_of(const dsl::Expr& start) {
  if (start.kind == dsl::ExprKind::Name && start.text == "zero") return 0;
  if (start.kind == dsl::ExprKind::Call && start.text == "past" && start.args.size() == 1 &&
      start.named.empty()) {
    const std::int64_t k = fixed_integer(*start.args[0], "the number of solutions");
    if (k >= 1 && k <= kMostPast) return static_cast<int>(k);
  }
  d_.fail(errors::option_value(start.span, "start", "zero, or past(k) with k from 1 to 8"));
}

}  // namespace vphi::physics
