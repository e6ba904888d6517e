// A Program on a Device: its memory, its compiled kernels, and the launches of its steps.
//
// A Session owns every buffer and handle that it allocates on the device and frees them at its end;
// the Program and the Device must outlive it. `start` fills the random fields and runs the
// prologue. `advance` queues whole steps, as recordings that the device repeats. `launch` runs any
// list of launches of the Program. The run loop (run.hpp) and tests use it.
//
// A Session moves a batch of instances on one device. Where several ranks share the batch, rank 0
// has a RankedSession (ranks/ranked_session.hpp) in its place, which shows the whole batch.
//
// Memory is allocated late and reused: scratch arrays exist from their first launch to their last,
// second copies are allocated at the first step, and outputs use an idle second copy. Throws
// RunError (the program does not fit, wrong target) and whatever the device throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "program/program.hpp"
#include "runtime/device/device.hpp"
#include "runtime/observe/modes.hpp"
#include "runtime/run/fourier_map.hpp"
#include "runtime/run/ranks/lattice_ranks.hpp"
#include "runtime/run/starts/device_field.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

/// An error of the user: the run cannot continue, and the message says what to change.
struct RunError : std::runtime_error {
  RunError(std::string error_code, const std::string& message, std::string advice = {})
      : std::runtime_error(message), code(std::move(error_code)), hint(std::move(advice)) {}
  std::string code;  ///< "E0802"
  std::string hint;
};

struct MemoryNeed {
  std::size_t state = 0;     ///< arrays that exist during the whole run, both copies
  std::size_t peak = 0;      ///< largest memory in use at one time
  std::size_t per_site = 0;  ///< peak over sites
};
/// `passes`: with the second copies for several steps in one pass. Without them a run makes single
/// steps.
MemoryNeed memory_needed(const program::Program& program, bool passes = false);

/// Largest extents of the same shape whose peak fits `bytes`.
std::array<std::int64_t, 4> largest_lattice(const program::Program& program, std::size_t bytes);
/// "64^3", "32 * 16 * 8"
std::string shape_text(std::span<const std::int64_t> extent);

/// Largest number of instances of the sweep whose peak fits `bytes`; 0 where not even one fits.
std::int64_t largest_batch(const program::Program& program, std::size_t bytes);

struct SessionOptions {
  int threads = 0;  ///< of the host's part; 0: all
  bool check_memory = true;
  /// The batch contains Program::instances instances of the sweep from this one on. Where the sweep
  /// has fewer left, the batch is padded with stopped copies of its last instance.
  std::int64_t first_instance = 0;
  /// Where random fields, spectra and maps in Fourier space are computed; results agree to
  /// rounding. Auto: where it is faster.
  enum class Fields { Auto, Host, Device } fields = Fields::Auto;
  /// Of the ranks that share a lattice (Program::cut); all of them make the same calls of their
  /// sessions.
  comm::Comm* comm = nullptr;
};

/// A view of one scalar of all instances of a batch.
struct Slot {
  const double* first = nullptr;
  std::size_t distance = 1;  ///< from one instance to the next
  std::int64_t instances = 0;
  double operator[](std::int64_t instance) const {
    return first[static_cast<std::size_t>(instance) * distance];
  }
};

/// Two instances of a batch.
using InstancePair = std::pair<std::int64_t, std::int64_t>;

class Session {
 public:
  Session(const program::Program& program, Device& device, const SessionOptions& options = {});
  virtual ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Where ranks share the batch, `instances` are those of all ranks.
  const program::Program& program() const { return *shown_; }
  /// Of this rank.
  Device& device() { return device_; }
  /// Why arrays of a GPU go to the host and back for maps in Fourier space; empty where they do
  /// not.
  const std::string& why_maps_by_host() const { return why_maps_by_host_; }
  /// Waits for all that was queued.
  virtual void synchronise();

