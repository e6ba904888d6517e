// Averages over time and over axes of a sweep, and first passages, as slots and assignments.
//
// Over time: each step adds to a running mean (Welford's form, so that small variances keep their
// digits) as long as the instance runs and `after` holds; an output reads it and restarts it. Over
// axes: the input is a slot of every instance; the runtime averages it and writes the result into
// another slot (program::Statistic), which the kernels of `then` read. A first passage stores the
// values of the step before and interpolates when its condition begins to hold. All of this is
// scalar arithmetic in epilogues, without a transfer to the host.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/physics/clauses/averaged_class.hpp"
#include "compiler/schedule/outputs/observe.hpp"
#include "dsl/messages/diagnostic.hpp"

namespace vphi::schedule {

namespace slot {
inline constexpr const char* kRan = "ran";            ///< 1 where the instance took the last step
inline constexpr const char* kEnsemble = "ensemble";  ///< its number in the ensemble, for noise
}  // namespace slot

/// Reserves the slots of first passages, and of `ran` where it is needed.
void reserve_slots(const physics::System& system, Slots& slots);
bool needs_ran(const physics::System& system);

/// The averages of one clause, and the values computed from them.
class Averages {
 public:
  Averages(const physics::System& system, Slots& slots) : system_(system), slots_(slots) {}

  /// Declares a value of the clause. All calls of this function come first.
  void want(Expr value);
  /// The clause is written, or checked, at the end of the run. The runtime then computes the errors
  /// of its averages over time, from the windows between outputs.
  void at_end() { at_end_ = true; }
  bool any() const { return !needed_.empty(); }
  bool holds(Expr value) const;

  /// Updates the running means over time at every step where the condition `after` holds (null: at
  /// every step).
  void accumulate(Observer& checks, Expr after);
  /// Computes the inputs of the averages over axes, in the launches of the clause.
  void inputs(Observer& observer);
  /// Assignments before these launches: the means since the last output. `restart` begins new
  /// means.
  std::vector<kernel::ScalarAssign> windows(bool restart) const;
  std::vector<program::Statistic> statistics() const;

  /// The output of a value: its slot, the slot of its error, and the axes along which it varies.
  program::ScalarOutput output(const std::string& name, Expr value, Expr error);
  /// The value for one instance, if it contains no averages over axes; otherwise null.
  Expr of_instance(Expr value) const;
  /// Slot of a value with averages, assigned in `then`.
  int slot_of(const std::string& hint, Expr value);
  /// Assignments after the statistics.
  const std::vector<kernel::ScalarAssign>& then() const { return then_; }
  /// Whether a value contains a part other than averages and swept names. Such a value cannot be
  /// written.
  bool needs_state(Expr value) const;
  /// The slot of the synchronised time of the instance, for values with `t`.
  void time_slot(const std::string& name) { time_ = name; }

 private:
  struct Entry {
    int statistic = 0;  ///< in System::statistics
    /// Slot of the value of the instance, or of its mean over time.
    std::string input;
    std::string result;               ///< slot of the average
    std::string error;                ///< slot of the error; empty: not needed
    std::string count, mean, spread;  ///< slots of the running mean over time
    std::string member;  ///< slot of the number by which members are found; empty: all instances
    std::optional<physics::Shares> shares;  ///< of members by their rank
  };
  const physics::Statistic& of(const Entry& entry) const {
    return system_.statistics[static_cast<std::size_t>(entry.statistic)];
  }
  Entry* find(const std::string& symbol);
  void class_input(Entry& entry, Expr value, Expr member, Observer& observer);
  Expr replaced(Expr value) const;
  std::string nan_slot(const std::string& hint);

  const physics::System& system_;
  Slots& slots_;
  std::vector<Entry> needed_;  ///< inner ones first
  std::vector<kernel::ScalarAssign> then_;
  std::string time_;
  bool at_end_ = false;
};

/// Reports an error where a value needs averages over axes and the state: it is computed after the
/// averages, when the state is no longer available.
void refuse_state(const Averages& averages, Expr value, dsl::Span span,
                  dsl::Diagnostics& diagnostics);

/// Updates the first passages of the model at every step. `last` is 1 at the last stage of a step;
/// null where a step has one stage.
void watch_passages(const physics::System& system, Slots& slots, Observer& checks, Expr last);

}  // namespace vphi::schedule
