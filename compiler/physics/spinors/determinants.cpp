#include "compiler/physics/spinors/determinants.hpp"

#include <set>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
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
    calls.push_back({&e, divides});
    return true;
  }
  if (e.kind == dsl::ExprKind::Binary && (e.text == "*" || e.text == "/")) {
    const bool below = e.text == "/" ? !divides : divides;
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

DeterminantFactor Lowerer::determinant_factor(const dsl::Expr& call) {
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
  factor.antiperiodic = antiperiodic_axes_of(op, *fact);
  Scope options;
  options.dynamic = true;
  bool force = false;
  for (const dsl::NamedArgument& option : call.named) {
    force = force || option.name == "force";
    const bool known = option.name == "solver" || option.name == "force" ||
                       option.name == "start" || option.name == "even_odd";
    if (known) continue;
    options.values.emplace(option.name, value(*option.value));
  }
  factor.form = linear_operator(*fact, call, options);
  factor.adjoint = adjoint(factor.form);
  const auto system = [&](const char* option) {
    LinearSystem solve;
    solve.span = call.span;
    solve.rows = 4;
    solve.columns = factor.colours;
    solve.complex = solve.spinor = solve.wide = true;
    solve.antiperiodic = factor.antiperiodic;
    choose_solver(call, {}, solve, option);
    return solve;
  };
  factor.solver = system("solver");
  if (force) factor.kicks = system("force");
  if (const dsl::Expr* start = option_of(call, "start")) {
    factor.past = past_of(*start);
    if (factor.past > 0) check_tolerance(d_, *start, force ? *factor.kicks : factor.solver);
  }
  const dsl::Expr* even_odd = even_odd_option(d_, call);
  if (even_odd && even_odd->text == "on") {
    std::string why;
    factor.parts = parted(d_, factor.form, &why);
    factor.adjoint_parts = parted(d_, factor.adjoint);
    if (!factor.parts || !factor.adjoint_parts)
      d_.fail(
          errors::no_halves(even_odd->span, factor.name, why, "the field is then at all sites"));
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
