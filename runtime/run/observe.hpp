// Outputs of a run: which are due, their values and their files.
//
// An Observer launches the output kernels of a Session, reads scalars and arrays back, keeps the
// series in memory and passes everything to io::Results. It also runs the watch launches and
// evaluates the expectations, which are checked at every output.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/io/results.hpp"
#include "runtime/run/ensemble.hpp"
#include "runtime/run/expect.hpp"
#include "runtime/run/output_times.hpp"
#include "runtime/run/run.hpp"
#include "runtime/run/session.hpp"

namespace vphi::runtime {

/// What an Observer knows besides the files: goes into a checkpoint and comes back.
struct ObserverState {
  std::vector<Series> series;
  std::vector<std::int64_t> last_step;  ///< of each series
  ExpectationState expectations;
  std::int64_t observed = -1;  ///< the last step at which something was due
};

class Observer {
 public:
  /// `out` empty: nothing is written to files. `onlooker` may be null.
  /// `logs`: folder of undo logs of the result files; empty: they cannot go back. `ensemble`: null
  /// where there is no sweep; else the scalars and the promises go to it, and so do the files.
  Observer(Session& session, const std::string& out, int threads, Onlooker* onlooker = nullptr,
           const std::filesystem::path& logs = {}, Ensemble* ensemble = nullptr);

  ObserverState save() const;
  /// Before the first output. The files go back to their marks; one that cannot starts again, with
  /// the series as they were.
  void restore(const ObserverState& state, std::int64_t generation, const io::Moment& at,
               const std::vector<std::pair<std::string, std::string>>& marks);
  /// Flushes the files and remembers where they stand.
  std::vector<std::pair<std::string, std::string>> mark(std::int64_t generation);
  void forget_before(std::int64_t generation);
  /// What the sweep knows (Ensemble::save); empty without one.
  std::vector<std::byte> ensemble_state() const;
  /// Instances of the batch that are set aside: their state has become NaN.
  std::vector<bool> set_aside() const;

  /// The next step after `step` at which something is due, or at which this has to be checked; or
  /// -1.
  std::int64_t next(std::int64_t step) const;
  /// To be called when the run has reached this step, before `due_at` and `observe`.
  void look(std::int64_t step) { times_.look(step); }
  /// Whether something is due at the step that `look` was called with.
  bool due_at(std::int64_t step) const;
  /// The run goes on from this step, after `restore`.
  void resumed(std::int64_t step);
  /// An output belongs to this step and has not been made: the run stopped before it.
  bool owes(std::int64_t step) const;
  /// Everything due at this step; `last`: the closing values and the outputs "at end" too.
  void observe(std::int64_t step, bool last);
  /// Runs the watch launches alone.
  void watch();

  const std::vector<Series>& series() const { return series_; }
  const std::vector<ExpectationResult>& expectations() const { return expectations_.results(); }
  std::vector<std::string> files() const;
  std::vector<std::string> notes() const;
  void flush();   ///< what is queued can be read soon
  void finish();  ///< everything is written

 private:
  void rewrite_rows(const program::Output& output);
  /// At its step or time.
  bool due(const program::Output& output, std::int64_t step) const;
  std::size_t place(const program::Output& output) const {
    return static_cast<std::size_t>(&output - session_.program().outputs.data());
  }
  RowOrder row_order(const program::Output& output, std::int64_t step) const;
  void record(const program::Output& output, const io::Moment& at,
              const std::vector<double>& scalars);
  void snapshot(io::ResultFile& to, const program::FieldOutput& field, const io::Moment& at);
  void write_fields(const program::Output& output, const io::Moment& at,
                    const std::vector<double>& scalars);
  void launch(const std::vector<program::Launch>& before,
              const std::vector<program::Transform>& transforms,
              const std::vector<program::Launch>& launches);
  io::ResultFile* file(const program::Output& output);
  io::Results* all_files() const;
  double time_of(std::int64_t step) const;

  Session& session_;
  int threads_;
  Onlooker* onlooker_;
  Ensemble* ensemble_;
  std::unique_ptr<io::Results> results_;
  Expectations expectations_;
  OutputTimes times_;
  std::vector<Series> series_;
  std::unordered_map<std::string, std::size_t> series_index_;
  std::vector<std::int64_t> last_step_;  ///< of each series
  std::int64_t observed_ = -1;
};

}  // namespace vphi::runtime
