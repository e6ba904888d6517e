// vphi for other C++ programs: models, runs driven by hand, results. C++17, standard types alone.
//
// What this header declares stays as it is within a version; libvphi.so exports nothing else.
// Everything that fails throws vphi::Error. A Simulation is used by one thread at a time; several
// may run in several threads. Nothing is printed, no signal is caught, no process is started but
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

/// A mistake in a model or a call, a run that broke, a device that failed.
class VPHI_API Error : public std::runtime_error {
 public:
  Error(const std::string& message, std::string code, std::string fix, std::string text, int line,
        int column);
  ~Error() override;
  const std::string& code() const;  ///< "E0104"; `vphi explain E0104` shows its page
  const std::string& fix() const;   ///< what to do, in one sentence; may be empty
  const std::string& text() const;  ///< as the command shows it
  int line() const;                 ///< of the model's text, from 1; 0: it is about no line
  int column() const;

 private:
  std::string code_, fix_, text_;
  int line_ = 0, column_ = 0;
};

/// What a run may change without another text, as the options of the command do.
struct Options {
  std::map<std::string, std::string> set;  ///< parameters: {"g", "100*m"}
  std::string lattice;                     ///< "64^3"
  std::string until, precision;
  std::optional<std::uint64_t> seed;
  std::int64_t steps = -1;      ///< -1: as the model says
  std::string device = "auto";  ///< auto, native, opencl[:k], cuda[:k]
  std::string out;              ///< folder of the model's files; empty: none are written
  int threads = 0;              ///< of the host's part; 0: all
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

  /// At most so many steps; -1: to the end. Returns how many were made.
  std::int64_t step(std::int64_t count);
  bool over() const;
  std::int64_t steps() const;
  double time() const;
  /// Arrays of the state, in program units, and their names.
  std::vector<std::string> state() const;
  Array read(const std::string& array) const;
  void write(const std::string& array, const std::vector<double>& values);
  /// A formula of the model's language in physical units: a number, or one at each site.
  Array evaluate(const std::string& formula) const;
  /// Closing values; files are complete. No step follows.
  Result finish();

 private:
  friend class Model;
  struct Hidden;
  explicit Simulation(std::unique_ptr<Hidden> hidden);
  std::unique_ptr<Hidden> hidden_;
};

/// A model that was read and derived. Cheap to copy; it never changes.
class VPHI_API Model {
 public:
  /// Tables and files that the text reads lie in the folder that `name` begins with.
  static Model from_text(const std::string& text, const std::string& name = "model");
  /// A path, or the name of a shipped model.
  static Model from_file(const std::string& path);

  const std::string& name() const;
  std::string explain() const;  ///< the derived equations
  Simulation start(const Options& options = {}) const;
  Result run(const Options& options = {}) const;

 private:
  struct Hidden;
  explicit Model(std::shared_ptr<const Hidden> hidden);
  std::shared_ptr<const Hidden> hidden_;
};

}  // namespace vphi
