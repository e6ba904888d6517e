// The result files of a run: one for each `-> "name"` of the model, in the output folder.
//
// "name.h5" (HDF5, where the build has it):
//   /series/NAME          [time, axis, ...], grows with the run, checksummed; axes are those of a
//                         sweep. /series/time and /series/step (time_2, ...: of series that other
//                         clauses write; attributes "times", "steps" of a series name its own);
//                         /errors/NAME beside an average
//   /spectra/NAME/STEP    table of k, P, Delta, modes
//   /slices/NAME/STEP     plane, slowest axis first; attributes axis, plane, position: what is cut
//   /profiles, /correlators, /histograms, /occupations, /surfaces: tables, attribute "columns"
//   names them /snapshots/NAME/STEP  whole lattice or all bodies, slowest axis first; then the axes
//   of a value:
//                         `component` of a vector, `row` and `column` of a matrix, `part` (re, im)
//                         of complex numbers
//   /axes/x, y, z         coordinates of the sites, counted from the centre of the box: dimension
//                         scales of the slices and snapshots (attribute "axes" names them too)
//   /axes/GROUP/NAME/STEP/AXIS  bin edges of a two-dimensional histogram
// Every dimension has a scale with a link in the group of its dataset (hdf5_scales.hpp): times,
// axes, coordinates, `row` and `column` of tables.
//   /axes/NAME            values of an axis of a sweep, attribute "ensemble"
//   /plots/NAME           table of x, y, error; attribute "against"
//   attributes of the root: model text, parameters, versions, seed, dx, dt
// Large arrays are chunked, compressed (shuffle, deflate) and checksummed (Fletcher-32). A `/` in a
// dataset's name becomes `|` (the attribute "name" keeps the text). "name.xdmf" describes slices
// and snapshots to ParaView and VisIt. "name.silo": snapshots in SILO (silo_file.cpp), tables as
// CSV. "name.csv", or any name where HDF5 is absent: "name.series.csv" and so on for all tables;
// fields are then left out and `notes` says so. "name.ildg", "name.nersc": gauge configurations,
// one file for each moment (configuration_files.cpp).
//
// A separate thread writes everything during the run (writer.hpp). `flush` makes all results so far
// readable soon; `finish` waits for this. Names must be relative and stay inside the folder. Wrong
// names and failures to write throw ResultsError, the latter from the next call.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/io/files/writer.hpp"

namespace vphi::io {

struct ResultsError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The result of an output: rows with named columns, a map over axes, or plain values.
struct Table {
  program::OutputKind kind = program::OutputKind::Snapshot;
  std::string name = {};
  std::vector<std::int64_t> shape = {};  ///< slowest axis first
  std::vector<double> values = {};
  std::vector<std::string> columns = {};  ///< of the last axis; empty: it is an axis of space
  std::vector<std::pair<std::string, std::vector<double>>> axes = {};  ///< bin edges of a map
  /// Further numbers: values outside of the range, ...
  std::vector<std::pair<std::string, double>> numbers = {};
  /// Instead of `values`, as numbers of `precision` in the host's order.
  std::shared_ptr<const std::byte> raw = {};
  program::Precision precision = program::Precision::F64;
  std::vector<std::string> leading = {};  ///< first axes that are those of a sweep, by name
  /// Of one instance of a sweep: which it is, "event = 3", as `name` says too; files of surfaces
  /// are named by it.
  std::string instance = {};
  /// Last axes, those of a value at a site: "component", of a matrix "row" and "column", of complex
  /// numbers "part" (re, im).
  std::vector<std::string> inner = {};
  /// Of a table that comes in parts, one after the other from the first on: its `values` are those
  /// of so many places of the first axis. The shape is that of the whole. count 0: it comes whole.
  struct Part {
    std::int64_t first = 0, count = 0;
  };
  Part part = {};

