// Results of all instances of a sweep: rows with axes, averages, expectations, failures.
//
// A Session advances a batch of instances; where the sweep has more, batches run one after the
// other (parts). An Ensemble receives the scalars of all instances at every output and makes rows
// from them: values along the axes of the sweep, statistics over axes, and the results of the
// launches in Output::then. With one part a row is complete at once; with several parts the last
// one completes it. The division into parts does not change the results: an instance that ended
// before the step of a row enters with its last values, and sums run over the instances in order.
// NaN means that an instance has no value; statistics omit it.
//
// Stop criteria on averages (program/stop_criterion.hpp) are evaluated at every output of a sweep
// in one part, and after each part of a sweep in several, over the instances so far; `reached` is
// true when the run may end.
//
// The Ensemble owns the series, plots and failures of a run; it must outlive the sessions of its
// parts. Throws RunError where memory or the program does not allow it, DeviceError, ResultsError.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/io/results.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/session.hpp"
#include "runtime/run/state/swept_fields.hpp"
#include "runtime/run/state/swept_surfaces.hpp"

namespace vphi::runtime {

/// Whether it is an average over time only, which kernels compute.
inline bool over_time(const program::Statistic& s) { return s.axes.empty() && s.count_slot >= 0; }

/// Scalars of many instances at one moment.
struct Table {
  std::int64_t instances = 0;
  std::size_t width = 0;       ///< number of slots of an instance
  std::vector<double> values;  ///< [instance][slot]; with a `column`, [slot][instance]
  std::size_t column = 0;      ///< from one slot to the next
  double& at(std::int64_t instance, int slot) { return values[place(instance, slot)]; }
  double at(std::int64_t instance, int slot) const { return values[place(instance, slot)]; }
  std::vector<double> row(std::int64_t instance) const;
  void transpose_by_instance();

 private:
  std::size_t place(std::int64_t instance, int slot) const {
    const auto i = static_cast<std::size_t>(instance), k = static_cast<std::size_t>(slot);
    return column > 0 ? k * column + i : i * width + k;
  }
};

/// A statistic as a function of the remaining axes, in the order of the instances.
struct Averaged {
  std::vector<double> value, error;
  std::vector<std::int64_t> missing;  ///< instances without a value
};

/// The remaining axes after an average over the others, and the place of an instance along them.
class Remaining {
 public:
  Remaining(const program::Program& program, const std::vector<int>& kept);
  static std::vector<int> all_but(const program::Program& program, const std::vector<int>& gone);
  std::int64_t size() const { return size_; }
  std::int64_t cell(std::int64_t instance) const;

 private:
  const program::Program& program_;
  std::vector<int> kept_;
  std::int64_t size_ = 1;
};

/// Mean, variance, minimum or maximum over the instances with equal places along the remaining
/// axes, without NaN. The error of a mean is sqrt(s^2/n) with s^2 = sum (x - mean)^2/(n - 1). For
/// an average over an ensemble and parameters it is sqrt(sum n_g s_g^2)/n, with s_g^2 the variance
/// of the ensemble at each of the parameters' values, since these values are chosen and not random.
Averaged average(const program::Program& program, const program::Statistic& statistic,
                 const Table& table);

class Ensemble {
 public:
  /// `results` may be null: nothing is written. `onlooker` may be null; one that attends now is
  /// given the tables of fields (SweptFields).
  Ensemble(const program::Program& program, io::Results* results, Onlooker* onlooker = nullptr);

  std::int64_t parts() const { return parts_; }
  std::int64_t first_of(std::int64_t part) const { return part * program_.instances; }
  /// Instances of a part; the last one may have fewer than the batch.
  std::int64_t count_of(std::int64_t part) const;
  /// Begins a part; from here on scalars come from `session`.
  void begin(std::int64_t part, Session& session);

  /// Whether errors of averages over time are needed. `judge` and `follow` record the averages, and
  /// at the end of the run their values in the windows between give the errors.
  bool follows() const {
    return std::ranges::any_of(timed_, [](const Timed& t) { return t.on; });
  }
  void follow();
  /// Stores the errors of the averages over time of `output` in the scalars of the session; for
  /// runs without axes, whose rows are not made here.
  void errors_into_session(std::size_t output);

