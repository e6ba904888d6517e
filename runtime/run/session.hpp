// A Program on a Device: its memory, its compiled kernels, and the launches of its steps.
//
// A Session owns every buffer and handle that it allocates on the device and frees them at its
// end; the Program and the Device must outlive it. `start` fills the random fields and runs the
// prologue; `advance` queues whole steps, as recordings that the device repeats; `launch` runs any
// list of the Program. The run loop (run.hpp) is built on it, and tests embed it directly.
//
// Memory is allocated late and reused: scratch arrays live from their first launch to their last,
// second copies are allocated at the first step, and outputs use an idle second copy.
// Throws RunError (the program does not fit, wrong target) and whatever the device throws.
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
#include "runtime/run/starts/device_field.hpp"
#include "runtime/run/starts/random_field.hpp"

namespace vphi::runtime {

/// The user's error: the run cannot go on, and the sentence says what to change.
struct RunError : std::runtime_error {
  RunError(std::string error_code, const std::string& message, std::string advice = {})
      : std::runtime_error(message), code(std::move(error_code)), hint(std::move(advice)) {}
  std::string code;  ///< "E0802"
  std::string hint;
};

struct MemoryNeed {
  std::size_t state = 0;     ///< arrays that live as long as the run, both copies
  std::size_t peak = 0;      ///< the most that is held at one time
  std::size_t per_site = 0;  ///< peak over sites
};
/// `passes`: with the second copies that several steps in one pass need, without which a run does
/// one step after the other.
MemoryNeed memory_needed(const program::Program& program, bool passes = false);

/// Largest extents of the same shape whose peak fits `bytes`.
std::array<std::int64_t, 4> largest_lattice(const program::Program& program, std::size_t bytes);
/// "64^3", "32 * 16 * 8"
std::string shape_text(std::span<const std::int64_t> extent);

/// Most instances of the sweep whose peak fits `bytes`; 0 where not even one does.
std::int64_t largest_batch(const program::Program& program, std::size_t bytes);

struct SessionOptions {
  int threads = 0;  ///< of the host's part; 0: all
  bool check_memory = true;
  /// Of the sweep: the batch holds Program::instances instances from this one on. Where the sweep
  /// has fewer left, the batch is filled up with copies of its last instance that stand still.
  std::int64_t first_instance = 0;
  /// Where random fields and spectra are made; the same to rounding. Auto: where it is faster.
  enum class Fields { Auto, Host, Device } fields = Fields::Auto;
};

/// One scalar of all instances of a batch, where it lies.
struct Slot {
  const double* first = nullptr;
  std::size_t distance = 1;  ///< from one instance to the next
  std::int64_t instances = 0;
  double operator[](std::int64_t instance) const {
    return first[static_cast<std::size_t>(instance) * distance];
  }
};

class Session {
 public:
  Session(const program::Program& program, Device& device, const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const program::Program& program() const { return program_; }
  Device& device() { return device_; }

  /// Compiles what the steps and the regular outputs need, fills the random fields, runs the
  /// prologue.
  void start();
  /// As `start`, but the state comes from elsewhere (a checkpoint): arrays are zero, scalars have
  /// their initial numbers, nothing is launched.
  void start_empty();
  /// Makes the recordings that `advance(steps)` will replay, so that it only queues.
  void prepare(std::int64_t steps);
  /// Queues whole steps, many of them in one launch where the program has `multi_step`;
  /// `synchronise` of the device waits for them.
  void advance(std::int64_t steps);
  /// Launches a list, in order; compiles its kernels where that was not done yet. Scratch arrays it
  /// fills stay until `release_scratch`.
  void launch(const std::vector<program::Launch>& list);
  void release_scratch();

  /// The scalar blocks as they are now, [instance][slot] (waits for the queue). Copied from the
  /// device once, until something is queued; the reference holds, the numbers until the next call.
  const std::vector<double>& scalars();
  /// One of them, which alone is copied where the kernels have the instances of a scalar side by
  /// side (waits). Its numbers hold until something is queued or set.
  Slot slot(int slot);
  void set_scalar(int slot, double value, std::int64_t instance = 0);
  /// Present contents of a buffer as f64, [instance][site], x fastest (waits).
  std::vector<double> read(int buffer);
  /// Of one instance of the batch.
  std::vector<double> read(int buffer, std::int64_t instance);
  void write(int buffer, std::span<const double> values);

  /// The same as they lie in memory, all of a buffer and all scalars (waits): what checkpoints
  /// keep. `to` and `from` have `bytes_of(buffer)` bytes.
  std::size_t bytes_of(int buffer) const;
  void read_bytes(int buffer, std::span<std::byte> to);
  /// In a block of its own (Device::host_block), so that the run can go on while it is written.
  std::shared_ptr<std::byte> read_block(int buffer);
  void write_bytes(int buffer, std::span<const std::byte> from);
  void set_scalars(std::span<const double> values);

  /// Shells of a buffer's modes, made on the device; nothing where the host has to do it.
  std::optional<std::vector<DeviceFields::Shell>> shells(int buffer);

  KernelReport report(int kernel);
  /// Bytes held on the device now, and the most so far.
  std::size_t bytes_held() const { return held_; }
  std::size_t bytes_peak() const { return peak_; }

 private:
  struct Copies {
    std::array<BufferHandle, 2> handle;
    int now = 0;
  };
  using Launches = std::vector<program::Launch>;

  void compile_usual(bool prologue);
  void take_state();
  void load_matrix(std::size_t buffer);
  BufferHandle take(std::size_t bytes);
  void give(BufferHandle handle, std::size_t bytes);
  void trim();
  void compile(const std::vector<const Launches*>& lists);
  /// Makes every argument's buffer exist; scratch may borrow where `borrow` is set.
  void provide(const Launches& list, bool borrow);
  BufferHandle resolve(const program::Kernel& kernel, int kernel_index,
                       const program::Argument& argument) const;
  void issue(const Launches& list);
  /// Launches of one kernel that may overlap (Program::together_reach).
  void issue_wave(const Launches& list);
  void solve(const program::Solve& solve);
  void swap(const Launches& list, std::int64_t times);
  /// Exchanges the copies as `steps` steps from number `first` on do.
  void swap_steps(std::int64_t first, std::int64_t steps);
  std::int64_t phase(std::int64_t step) const;
  void run_prologue();
  void fill_random(std::size_t index);
  std::vector<double> initial_scalars() const;
  /// The copy of the scalars is no longer valid.
  void forget_scalars();
  /// Copies the slots from `first` up to `end` that are not known, where they lie by slot.
  void fetch_slots(std::size_t first, std::size_t end);
  /// [instance][slot], to where the kernels have them.
  void put_scalars(std::span<const double> values);
  std::vector<double> read_from(int buffer, std::size_t first, std::size_t count);
  void write_from(int buffer, std::size_t first, std::span<const double> values);
  /// Bytes of the memory that a buffer's numbers lie in.
  std::size_t memory_of(int buffer) const;
  BufferHandle now(int buffer) const;
  /// Numbers of a buffer with a home, T as they lie in memory: `count` of them from number `first`
  /// on, whole instances.
  template <class T>
  void gather(int buffer, std::size_t first, std::span<T> to);
  template <class T>
  void scatter(int buffer, std::size_t first, std::span<const T> from);
  const std::vector<std::int64_t>& places();
  RecordingHandle recording(std::int64_t steps);
  /// Steps to take `together_steps` at a time, out of `steps`, in one recording; 0: one by one.
  std::int64_t passes(std::int64_t steps) const;
  RecordingHandle recording_of_passes(std::int64_t passes);
  void multi_step(std::int64_t steps);
  /// Steps to take one by one from step `at` on, out of `steps`; 0: `multi_step` can begin here.
  std::int64_t singles(std::int64_t at, std::int64_t steps) const;
  std::int64_t block(std::int64_t steps) const;

  const program::Program& program_;
  Device& device_;
  int threads_;
  bool device_fields_ = false;
  std::unique_ptr<DeviceFields> fields_;  ///< made at first use
  std::int64_t first_instance_ = 0;
  bool by_slot_ = false;  ///< scalars lie as [slot][instance]
  bool together_ = false;  ///< Program::together is used: there is memory for its copies
  std::vector<Copies> buffers_;
  std::vector<BufferHandle> lent_;  ///< per buffer: a handle borrowed by scratch
  BufferHandle scalars_;
  std::vector<double> known_scalars_;  ///< what `scalars` returned last
  bool scalars_known_ = false;         ///< and whether it still holds
  std::vector<double> slots_;          ///< [slot][instance], where they lie so
  std::vector<bool> slot_known_;       ///< which of them hold
  std::vector<BufferHandle> partials_, counters_;
  std::vector<KernelHandle> kernels_;
  std::vector<bool> often_;  ///< part of the step or of frequent outputs
  std::map<std::size_t, std::vector<BufferHandle>> pool_;
  /// By copies, place in the cycle of steps, and number of steps.
  std::map<std::tuple<std::vector<bool>, std::int64_t, std::int64_t>, RecordingHandle> recordings_;
  std::int64_t step_ = 0;  ///< number of the next step, where steps differ or `multi_step` is used
  std::vector<std::future<std::vector<double>>> random_;
  Configurations configurations_;     ///< while the start reads them
  std::int64_t multi_step_set_ = -1;  ///< contents of the slot for the number of steps
  std::size_t held_ = 0, peak_ = 0;
  std::vector<std::int64_t> places_;  ///< of the sites, in buffers with a home; made at first use
};

}  // namespace vphi::runtime
