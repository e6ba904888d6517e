#include "compiler/physics/clauses/sweep_axes.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/averaged_class.hpp"
#include "compiler/physics/clauses/ranked_values.hpp"
#include "compiler/physics/fields/program_units.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "compiler/physics/stages/checks.hpp"
#include "dsl/words/sweep_words.hpp"

namespace vphi::physics {

using algebra::Op;
using dsl::ExprKind;

namespace {

constexpr std::int64_t kMostValues = std::int64_t{1} << 26;     // of one axis
constexpr std::int64_t kMostInstances = std::int64_t{1} << 36;  // of a run

std::int64_t number_of(const Setting& d, Lowerer& lower, const dsl::Expr& e) {
  const std::int64_t n = lower.fixed_integer(e, "the number of values");
  if (n < 1 || n > kMostValues) {
    d.fail(errors::option_value(e.span, "sweep", "1 to 67108864 values on an axis"));
  }
  return n;
}

std::vector<double> values_of(const Setting& d, Lowerer& lower, const dsl::Expr& e) {
  std::vector<double> values;
  const auto number = [&](const dsl::Expr& at) { return lower.fixed_number(at, "a swept value"); };
  if (e.kind == ExprKind::List) {
    for (const dsl::ExprPtr& item : e.args) values.push_back(static_cast<double>(number(*item)));
  } else if (e.kind == ExprKind::Range) {
    const std::int64_t first = lower.fixed_integer(*e.args[0], "the end of a range");
    const std::int64_t last = lower.fixed_integer(*e.args[1], "the end of a range");
    if (last - first >= kMostValues) {
      d.fail(errors::option_value(e.span, "sweep", "1 to 67108864 values on an axis"));
    }
    for (std::int64_t i = first; i <= last; ++i) values.push_back(static_cast<double>(i));
  } else if (e.kind == ExprKind::Call && e.text == "ranked") {
    values = ranked_places(d, lower, e);
  } else if (e.kind == ExprKind::Call && e.args.size() == 3) {
    const bool logarithmic = e.text == "logspace";
    const long double first = number(*e.args[0]), last = number(*e.args[1]);
    const std::int64_t n = number_of(d, lower, *e.args[2]);
    if (logarithmic && !(first > 0 && last > 0)) {
      d.fail(
          errors::option_value(e.span, "logspace", "ends above 0: logspace(first, last, number)"));
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const long double at =
          n == 1 ? 0 : static_cast<long double>(i) / static_cast<long double>(n - 1);
      const long double v = i == n - 1 && n > 1 ? last
                            : logarithmic       ? first * powl(last / first, at)
                                                : first + at * (last - first);
      values.push_back(static_cast<double>(v));
    }
  }
  if (values.empty()) {
    d.fail(errors::option_value(e.span, "sweep",
                                "linspace(a, b, n), logspace(a, b, n), a list, a range a..b or "
                                "ranked(\"name.h5:set\", a..b)"));
  }
  return values;
}

}  // namespace

std::int64_t Sweeps::instances() const {
  std::int64_t all = 1;
  for (const Axis& axis : axes) all *= static_cast<std::int64_t>(axis.values.size());
  return all;
}

Sweeps read_sweep_axes(const Context& context) {
  Setting d(context);
  for (const dsl::Clause* clause : d.ledger.clauses("sweep")) {
    for (const dsl::Item& item : clause->items) {
      if (!item.head || !item.value || item.head->name == dsl::kKeep) continue;
      d.ledger.use(item);
      Axis axis;
      axis.name = item.head->name;
      axis.symbol = "sweep_" + axis.name;
      axis.span = item.head->span;
      Lowerer lower(d);
      axis.values = values_of(d, lower, *item.value);
      d.collected.swept_used.emplace(axis.name, false);
      axis.free = item.free;
      if (axis.free && axis.values.size() != 1) {
        d.fail(errors::option_value(item.span, "free",
                                    fmt::format("one value at a time; the sweep over `{}` has {}",
                                                axis.name, axis.values.size())));
      }
      if (axis.values.size() == 1 && !axis.free) {
        d.single_axes.push_back(axis);
        continue;
      }
      for (const Axis& other : d.axes) {
        if (other.symbol == axis.symbol) axis.symbol += "_";
      }
      d.axes.push_back(axis);
      const auto size = static_cast<std::int64_t>(axis.values.size());
      if (d.instances() / size > kMostInstances / size) {
        d.fail(errors::option_value(item.span, "sweep", "at most 2^36 instances in all"));
      }
    }
  }
  return d;
}

Expr swept_value(const Setting& d, const std::string& name, dsl::Span span) {
  d.collected.swept_used[name] = true;
  for (const Axis& axis : d.single_axes) {
    if (axis.name == name) return snap_numbers(d.arena().real(axis.values[0]));
  }
  for (const Axis& axis : d.axes) {
    if (axis.name == name) return d.arena().symbol(axis.symbol, span);
  }
  d.fail(errors::unknown_name(span, name));
}

void close_sweep_axes(const Program& d, System& system) {
  for (Axis& axis : system.axes) axis.ensemble = !d.collected.swept_used[axis.name];
  for (const Axis& axis : d.single_axes) {
    const double v = axis.values[0];
    const bool whole = v >= 0 && v < 0x1p24 && v == std::floor(v);
    if (!d.collected.swept_used[axis.name] && whole) system.ensemble = static_cast<std::int64_t>(v);
  }
  if (d.instances() > 1) {
    std::string text;
    for (const Axis& axis : system.axes) {
      if (axis.free) continue;
      text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", axis.name, axis.values.size(),
                          axis.ensemble ? ", an ensemble: no formula names it" : "");
    }
    d.remark(fmt::format("{} instances at once, over {}", d.instances(), text));
  }
  const dsl::Clause* random = d.resolved.clause("random");
  const dsl::ExprPtr fresh = random ? dsl::option(*random, "fresh") : nullptr;
  if (!fresh) return;
  std::vector<dsl::ExprPtr> names = fresh->args;
  if (fresh->kind != ExprKind::List) names = {fresh};
  for (const dsl::ExprPtr& name : names) {
    for (Axis& axis : system.axes) {
      if (axis.name == name->text) axis.fresh = true;
    }
  }
}