  /// Records the scalars of the session and the arrays of the output, after its launches.
  void record(std::size_t output, const io::Moment& at, RowOrder order);
  /// The same after the watch launches: evaluates the expectations.
  void judge(const io::Moment& at, bool last);
  /// This part has ended; after the last part the pending rows are finished.
  void end_part(const io::Moment& at);

  /// Whether a stop criterion holds everywhere, so that no further part is needed.
  bool reached() const { return !reached_.empty(); }

  io::Results* results() const { return results_; }
  /// Adds a note for the end of the run.
  void note(const std::string& text) { notes_.insert(text); }
  /// Records that the instance's state has become NaN.
  void fail(std::int64_t instance, const std::string& message);
  bool failed(std::int64_t instance) const { return failed_.contains(instance); }
  /// The present part, and the largest step and time of finished parts.
  std::int64_t part() const { return part_; }
  bool last_part() const { return part_ + 1 >= parts_; }
  std::int64_t steps() const { return steps_; }
  double time() const { return time_; }
  /// The state between two outputs as bytes for a checkpoint: the present part, and pending rows of
  /// parts before. `restore` throws DamagedCheckpoint, or RunError E0853 where the sweep differs.
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> bytes);
  /// Writes all rows into a result file that was started again.
  void rewrite_rows(const std::string& file);
  /// Adds series, plots, expectations, failures and notes to a result.
  void into(RunResult& result) const;

 private:
  struct Row {
    io::Moment at;
    RowOrder order;
    std::int64_t place() const { return order.place(at); }
  };
  struct Waiting {
    std::vector<Row> rows;  ///< of one output and one part
    std::vector<Table> tables;
  };
  struct Promise {
    bool ok = true;
    double value = 0, time = 0;
    std::int64_t instance = -1;
    std::string undecided;  ///< why it could not be evaluated; the expectation then does not hold
    std::vector<double> first, largest_change, largest_scale;  ///< of each instance
  };

  Table block();
  void record_fields(std::size_t output, const io::Moment& at, RowOrder order, const Table& table);
  void apply(const std::vector<program::Statistic>& statistics,
             const std::vector<program::Launch>& then, Table& all);
  void finish_row(std::size_t output, const io::Moment& at, Table& all);
  void finish_rows();
  void judge_instance(std::size_t promise, const Table& table, std::int64_t row,
                      std::int64_t instance, double time);
  void judge_whole(Table& all, double time);
  void check_stop_criteria(const Table& table, const io::Moment& at);
  void complete(Table& all);
  std::string undecided(const program::Expectation& e, double sigma) const;
  void errors_over_time(std::span<const program::Statistic> statistics, Table& all);
  Table watched() const;
  void save_parts(Packer& to) const;
  void restore_parts(Unpacker& from);
  void follow_time(const Table& table);
  Series& series_of(const std::string& name);

  const program::Program& program_;
  io::Results* results_;
  SweptFields fields_;
  SweptSurfaces surfaces_;
  std::int64_t parts_ = 1, part_ = 0;
  std::int64_t steps_ = 0;  ///< the most of the parts that have ended
  double time_ = 0;         ///< the same
  Session* session_ = nullptr;
  std::vector<Series> series_;
  std::unordered_map<std::string, std::size_t> series_index_;
  std::vector<Plot> plots_;
  std::vector<std::vector<Waiting>> waiting_;  ///< [output][part]
  std::vector<Table> last_watch_;              ///< [part]
  std::vector<Promise> promises_;
  std::map<std::int64_t, std::string> failed_;
  std::set<std::string> notes_;
  std::string reached_;  ///< the criterion that ended the run, for messages; empty: none yet
  /// An average over time whose error is needed: those of `watch_statistics`, then those of outputs
  /// at the end of the run.
  struct Timed {
    const program::Statistic* statistic = nullptr;
    bool on = false;
  };
  std::vector<Timed> timed_;
  std::map<int, observe::Known> unknown_;  ///< by the slot of an error that is not known
  /// Number of steps and value at each evaluation, [timed][instance].
  std::vector<std::vector<std::vector<std::pair<double, double>>>> times_;
  /// Largest number of windows of an instance; more are joined in pairs.
  std::size_t most_windows_ = 0;
  /// Memory of the last table, reused because page faults of large tables are expensive.
  std::vector<double> spare_;
};

}  // namespace vphi::runtime
