// Running a Program from its first to its last step.
//
// `run` advances a Session, makes the outputs, evaluates expectations, reports progress, detects
// NaN and obeys interruptions. It writes files only where `out` is set. The results are returned as
// plain data. Throws RunError (an error of the user: memory, no end, a NaN), DeviceError,
// ResultsError.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/observe/autocorrelation.hpp"
#include "runtime/run/onlooker.hpp"
#include "runtime/run/ranks/rank_info.hpp"
#include "runtime/run/session.hpp"

namespace vphi::io {
class Results;
}

namespace vphi::runtime {

struct Progress {
  std::int64_t step = 0;
  std::int64_t steps = -1;  ///< -1: not known
  double time = 0;
  double seconds = 0;        ///< since the first step
  double seconds_left = -1;  ///< -1: not known
  double site_updates_per_s = 0;
  double bytes_per_s = 0;  ///< least memory traffic of the steps
  std::vector<std::pair<std::string, double>> watched;
};

class SavedState;
class RankGroup;

/// Checkpoints of a run (checkpoint.hpp), in `out`/checkpoint.
struct KeepOptions {
  bool on = false;
  double every_seconds = 0;      ///< 0: not by time
  std::int64_t every_steps = 0;  ///< 0: not by steps
  /// One at the end, if the steps took at least this many seconds; -1: never.
  double at_end_after = -1;
  std::atomic<bool>* now = nullptr;  ///< set it to request a checkpoint; it is cleared
  std::vector<std::pair<std::string, std::string>> call;  ///< options of the command, for messages
};

/// A model in the words of its user, as a checkpoint has it.
struct ModelAsWritten {
  std::string text;
  std::vector<std::pair<std::string, std::string>> call;  ///< options of the command
};

struct RunOptions {
  std::string out;          ///< folder of the result files; empty: none are written
  std::int64_t steps = -1;  ///< stop after this number of steps; -1: as in the program
  int threads = 0;          ///< threads of the host; 0: all
  const std::atomic<bool>* interrupt = nullptr;   ///< set: finish the step and stop
  std::function<void(const Progress&)> progress;  ///< called at most every `progress_interval`
  double progress_interval = 0.1;                 ///< seconds
  KeepOptions keep;                               ///< needs `out`
  /// State to continue from, of a checkpoint that has been checked or of another Run.
  std::shared_ptr<const SavedState> resume;
  /// What the program computes anew for the state that it takes over: scalars that follow from
  /// others, where an instance has stopped and goes on; averages too, where the model is another.
  enum class Renewal { Nothing, Scalars, Averages } renewal = Renewal::Nothing;
  /// Open files of the Run whose state is taken over, which go on in the place of new ones in
  /// `out`. They refer to the Program of the Run that has opened them, which must stay where it is.
  std::shared_ptr<io::Results> files;
  bool past_stop = false;  ///< the end was changed: a run that had reached the old end continues
  std::function<void(const std::string&)> tell;  ///< messages that the user should see at once
  /// Called once before anything is written, when the kernels are compiled and the initial state
  /// exists.
  std::function<void()> begins;
  /// Run::advance may come back while its last steps are queued on the device, where nothing that
  /// they make has to be looked at first. What they broke is then told by a later call. Not for
  /// programs that end by a condition on their state: nobody knows how many steps were made.
  bool leave_queued = false;
  bool keep_state = false;       ///< RunResult::state is filled
  Onlooker* onlooker = nullptr;  ///< receives outputs; may pause or stop the run
  bool time_kernels = false;     ///< measure the times in RunResult::kernels
  /// Ranks that share the instances of a sweep, or a lattice: the program is compiled for one of
  /// them, of a lattice (Program::cut) for rank 0, and the device is that of rank 0. Null: one
  /// device has all.
  RankGroup* ranks = nullptr;
  /// The program of ranks with another number of planes of the lattice; null: there are none.
  const program::Program* other_planes = nullptr;
  std::int64_t batch = 0;  ///< instances at once of all ranks together; 0: all of the sweep
};

/// A scalar over time. In a sweep it may have axes; then `points` is empty and `values` holds, for
/// each time, one number for each place along these axes, the last axis fastest (NaN: none).
struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points = {};  ///< t, value
  std::vector<int> axes = {};                          ///< places in RunResult::axes
  std::vector<std::int64_t> steps = {};                ///< of each row
  std::vector<double> times = {};                      ///< sweeps: largest t of the instances
  std::vector<std::vector<double>> values = {};
  std::vector<std::vector<double>> errors = {};  ///< standard errors of averages, as `values`
};

/// Average of a series of a Markov chain (runtime/run/chain_averages.hpp).
struct ChainSeries {
  std::string name;                    ///< "plaquette", "plaquette at beta = 5.7"
  observe::ChainAverage average = {};  ///< tau_int in units of the distance of its rows
  double early = 0;  ///< deviation of the first quarter from the rest, in standard errors
};

/// One axis of a sweep.
struct SweptAxis {
  std::string name;
  std::vector<double> values;
  bool ensemble = false;
};

