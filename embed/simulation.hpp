// One run on one device, driven by whoever embeds vphi: some steps, a look at the state, more
// steps.
//
// A Simulation owns the compiled program, the device and the run. It is used by one thread at a
// time. Outputs of the model are made at their steps, as under `vphi run`, and kept in memory;
// files are written only where StartOptions::out names a folder. Throws Error.
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
  std::string device = "auto";  ///< auto, native, opencl[:k], cuda[:k]
  std::string out;              ///< folder of the model's files; empty: none are written
  int threads = 0;              ///< of the host's part; 0: all
  /// Asked about ten times a second: true ends the run after this step, with results up to here.
  std::function<bool(const runtime::Progress&)> stops = {};
  /// What the user should know at once.
  std::function<void(const std::string&)> tell = {};
};

/// Numbers on axes, the last fastest.
struct Array {
  std::vector<std::string> axes;  ///< names: "instance", "z", "y", "x"
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

/// An array of the state where it lies, without a copy. The simulation makes no step while it is
/// there, and it must not outlive the simulation.
struct View {
  void* data = nullptr;
  program::Precision precision = program::Precision::F64;
  std::string name;
  std::vector<std::string> axes;
  std::vector<std::int64_t> shape;
};

/// What an output has made of fields, each time that it was due.
struct TakenTable {
  io::Table table;
  io::Moment at;
};

/// What is known of a run so far, or at its end.
struct Result {
  runtime::RunResult run;
  std::vector<TakenTable> tables;  ///< spectra, slices, profiles, ...; no snapshots
};

class Simulation {
 public:
  Simulation(const Model& model, const StartOptions& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// At most so many steps; -1: to the end. Returns how many were made.
  std::int64_t step(std::int64_t count);
  bool over() const;         ///< the end that the model or the options name is reached
  bool interrupted() const;  ///< StartOptions::stops has said so
  std::int64_t steps() const;
  double time() const;
  const Model& model() const;
  const runtime::DeviceInfo& device() const;

  /// Names of the arrays that hold the state.
  std::vector<std::string> state() const;
  /// One of them, in program units; momenta at half steps where the integrator has them there.
  Array read(const std::string& state);
  /// Another value for one of them. What the step itself carries along, such as averages that the
  /// next step starts from, is that of the state before until a step has been made.
  void write(const std::string& state, std::span<const double> values);
  /// One of them, in the memory of the host: device `native`, and no links or spinors. While a view
  /// is there, whatever would change the state throws Error of kind InUse.
  std::shared_ptr<const View> view(const std::string& state);
  /// A formula of the model's language, in physical units, at the present time: a number, or a
  /// number at each site ("mean(phi)", "phi'^2/2").
  Array evaluate(const std::string& expression);

  /// Closing values and outputs; files are complete. No step follows.
  Result finish();

 private:
  struct State;
  std::unique_ptr<State> s_;
};

/// From the first step to the end.
Result run(const Model& model, const StartOptions& options);

}  // namespace vphi::embed
