// Averages over time and over axes of a sweep, and first passages, as slots and assignments.
//
// Over time: each step adds to a running mean (Welford's form, so that small variances keep their
// digits) as long as the instance runs and `after` holds; an output reads it and starts it anew.
// Over axes: the input is a slot of every instance; the runtime averages it and writes the result
// into another slot (program::Statistic), from which `then` kernels go on. A first passage keeps
// the values of the step before and interpolates when its condition begins to hold. All of this is
// scalar work after a sweep: nothing goes to the host in between.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/schedule/outputs/observe.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

namespace slot {
inline constexpr const char* kRan = "ran";            ///< 1 where the last step moved the instance
inline constexpr const char* kEnsemble = "ensemble";  ///< its number in the ensemble, for noise
}  // namespace slot

/// Reserves the slots of first passages; `ran` where anything needs it.
void reserve_slots(const physics::System& system, Slots& slots);
bool needs_ran(const physics::System& system);

/// One clause that is written at one time: its averages and what is made of them.
class Averages {
 public:
  Averages(const physics::System& system, Slots& slots) : system_(system), slots_(slots) {}

  /// Everything the clause writes; first of all calls.
  void want(Expr value);
  /// The clause is written, or judged, at the end of the run: then the runtime computes the errors
  /// of its averages over time alone, from the windows between outputs.
  void at_end() { at_end_ = true; }
  bool any() const { return !needed_.empty(); }
  bool holds(Expr value) const;

  /// Running means over time, at every step. `after`: null, or when they run.
  void accumulate(Observer& checks, Expr after);
  /// Inputs of the averages over axes, in the launches of the clause.
  void inputs(Observer& observer);
  /// Before these launches: the means since the last output; `restart` begins new ones.
  std::vector<kernel::ScalarAssign> windows(bool restart) const;
  std::vector<program::Statistic> statistics() const;

  /// What a value of the clause becomes: a slot, its error and the axes it has.
  program::ScalarOutput output(const std::string& name, Expr value, Expr error);
  /// The value of one instance that holds no averages but those over time; null where it does.
  Expr of_instance(Expr value) const;
  /// Slot of a value that holds averages, assigned in `then`.
  int slot_of(const std::string& hint, Expr value);
  /// Assignments after the statistics.
  const std::vector<kernel::ScalarAssign>& then() const { return then_; }
  /// A part of a value that neither averages nor swept names give; then it cannot be written.
  bool needs_state(Expr value) const;
  /// The synchronised time of the instance, for values that hold `t`.
  void time_slot(const std::string& name) { time_ = name; }

 private:
  struct Entry {
    int statistic = 0;                ///< in System::statistics
    std::string input;                ///< slot: value of the instance, or its mean over time
    std::string result;               ///< slot: what the symbol stands for
    std::string error;                ///< slot; empty: not wanted
    std::string count, mean, spread;  ///< running, over time
  };
  const physics::Statistic& of(const Entry& entry) const {
    return system_.statistics[static_cast<std::size_t>(entry.statistic)];
  }
  Entry* find(const std::string& symbol);
  Expr replaced(Expr value) const;
  std::string nan_slot(const std::string& hint);

  const physics::System& system_;
  Slots& slots_;
  std::vector<Entry> needed_;  ///< inner ones first
  std::vector<kernel::ScalarAssign> then_;
  std::string time_;
  bool at_end_ = false;
};

/// What is made of averages is made after the sweep's instances have met: the state is not at hand
/// there.
void refuse_state(const Averages& averages, Expr value, dsl::Span span,
                  dsl::Diagnostics& diagnostics);

/// The first passages of the model, at every step. `last`: 1 at the last stage of a step; null
/// where a step has one stage.
void watch_passages(const physics::System& system, Slots& slots, Observer& checks, Expr last);

}  // namespace vphi::schedule
