// `limit x = expr` (docs/rules.md rule 22): the value of x after each of its updates.
//
// Components of one clause act at once: |M| is that of the state before. A limit may hold averages
// of the state that has just been updated (the norm of a wave function); the schedule then takes a
// sweep of its own for it. A limit of a variable that relaxes may hold primitive variables: those
// that the state has before the limit.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <fmt/format.h>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"
#include "compiler/physics/lower/calculus.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

/// The field that is limited; its updates must be additions to its components.
const StateField& limited_field(const Motion& d, const dsl::Item& item) {
  const dsl::Head& head = *item.head;
  const StateField* field = d.field(head.name);
  if (field && field->relaxed)
    for (const StateField& stored : d.fields)
      if (stored.conserved && stored.name == head.name) field = &stored;
  const bool of_body = field && field->particle && head.form == dsl::Head::Form::Indexed &&
                       head.args.size() == 1 && head.args[0]->kind == dsl::ExprKind::Name;
  const auto refuse = [&](const std::string& what, const std::string& fix) {
    dsl::Diagnostic diagnostic = errors::not_yet(item.span, what);
    diagnostic.hint = fix;
    d.fail(diagnostic);
  };
  if (field && field->primitive) d.fail(errors::limit_of_recovered(item.span, field->name));
  if (!field)
    refuse("a limit of anything but state", "limit the fields or quantities it is made of");
  if (head.primes > 0)
    refuse("a limit of a time derivative",
           fmt::format("make the velocity a field of its own, `{0}' = w` and `w' = ...`, and "
                       "write `limit w = ...`",
                       field->name));
  if (field->link || field->spinor)
    refuse("a limit of links or spinors", "links are brought back into their group by themselves");
  if (field->drawn)
    refuse("a limit of a number that never changes", "limit it where it is drawn, in `init`");
  if (head.form != dsl::Head::Form::Plain && !of_body)
    refuse("a limit of one component",
           fmt::format("limit all of `{0}` at once: `limit {0} = [min({0}[0], 1), {0}[1], ...]`",
                       field->name));
  if (d.rescaled())
    refuse("a limit in the rescaled form, whose velocities hold the field",
           "write `rescale` with r = 0, or leave `limit` out");
  return *field;
}

Scope scope_of(const Motion& d, const dsl::Head& head) {
  Scope scope;
  // what relaxes is known before the other primitive variables are recovered
  for (const StateField& field : d.fields) {
    if (!field.conserved || !field.relaxed) continue;
    scope.dynamic = true;
    std::vector<Component> parts;
    for (const int array : field.arrays) parts.push_back({d.arena().load(array), {}});
    scope.values.emplace(
        field.name, parts.size() == 1 ? Value::of(parts[0].re) : Value::vector(std::move(parts)));
  }
  if (head.form != dsl::Head::Form::Indexed) return scope;
  IndexValue own;
  own.body = IndexValue::Body::Own;
  scope.indices.emplace(head.args[0]->text, own);
  return scope;
}

/// The number of quantities collected that are computed for outputs alone, so that no step can use
/// them.
std::size_t beyond_a_step(const Collected& asked) {
  return asked.solves.size() + asked.projections.size() + asked.statistics.size() +
         asked.passages.size();
}

/// The primitive variables as functions of quantities.
std::map<int, Expr> recovered_from_quantities(const Motion& d) {
  std::map<int, Expr> made;
  if (!d.conservation) return made;
  for (const Derived& value : d.conservation->recovered) {
    made[value.array] = algebra::rewrite(value.value, [&](Expr node) {
      const auto known = node.is(Op::Load) ? made.find(node->index) : made.end();
      return known == made.end() ? node : known->second;
    });
  }
  return made;
}

/// Whether a limit is a function of its own site alone.
bool of_site(const std::vector<Expr>& limited) {
  return std::ranges::none_of(limited, [](Expr part) {
    return algebra::contains(part, [](Expr node) {
      return (node.is(Op::Load) && !node->offset.zero()) || node.is(Op::PairSum) ||
             node.is(Op::Stencil) || node.is(Op::Site) || algebra::reduces_sites(node.op());
    });
  });
}

