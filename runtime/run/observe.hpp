// Outputs of a run: which are due, their values and their files.
//
// An Observer launches the output kernels of a Session, reads scalars and arrays back, keeps the
// series in memory and passes everything to io::Results. It also runs the watch launches and
// evaluates the expectations, which are checked at every output.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/io/results.hpp"
#include "runtime/observe/kinds/kind.hpp"
#include "runtime/run/ensemble.hpp"
#include "runtime/run/expect.hpp"
#include "runtime/run/output_times.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

/// Arrays of outputs between two moments (program::FieldOutput::in_time) at the last of them, by
/// the places of the output and of the field in it.
using EarlierArrays = std::map<std::pair<std::size_t, std::size_t>, observe::Arrays>;

/// The state of an Observer apart from the files, for checkpoints.
struct ObserverState {
  std::vector<Series> series;
  std::vector<std::int64_t> last_step;  ///< of each series
  ExpectationState expectations;
  std::int64_t observed = -1;  ///< the last step with an output
  EarlierArrays earlier = {};
};

class Observer {
 public:
  /// `out` empty: nothing is written to files. `onlooker` may be null. `logs`: folder of undo logs
  /// of the result files; empty: they cannot be restored. `ensemble`: null without a sweep;
  /// otherwise it handles the scalars, the expectations and the files. `tell`: see io::Results.
  /// `files`: go on in the place of new ones; null: there are none.
  Observer(Session& session, const std::string& out, int threads, Onlooker* onlooker = nullptr,
           const std::filesystem::path& logs = {}, Ensemble* ensemble = nullptr,
           std::function<void(const std::string&)> tell = {},
           std::shared_ptr<io::Results> files = {});

  /// Of one instance; null where there are none, or where the ensemble has them.
  const std::shared_ptr<io::Results>& open_files() const { return results_; }
  ObserverState save() const;
  /// Called before the first output. Restores the files to their marks; a file that cannot be
  /// restored is started again with the series so far.
  void restore(const ObserverState& state, std::int64_t generation, const io::Moment& at,
               const std::vector<std::pair<std::string, std::string>>& marks);
  /// The series so far, into files that hold nothing yet.
  void rewrite_rows();
  /// Flushes and marks the files.
  std::vector<std::pair<std::string, std::string>> mark(std::int64_t generation);
  void forget_before(std::int64_t generation);
  /// The state of the sweep (Ensemble::save); empty without one.
  std::vector<std::byte> ensemble_state() const;
  /// Instances of the batch that are excluded because their state has become NaN.
  std::vector<bool> set_aside() const;

  /// The next step after `step` with an output, or at which the times of outputs must be checked;
  /// -1: none.
  std::int64_t next(std::int64_t step) const;
  /// Must be called when the run has reached this step, before `due_at` and `observe`.
  void look(std::int64_t step) { times_.look(step); }
  /// Whether an output is due at the step of the last call of `look`.
  bool due_at(std::int64_t step) const;
  /// Whether `look` reads the time that the device keeps.
  bool looks_at_time() const { return times_.any(); }
  /// The run continues from this step; called after `restore`.
  void resumed(std::int64_t step);
  /// Whether an output of this step has not been written because the run was stopped before.
  bool owes(std::int64_t step) const;
  /// Writes all outputs that are due at this step; `last`: also the final values and the outputs
  /// "at end".
  void observe(std::int64_t step, bool last);
  /// Runs only the watch launches.
  void watch();
  /// The same with the transforms that they need.
  void watch_all();

  const std::vector<Series>& series() const { return series_; }
  const std::vector<ExpectationResult>& expectations() const { return expectations_.results(); }
  std::vector<std::string> files() const;
  std::vector<std::string> notes() const;
  void flush();   ///< makes queued results readable soon
  void finish();  ///< waits until everything is written

 private:
  void rewrite_rows(const std::string& file);
  void rewrite_rows(const program::Output& output);
  /// Whether the output is due by its steps or its time.
  bool due(const program::Output& output, std::int64_t step) const;
  std::size_t place(const program::Output& output) const {
    return static_cast<std::size_t>(&output - session_.program().outputs.data());
  }
  RowOrder row_order(const program::Output& output, std::int64_t step) const;
  void record(const program::Output& output, const io::Moment& at,
              const std::vector<double>& scalars);
  observe::ReadBuffer read();
  bool in_parts(const io::ResultFile& to, const program::FieldOutput& field) const;
  void snapshot(io::ResultFile& to, const program::FieldOutput& field, const io::Moment& at);
  /// `between_alone`: only those between two moments.
  void write_fields(const program::Output& output, const io::Moment& at,
                    const std::vector<double>& scalars, bool between_alone);
  /// Whether the output has fields between two moments.
  static bool lies_between(const program::Output& output);
  /// The table of an output between two moments; nothing at the first of them.
  std::optional<io::Table> between(std::pair<std::size_t, std::size_t> key,
                                   const program::FieldOutput& field, const io::Moment& at,
                                   const std::vector<double>& scalars);
  void launch(const std::vector<program::Launch>& before,
              const std::vector<program::Transform>& transforms,
              const std::vector<program::Launch>& launches);
  io::ResultFile* file(const program::Output& output);
  io::Results* all_files() const;
  double time_of(std::int64_t step) const;
  /// Whether the output has `after` and wrote nothing; false where that is not known.
  bool never_begun(const program::Output& output) const;

  Session& session_;
  int threads_;
  Onlooker* onlooker_;
  Ensemble* ensemble_;
  std::shared_ptr<io::Results> results_;
  Expectations expectations_;
  OutputTimes times_;
  std::vector<Series> series_;
  std::unordered_map<std::string, std::size_t> series_index_;
  std::vector<std::int64_t> last_step_;  ///< of each series
  std::int64_t observed_ = -1;
  EarlierArrays earlier_;
  /// Surfaces so far, by output and place in it.
  struct SurfaceCount {
    std::int64_t elements = 0, at_edge = 0;
    std::int64_t above = 0;  ///< sites above the level, at the last moment
    double level = 0;
  };
  std::map<std::pair<std::size_t, std::size_t>, SurfaceCount> surfaces_;
  void count_surface(std::pair<std::size_t, std::size_t> key, const io::Table& table);
  void add_surface_notes(std::vector<std::string>& to) const;
  std::set<std::size_t> begun_;  ///< outputs that have written something since this start
  bool restored_ = false;        ///< a run that goes on: what wrote before is not known
};

}  // namespace vphi::runtime