  const program::OutputRow& row() const { return program::row_of(kind); }
  std::string group() const { return std::string(row().group); }
};

struct Moment {
  std::int64_t step = 0;
  double time = 0;
};

/// Data to continue a file of an interrupted run.
struct Keep {
  std::string name = {};       ///< of the file as the program's outputs have it
  std::filesystem::path logs;  ///< folder and stem of undo logs (undo_file.hpp); empty: none
  /// The existing file is restored to this mark; later contents are dropped.
  std::optional<std::int64_t> generation;
  std::string mark;  ///< the result of `mark` at that time
  Moment at;         ///< moment of the mark
};

/// One scalar of a sweep at one moment.
struct Swept {
  std::string name;
  std::vector<int> axes;       ///< places in Program::axes, ascending
  std::vector<double> values;  ///< the last axis fastest; NaN: none
  std::vector<double> errors;  ///< standard errors, as `values`; empty: there are none
};

/// One file being written. Implementations: hdf5_file.cpp, csv_file.cpp.
class ResultFile {
 public:
  virtual ~ResultFile() = default;
  virtual void scalars(std::span<const std::string> names, const Moment& at,
                       std::span<const double> values) = 0;
  virtual void table(Table table, const Moment& at) = 0;
  /// Whether tables of sites may come in parts (parts_of_sites).
  virtual bool takes_parts() const { return false; }
  /// The scalars of a sweep at one moment; names are distinct.
  virtual void swept(const Moment& at, std::span<const Swept> values) = 0;
  /// A curve along one axis of the sweep; `error` may be empty.
  virtual void plot(const std::string& name, const std::string& against, std::span<const double> x,
                    std::span<const double> y, std::span<const double> error) = 0;
  /// What has become of the parameters in the course of the run, a line for each change: stated
  /// beside the values of the start by formats that state these.
  virtual void changes(const std::string& /*lines*/) {}
  virtual void flush() = 0;
  /// Flushes the file, and marks this state of it as `generation`. The result is stored in the
  /// checkpoint and given back as `Keep::mark`. `forget_before` discards older states.
  virtual std::string mark(std::int64_t generation) = 0;
  virtual void forget_before(std::int64_t) {}
  /// Results that could not be written, with the reasons.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Names of the files, where they differ from the one that was opened.
  virtual std::optional<std::vector<std::string>> files() const { return std::nullopt; }
};

/// Names of the components of a value whose axes have these lengths, in the order in which they are
/// written: "v[0]", "M[0,1]", with `parts` (a last axis of 2) "re(psi)" and "im(psi)".
std::vector<std::string> component_names(const std::string& name,
                                         std::span<const std::int64_t> lengths, bool parts);
/// One table for each component, for formats that have real numbers only. Uses `values`.
std::vector<Table> components(const Table& table);
/// Turns `raw` into `values`.
void unpack(Table& table);

/// In which parts arrays of a lattice go into files that take parts: whole chunks of the file. One
/// part: they come whole. `sites`: slowest axis first.
std::vector<Table::Part> parts_of_sites(std::span<const std::int64_t> sites);
/// Whether a file of this name takes parts.
bool takes_parts(const std::filesystem::path& name);

bool have_hdf5();
std::unique_ptr<ResultFile> open_hdf5(const std::filesystem::path& path,
                                      const program::Program& program, const Keep& keep = {});
std::unique_ptr<ResultFile> open_csv(const std::filesystem::path& path,
                                     const program::Program& program, const Keep& keep = {});
bool have_silo();
/// Throws ResultsError where the build has no SILO.
std::unique_ptr<ResultFile> open_silo(const std::filesystem::path& path,
                                      const program::Program& program, const Keep& keep = {});

/// A name that ends in .ildg or .nersc: links only, one file for each moment
/// (configuration_files.cpp); in .scidac: spinors only, likewise (scidac_files.cpp).
bool holds_configurations(const std::filesystem::path& path);
std::unique_ptr<ResultFile> open_configurations(const std::filesystem::path& path,
                                                const program::Program& program,
                                                const Keep& keep = {});

std::unique_ptr<ResultFile> open_spinors(const std::filesystem::path& path,
                                         const program::Program& program, const Keep& keep = {});

/// "out/name" for a name that is relative and has no "..", else ResultsError.
std::filesystem::path inside(const std::filesystem::path& folder, const std::string& name);

class Results {
 public:
  /// Checks every file name of the program and makes the folder. Files are opened at first use.
  /// `logs`: folder of undo logs; empty: the files cannot be restored. `tell` is called with what
  /// could not be written where the run has ended by another error.
  Results(std::filesystem::path folder, const program::Program& program,
          std::filesystem::path logs = {}, std::function<void(const std::string&)> tell = {});
  ~Results();

  ResultFile& file(const std::string& name);
  /// "m2 = 4 from step 3, t = 0.06 on", for all files, also those that are opened later.
  void add_change(const std::string& line);
  /// Queues a flush of every file.
  void flush();
  /// Waits until all is written and flushed.
  void finish();
  /// Seconds for which the caller had to wait for the disk.
  double seconds_waited() const { return writer_->seconds_waited(); }
  /// Name and mark of each file that is open.
  std::vector<std::pair<std::string, std::string>> mark(std::int64_t generation);
  void forget_before(std::int64_t generation);
  /// Opens these files as they were at the mark; must be called before any other use. Returns the
  /// names of files that could not be restored: the old file is renamed (".damaged"), `notes` gives
  /// the reason, and a new file is started.
  std::vector<std::string> go_back(std::int64_t generation, const Moment& at,
                                   const std::vector<std::pair<std::string, std::string>>& marks);
  std::vector<std::string> files() const;
  std::vector<std::string> notes() const;

 private:
  std::unique_ptr<ResultFile> open(const std::string& name, Keep keep);
  std::unique_ptr<ResultFile> open_now(const std::string& name, Keep keep) const;

  std::filesystem::path folder_, logs_;
  const program::Program& program_;
  std::function<void(const std::string&)> tell_;
  std::vector<std::string> notes_;
  std::string changes_;  ///< lines
  std::unique_ptr<Writer> writer_;
  std::map<std::string, std::unique_ptr<ResultFile>> files_;  ///< each posts to the writer
};

}  // namespace vphi::io
