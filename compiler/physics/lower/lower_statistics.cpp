// Averages over axes of the sweep and over time, and first passages (docs/rules.md rule 13).
#include <algorithm>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/averaged_class.hpp"
#include "compiler/physics/clauses/sweep_axes.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Op;

namespace {

struct Over {
  std::vector<int> axes;
  bool time = false;
  bool named = false;  ///< of an axis of one value: nothing is left to be averaged
};

Over read_over(const Setting& d, const dsl::Expr& list) {
  Over over;
  std::vector<const dsl::Expr*> names{&list};
  if (list.kind == dsl::ExprKind::List) {
    names.clear();
    for (const dsl::ExprPtr& name : list.args) names.push_back(name.get());
  }
  for (const dsl::Expr* name : names) {
    if (name->text == "time") {
      over.time = true;
      continue;
    }
    for (std::size_t k = 0; k < d.axes.size(); ++k) {
      if (d.axes[k].name == name->text) over.axes.push_back(static_cast<int>(k));
    }
    over.named = true;
  }
  std::ranges::sort(over.axes);
  over.axes.erase(std::unique(over.axes.begin(), over.axes.end()), over.axes.end());
  return over;
}

/// Whether an instance belongs to those that are averaged over: a condition, or the rank of a
/// number.
Expr class_member(const Program& d, Lowerer& lower, const dsl::Expr& where, const Over& over,
                  const Scope& scope) {
  if (over.axes.empty() || over.time)
    d.fail(errors::option_value(where.span, "where",
                                "a class of the instances of a sweep: over = NAME of an axis with "
                                "several values, not over time"));
  const bool ranked = where.kind == dsl::ExprKind::Call && where.text == "ranked";
  const Expr told = lower.real(ranked ? *where.args[0] : where, "`where`", scope);
  if (holds_statistics(d, told) || (d.grid.present && algebra::per_site(told)))
    d.fail(errors::option_value(where.span, "where",
                                "one number or condition of each instance, without averages over "
                                "time or the sweep; at all sites: mean(...), total(...)"));
  if (!ranked) return told;
  Shares shares;
  shares.from = static_cast<double>(lower.fixed_number(*where.args[1]->args[0], "a share"));
  shares.to = static_cast<double>(lower.fixed_number(*where.args[1]->args[1], "a share"));
  if (!(shares.from >= 0 && shares.from < shares.to && shares.to <= 1))
    d.fail(errors::option_value(where.args[1]->span, "ranked",
                                "ranked(number, a..b), shares of the instances with 0 <= a < b <= "
                                "1"));
  return rank_symbol(d, told, over.axes, shares, where.span);
}

}  // namespace

Expr statistic(const Context& d, Statistic::Kind kind, Expr value, std::vector<int> axes, bool time,
               dsl::Span span) {
  using Kind = Statistic::Kind;
  if (axes.empty() && !time) return kind == Kind::Variance ? d.arena().integer(0) : value;
  if (!axes.empty() && time) {
    const Expr inner =
        statistic(d, kind == Kind::Variance ? Kind::Mean : kind, value, {}, true, span);
    const Expr outer = statistic(d, kind, inner, axes, false, span);
    if (kind != Kind::Variance) return outer;
    const Expr within = statistic(d, Kind::Variance, value, {}, true, span);
    return outer + statistic(d, Kind::Mean, within, axes, false, span);
  }
  Statistic s;
  s.spans_time = time;
  for (const Statistic& other : d.collected.statistics) {
    const bool rank = shares_of(other.symbol).has_value();
    const bool same = other.kind == kind && other.value == value && other.axes == axes;
    if (same && !rank) return d.arena().symbol(other.symbol);
    // an average over time may be averaged over axes; nothing else is nested
    if (rank || !algebra::depends_on(value, d.arena().symbol(other.symbol))) continue;
    if (!other.axes.empty() || time) {
      d.fail(errors::not_yet(span, "an average of averages over the sweep"));
    }
    s.spans_time = true;
  }
  s.kind = kind;
  s.symbol = fmt::format("average_{}", d.collected.statistics.size() + 1);
  s.error = fmt::format("error_{}", d.collected.statistics.size() + 1);
  s.value = value;
  s.axes = std::move(axes);
  s.span = span;
  d.collected.statistics.push_back(s);
  return d.arena().symbol(s.symbol, span);
}

// sigma_f^2 = sum over the means m of (df/dm)^2 sigma_m^2
Expr error_of(const Context& d, Expr f) {
  Arena& arena = d.arena();
  if (algebra::per_site(f)) return {};
  std::vector<Expr> terms;
  bool variance = false;  // its error and that of a mean beside it are not independent
  for (const Statistic& s : d.collected.statistics) {
    const Expr mean = arena.symbol(s.symbol);
    if (!algebra::depends_on(f, mean)) continue;
    const bool over_axes = s.kind == Statistic::Kind::Variance && !s.axes.empty();
    if (s.kind != Statistic::Kind::Mean && !over_axes) return {};
    if (variance || (over_axes && !terms.empty())) return {};
    variance = over_axes;
    Expr slope;
    try {
      slope = algebra::derivative(f, mean);
    } catch (const std::invalid_argument&) {
      return {};
    }
    terms.push_back(algebra::pow(slope, 2) * algebra::pow(arena.symbol(s.error), 2));
  }
  if (terms.empty()) return {};
  if (terms.size() == 1) {  // sqrt(x^2) is |x|, and an error is not negative
    const Expr root = algebra::pow(terms[0], arena.rational(1, 2));
    for (const Statistic& s : d.collected.statistics) {
      if (f == arena.symbol(s.symbol)) return arena.symbol(s.error);
    }
    return root;
  }
  return algebra::pow(arena.make(Op::Add, std::move(terms)), arena.rational(1, 2));
}

