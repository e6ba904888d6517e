// Results of all instances of a sweep: rows with axes, averages, promises, failures.
//
// A Session moves a batch of instances; where the sweep has more, batches run one after the other
// (parts). An Ensemble receives the scalar blocks of all instances at every output and makes rows
// of them: values along the axes of the sweep, statistics over axes, and the results of `then`
// kernels. With one part a row is complete at once; with several it is completed by the last part,
// so the division into parts changes nothing: an instance that ended before the step of a row
// enters with its last values, and sums run over the instances in their order. NaN means that an
// instance has no value; statistics leave it out.
//
// Stop criteria on averages (program/stop_criterion.hpp) are evaluated at every output of a sweep
// in one part, and after each part of a sweep in several, over the instances so far: `reached` says
// that the run may end.
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

namespace vphi::runtime {

/// An average over time alone, which the kernels make.
inline bool over_time(const program::Statistic& s) { return s.axes.empty() && s.count_slot >= 0; }

/// Scalars of many instances at one moment.
struct Table {
  std::int64_t instances = 0;
  std::size_t width = 0;       ///< slots of an instance
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

/// A statistic on the axes that are left: places of the result in the order of the instances.
struct Averaged {
  std::vector<double> value, error;
  std::vector<std::int64_t> missing;  ///< instances without a value
};

/// Shape of what is left of the axes when `gone` are averaged over, and where an instance falls.
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

/// Mean, variance, least or greatest value over the instances that agree on the axes left; NaN are
/// left out. The error of a mean is sqrt(s^2/n) with s^2 = sum (x - mean)^2/(n - 1); over an
/// ensemble and parameters together it is that of the ensemble at each of their values, sqrt(sum
/// n_g s_g^2)/n, since these values are chosen and not drawn.
Averaged average(const program::Program& program, const program::Statistic& statistic,
                 const Table& table);

class Ensemble {
 public:
  /// `results` may be null: nothing is written.
  Ensemble(const program::Program& program, io::Results* results);

  std::int64_t parts() const { return parts_; }
  std::int64_t first_of(std::int64_t part) const { return part * program_.instances; }
  /// Instances of a part; the last one may have fewer than the batch.
  std::int64_t count_of(std::int64_t part) const;
  /// From here on blocks come from `session`.
  void begin(std::int64_t part, Session& session);

  /// Averages over time alone whose errors are wanted: `judge` and `follow` note what they are, and
  /// the values in the windows between give the error when the run ends.
  bool follows() const {
    return std::ranges::any_of(timed_, [](const Timed& t) { return t.on; });
  }
  void follow();
  /// Errors of the averages over time of `output`, into the scalars of the session; for runs
  /// without axes, whose rows are not made here.
  void errors_into_session(std::size_t output);

  /// The block of the session, and the arrays of the output, after its launches.
  void record(std::size_t output, const io::Moment& at, RowOrder order);
  /// The same after the watch launches: judges the promises.
  void judge(const io::Moment& at, bool last);
  /// This part has ended; after the last part the pending rows are finished.
  void end_part(const io::Moment& at);

  /// A stop criterion holds everywhere; no further part is needed.
  bool reached() const { return !reached_.empty(); }

  io::Results* results() const { return results_; }
  /// For people, when the run is over.
  void note(const std::string& text) { notes_.insert(text); }
  /// The instance's state has become NaN.
  void fail(std::int64_t instance, const std::string& message);
  bool failed(std::int64_t instance) const { return failed_.contains(instance); }
  /// The part that is running, and what the parts that ended have reached.
  std::int64_t part() const { return part_; }
  bool last_part() const { return part_ + 1 >= parts_; }
  std::int64_t steps() const { return steps_; }
  double time() const { return time_; }
  /// Everything it knows between two outputs, as bytes for a checkpoint, and back: the part that is
  /// running, and what waits of those before. `restore` throws DamagedCheckpoint, and RunError
  /// E0853 where the sweep is another.
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> bytes);
  /// Writes the rows again into a result file that had to start anew.
  void rewrite_rows(const std::string& file);
  /// Adds series, plots, promises, failures and notes.
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
    std::string undecided;  ///< why there is no verdict; the promise does not hold then
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
  std::string reached_;  ///< what ended the run, for people; empty: nothing yet
  /// An average over time alone whose error is wanted: of `watch_statistics`, then of outputs at
  /// the end of the run.
  struct Timed {
    const program::Statistic* statistic = nullptr;
    bool on = false;
  };
  std::vector<Timed> timed_;
  std::map<int, observe::Known> unknown_;  ///< by the slot of an error that is not known
  /// Steps in it and its value at each judgement, [timed][instance].
  std::vector<std::vector<std::vector<std::pair<double, double>>>> times_;
  std::size_t most_windows_ = 0;  ///< of an instance; more are joined two by two
  std::vector<double> spare_;     ///< memory of the last table: pages of many paths are not cheap
};

}  // namespace vphi::runtime
