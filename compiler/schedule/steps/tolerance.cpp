#include "compiler/schedule/steps/tolerance.hpp"

#include <algorithm>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/steps/step.hpp"

namespace vphi::schedule {

using algebra::Arena;
using algebra::Op;
using physics::Tolerance;

namespace {

constexpr double kSafety = 0.9, kShrink = 0.2, kGrow = 5;
constexpr double kShortest = 1e-12;  ///< of the first trial: no shorter step is tried

Expr choose(Expr condition, Expr yes, Expr no) {
  return condition->arena->make(Op::Select, {condition, yes, no});
}

/// Of a number that is 0 or 1.
Expr is_set(Expr e) { return e->arena->make(Op::Less, {e->arena->rational(1, 2), e}); }

Expr flag(Block& block, const char* name, Expr condition) {
  Arena& arena = block.arena();
  return block.scalar(name, choose(condition, arena.integer(1), arena.integer(0)));
}

/// The times that steps do not pass: `t >= end` of `until`. They may be swept.
void find_ends(const physics::System& system, Expr until, std::vector<Expr>& ends) {
  if (!until) return;
  if (until.is(Op::Or)) {
    for (const Expr part : until.args()) find_ends(system, part, ends);
    return;
  }
  const bool bound =
      until.is(Op::LessEqual) && until.arg(1).is(Op::Symbol) && until.arg(1)->name == system.time;
  if (!bound || algebra::per_site(until.arg(0))) return;
  const bool changes = algebra::contains(until.arg(0), [&](Expr node) {
    return node.is(Op::Symbol) &&
           std::ranges::count(system.axes, node->name, &physics::Axis::symbol) == 0;
  });
  if (!changes) ends.push_back(until.arg(0));
}

/// Number of the last multiple of the output's interval at a time.
Expr passed(const physics::OutputClause& output, Expr time) {
  constexpr double kRounding = 1e-9;  // of an interval, as in the run's own reckoning of times
  Arena& arena = *time->arena;
  const Expr number = (time - arena.real(output.from)) / arena.real(output.interval);
  return arena.make(Op::Floor, {number + arena.real(kRounding)});
}

/// What outputs and the end of the run ask of steps.
struct Times {
  Expr next;  ///< the first time after t that is met exactly; null: there is none
  Expr held;  ///< 1 where t has reached an output that is not written yet
};

Times times(Block& block, Expr t) {
  const physics::System& system = block.system();
  Arena& arena = block.arena();
  Times result;
  const auto see = [&](Expr time) {
    result.next = result.next ? arena.make(Op::Min, {result.next, time}) : time;
  };
  result.held = arena.integer(0);
  std::set<std::string> known;
  for (const physics::OutputClause& output : system.outputs) {
    const std::string slot = slot_of_written(system, output);
    if (slot.empty() || !known.insert(slot).second) continue;
    block.slots().add(slot, output.from);
    const Expr reached = block.scalar("reached", passed(output, t));
    const Expr written = passed(output, arena.symbol(slot));
    result.held = arena.make(
        Op::Max, {result.held, flag(block, "held", arena.make(Op::Less, {written, reached}))});
    see(arena.real(output.from) + arena.real(output.interval) * (reached + arena.integer(1)));
  }
  std::vector<Expr> ends;
  find_ends(system, system.until, ends);
  constexpr double kNever = 1e300;
  for (const Expr end : ends) see(choose(arena.make(Op::Less, {t, end}), end, arena.real(kNever)));
  return result;
}

const physics::ScalarVariable* scalar_of(const physics::System& system, const std::string& name) {
  const auto found = std::ranges::find(system.scalars, name, &physics::ScalarVariable::symbol);
  return found == system.scalars.end() ? nullptr : &*found;
}

/// dt/d(eta) at the start of a trial.
Expr rate_of_time(const physics::System& system, const State& start) {
  const physics::ScalarVariable* time = scalar_of(system, system.time);
  return time ? at(start, time->rate) : system.arena->integer(1);
}

/// The largest size of a number in its error and its values.
struct Sizes {
  Expr error, value;
  double unit = 0;  ///< > 0: what takes the place of `value`
};

void join(Expr& largest, Expr other) {
  largest = largest ? largest->arena->make(Op::Max, {largest, other}) : other;
}

/// |e|, and a huge number where e is not a number: a reduction may pass NaN over.
Expr size_of(Expr e) {
  Arena& arena = *e->arena;
  const Expr huge = arena.real(1e37), size = arena.make(Op::Abs, {e});
  return choose(arena.make(Op::LessEqual, {size, huge}), size, huge);
}

/// E of the trial.
Expr error_of(Block& block, const Tolerance& tolerance, const State& start,
              const text::Value& error, const State& end) {
  const physics::System& system = block.system();
  Arena& arena = block.arena();
  std::map<std::pair<int, int>, Sizes> fields;
  for (const auto& [array, e] : error.arrays) {
    const physics::Variable* v = variable_of(system, array);
    if (v == nullptr || v->frozen || e.is_zero()) continue;
    const int field = v->field >= 0 ? v->field : -1 - array;
    Sizes& sizes = fields[{field, static_cast<int>(v->role)}];
    join(sizes.error, size_of(e));
    join(sizes.value, size_of(start.arrays.at(array)));
    join(sizes.value, size_of(end.arrays.at(array)));
    if (v->period > 0) sizes.unit = v->period / (2 * std::numbers::pi);
  }
  const Expr tiny = arena.real(1e-290), floor = arena.real(tolerance.floor);
  Expr all = arena.integer(0);
  const auto see = [&](Expr size, Expr value) {
    const Expr bound = arena.real(tolerance.tol) * arena.make(Op::Max, {value + floor, tiny});
    all = arena.make(Op::Max, {all, block.scalar("error", size / bound)});
  };
  for (const auto& [key, sizes] : fields) {
    const Expr value =
        sizes.unit > 0 ? arena.real(sizes.unit) : arena.make(Op::Maximum, {sizes.value});
    see(arena.make(Op::Maximum, {sizes.error}), value);
  }
  for (const auto& [name, e] : error.scalars) {
    const physics::ScalarVariable* scalar = scalar_of(system, name);
    if (scalar == nullptr || e.is_zero() || algebra::constant(scalar->rate)) continue;
    see(size_of(e),
        arena.make(Op::Max, {size_of(start.scalars.at(name)), size_of(end.scalars.at(name))}));
  }
  return block.scalar("error", all);
}

}  // namespace

std::string slot_of_written(const physics::System& system, const physics::OutputClause& output) {
  if (tolerance_of(system.dynamics) == nullptr || output.interval <= 0) return {};
  const auto same = [&](const physics::OutputClause& other) {
    return other.interval == output.interval && other.from == output.from;
  };
  const auto first = std::ranges::find_if(system.outputs, same);
  return "written_" + std::to_string(first - system.outputs.begin() + 1);
}

Trial begin_trial(Block& block, const State& start) {
  const physics::System& system = block.system();
  Arena& arena = block.arena();
  const Expr one = arena.integer(1), next = start.scalars.at(Tolerance::kNext);
  const auto t = start.scalars.find(system.time);
  const Times wanted =
      t == start.scalars.end() ? Times{{}, arena.integer(0)} : times(block, t->second);
  Trial trial;
  trial.running = block.scalar("running", (one - arena.symbol(slot::kStop)) * (one - wanted.held));
  if (!wanted.next) {
    trial.length = block.scalar("dt", next * trial.running);
    return trial;
  }
  trial.target = block.scalar("target", wanted.next);
  const Expr left = block.scalar("left", (trial.target - t->second) / rate_of_time(system, start));
  trial.reaches = flag(block, "reaches", arena.make(Op::LessEqual, {left, next}));
  // two equal steps instead of a long and a tiny one
  const Expr half = arena.make(Op::Min, {next, left * arena.rational(1, 2)});
  trial.length = block.scalar("dt", choose(is_set(trial.reaches), left, half) * trial.running);
  return trial;
}

void end_trial(Block& block, const Trial& trial, const State& start, const text::Value& error,
               Expr order, State& state) {
  const physics::System& system = block.system();
  Arena& arena = block.arena();
  const Tolerance& tolerance = *tolerance_of(system.dynamics);
  const Expr one = arena.integer(1);
  const Expr e = error_of(block, tolerance, start, error, state);
  const Expr good = flag(block, "good", arena.make(Op::LessEqual, {e, one}));
  const Expr taken = block.scalar("taken", good * trial.running);

  for (auto& [array, value] : state.arrays) {
    const physics::Variable* v = variable_of(system, array);
    if (v == nullptr || value->index == array) continue;
    value = block.array(v->name, choose(is_set(taken), value, start.arrays.at(array)), array);
  }
  const physics::ScalarVariable* time = scalar_of(system, system.time);
  const bool exact = trial.target && time && algebra::constant(time->rate);
  for (auto& [name, value] : state.scalars) {
    const Expr before = start.scalars.at(name);
    if (value == before) continue;
    Expr after = value;
    if (exact && name == system.time) after = choose(is_set(trial.reaches), trial.target, value);
    if (exact && name == rest_name(system.time))
      after = choose(is_set(trial.reaches), arena.integer(0), value);
    value = block.scalar(name, choose(is_set(taken), after, before));
  }

  // the next length; an error that is no number is above 1
  constexpr double kLeast = 1e-30;
  const Expr safe = arena.make(Op::Max, {e, arena.real(kLeast)});
  const Expr ideal = arena.real(kSafety) * algebra::pow(safe, -(one / order));
  const Expr factor = block.scalar(
      "factor",
      arena.make(Op::Min, {arena.make(Op::Max, {ideal, arena.real(kShrink)}), arena.real(kGrow)}));
  const Expr next = start.scalars.at(Tolerance::kNext);
  const Expr ideal_next = block.scalar("ideal", trial.length * factor);
  // a step that was short for the sake of a time says nothing against the length before
  const Expr kept = arena.make(
      Op::Max, {ideal_next, choose(arena.make(Op::Less, {trial.length, next}), next, ideal_next)});
  Expr proposed = choose(is_set(good), kept, ideal_next);
  if (tolerance.bounded) proposed = arena.make(Op::Min, {proposed, arena.real(tolerance.first)});
  const auto set = [&](const char* name, Expr value) {
    state.scalars[name] = block.scalar(name, value);
  };
  const auto count = [&](const char* name, Expr more) { set(name, start.scalars.at(name) + more); };
  set(Tolerance::kNext, choose(is_set(trial.running), proposed, next));
  const Expr physical = trial.length * rate_of_time(system, start);
  set(Tolerance::kTaken, choose(is_set(taken), physical, start.scalars.at(Tolerance::kTaken)));
  count(Tolerance::kAccepted, taken);
  count(Tolerance::kRejected, trial.running - taken);
  const Expr shortest = arena.real(kShortest * tolerance.first);
  const Expr stuck = arena.make(
      Op::And, {is_set(trial.running - taken), arena.make(Op::Less, {ideal_next, shortest})});
  set(Tolerance::kFailed, choose(stuck, one, start.scalars.at(Tolerance::kFailed)));
}

}  // namespace vphi::schedule
