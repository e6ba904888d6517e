// The description and the results of a run as plain data: the contents of report.html.
//
// A Report has three sources: `gather` (tools/commands/report.cpp) adds the compiler's description
// of the model (formulas as MathML), `take_result` the measurements of the run, `read_results`
// (read.hpp) the series, spectra and pictures of the result files. The page is a pure function of
// it (page.hpp). Any part may be empty; the page then omits its section. Texts are plain, and are
// escaped in the page; members called `mathml` are markup from the compiler.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "program/program.hpp"
#include "runtime/run/run.hpp"

namespace vphi::report {

// ---- the model --------------------------------------------------------------------------------

/// One line of the model as a formula: "V = ...", "phi'' = ...".
struct Statement {
  std::string mathml;  ///< one mrow; empty: `text` is shown
  std::string text;
  std::string note;  ///< its `##` text
  int line = 0;      ///< of the model text
};

struct Parameter {
  std::string name, mathml;
  std::string written;  ///< the expression in the model
  double value = 0;
  std::string note;      ///< its `##` text
  bool changed = false;  ///< set on the command line
};

/// A derived equation, with the model lines its terms come from.
struct Equation {
  struct Term {
    std::string mathml, line;  ///< "line 10: potential V = ..."
  };
  std::string mathml;
  std::string text;
  std::vector<Term> terms;
};

struct EquationGroup {
  std::string title, note;
  std::vector<Equation> equations;
};

// ---- data -------------------------------------------------------------------------------------

/// Values against time, or against a swept parameter.
struct Series {
  std::string name;
  std::string along = "t";  ///< the quantity on the x axis
  std::vector<double> x, y;
  std::vector<double> error;  ///< one standard deviation of y; empty: none
  /// Distinguishes several curves of one name: "T = 0.2", "at t = 10"; empty: there is one.
  std::string curve = {};

  /// Whether it belongs to one value of a swept parameter. Values along an axis, or of the whole
  /// sweep, are separate series.
  bool of_instance() const { return along == "t" && !curve.empty(); }
};

/// One output of a table of x and y: a spectrum, a histogram, a profile.
struct Frame {
  double time = 0;
  std::int64_t step = 0;
  std::vector<double> x, y;
  std::vector<double> other;  ///< Delta of spectra; otherwise empty
};
struct Table {
  enum class Kind { Spectrum, Histogram, Profile };
  Kind kind = Kind::Spectrum;
  std::string name;
  std::string x_name, y_name;  ///< names of the columns: "k", "P"
  std::vector<Frame> frames;   ///< ordered by time
};
/// How a table of an output is shown; values at sites are a curve along them.
Table::Kind table_kind(program::OutputShape shape);
/// Names of x and y of a table with these columns: the first two, or the value and its density.
std::pair<std::string, std::string> axes_of(const std::vector<std::string>& columns);
/// The curve of the rows of such a table, without its time. The row of the mean (k = 0) is omitted.
Frame frame_of(const std::vector<std::string>& columns, std::span<const double> values);

/// One output of a plane of values: a slice, or a histogram of two quantities.
struct Plane {
  double time = 0;
  std::int64_t step = 0;
  int width = 0, height = 0;
  std::vector<float> values;  ///< x fastest, the lowest y first
};
struct Picture {
  std::string name;
  bool slice = true;  ///< a slice of the lattice: axes are lengths
  std::string x_name = "x", y_name = "y";
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  std::vector<Plane> planes;
};

// ---- trust and speed --------------------------------------------------------------------------

struct Check {
  std::string text;
  bool ok = true;
  double value = 0, time = 0;
  double bound = 0;  ///< 0: no number that can be drawn
  std::vector<std::pair<double, double>> history;
  std::string undecided = {};  ///< why there is no verdict; empty: there is one
};

/// Average of an observable of a Markov chain.
struct ChainRow {
  std::string name;
  double mean = 0, error = 0;
  double tau = 0, tau_error = 0;  ///< integrated autocorrelation time, in rows
  std::size_t rows = 0;
  std::string unknown;  ///< why the error is not known; empty: it is known
};

/// A kernel of the step, compared with the peak rates of the device.
struct KernelCost {
  std::string name;
  int loads = 0, stores = 0, bytes = 0, flops = 0, special = 0;  ///< per site
  int registers = -1, spilled_bytes = -1;                        ///< -1: unknown
  double seconds = 0;                                            ///< a launch; 0: not measured
  bool in_step = false;
};

struct Speed {
  double sites = 0;               ///< sites of all instances in one launch
  double seconds = 0;             ///< in steps
  double first_step_seconds = 0;  ///< from the start, compilation included
  double site_updates_per_s = 0;
  double device_bytes = 0;
  double copy_bandwidth = 0;  ///< bytes per second, measured; 0: unknown
  double flops = 0;           ///< per second in the run's precision, measured; 0: unknown
};

/// One of several ranks that have shared the instances, or a lattice.
struct RankRow {
  std::string device, host;  ///< "cuda:1 (NVIDIA H200)"
  std::int64_t instances = 0;
  double memory = 0;        ///< bytes
  double busy = 0;          ///< seconds in steps
  std::int64_t planes = 0;  ///< of a lattice that ranks have shared; 0: they shared instances
  std::string planes_go;    ///< "from device to device"
  std::string modelled;     ///< a step by the model of ranks beside the measured one, a sentence
};

struct Citation {
  std::string used_for, reference, link;  ///< link: "https://doi.org/...", or empty
};

// ---- everything -------------------------------------------------------------------------------

struct Report {
  std::string model, title, documentation;
  std::string text;  ///< of the model file
  std::string name;  ///< name of the run, where several are compared