  /// Compiles the kernels of the steps and the regular outputs, fills the random fields, and runs
  /// the prologue.
  virtual void start();
  /// As `start`, for a state that will be set by the caller (a checkpoint): arrays are zero,
  /// scalars have their initial values, nothing is launched.
  virtual void start_empty();
  /// Makes the recordings that `advance(steps)` will replay.
  virtual void prepare(std::int64_t steps);
  /// Queues whole steps, many of them in one launch where the program has `multi_step`;
  /// `synchronise` waits for them.
  virtual void advance(std::int64_t steps);
  /// Launches a list in order; compiles its kernels where necessary. The scratch arrays that it
  /// fills exist until `release_scratch`.
  virtual void launch(const std::vector<program::Launch>& list);
  virtual void release_scratch();

  /// The present scalars, [instance][slot]; waits for the queue. They are copied from the device
  /// once, until something is queued. The reference stays valid, its numbers until the next call.
  virtual const std::vector<double>& scalars();
  /// One scalar; waits for the queue. Where the kernels have the scalars as [slot][instance] only
  /// this one is copied. The view is valid until something is queued or set.
  virtual Slot slot(int slot);
  virtual void set_scalar(int slot, double value, std::int64_t instance = 0);
  /// Present contents of a buffer as f64, [instance][site], x fastest (waits).
  virtual std::vector<double> read(int buffer);
  /// The same for one instance of the batch.
  virtual std::vector<double> read(int buffer, std::int64_t instance);
  /// `count` of the numbers that `read` gives, from number `first` on.
  virtual std::vector<double> read_sites(int buffer, std::size_t first, std::size_t count);
  /// First and number of the sites in memory that are this rank's own planes.
  std::pair<std::size_t, std::size_t> own_sites() const;
  /// Those of them that lie in the planes of this rank, where ranks share the lattice.
  std::vector<double> read_own_sites(int buffer, std::size_t first, std::size_t count);
  virtual void write(int buffer, std::span<const double> values);

  /// Exchanges the contents of a buffer between instances of the batch, each in one pair at most.
  virtual void exchange(int buffer, std::span<const InstancePair> pairs);

  /// The contents of a whole buffer, or all scalars, as bytes, for checkpoints; waits for the
  /// queue. `to` and `from` have `bytes_of(buffer)` bytes.
  virtual std::size_t bytes_of(int buffer) const;
  virtual void read_bytes(int buffer, std::span<std::byte> to);
  /// The same in a separate block (Device::host_block), so that the run can continue while it is
  /// written.
  std::shared_ptr<std::byte> read_block(int buffer);
  virtual void write_bytes(int buffer, std::span<const std::byte> from);
  virtual void set_scalars(std::span<const double> values);
  /// The present copy of a buffer where it lies (Device::raw_memory), [instance][site]; whoever
  /// uses it orders that after what was queued. Valid until the next step. Null where the device
  /// has no address for it, for buffers with a home, and where ranks share the batch or the
  /// lattice.
  void* raw_memory(int buffer);

  /// Whether `write` or `raw_memory` have given an array of the state to others since the last
  /// call.
  bool take_given() { return std::exchange(state_given_, false); }

  /// Of a field of an output with sums over modes (observe::has_bin_sums): these sums, where ranks
  /// share the lattice and each makes them of its own sites; nothing where they are made of whole
  /// arrays.
  virtual std::optional<observe::BinSums> bin_sums(std::size_t output, std::size_t field);
  /// Transforms arrays in place, on the host.
  virtual void project(const program::Transform& transform);
  /// What each rank of a lattice does for that, together with the others; the first has the sums.
  observe::BinSums own_bin_sums(std::size_t output, std::size_t field);
  void project_own(const program::Transform& transform);

  KernelReport report(int kernel);
  /// For each of Program::solves the rounds that its solves needed so far, in the instance that
  /// needed most of them (waits).
  std::vector<double> rounds_made();
  bool shares_lattice() const { return lattice_ != nullptr; }
  /// Where ranks share the lattice: LatticeRanks::way.
  std::string planes_go() const { return lattice_ ? lattice_->way() : std::string(); }
  /// Bytes in use on the device, and their largest number so far.
  std::size_t bytes_held() const { return held_; }
  std::size_t bytes_peak() const { return peak_; }

