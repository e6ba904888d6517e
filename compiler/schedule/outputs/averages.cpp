#include "compiler/schedule/outputs/averages.hpp"

#include <algorithm>
#include <limits>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/averaged_class.hpp"
#include "compiler/schedule/schedule_errors.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

using algebra::Op;
using physics::FirstPassage;
using physics::Statistic;

namespace {

Expr select(Expr condition, Expr yes, Expr no) {
  return condition->arena->make(Op::Select, {condition, yes, no});
}

Expr positive(Expr e) { return e->arena->make(Op::Less, {e->arena->integer(0), e}); }

}  // namespace

bool needs_ran(const physics::System& system) {
  return !system.passages.empty() ||
         std::ranges::any_of(system.statistics, [](const Statistic& s) { return s.axes.empty(); });
}

void reserve_slots(const physics::System& system, Slots& slots) {
  for (const FirstPassage& f : system.passages) {
    slots.add(f.symbol, std::numeric_limits<double>::quiet_NaN());
  }
  if (needs_ran(system)) slots.add(slot::kRan, 1);
}

// With e, g of this step and e', g' of the one before, g' <= 0 < g:
//   theta = g'/(g' - g),  value = e' + theta*(e - e')
void watch_passages(const physics::System& system, Slots& slots, Observer& checks, Expr last) {
  algebra::Arena& arena = *system.arena;
  const Expr zero = arena.integer(0), one = arena.integer(1);
  for (const FirstPassage& f : system.passages) {
    const auto fresh = [&](const char* what) { return slots.fresh(f.symbol + what); };
    // A slot that is read before it is set has its value of the step before. What is set from a
    // later slot comes first here, whatever sweeps the values wait for.
    const auto pair = [&](const std::string& now, const std::string& before, Expr value) {
      const Expr kept = arena.symbol(now), older = arena.symbol(before);
      const Expr ends = last ? positive(last) : Expr();
      checks.assign(before, last ? select(ends, kept, older) : kept);
      checks.assign(now, last ? select(ends, value, kept) : value);
      return std::pair(arena.symbol(now), arena.symbol(before));
    };
    if (!f.condition) {
      const std::string now = fresh("_now"), before = fresh("_before"), older = fresh("_older");
      slots.set(now, std::numeric_limits<double>::quiet_NaN());  // there is none at the start
      const Expr ends = last ? positive(last) : one;
      checks.assign(older, select(ends, arena.symbol(before), arena.symbol(older)));
      const auto [v, v1] = pair(now, before, f.value);
      const Expr dt = arena.real(system.dt_physical), two = arena.integer(2);
      const Expr three_points =
          (arena.integer(3) * v - arena.integer(4) * v1 + arena.symbol(older)) / (two * dt);
      const Expr enough = arena.make(Op::Less, {one, arena.symbol(slot::kStep)});
      checks.assign(f.symbol, select(enough, three_points, (v - v1) / dt));
      continue;
    }
    const std::string hit = fresh("_hit"), found = fresh("_found"), theta = fresh("_theta");
    const auto [value, value_before] = pair(fresh("_now"), fresh("_before"), f.value);
    Expr part = one;
    if (f.margin) {
      const auto [margin, before] = pair(fresh("_margin"), fresh("_margin_before"), f.margin);
      const Expr crossed = before / (before - margin);
      part = select(positive(arena.symbol(slot::kStep)),
                    arena.make(Op::Max, {zero, arena.make(Op::Min, {crossed, one})}), one);
    }
    const Expr open = arena.make(Op::Less, {arena.symbol(found), arena.rational(1, 2)});
    const Expr holds = arena.make(Op::And, {open, f.condition});
    checks.assign(hit, select(holds, arena.symbol(slot::kRan), zero));
    checks.assign(theta, part);
    const Expr between = value_before + arena.symbol(theta) * (value - value_before);
    checks.assign(f.symbol, select(positive(arena.symbol(hit)), between, arena.symbol(f.symbol)));
    checks.assign(found, arena.make(Op::Max, {arena.symbol(found), arena.symbol(hit)}));
  }
}