/// `plot y against a`: y at the end of the run, averaged over all other axes.
struct Plot {
  std::string name, against;
  std::vector<double> x, y;
  std::vector<double> error;  ///< standard error of y; empty: there is none
};

/// An instance of a sweep whose state became NaN; it was omitted from then on.
struct FailedInstance {
  std::int64_t instance = 0;
  std::string where;  ///< "sigma0 = 0.00019, draw = 3"
  std::string message;
};

struct ExpectationResult {
  std::string text;
  bool ok = true;
  /// Condition: the value at its first failure, or the last one; others: the largest.
  double value = 0;
  double time = 0;  ///< time of `value`
  /// t and the evaluated number (drifts: relative change; conserved: change over scale)
  std::vector<std::pair<double, double>> history = {};
  std::string where = {};  ///< in a sweep: the instance of `value`
  /// Why it could not be evaluated; `ok` is then false. Empty: it was evaluated.
  std::string undecided = {};
};

/// Data of one kernel after the run.
struct KernelRun {
  int registers = -1, spilled_bytes = -1;  ///< -1: unknown, or never compiled
  double seconds = 0;                      ///< one launch; 0: not measured
};

struct Performance {
  double seconds = 0;             ///< in steps only, including the first step
  double first_step_seconds = 0;  ///< from the call of `run` to the end of the first step
  double site_updates_per_s = 0;
  double bytes_per_site = 0;
  std::size_t device_bytes = 0;  ///< largest memory in use
};

struct RunResult {
  std::string model, device;
  std::int64_t steps = 0;
  double time = 0;
  bool interrupted = false;
  std::vector<std::pair<std::string, double>> scalars;  ///< last values
  std::vector<SweptAxis> axes;                          ///< of the sweep; empty: one instance
  std::vector<Series> series;
  std::vector<ChainSeries> chain;  ///< averages of a Markov chain, in the order of `series`
  /// Unit of a Markov chain: "sweep", "trajectory"; empty: no chain.
  std::string unit;
  /// Accepted fraction of a chain's proposals for each instance; empty: no proposals.
  std::vector<double> acceptance;
  std::vector<Plot> plots;
  std::vector<FailedInstance> failures;
  std::vector<ExpectationResult> expectations;
  Performance performance;
  std::vector<KernelRun> kernels;  ///< as Program::kernels
  std::vector<std::string> files, notes;
  std::vector<std::string> unreached;  ///< scalars of `first` whose condition has not held
  std::int64_t resumed_from = -1;      ///< step; -1: from the beginning
  /// Of the steps of this run, not of those before a checkpoint; 0: it has made none.
  double seconds_a_step() const {
    const std::int64_t made = steps - std::max<std::int64_t>(0, resumed_from);
    return made > 0 ? performance.seconds / static_cast<double>(made) : 0;
  }
  std::int64_t checkpoint = -1;   ///< step of the last checkpoint on disk; -1: there is none
  double checkpoint_seconds = 0;  ///< time for which the run has waited for checkpoints
  /// As Program::state, f64, [instance][site], x fastest; of the last part of a sweep in parts.
  std::vector<std::vector<double>> state;
  std::vector<RankInfo> ranks = {};  ///< empty: one device has had all instances

  bool all_expected() const;
  const Series* find(const std::string& name) const;
  std::optional<double> scalar(const std::string& name) const;
};

RunResult run(const program::Program& program, Device& device, const RunOptions& options = {});

/// Bytes that one step moves for one site at least, from the costs of its kernels.
double bytes_per_site(const program::Program& program);

/// Registers of every kernel; with `timed` also the time of one launch of each kernel of the step,
/// which changes the state.
std::vector<KernelRun> kernel_runs(Session& session, bool timed);

/// A state with NaN (E0801), or one whose primitive variables cannot be recovered (E0808), with the
/// data by which `vphi run` explains it.
struct BrokenState : RunError {
  using RunError::RunError;
  int variable = 0;  ///< index in Program::state
  std::array<std::int64_t, 4> site{};
  std::int64_t step = -1;  ///< step in which it arose; -1: only an interval is known
  bool at_start = false;   ///< the initial state contains it
  /// Value of a variable of state one step before, any site; null where `step` is -1.
  std::function<double(int, const std::array<std::int64_t, 4>&)> before;
  std::vector<double> scalars_before;
  /// E0808: the plane along the last axis with the first such site, and the values of the state.
  std::int64_t plane = -1;
  std::function<double(int, const std::array<std::int64_t, 4>&)> there;
};

/// The first site of the state with a NaN or an infinity.
struct BadSite {
  std::int64_t instance = 0;  ///< of the session's batch
  int variable = 0;           ///< index in Program::state
  std::array<std::int64_t, 4> site{};
  double value = 0;
  std::int64_t count = 0;  ///< number of such sites in this variable
};
std::optional<BadSite> find_bad_site(Session& session);
/// The same in one instance of the batch.
std::optional<BadSite> find_bad_site(Session& session, std::int64_t instance);

}  // namespace vphi::runtime