 protected:
  /// Of the batch that all ranks share; it must outlive the session.
  void show(const program::Program& whole) { shown_ = &whole; }
  using Launches = std::vector<program::Launch>;
  void compile_usual(bool prologue);
  void compile(const std::vector<const Launches*>& lists);

 private:
  struct Copies {
    std::array<BufferHandle, 2> handle;
    int now = 0;
  };

  void take_state();
  void load_matrix(std::size_t buffer);
  std::vector<double> matrix_of_file(const program::Buffer& matrix) const;
  std::vector<double> share_of_matrix(const program::Buffer& matrix) const;
  BufferHandle take(std::size_t bytes);
  void give(BufferHandle handle, std::size_t bytes);
  void trim();
  /// Allocates the buffers of all arguments; with `borrow` scratch arrays may use idle second
  /// copies.
  void provide(const Launches& list, bool borrow);
  BufferHandle resolve(const program::Kernel& kernel, int kernel_index,
                       const program::Argument& argument) const;
  void issue(const Launches& list);
  /// Ranks that share the lattice: sums before a launch, ghosts after it, ghosts of a buffer.
  void add_wanted_before(const program::Launch& launch, Wanted& wanted) const;
  void add_wanted_after(const program::Launch& launch, Wanted& wanted) const;
  void fill_ghosts(int buffer);
  void provide_and_swap(const Launches& list);
  void fill_own_random(std::size_t index);
  bool own_random_on_device(std::size_t index);
  void write_own(int buffer, std::vector<double> own);
  /// Numbers at own sites, x fastest.
  std::vector<double> read_own(int buffer);
  fft::SharedTransform shared_transform() const;
  /// Launches of one kernel that may overlap (Program::together_reach).
  void issue_wave(const Launches& list);
  /// Solves a system after the launches that compute its start. `number`: index into
  /// Program::solves.
  void solve(std::size_t number);
  void solve_by_host(std::size_t number);
  bool device_repeats(const program::Solve& solve);
  RecordingHandle rounds_of(std::size_t number);
  /// Throws RunError E0809 where a solve that the device repeated has failed (waits).
  void settle_solves();
  RunError unsolved(const program::Solve& solve, std::int64_t instance, double done,
                    double iterations, double residual, bool later);
  std::string steps_done(std::int64_t instance, bool at_most);
  /// Throws RunError E0821 where an eigenvalue that a solve has found is outside of its bounds.
  void check_eigenvalue(const program::Solve& solve);
  void map(std::size_t number);
  bool maps_on_device();
  void swap(const Launches& list, std::int64_t times);
  /// Which copy of each buffer is the present one.
  std::vector<bool> present_copies() const;
  /// Exchanges the copies as the steps from number `first` on do.
  void swap_steps(std::int64_t first, std::int64_t steps);
  std::int64_t phase(std::int64_t step) const;
  void run_prologue();
  void fill_random(std::size_t index);
  std::vector<double> initial_scalars() const;
  /// Marks the copy of the scalars as invalid.
  void forget_scalars();
  /// Copies the unknown slots from `first` up to `end`, for scalars in the order [slot][instance].
  void fetch_slots(std::size_t first, std::size_t end);
  /// Writes scalars given as [instance][slot] in the order of the kernels.
  void put_scalars(std::span<const double> values);
  std::vector<double> read_from(int buffer, std::size_t first, std::size_t count);
  void write_from(int buffer, std::size_t first, std::span<const double> values);
  /// Bytes of the memory that contains the numbers of a buffer.
  std::size_t memory_of(int buffer) const;
  BufferHandle now(int buffer) const;
  /// Numbers of a buffer with a home, of the type T in memory, from number `first` on.
  template <class T>
  void gather(int buffer, std::size_t first, std::span<T> to);
  template <class T>
  void scatter(int buffer, std::size_t first, std::span<const T> from);
  const std::vector<std::int64_t>& places();
  bool host_between();
  RecordingHandle recording(std::int64_t steps);
  /// How many passes of `together_steps` steps one recording makes, out of `steps` steps; 0: single
  /// steps.
  std::int64_t passes(std::int64_t steps) const;
  RecordingHandle recording_of_passes(std::int64_t passes);
  void multi_step(std::int64_t steps);
  /// How many single steps to take from step `at` on, out of `steps`; 0: `multi_step` can begin
  /// here.
  std::int64_t singles(std::int64_t at, std::int64_t steps) const;
  std::int64_t block(std::int64_t steps) const;