// ---- one clause ---------------------------------------------------------------------------------

std::string Averages::nan_slot(const std::string& hint) {
  const std::string name = slots_.fresh(hint);
  slots_.set(name, std::numeric_limits<double>::quiet_NaN());
  return name;
}

Averages::Entry* Averages::find(const std::string& symbol) {
  for (Entry& entry : needed_) {
    if (of(entry).symbol == symbol || of(entry).error == symbol) return &entry;
  }
  return nullptr;
}

void Averages::want(Expr value) {
  if (!value) return;
  for (std::size_t i = 0; i < system_.statistics.size(); ++i) {
    const Statistic& s = system_.statistics[i];
    algebra::Arena& arena = *system_.arena;
    const bool error = algebra::depends_on(value, arena.symbol(s.error));
    if (!error && !algebra::depends_on(value, arena.symbol(s.symbol))) continue;
    want(s.value);  // averages over time inside
    Entry* known = find(s.symbol);
    if (!known) {
      Entry entry;
      entry.statistic = static_cast<int>(i);
      const bool time = s.axes.empty();
      if (time) {
        entry.count = slots_.fresh("count");
        entry.mean = slots_.fresh("running");
        if (s.kind == Statistic::Kind::Variance) entry.spread = slots_.fresh("spread");
      }
      entry.result = nan_slot(s.symbol);
      needed_.push_back(entry);
      known = &needed_.back();
    }
    if (error && known->error.empty()) known->error = nan_slot(s.error);
  }
}

bool Averages::holds(Expr value) const {
  algebra::Arena& arena = *system_.arena;
  return std::ranges::any_of(needed_, [&](const Entry& entry) {
    return algebra::depends_on(value, arena.symbol(of(entry).symbol)) ||
           algebra::depends_on(value, arena.symbol(of(entry).error));
  });
}

Expr Averages::replaced(Expr value) const {
  algebra::Arena& arena = *system_.arena;
  std::unordered_map<const algebra::Node*, Expr> what;
  for (const Entry& entry : needed_) {
    const Statistic& s = of(entry);
    what[arena.symbol(s.symbol).get()] = arena.symbol(entry.result);
    if (!entry.error.empty()) what[arena.symbol(s.error).get()] = arena.symbol(entry.error);
  }
  if (!time_.empty()) what[arena.symbol(system_.time).get()] = arena.symbol(time_);
  return algebra::substitute(value, what);
}

// n <- n + w,  S <- S + (x - m)^2 (1 - 1/n),  m <- m + (x - m)/n   where w = 1   (Welford 1962)
void Averages::accumulate(Observer& checks, Expr after) {
  algebra::Arena& arena = *system_.arena;
  const Expr zero = arena.integer(0), one = arena.integer(1);
  const Expr ran = arena.symbol(slot::kRan);
  const Expr runs = after ? select(after, ran, zero) : ran;
  for (const Entry& entry : needed_) {
    const Statistic& s = of(entry);
    if (!s.axes.empty()) continue;
    const Expr n = arena.symbol(entry.count), m = arena.symbol(entry.mean);
    checks.assign(entry.count, n + runs);
    const Expr counts = positive(runs);
    const Expr share = one / arena.make(Op::Max, {n, one});
    const Expr first = arena.make(Op::LessEqual, {n, one});
    const Expr off = s.value - m;
    Expr next = m + off * share;
    if (s.kind == Statistic::Kind::Variance) {
      const Expr spread = arena.symbol(entry.spread);
      const Expr grown = select(first, zero, spread + algebra::pow(off, 2) * (one - share));
      checks.assign(entry.spread, select(counts, grown, spread));
    } else if (s.kind == Statistic::Kind::Minimum) {
      next = select(first, s.value, arena.make(Op::Min, {m, s.value}));
    } else if (s.kind == Statistic::Kind::Maximum) {
      next = select(first, s.value, arena.make(Op::Max, {m, s.value}));
    }
    // a variance keeps its mean apart from the spread: both begin with the first value
    if (s.kind == Statistic::Kind::Variance) next = select(first, s.value, next);
    checks.assign(entry.mean, select(counts, next, m));
  }
}

