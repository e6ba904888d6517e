// vphi for other C++ programs: models, runs step by step, results. It needs C++17 and uses standard
// types only.
//
// The declarations of this header do not change within a version; libvphi.so exports nothing else.
// Failures throw vphi::Error. A Simulation may be used by one thread at a time; several may run in
// several threads. The library prints nothing, handles no signals and starts no processes except
// compilers of kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#define VPHI_API __attribute__((visibility("default")))

namespace vphi {

/// An error in a model or a call, a run that failed, a device that failed.
class VPHI_API Error : public std::runtime_error {
 public:
  Error(const std::string& message, std::string code, std::string fix, std::string text, int line,
        int column);
  ~Error() override;
  const std::string& code() const;  ///< "E0104"; `vphi explain E0104` shows its page
  const std::string& fix() const;   ///< the fix, in one sentence; may be empty
  const std::string& text() const;  ///< as the command shows it
  int line() const;                 ///< of the model's text, from 1; 0: no line
  int column() const;

 private:
  std::string code_, fix_, text_;
  int line_ = 0, column_ = 0;
};

/// The state of a run holds NaN, or has no primitive variables. `line()` is that of the equation.
class VPHI_API BrokenState : public Error {
 public:
  BrokenState(const Error& error, std::int64_t step, std::vector<std::int64_t> site,
              std::string cause);
  ~BrokenState() override;
  std::int64_t step() const;                      ///< in which it broke; -1: not known
  const std::vector<std::int64_t>& site() const;  ///< the first, x first; empty: not known
  const std::string& cause() const;               ///< the term and its numbers; may be empty

 private:
  std::int64_t step_ = -1;
  std::vector<std::int64_t> site_;
  std::string cause_;
};

/// Options of a run that change a model without changing its text, as those of the command.
struct Options {
  std::map<std::string, std::string> set;  ///< parameters: {"g", "100*m"}
  /// Parameters that kernels read as numbers of the run: another value of them compiles nothing.
  /// What decides the shape of the program, as the size of the lattice does, cannot be free.
  std::vector<std::string> free;
  std::string lattice;  ///< "64^3"
  std::string until, precision;
  std::optional<std::uint64_t> seed;
  std::int64_t steps = -1;  ///< number of steps; -1: as in the model
  /// auto, native, opencl[:k], cuda[:k]; several share the run: cuda:0,1, cuda:0-7, cuda:all
  std::string device = "auto";
  std::string out;  ///< folder of the model's files; empty: none are written
  /// A checkpoint to go on from, of `Simulation::save` or of the command: a file, or a folder of
  /// results that has one. Options that are not given are those of the checkpoint.
  std::string resume;
  int threads = 0;  ///< of the host's part; 0: all
  /// So many ranks share the instances of a sweep or a lattice, a device each, or the processors of
  /// device native; 0: as many as `device` names.
  std::int64_t ranks = 0;
  /// "z=4": four ranks cut the lattice along z, which must be its slowest axis. `ranks` is then
  /// this number or 0.
  std::string cut;
};

/// Numbers on axes, the last fastest; no axes: one number.
struct Array {
  std::vector<std::string> axes;  ///< "instance", "z", "y", "x"
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

/// A scalar output over time. In a sweep `values` has all places along `axes` for each time.
struct Series {
  std::string name;
  std::vector<std::string> axes;
  std::vector<double> t, values;
};

struct Result {
  std::int64_t steps = 0;
  double time = 0;
  std::string device;
  bool ok = true;  ///< every `expect` of the model holds
  std::vector<Series> series;
  std::vector<std::string> files, notes;
  const Series* find(const std::string& name) const {
    for (const Series& one : series)
      if (one.name == name) return &one;
    return nullptr;
  }
};

class VPHI_API Simulation {
 public:
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  /// Makes at most `count` steps; -1: to the end. Returns the number of steps made.
  std::int64_t step(std::int64_t count);
  /// Steps until a condition of the model's language holds ("t > 20/m", "mean(phi) < 0"), or to the
  /// end if that comes first. Returns the number of steps made: 0 where it holds already.
  std::int64_t step_until(const std::string& condition);
  /// Gives a parameter another value from here on; the state, time and random streams stay.
  /// `value`: a number or a formula. Files of results go on and state the change. Throws where
  /// the state would have another meaning or ranks write files, and leaves the simulation as it
  /// was.
  void set(const std::string& name, const std::string& value);
  bool over() const;
  std::int64_t steps() const;
  double time() const;
  /// Names of the arrays of the state, and access to them: in program units, momenta at half steps
  /// where the integrator is staggered. `write` throws where the number of values differs or a
  /// value is not finite.
  std::vector<std::string> state() const;
  Array read(const std::string& array) const;
  void write(const std::string& array, const std::vector<double>& values);
  /// Computes anew from the present state what is carried from step to step, such as averages that
  /// the next step starts from; after `write`. A background goes on as it was.
  void changed();
  /// Gives a box that expands with its own energy the rate at which 3 M^2 H^2 = <rho> holds for the
  /// present fields. Throws where the model has no such background, or no rate fulfils it.
  void restart_background();
  /// Writes a checkpoint, from which `Options::resume` and the command's --resume go on with the
  /// same bits.
  void save(const std::string& path);
  /// Evaluates a formula of the model's language at the present time, in physical units: a number,
  /// or one at each site.
  Array evaluate(const std::string& formula) const;
  /// Makes the outputs at the end and completes the files. No step may follow.
  Result finish();

 private:
  friend class Model;
  struct Hidden;
  explicit Simulation(std::unique_ptr<Hidden> hidden);
  std::unique_ptr<Hidden> hidden_;
};

/// A model with its derived equations. It never changes and is cheap to copy.
class VPHI_API Model {
 public:
  /// Tables and files that the text reads are in the folder at the beginning of `name`.
  static Model from_text(const std::string& text, const std::string& name = "model");
  /// A path, or the name of a shipped model.
  static Model from_file(const std::string& path);

  const std::string& name() const;
  std::string explain() const;  ///< the derived equations
  /// The kernels for a typical device of a kind (native, opencl, cuda, hip) in readable form.
  std::string source(const std::string& device = "native") const;
  Simulation start(const Options& options = {}) const;
  Result run(const Options& options = {}) const;

 private:
  struct Hidden;
  explicit Model(std::shared_ptr<const Hidden> hidden);
  std::shared_ptr<const Hidden> hidden_;
};

/// Number of kernels that were compiled in this process; those from the cache are not counted.
VPHI_API std::int64_t compilations();

}  // namespace vphi