  const program::Program& program_;
  const program::Program* shown_ = &program_;
  Device& device_;
  int threads_;
  bool device_fields_ = false;
  std::unique_ptr<DeviceFields> fields_;  ///< made at first use
  std::int64_t first_instance_ = 0;
  bool by_slot_ = false;   ///< scalars are [slot][instance] on the device
  bool together_ = false;  ///< Program::together is used, because there is memory for its copies
  std::vector<Copies> buffers_;
  std::unique_ptr<LatticeRanks> lattice_;  ///< null: this device has the whole lattice
  /// The host takes part in steps: they solve linear systems, or make maps in Fourier space.
  bool steps_by_host_ = false;
  std::unique_ptr<FourierMaps> maps_;  ///< made at first use
  SessionOptions::Fields map_fields_ = SessionOptions::Fields::Auto;
  std::unique_ptr<DeviceFourierMaps> device_maps_;  ///< made at first use
  std::string why_maps_by_host_;
  std::vector<BufferHandle> gathered_;  ///< by kernel: sums of all ranks
  std::vector<BufferHandle> whole_;     ///< by buffer: on the whole lattice
  std::vector<BufferHandle> lent_;      ///< per buffer: a handle borrowed by scratch
  BufferHandle scalars_;
  std::vector<double> known_scalars_;  ///< the last result of `scalars`
  bool scalars_known_ = false;         ///< whether it is still valid
  std::vector<double> slots_;          ///< [slot][instance], where the device has this order
  std::vector<bool> slot_known_;       ///< which of them are valid
  std::vector<BufferHandle> partials_, counters_;
  std::vector<KernelHandle> kernels_;
  std::vector<bool> often_;  ///< the kernel is part of the step or of frequent outputs
  std::map<std::size_t, std::vector<BufferHandle>> pool_;
  /// Key: the current copies, the place in the cycle of steps, and the number of steps.
  std::map<std::tuple<std::vector<bool>, std::int64_t, std::int64_t>, RecordingHandle> recordings_;
  /// The rounds of a solve as the device repeats them, with the memory that they use.
  struct SolveRounds {
    std::vector<int> memory;
    RecordingHandle recording;
  };
  /// Key: index into Program::solves, and the current copies.
  std::map<std::pair<std::size_t, std::vector<bool>>, SolveRounds> solve_rounds_;
  /// While it lives, launches are those of steps.
  class Stepping {
   public:
    explicit Stepping(bool& now);
    ~Stepping();

   private:
    bool& now_;
  };
  bool stepping_ = false;
  BufferHandle notes_;      ///< Rounds::notes
  bool unsettled_ = false;  ///< a solve that the device repeated was not checked yet
  /// By solve: all rounds that the host repeated, and those of the last time.
  std::vector<double> host_rounds_;
  std::vector<std::int64_t> taken_;
  std::int64_t step_ = 0;  ///< number of the next step, where steps differ or `multi_step` is used
  std::vector<std::future<std::vector<double>>> random_;
  Configurations configurations_;     ///< while the start reads them
  std::int64_t multi_step_set_ = -1;  ///< contents of the slot for the number of steps
  std::size_t held_ = 0, peak_ = 0;
  bool state_given_ = false;  ///< arrays of the state were written or shown since `take_given`
  /// Places of the sites in buffers with a home; made at first use.
  std::vector<std::int64_t> places_;
};

}  // namespace vphi::runtime