std::vector<kernel::ScalarAssign> Averages::windows(bool restart) const {
  algebra::Arena& arena = *system_.arena;
  std::vector<kernel::ScalarAssign> result;
  for (const Entry& entry : needed_) {
    const Statistic& s = of(entry);
    if (!s.axes.empty()) continue;
    const Expr n = arena.symbol(entry.count);
    const Expr value = s.kind == Statistic::Kind::Variance
                           ? arena.symbol(entry.spread) / arena.make(Op::Max, {n, arena.integer(1)})
                           : arena.symbol(entry.mean);
    // an instance that has ended keeps its last value
    result.push_back({entry.result, select(positive(n), value, arena.symbol(entry.result))});
    if (restart) result.push_back({entry.count, arena.integer(0)});
    // a mean begins with m = 0 and weight 1/1, which gives the first value as it is
    if (restart && s.kind == Statistic::Kind::Mean)
      result.push_back({entry.mean, arena.integer(0)});
  }
  return result;
}

void Averages::inputs(Observer& observer) {
  for (Entry& entry : needed_) {
    const Statistic& s = of(entry);
    if (s.axes.empty()) continue;
    if (const auto of_class = physics::class_value(s.value)) {
      class_input(entry, replaced(of_class->value), of_class->member, observer);
      continue;
    }
    const Expr value = replaced(s.value);
    if (value.is(Op::Symbol) && slots_.has(value->name)) {
      entry.input = value->name;
    } else {
      const int index = observer.scalar("input", value);
      entry.input = slots_.names()[static_cast<std::size_t>(index)];
      slots_.set(entry.input, std::numeric_limits<double>::quiet_NaN());
    }
  }
}

/// The value of a member, and how members are found.
void Averages::class_input(Entry& entry, Expr value, Expr member, Observer& observer) {
  const auto taken = [&](const char* hint, Expr e) {
    const int index = observer.scalar(hint, e);
    const std::string name = slots_.names()[static_cast<std::size_t>(index)];
    slots_.set(name, std::numeric_limits<double>::quiet_NaN());
    return name;
  };
  // a number of its own: the runtime leaves the other instances out of it
  entry.input = taken("input", value);
  const auto shares = member.is(Op::Symbol) ? physics::shares_of(member->name) : std::nullopt;
  const Entry* ranked = shares ? find(member->name) : nullptr;
  entry.member = ranked ? ranked->input
                        : taken("member", select(replaced(member), member->arena->integer(1),
                                                 member->arena->integer(0)));
  if (ranked) entry.shares = shares;
}

Expr Averages::of_instance(Expr value) const {
  algebra::Arena& arena = *system_.arena;
  for (const Entry& entry : needed_) {
    const Statistic& s = of(entry);
    if (algebra::depends_on(value, arena.symbol(s.error))) return {};
    if (!s.axes.empty() && algebra::depends_on(value, arena.symbol(s.symbol))) return {};
  }
  return replaced(value);
}