// ---- numbers that differ from instance to instance ----------------------------------------------

std::vector<int> axes_of(const Setting& d, Expr e) {
  std::vector<int> found;
  for (std::size_t k = 0; k < d.axes.size(); ++k) {
    const std::string& symbol = d.axes[k].symbol;
    const bool here = algebra::contains(
        e, [&](Expr node) { return node.is(Op::Symbol) && node->name == symbol; });
    if (here) found.push_back(static_cast<int>(k));
  }
  return found;
}

bool known_per_instance(const Setting& d, Expr e) {
  const bool other = algebra::contains(e, [&](Expr node) {
    if (node.is(Op::Symbol)) {
      return std::ranges::none_of(d.axes,
                                  [&](const Axis& axis) { return axis.symbol == node->name; });
    }
    return node.is(Op::Load) || node.is(Op::Site) || node.is(Op::Stencil) ||
           (node.op() >= Op::Mean && node.op() <= Op::Maximum);
  });
  return !other;
}

namespace {

/// Visits the outer product of some axes: values by place in `chosen`, the last fastest.
template <class Visit>
void over_product(const Setting& d, Expr e, const std::vector<int>& chosen, const Visit& visit) {
  const auto& axes = d.axes;
  std::vector<std::size_t> at(chosen.size(), 0);
  while (true) {
    visit(static_cast<double>(algebra::evaluate_long(e, [&](const algebra::Node& node) {
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        const Axis& axis = axes[static_cast<std::size_t>(chosen[i])];
        if (axis.symbol == node.name) return static_cast<long double>(axis.values[at[i]]);
      }
      return static_cast<long double>(NAN);
    })));
    std::size_t k = chosen.size();
    while (k > 0 && ++at[k - 1] == axes[static_cast<std::size_t>(chosen[k - 1])].values.size()) {
      at[--k] = 0;
    }
    if (k == 0) return;
  }
}

}  // namespace