/// Random values, over six decades, of all that a limit reads: those that it limits have any sign,
/// others are positive as densities are.
Numbers state_of_limit(const std::vector<int>& arrays, const std::vector<Expr>& limited,
                       std::mt19937_64& engine) {
  std::uniform_real_distribution<double> decade(-3, 3), sign(-1, 1);
  Numbers state;
  for (const Expr part : limited) {
    algebra::visit(part, [&](Expr node) {
      if (node.is(Op::Load)) state.emplace(node->index, 0);
    });
  }
  for (auto& [array, value] : state) value = std::pow(10, decade(engine));
  const double size = std::pow(10, decade(engine));
  for (const int array : arrays) state[array] = size * sign(engine);
  return state;
}

/// How much a limit changes what it has limited, in parts of it, at most in random states.
double changed_again(const std::vector<int>& arrays, const std::vector<Expr>& limited) {
  constexpr int kStates = 64;
  std::mt19937_64 engine(1);
  double most = 0;
  for (int i = 0; i < kStates; ++i) {
    Numbers state = state_of_limit(arrays, limited, engine);
    std::vector<double> once, twice;
    for (const Expr part : limited) once.push_back(evaluated(part, state));
    for (std::size_t k = 0; k < arrays.size(); ++k) state[arrays[k]] = once[k];
    for (const Expr part : limited) twice.push_back(evaluated(part, state));
    double size = 0, change = 0;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      size = std::hypot(size, once[k]);
      change = std::hypot(change, twice[k] - once[k]);
    }
    if (std::isfinite(change / size)) most = std::max(most, change / size);
  }
  return most;
}

/// Warns of a limit beside conservation laws whose result is not within what it bounds.
void check_acts_once(const Motion& d, const dsl::Item& item, const StateField& field,
                     const std::vector<Expr>& limited) {
  constexpr double kRounding = 1e-9;
  if (limited.size() != field.arrays.size() || !of_site(limited)) return;
  const double most = changed_again(field.arrays, limited);
  if (most > kRounding) d.diagnostics.add(errors::limit_acts_again(item.span, field.name, most));
}

}  // namespace

std::vector<Derived> read_limits(const Motion& d, Lowerer& lower, ProgramUnits* units) {
  std::vector<Derived> limits;
  std::map<int, Expr> recovered;
  int number = 0;
  for (const dsl::Clause* clause : d.ledger.clauses("limit")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head || !item.value) continue;
      d.ledger.use(item);
      ++number;
      const StateField& field = limited_field(d, item);
      const std::size_t before = beyond_a_step(d.collected);
      const Value v = lower.value(*item.value, scope_of(d, *item.head));
      if (beyond_a_step(d.collected) != before)
        d.fail(errors::not_yet(item.span,
                               "a limit that solves, projects or averages over time or axes"));
      if (v.rows != field.rows || v.columns != field.columns) {
        d.fail(errors::wrong_shape(item.value->span, fmt::format("`{}` has {} components",
                                                                 field.name, field.cells.size())));
      }
      if (v.complex() && !field.complex)
        d.fail(errors::not_real(item.value->span, fmt::format("the limit of `{}`", field.name)));
      std::vector<Expr> parts = by_array(d, field, v);
      if (!units) check_acts_once(d, item, field, parts);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        bool of_primitives = false;
        const Expr from_recovered = parts[i];
        algebra::visit(parts[i], [&](Expr node) {
          const StateField* read = node.is(Op::Load) ? d.field_of(node->index) : nullptr;
          if (!read || !read->primitive) return;
          if (!field.relaxed || !node->offset.zero())
            d.fail(errors::limit_of_primitive(item.span, read->name));
          of_primitives = true;
        });
        if (of_primitives) {
          if (recovered.empty()) recovered = recovered_from_quantities(d);
          parts[i] = algebra::rewrite(parts[i], [&](Expr node) {
            const auto known = node.is(Op::Load) ? recovered.find(node->index) : recovered.end();
            return known == recovered.end() ? node : known->second;
          });
        }
        const Expr stored = units ? distribute(field.links ? d.arena().integer(1) : d.rescaling.A,
                                               units->quantity(parts[i]))
                                  : parts[i];
        limits.push_back({field.arrays[i], field.name, snap_numbers(stored), false, number,
                          of_primitives ? snap_numbers(from_recovered) : Expr{}});
      }
      if (units)
        d.remark(
            fmt::format("limit {}: after each update of `{}`", written(d, item.span), field.name));
    }
  }
  return limits;
}

}  // namespace vphi::physics