std::vector<program::Statistic> Averages::statistics() const {
  std::vector<program::Statistic> result;
  for (const Entry& entry : needed_) {
    const Statistic& s = of(entry);
    if (physics::shares_of(s.symbol)) continue;  // it orders the instances alone
    program::Statistic p;
    p.kind = static_cast<program::Statistic::Kind>(s.kind);
    p.axes = s.axes;
    if (!entry.error.empty()) p.error_slot = slots_.index(entry.error);
    p.result_slot = slots_.index(entry.result);
    if (s.axes.empty()) {
      if (entry.error.empty() || !at_end_) continue;  // the kernels have done it all
      // a running mean is known between outputs too
      p.slot = s.kind == Statistic::Kind::Mean ? slots_.index(entry.mean) : p.result_slot;
      p.count_slot = slots_.index(entry.count);
    } else {
      p.slot = slots_.index(entry.input);
      if (!entry.member.empty()) p.member_slot = slots_.index(entry.member);
      if (entry.shares) p.by_rank = true, p.from = entry.shares->from, p.to = entry.shares->to;
    }
    result.push_back(p);
  }
  return result;
}

bool Averages::needs_state(Expr value) const {
  const auto known = [&](const std::string& name) {
    const auto is = [&](const auto& s) { return s.symbol == name; };
    return std::ranges::any_of(system_.axes, is) || std::ranges::any_of(system_.passages, is) ||
           std::ranges::any_of(
               system_.statistics,
               [&](const Statistic& s) { return s.symbol == name || s.error == name; }) ||
           name == slot::kStep || name == system_.time;
  };
  return algebra::contains(value, [&](Expr node) {
    if (node.is(Op::Symbol)) return !known(node->name);
    return node.is(Op::Load) || node.is(Op::Stencil) ||
           (node.op() >= Op::Mean && node.op() <= Op::Maximum);
  });
}

void refuse_state(const Averages& averages, Expr value, dsl::Span span,
                  dsl::Diagnostics& diagnostics) {
  if (!averages.needs_state(value)) return;
  diagnostics.add(errors::not_yet(
      span, "a value that needs averages over time or the sweep and the present state at once"));
}

int Averages::slot_of(const std::string& hint, Expr value) {
  const Expr made = replaced(value);
  if (made.is(Op::Symbol) && slots_.has(made->name)) return slots_.index(made->name);
  const std::string name = nan_slot("out_" + plain(hint));
  then_.push_back({name, made});
  return slots_.index(name);
}

program::ScalarOutput Averages::output(const std::string& name, Expr value, Expr error) {
  program::ScalarOutput out;
  out.name = name;
  out.slot = slot_of(name, value);
  // of a mean over time alone the runtime can tell an error when the run ends
  const bool known = error && std::ranges::none_of(needed_, [&](const Entry& entry) {
                       const bool told = at_end_ && of(entry).kind == Statistic::Kind::Mean;
                       return of(entry).axes.empty() && !told &&
                              algebra::depends_on(error, system_.arena->symbol(of(entry).error));
                     });
  if (known) out.error_slot = slot_of(name + "_error", error);
  std::set<int> axes;
  const auto all_but = [&](const std::vector<int>& gone) {
    for (int k = 0; k < static_cast<int>(system_.axes.size()); ++k) {
      if (std::ranges::count(gone, k) == 0) axes.insert(k);
    }
  };
  const bool averaged = std::ranges::any_of(system_.statistics, [&](const Statistic& s) {
    return !s.axes.empty() && (algebra::depends_on(value, system_.arena->symbol(s.symbol)) ||
                               algebra::depends_on(value, system_.arena->symbol(s.error)));
  });
  algebra::visit(value, [&](Expr node) {
    if (!node.is(Op::Symbol)) return;
    for (std::size_t k = 0; k < system_.axes.size(); ++k) {
      if (system_.axes[k].symbol == node->name) axes.insert(static_cast<int>(k));
    }
    for (const FirstPassage& f : system_.passages) {
      if (f.symbol == node->name) all_but({});
    }
    for (const Statistic& s : system_.statistics) {
      if (s.symbol == node->name || s.error == node->name) all_but(s.axes);
    }
    // beside an average, the time of a run that ends everywhere at once is one number
    if (node->name == system_.time && !(averaged && system_.end_time > 0)) all_but({});
  });
  out.axes.assign(axes.begin(), axes.end());
  return out;
}

}  // namespace vphi::schedule
