// A Program: everything the runtime needs, independent of the model text.
//
// It consists of buffers, scalars, kernels as source text with their launch shape, a schedule of
// launches, outputs and checks. It is plain data and can be written to a file and read back
// (program/json.hpp), so a model can be compiled on one machine and run on another. Numbers that
// say "slot" index `scalars`, an array of f64 on the device.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "program/outputs.hpp"
#include "program/precision.hpp"
#include "program/target.hpp"

namespace vphi::program {

/// One real number per instance and lattice site: [instance][t][z][y][x], x fastest. With a `file`
/// it is a matrix of `elements` numbers that all instances share, read before the first launch and
/// never written: [column][row], so that neighbouring rows are neighbours.
struct Buffer {
  std::string name;
  Precision precision = Precision::F64;
  bool doubled = false;     ///< two copies; Launch::swap exchanges them
  bool state = false;       ///< part of the state (checkpoints, NaN check)
  bool scratch = false;     ///< only for initial values or outputs; may be taken late, freed early
  std::string file = {};    ///< "path" or "path.h5:set" of a matrix; empty: values of sites
  bool transposed = false;  ///< of a matrix: [row][column]
  std::int64_t elements = 0;  ///< of a matrix
  /// The buffer in whose memory the numbers of this one lie: [instance][place][lane], places by
  /// Program::order, `lanes` buffers sharing the memory. -1: memory of its own, as said above.
  int home = -1;
  int lane = 0, lanes = 1;
  /// Values that change: they belong to checkpoints.
  bool changes() const { return !scratch && file.empty(); }
};

struct Scalar {
  std::string name;
  double initial = 0;
};

/// Where a site lies in the memory of buffers with a home: the sites of a colour, weights.x mod
/// `modulus`, behind each other; in them x is fastest and `axis` is shorter by `modulus`.
struct SiteOrder {
  int modulus = 1;
  std::array<int, 4> weights{};
  int axis = 0;
  /// Place of site number `site` (x fastest) of a lattice of these extents.
  std::int64_t place(std::int64_t site, const std::array<std::int64_t, 4>& extent) const;
};

/// One axis of a sweep. The instances of a run are the outer product of the axes, the first axis
/// slowest.
struct Axis {
  std::string name;
  std::vector<double> values;
  bool ensemble = false;  ///< no formula uses its values: draws to be averaged over
  bool fresh = false;     ///< its instances have random numbers of their own, as an ensemble's do
  int slot = -1;          ///< scalar that holds the instance's value; -1: no kernel reads it
};

/// An average over axes of the sweep, of a scalar that every instance has. The runtime writes the
/// result into the slots of the instances (those that differ along other axes get other results)
/// before the launches that use it.
struct Statistic {
  enum class Kind { Mean, Variance, Minimum, Maximum };
  Kind kind = Kind::Mean;
  int slot = 0;           ///< what is averaged; NaN: this instance has no value (yet)
  std::vector<int> axes;  ///< places in Program::axes; empty: over time alone, done by the kernels
  int count_slot = -1;    ///< where it is an average over time: number of steps in it
  int result_slot = -1;
  int error_slot = -1;  ///< standard error of the result
};

/// Argument of a kernel, in the order of its parameter list.
struct Argument {
  enum class Kind {
    Current,   ///< buffer `index`, the copy that holds the present state
    Next,      ///< buffer `index`, the other copy
    Scalars,   ///< the f64 scalar array [instance][slot], read and written
    Partials,  ///< f64 work array of `Kernel::partials` numbers, private to the kernel
    Counter,   ///< one 32-bit word an instance, zero before the first launch, left zero after it
  };
  Kind kind = Kind::Current;
  int index = 0;
  std::int64_t bytes = 0;  ///< what the kernel may touch, all instances; 0: unknown
  Precision precision = Precision::F64;
  bool written = false;
};

struct Kernel {
  std::string name;    ///< for people
  std::string entry;   ///< function in `source`
  std::string finish;  ///< native only: called once after all tasks, does every instance; or empty
  std::string source;
  std::vector<Argument> arguments;
  std::int64_t partials = 0;  ///< of all instances together
  /// CUDA blocks; OpenCL work groups; native: tasks in [0]. One launch covers every instance.
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic shared (local) memory
  /// CUDA: blocks wait for each other, so all of them have to run at the same time.
  bool together = false;
  // Cost per site (a sum over pairs: flops, instructions and special functions of one pair),
  // counted by the compiler. No launch depends on it: for people, and for the least time of a
  // launch (runtime/device/limits.hpp).
  int loads = 0, stores = 0, bytes = 0, flops = 0, special = 0;
  int instructions = 0;  ///< flops with a multiplication and the addition that takes it as one
  Precision arithmetic = Precision::F64;
  std::int64_t sites = 0;          ///< that a launch computes, of all instances together
  std::int64_t pairs = 0;          ///< that a launch goes through; 0: it sums over no pairs
  std::vector<std::string> notes;  ///< which term came from which model line
};

struct Launch {
  int kernel = 0;
  std::vector<int> swap;  ///< buffers whose copies are exchanged afterwards
  int solve = -1;  ///< place in Program::solves: what begins here is repeated until it is done
};

/// The iterations of a linear solve. The launches before, the last of which names the solve, have
/// made the start; then `iterate` is launched until `done_slot` is not 0 in any instance, and
/// `finish` once. An iteration changes nothing in an instance that is done, so that several may be
/// queued before the host reads `done_slot`.
struct Solve {
  std::string name;    ///< of the field that is wanted
  std::string solver;  ///< name of the text
  std::string line;    ///< where it stands in the model
  int line_number = 0;
  std::vector<Launch> iterate;
  std::vector<Launch> finish;  ///< fills `residual_slot`
  std::int64_t max = 10000;    ///< iterations at most
  int done_slot = -1;          ///< 0: goes on; 1: `until` holds; 2: some number is NaN
  int iterations_slot = -1;    ///< iterations done
  int residual_slot = -1;      ///< norm(b - A(x))/norm(b), computed from x
};

struct ScalarOutput {
  std::string name;
  int slot = 0;
  bool drift = false;          ///< in `progress`: show the relative change since the start
  int error_slot = -1;         ///< standard error, where there is one
  std::vector<int> axes = {};  ///< places in Program::axes that the value differs along
  bool passage = false;        ///< of `first(e, condition)`: NaN until the condition has held
};

/// A translation-invariant linear operator, as Fourier space needs it:
/// symbol(theta) = sum_i weight_i exp(i theta.offset_i), theta_a = 2 pi n_a/N_a.
struct Symbol {
  std::vector<std::array<int, 4>> offsets;
  std::vector<double> weights;
};

/// What the host does with arrays between two lists of launches, in place.
struct Transform {
  enum class Kind { TransverseTraceless };
  Kind kind = Kind::TransverseTraceless;
  std::vector<int> buffers;        ///< scratch: components 00, 01, 02, 11, 12, 22
  std::vector<Symbol> derivative;  ///< along each axis; what is left obeys D_i h_ij = 0
};

/// Bins of one axis of a histogram; `log`: equal in the logarithm.
struct HistogramAxis {
  int bins = 100;
  double low = 0, high = 0;
  bool find_low = true, find_high = true;  ///< from the data
  bool log = false;
};

/// How a power spectrum is binned (runtime/observe/spectrum.hpp).
struct SpectrumForm {
  int type = 2;           ///< 1: sums with the exact number of modes; 2: continuum volume
  int version = 1;        ///< k of a bin: 1 k_IR*l, 2 mean of its modes, 3 inside the average
  bool two_bins = false;  ///< modes shared by two bins (DEFROST)
  bool cross = false;     ///< of `buffer` and the first of `more`
  std::vector<Symbol> laplacian;  ///< k of a mode is sqrt(-symbol)/dx; empty: k itself
};

/// One more array of an output: scale*value + offset, weighted in sums over components.
struct FieldPart {
  int buffer = 0;
  double scale = 1, offset = 0;
  double weight = 1;
  int slot = -1;  ///< Histogram: a scalar of each instance in the place of a buffer
};

struct FieldOutput {
  using Kind = OutputKind;
  Kind kind = Kind::Snapshot;
  std::string name;
  /// Buffer that holds the field: scratch that the output's launches fill, or a state array whose
  /// value is wanted as it is. What is written is scale*value + offset.
  int buffer = 0;
  double scale = 1, offset = 0;
  double weight = 1;                     ///< in a sum over components
  std::vector<FieldPart> more;           ///< further arrays; OutputArrays says which
  int axis = 2;                          ///< as OutputAxis says
  std::int64_t plane = 0;                ///< Slice: site index along axis
  int bins = 0;                          ///< along an axis or by distance: most bins; 0: all
  std::vector<HistogramAxis> histogram;  ///< one or two axes
  SpectrumForm spectrum;
  int factor_slot = -1;        ///< Spectrum: multiplies P and Delta; Occupation: scale factor
  int mass2_slot = -1;         ///< Occupation: effective mass squared
  std::vector<int> over = {};  ///< Histogram: axes of the sweep whose instances count together
  int slot = -1;               ///< as FieldPart::slot
  int colours = 0;             ///< Links: N of N x N matrices
  /// OutputArrays::Whole: the axes of a value, {3} of a vector, {3, 3} of a matrix.
  std::vector<int> value = {};
  bool complex = false;
};

struct Output {
  int every = 0;                      ///< steps; 0: by time, or only at the end
  int after_slot = -1;                ///< written only while this slot is not 0
  std::vector<Launch> before;         ///< fill what the transforms take
  std::vector<Transform> transforms;  ///< between `before` and `launches`
  std::vector<Launch> launches;
  std::vector<ScalarOutput> scalars;
  std::vector<FieldOutput> fields;
  std::string file;
  std::vector<Launch> averages = {};       ///< of this clause alone, before all others
  std::vector<Statistic> statistics = {};  ///< taken after `launches`
  std::vector<Launch> then = {};           ///< after the statistics, for scalars that need them
  int plot_axis = -1;                      ///< `plot ... against`: place in Program::axes
  /// Written at the first step at or after `from` and each multiple of this later, physical time.
  /// 0: not by time.
  double interval = 0;
  double from = 0;
  /// Where it is not empty: at the start and at these steps alone, in order. Not in files.
  std::vector<std::int64_t> steps = {};
  /// During the run, and not only at its end.
  bool regular() const { return every > 0 || interval > 0 || !steps.empty(); }
};

struct Expectation {
  enum class Kind { Condition, Drift, Conserved };
  Kind kind = Kind::Condition;
  std::string text;
  int value_slot = -1;
  int ok_slot = -1;     ///< Condition
  int scale_slot = -1;  ///< Conserved
  double bound = 0;
  bool at_end = false;  ///< judged once, when the run ends
};

/// Array filled by the host before the initial launches, with random numbers or from a file.
/// Meaning: compiler/model/system.hpp
struct RandomField {
  enum class Kind { Vacuum, Normal, Uniform, File, Link };
  Kind kind = Kind::Normal;
  int buffer = 0;
  int stream = 0;
  bool velocity = false;
  double mass2 = 0, amplitude = 1, low = 0, high = 1, cutoff = 0;
  bool kernel_form = true;
  std::vector<double> masses = {};  ///< mass2 of each instance of the run; empty: all have `mass2`
  std::string file = {};            ///< File: "path:set" or "path:column", as runtime/io reads it;
                                    ///< Link: path of a gauge configuration
  int colours = 0;                  ///< Link: N of N x N matrices
  int entry = 0;  ///< Link: which real number of a site, ((mu*N + row)*N + column)*2 + (0 re, 1
                  ///< im); File: which of `components`
  int components = 1;     ///< File: real numbers of a site; re and im of a complex number are two
  bool as_it_is = false;  ///< File: of bodies or links, which are not resampled
  std::vector<int> leading = {};     ///< File: lengths of axes in front of those of the box
  std::vector<double> members = {};  ///< File: place along these in each instance, the last fastest
};

/// Checks of a scale factor that follows the lattice averages.
struct Expansion {
  int scale_slot = -1;     ///< a: > 0; -1: nothing expands by itself
  int residual_slot = -1;  ///< <rho>/(3 M^2 H^2) - 1, filled by `watch`
  double explained = 0;    ///< largest residual that the integrator's error can be
};

/// What the compiler knows of a dt beyond the integrator's limit of stability (W0316). Of the
/// linearised equations: a step multiplies the fastest mode by equations*excess, and the equations
/// themselves multiply theirs by `equations` in that time.
struct StepGrowth {
  double excess = 0;     ///< 0: no step that is too large is known
  double equations = 1;  ///< >= 1
  double fits = 0;       ///< a dt that is stable, physical
};

/// Where a state variable came from, for messages (NaN) and files.
struct StateVariable {
  int buffer = 0;
  std::string shown;  ///< "phi'"
  std::string line;   ///< text of the model line its equation came from
  int line_number = 0;
};

struct Program {
  std::string model;  ///< name
  std::string title;
  std::string model_text;
  std::string compiler_version;
  Target target = Target::Native;
  /// A step is an update of a Markov chain: values at successive steps are correlated draws from
  /// one distribution, and errors of their averages take the correlation into account.
  bool chain = false;
  int dims = 3;
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  /// Independent copies of the lattice that one launch advances together: an ensemble, a sweep.
  /// Buffers are [instance][site], scalars [instance][slot], counters one word an instance; every
  /// instance has its own background and its own parameters where these are slots.
  std::int64_t instances = 1;
  double dx = 1, dx_physical = 1;  ///< program and physical lattice spacing
  bool counted = false;            ///< the model gives neither: a place is the number of a site
  double dt = 0, dt_physical = 0;
  std::uint64_t seed = 1;
  std::vector<std::pair<std::string, double>> parameters;
  /// What numbers are powers of, "GeV"; empty where the model has no units.
  std::string base_unit;
  std::string length_unit = "1", time_unit = "1";
  /// Of outputs by name: "GeV^4", "1", or "program" where only the base is known; of tables one for
  /// each column.
  std::vector<std::pair<std::string, std::string>> units;
  std::vector<Axis> axes;     ///< of the sweep; empty: one instance
  std::int64_t ensemble = 0;  ///< number of the instance in its ensemble where no axis says it