  std::vector<Statement> statements;
  std::vector<Parameter> parameters;
  std::vector<EquationGroup> equations;

  std::string time_name = "t";  ///< label of time axes with its unit: "t [1/GeV]", "trajectory"
  std::string unit;             ///< unit of a Markov chain: "sweep", "trajectory"; otherwise empty
  std::string length_unit;      ///< "fm"; empty: none
  std::vector<Series> series;
  std::vector<Table> tables;
  std::vector<Picture> pictures;
  std::vector<Check> checks;
  std::vector<ChainRow> chain;  ///< of a Markov chain
  std::string acceptance;       ///< "0.62 of all proposals"; empty: none were made

  std::vector<KernelCost> kernels;
  Speed speed;
  std::vector<RankRow> ranks;  ///< empty: one device had all instances

  std::int64_t steps = 0;
  double time = 0;
  bool interrupted = false;
  std::string device, lattice, precision;
  std::uint64_t seed = 0;
  std::vector<std::string> notes;  ///< choices of the compiler, omitted results
  std::vector<std::string> warnings;
  std::vector<Citation> citations;
  std::string command;                                        ///< reproduces the run
  std::vector<std::pair<std::string, std::string>> versions;  ///< component and its version
  std::vector<std::string> files;

  bool all_ok() const;
  const Series* find(const std::string& series_name) const;
  /// "Steps", "Sweeps", "Trajectories".
  std::string steps_name() const;
};

struct SweepAxis {
  std::string name;
  std::vector<double> values;
};
/// Adds a scalar of a sweep at one time, the last axis fastest: as a series along one axis, or as a
/// picture over the last two of several axes.
void add_swept(Report& report, const std::string& name, const std::vector<SweepAxis>& axes,
               const std::vector<double>& values, const std::vector<double>& errors, double time);

/// Adds a scalar over time, `values` [time][place], with a curve for each of a few places of the
/// sweep.
void add_histories(Report& report, const std::string& name, const std::vector<SweepAxis>& axes,
                   const std::vector<double>& times,
                   const std::vector<std::vector<double>>& values);

/// Takes the tables and pictures of a result file. Results along the axes of a sweep that the run
/// has added already are not added twice.
void take_fields(Report& report, Report&& file);

/// A place of a sweep as text, "T = 0.2, draw = 2"; places are numbered with the last axis fastest.
std::string place_text(const std::vector<SweepAxis>& axes, std::size_t place);

/// 1e-3 of "abs(x) < 1e-3"; 0 where the text does not end in such a bound.
double bound_of(const std::string& promise);

/// Adds text, parameters, series, checks, kernels and speed from a program and its run.
void take_program(Report& report, const program::Program& program);
void take_result(Report& report, const program::Program& program, const runtime::RunResult& result);

}  // namespace vphi::report
