// One run on one device or on those of several ranks, step by step: a program that embeds vphi
// makes steps and reads or writes the state in between.
//
// A Simulation owns the compiled program, the devices and the run. It may be used by one thread at
// a time. Outputs of the model are made at their steps, as by `vphi run`, and kept in memory; files
// are written only where StartOptions::out names a folder. Throws Error.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "embed/model.hpp"
#include "runtime/run/run.hpp"

namespace vphi::embed {

struct StartOptions {
  /// auto, native, opencl[:k], cuda[:k]; several: cuda:0,1, cuda:0-7, cuda:all
  std::string device = "auto";
  /// Ranks that share the instances of a sweep or a lattice, a thread each; 0: as many as `device`
  /// names.
  std::int64_t ranks = 0;
  std::string cut;  ///< "z=4": four ranks along z, the slowest axis of the lattice; sets `ranks`
  std::string out;  ///< folder of the model's files; empty: none are written
  /// A checkpoint to go on from, of `Simulation::save` or of the command: a file, or a folder of
  /// results that has one. Changes of the model that are not given are those of the checkpoint.
  std::string resume;
  int threads = 0;  ///< of the host's part; 0: all
  /// Called about ten times a second: true ends the run after this step, with results up to here.
  std::function<bool(const runtime::Progress&)> stops = {};
  /// Called with messages for the user during the run.
  std::function<void(const std::string&)> tell = {};
};

/// Numbers on axes, the last fastest.
struct Array {
  std::vector<std::string> axes;  ///< names: "instance", "z", "y", "x"
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

/// An array of the state in place, without a copy. While a view exists the simulation makes no
/// step. It must not outlive the simulation. When a view begins, no work of the simulation is
/// queued; whatever the program has queued on a GPU when it calls the simulation again is waited
/// for. So the streams of both need no further order.
struct View {
  void* data = nullptr;  ///< of a CUDA device: an address there; of an OpenCL device: a cl_mem
  int cuda = -1;         ///< number of the CUDA device; -1: another device
  /// cl_context and cl_command_queue of an OpenCL device; null: another device. What is queued
  /// there runs in order with the simulation's work; another queue must have ended before the
  /// simulation is called again.
  void *opencl_context = nullptr, *opencl_queue = nullptr;
  program::Precision precision = program::Precision::F64;
  std::string name;
  std::vector<std::string> axes;
  std::vector<std::int64_t> shape;
};

/// The tables of an output of fields, one for each time that it was due.
struct TakenTable {
  io::Table table;
  io::Moment at;
};

/// The results of a run so far, or at its end.
struct Result {
  runtime::RunResult run;
  std::vector<TakenTable> tables;  ///< spectra, slices, profiles, ...; no snapshots
  /// What ran, for a page of it (embed/page.hpp).
  std::shared_ptr<const Compilation> compilation;
};

class Simulation {
 public:
  Simulation(const Model& model, const StartOptions& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Makes at most `count` steps; -1: to the end. Returns the number of steps made.
  std::int64_t step(std::int64_t count);
  /// Steps until a condition of the model's language holds ("t > 20/m", "mean(phi) < 0"), or to the
  /// end if that comes first. Returns the number of steps made: 0 where it holds already. In a
  /// sweep it has to hold in every instance, and each stops where it does.
  std::int64_t step_until(const std::string& condition);
  bool over() const;         ///< the end given by the model or the options is reached
  bool interrupted() const;  ///< StartOptions::stops has returned true
  std::int64_t steps() const;
  double time() const;
  const Model& model() const;
  const runtime::DeviceInfo& device() const;  ///< of the first rank
  int ranks() const;                          ///< 1: one device has all

  /// Names of the arrays that hold the state.
  std::vector<std::string> state() const;
  /// An array of the state, in program units; momenta at half steps where the integrator is
  /// staggered.
  Array read(const std::string& state);
  /// Replaces an array of the state. Values carried from step to step, such as averages that the
  /// next step starts from, are those of the state before until a step has been made.
  void write(const std::string& state, std::span<const double> values);
  /// Computes anew from the present state what is carried from step to step, such as averages that
  /// the next step starts from. A background goes on as it was. It takes a compilation, which the
  /// cache has from the second call on.
  void changed();
  /// Gives a box that expands with its own energy the rate at which 3 M^2 H^2 = <rho> holds for the
  /// present fields. Throws Error where the model has no such background, or no rate fulfils it.
  void restart_background();
  /// Writes the state into a checkpoint, from which `StartOptions::resume` and the command's
  /// --resume go on with the same bits. Throws Error: the state holds NaN, the file cannot be
  /// written, or the sweep runs in parts.
  void save(const std::string& path);
  /// Gives a parameter another value from here on; the state, time and random streams stay.
  /// Momenta at half steps and values that are carried from step to step are those of the value
  /// before until a step has been made. `value`: a number or a formula. Files of results
  /// go on and state the change. Throws Error where the state would have another meaning
  /// (embed/same_state.hpp) or ranks write files, and leaves the simulation as it was.
  void set(const std::string& name, const std::string& value);
  /// An array of the state where it lies, not for links or spinors on GPUs and not where ranks
  /// share the run. While a view exists, calls that change the state throw Error of kind InUse.
  std::shared_ptr<const View> view(const std::string& state);
  /// What is queued from now on in `stream` (a CUstream, or CUDA's numbers 1 and 2 for its default
  /// streams) begins after the steps whose state a view of a CUDA device shows; the host need not
  /// wait. Elsewhere a view shows a state that is complete.
  void order(const View& view, std::uintptr_t stream);
  /// Waits for these steps.
  void wait(const View& view);
  /// Coordinates of the sites along each axis, x first, in the model's unit and 0 in the middle of
  /// the box; empty where the model has no lattice.
  std::vector<std::vector<double>> places() const;
  /// A formula of the model's language, in physical units, at the present time: a number, or a
  /// number at each site ("mean(phi)", "phi'^2/2").
  Array evaluate(const std::string& expression);

  /// Makes the outputs at the end and completes the files. No step may follow.
  Result finish();

 private:
  struct State;
  std::unique_ptr<State> s_;
};

/// Runs a model from the first step to the end.
Result run(const Model& model, const StartOptions& options);

}  // namespace vphi::embed