  std::vector<Buffer> buffers;
  SiteOrder order;  ///< of buffers with a home
  std::vector<Scalar> scalars;
  std::vector<Kernel> kernels;
  std::vector<StateVariable> state;
  std::vector<RandomField> random;

  std::vector<Launch> prologue;  ///< after the random fields: initial values, first scalars
  std::vector<Launch> step;      ///< one time step
  /// Steps whose launches alternate: step n has the launches of cycle[n mod its length].
  /// Empty where every step is `step`, which is cycle[0] otherwise.
  std::vector<std::vector<Launch>> cycle = {};
  std::vector<Launch> multi_step;           ///< many steps in one launch; may be empty
  std::vector<Launch> watch;                ///< fills the slots of `expectations` and `progress`
  std::vector<Statistic> watch_statistics;  ///< taken after `watch`
  std::vector<Launch> watch_then;           ///< after them
  std::vector<Launch> watch_before;         ///< as Output::before
  std::vector<Transform> watch_transforms;  ///< as Output::transforms
  std::vector<Output> outputs;
  std::vector<Expectation> expectations;
  std::vector<ScalarOutput> progress;  ///< shown on the progress line ("drift")

  /// `multi_step` may begin at any step whose number is a multiple of this; 0: it is not used. It
  /// makes as many steps, again a multiple, as multi_step_slot of the batch's first instance says.
  /// Its results are those of `step`, one step at a time.
  std::int64_t multi_step_unit = 0;
  int multi_step_slot = -1;
  /// `together_steps` steps in one pass over memory, from any step on: the results are those of
  /// `step`, as often. Empty where there is no such pass.
  std::vector<Launch> together = {};
  std::int64_t together_steps = 0;
  /// Of a processor, where the launches of `together` are those of so many steps: they may overlap.
  /// A task of a launch begins when those so far from it, around the ends, have ended in the launch
  /// before. 0: one launch after the other.
  std::int64_t together_reach = 0;
  int ensemble_slot = -1;   ///< number of the instance in its ensemble, for noise; -1: not wanted
  int step_slot = -1;       ///< integer step done so far (exact in f64)
  int time_slot = -1;       ///< physical time of the synchronised state
  int stop_slot = -1;       ///< becomes 1 when `until` holds; later steps then change nothing
  std::int64_t steps = -1;  ///< number of steps where known beforehand, else -1
  /// Conservation laws, filled by `watch`: 0, or 1 and the number of the first plane (of sites
  /// along x, of rows, of planes: along the last axis) that holds a site whose primitive variables
  /// cannot be recovered. -1: nothing is recovered.
  int unsound_slot = -1;
  std::vector<Solve> solves;  ///< linear systems: Launch::solve
  Expansion expansion;
  StepGrowth step_growth;