std::vector<double> in_every_instance(const Setting& d, Expr e) {
  std::vector<int> all;
  for (std::size_t k = 0; k < d.axes.size(); ++k) all.push_back(static_cast<int>(k));
  const std::vector<int> chosen = axes_of(d, e);
  std::vector<double> few;
  over_product(d, e, chosen, [&](double v) { few.push_back(v); });
  // repeated along the axes it does not depend on
  std::vector<double> result(static_cast<std::size_t>(d.instances()));
  for (std::size_t instance = 0; instance < result.size(); ++instance) {
    std::size_t rest = instance, index = 0, stride = 1;
    for (std::size_t k = d.axes.size(); k-- > 0;) {
      const std::size_t size = d.axes[k].values.size();
      if (std::ranges::count(chosen, static_cast<int>(k)) > 0) {
        index += rest % size * stride;
        stride *= size;
      }
      rest /= size;
    }
    result[instance] = few[index];
  }
  return result;
}

std::vector<std::vector<double>> in_all_cases(const Setting& d, const std::vector<Expr>& values) {
  std::vector<int> chosen;
  for (const Expr e : values) {
    for (const int axis : axes_of(d, e)) {
      if (std::ranges::count(chosen, axis) == 0) chosen.push_back(axis);
    }
  }
  std::vector<std::vector<double>> cases;
  for (const Expr e : values) {
    std::size_t i = 0;
    over_product(d, e, chosen, [&](double v) {
      if (cases.size() == i) cases.emplace_back();
      cases[i++].push_back(v);
    });
  }
  if (values.empty()) cases.emplace_back();
  return cases;
}

std::optional<Range> range_of(const Setting& d, Expr e) {
  if (!known_per_instance(d, e)) return std::nullopt;
  std::optional<Range> range;
  bool sound = true;
  over_product(d, e, axes_of(d, e), [&](double v) {
    sound = sound && std::isfinite(v);
    if (!range) range = Range{v, v};
    range->low = std::min(range->low, v);
    range->high = std::max(range->high, v);
  });
  return sound ? range : std::nullopt;
}

// ---- one scalar an instance ---------------------------------------------------------------------

Expr scalar_quantity(const Setting& d, ProgramUnits& units, Expr physical) {
  const Expr v = units.quantity(physical);
  if (d.grid.present || !algebra::per_site(v)) return v;
  return d.arena().make(Op::Mean, {v}, physical->span);
}

void convert_statistics(const Program& d, ProgramUnits& units, System& system) {
  const auto scalar = [&](Expr physical, dsl::Span span) {
    const Expr v = scalar_quantity(d, units, physical);
    if (algebra::per_site(v)) d.fail(errors::not_scalar_output(span, written(d, span)));
    return v;
  };
  for (Statistic& s : system.statistics) {
    const auto of_class = class_value(s.value);
    s.value = of_class ? in_class(scalar(of_class->member, s.span), scalar(of_class->value, s.span))
                       : scalar(s.value, s.span);
  }
  for (FirstPassage& f : system.passages) {
    f.value = scalar(f.value, f.span);
    if (f.condition) f.condition = scalar(f.condition, f.span);
    if (f.margin) f.margin = scalar(f.margin, f.span);
  }
}

bool holds_statistics(const Context& d, Expr e) {
  return algebra::contains(e, [&](Expr node) {
    if (!node.is(Op::Symbol)) return false;
    const auto named = [&](const auto& s) { return s.symbol == node->name; };
    return std::ranges::any_of(d.collected.statistics, named) ||
           std::ranges::any_of(d.collected.statistics,
                               [&](const Statistic& s) { return s.error == node->name; }) ||
           std::ranges::any_of(d.collected.passages,
                               [&](const FirstPassage& f) { return f.condition && named(f); });
  });
}

}  // namespace vphi::physics