// A value at every site is averaged over the sites first. A variance is that of all values
// together: mean of the variances within the instances plus variance of their means.
Value Lowerer::reduction_over(const dsl::Expr& e, const Scope& scope) {
  using Kind = Statistic::Kind;
  const dsl::NamedArgument *option = nullptr, *where = nullptr;
  for (const dsl::NamedArgument& named : e.named) {
    if (named.name == "over") option = &named;
    if (named.name == "where") where = &named;
  }
  if (e.args.size() != 1 || e.named.size() != (where ? 2 : 1)) {
    d_.fail(errors::not_yet(e.span, "an average over indices and the sweep at once"));
  }
  const Over over = read_over(d_, *option->value);
  const Expr member = where ? class_member(d_, *this, *where->value, over, scope) : Expr();
  const Value x = value(*e.args[0], scope);
  const auto take = [&](Kind kind, Expr v) {
    return statistic(d_, kind, member ? in_class(member, v) : v, over.axes, over.time, e.span);
  };
  // without a lattice there is one site: its value is the average over the domain
  const auto on_domain = [&](const std::string& name, Expr part) {
    if (!d_.grid.present || !algebra::per_site(part)) return part;
    return reduce(name, Value::of(part), e).parts[0].re;
  };
  if (e.text == "mean") {
    Value v{x.rows, x.columns, {}};
    for (const Component& c : x.parts) {
      v.parts.push_back({take(Kind::Mean, on_domain("mean", c.re)),
                         c.im ? take(Kind::Mean, on_domain("mean", c.im)) : Expr{}});
    }
    return v;
  }
  if (e.text == "var") {
    Expr sum = integer(0);
    for (const Component& c : x.parts) {
      for (const Expr part : {c.re, c.im}) {
        if (!part) continue;
        sum = sum + take(Kind::Variance, on_domain("mean", part));
        if (d_.grid.present && algebra::per_site(part)) {
          sum = sum + take(Kind::Mean, reduce("var", Value::of(part), e).parts[0].re);
        }
      }
    }
    return Value::of(sum);
  }
  if (e.text == "min" || e.text == "max") {
    if (!x.scalar() || !x.parts[0].real()) {
      d_.fail(errors::not_real(e.span, fmt::format("the argument of `{}`", e.text)));
    }
    const Kind kind = e.text == "min" ? Kind::Minimum : Kind::Maximum;
    return Value::of(take(kind, on_domain(e.text, x.parts[0].re)));
  }
  d_.fail(errors::not_yet(option->span, fmt::format("`{}` over time or sweeps", e.text)));
}

// The links of a flow are stored as numbers without rates of their own. What is averaged of them is
// known at every step, and its change from the last three of them: (3 e - 4 e' + e'')/(2 dt).
Expr Lowerer::rate_along_flow(Expr average, dsl::Span span) {
  for (const FirstPassage& other : d_.collected.passages)
    if (!other.condition && other.value == average) return d_.arena().symbol(other.symbol, span);
  FirstPassage rate;
  rate.value = average;
  rate.symbol = fmt::format("rate_{}", d_.collected.passages.size() + 1);
  rate.span = span;
  d_.collected.passages.push_back(rate);
  d_.remark(fmt::format("`{}` is the change over the last three steps, of second order in dt",
                        written(d_, span)));
  return d_.arena().symbol(rate.symbol, span);
}

// first(e, a < b): the margin b - a passes 0 where the condition begins to hold.
std::optional<Value> Lowerer::first_passage(const dsl::Expr& e, const Scope& scope) {
  FirstPassage f;
  f.value = real(*e.args[0], "the first argument of `first`", scope);
  f.condition = condition(*e.args[1], scope);
  f.span = e.span;
  if (f.condition.is(Op::Less) || f.condition.is(Op::LessEqual)) {
    f.margin = f.condition.arg(1) - f.condition.arg(0);
  }
  if (holds_statistics(d_, f.value) || holds_statistics(d_, f.condition)) {
    d_.fail(errors::not_yet(e.span, "`first` of an average over time or sweeps"));
  }
  for (const FirstPassage& other : d_.collected.passages) {
    if (other.condition && other.value == f.value && other.condition == f.condition) {
      return Value::of(d_.arena().symbol(other.symbol));
    }
  }
  f.symbol = fmt::format("first_{}", d_.collected.passages.size() + 1);
  if (!f.margin) {
    d_.remark(
        "`first` of a condition that is no single comparison is taken at the first step that has "
        "it, not between steps");
  }
  d_.collected.passages.push_back(f);
  return Value::of(d_.arena().symbol(f.symbol, e.span));
}

}  // namespace vphi::physics