  /// Launches of step number `step`.
  const std::vector<Launch>& launches(std::int64_t step) const {
    if (cycle.empty()) return this->step;
    return cycle[static_cast<std::size_t>(step) % cycle.size()];
  }
  /// The list and, after each launch that begins a solve, one iteration of it and its end.
  std::vector<Launch> with_iterations(const std::vector<Launch>& list) const;
  /// The buffer whose memory holds this one's numbers.
  int home(int buffer) const {
    const int home = buffers[static_cast<std::size_t>(buffer)].home;
    return home < 0 ? buffer : home;
  }
  /// What a profile along an axis stands against: "x", or "index(x)", the number of the site from
  /// 0, where the model gives its lattice no spacing.
  std::string along(int axis) const;
  /// Names of the columns of an output; empty where it has none, as a map of counts.
  std::vector<std::string> columns_of(const FieldOutput& field) const;
  /// The unit of an output; "1" of a name that has none.
  std::string unit_of(const std::string& output) const;
  /// Sites of one instance.
  std::int64_t sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }

  /// Instances of the whole sweep: where they are more than one launch covers, they run in parts.
  std::int64_t all_instances() const;
  /// Place of an instance along an axis.
  std::int64_t place(std::int64_t instance, std::size_t axis) const;
  /// Number of an instance in its ensemble: instances with one number have the same random numbers.
  /// 0 for the first without an ensemble axis; along an axis of whole numbers its value counts, so
  /// that one draw alone meets the numbers that it has among many.
  std::int64_t ensemble_number(std::int64_t instance) const;
  /// "sigma0 = 0.00019, draw = 3"; empty where there are no axes.
  std::string where(std::int64_t instance) const;
};

}  // namespace vphi::program
