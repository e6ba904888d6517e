// A Program: everything the runtime needs, independent of the model text.
//
// It consists of buffers, scalars, kernels as source text with their launch shape, a schedule of
// launches, outputs and checks. It is plain data and can be written to a file and read back
// (program/json.hpp), so a model can be compiled on one machine and run on another. A number called
// "slot" is an index into `scalars`, an array of f64 on the device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "program/outputs.hpp"
#include "program/point_density.hpp"
#include "program/precision.hpp"
#include "program/target.hpp"

namespace vphi::program {

/// One real number per instance and lattice site: [instance][t][z][y][x], x fastest. With a `file`
/// it is a matrix of `elements` numbers that all instances share, read before the first launch and
/// never written. Its memory order is [column][row], so that neighbouring rows are adjacent.
struct Buffer {
  std::string name;
  Precision precision = Precision::F64;
  bool doubled = false;  ///< two copies; Launch::swap exchanges them
  bool state = false;    ///< part of the state (checkpoints, NaN check)
  /// Only for initial values or outputs; may be allocated late and freed early.
  bool scratch = false;
  std::string file = {};      ///< "path" or "path.h5:set" of a matrix; empty: values of sites
  bool transposed = false;    ///< a matrix in the order [row][column]
  std::int64_t elements = 0;  ///< number of entries of a matrix
  /// The buffer whose memory holds the numbers of this one, as [instance][place][lane]: places are
  /// given by Program::order, and `lanes` buffers share the memory. -1: memory of its own, ordered
  /// as said above.
  int home = -1;
  int lane = 0, lanes = 1;
  /// Whether its values change during a run; then it belongs to checkpoints.
  bool changes() const { return !scratch && file.empty(); }
};

struct Scalar {
  std::string name;
  double initial = 0;
};

/// Order of the sites in the memory of buffers with a home. The colour of a site is weights.x mod
/// `modulus`, and the sites of one colour are contiguous. Within a colour x is fastest, and the
/// extent along `axis` is divided by `modulus`.
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
  bool ensemble = false;  ///< no formula uses its values: independent draws to average over
  bool fresh = false;     ///< as in an ensemble, every instance has random numbers of its own
  int slot = -1;          ///< scalar that holds the instance's value; -1: no kernel reads it
};

/// An average over axes of the sweep, of a scalar that every instance has. The runtime writes the
/// result into the slots of the instances (those that differ along other axes get other results)
/// before the launches that use it.
struct Statistic {
  enum class Kind { Mean, Variance, Minimum, Maximum };
  Kind kind = Kind::Mean;
  int slot = 0;           ///< what is averaged; NaN: the instance has no value (yet)
  std::vector<int> axes;  ///< places in Program::axes; empty: over time alone, done by the kernels
  int count_slot = -1;    ///< of an average over time: number of steps in it
  int result_slot = -1;
  int error_slot = -1;  ///< standard error of the result
  /// Over axes: a number of each instance, by which the members of the average are found; -1: all
  /// instances are. Those where it is not 0, or with `by_rank` those whose share of smaller numbers
  /// lies between `from` and `to`.
  int member_slot = -1;
  bool by_rank = false;
  double from = 0, to = 1;
};

/// Argument of a kernel, in the order of its parameter list.
struct Argument {
  enum class Kind {
    Current,   ///< buffer `index`, the copy that holds the present state
    Next,      ///< buffer `index`, the other copy
    Scalars,   ///< the f64 scalar array [instance][slot], read and written
    Partials,  ///< f64 work array of `Kernel::partials` numbers, private to the kernel
    Counter,   ///< one 32-bit word an instance, zero before the first launch, left zero after it
    /// The Partials of kernel `index` of all ranks, one rank after the other. They are gathered
    /// before each launch that has this argument. One rank: those of that kernel.
    Gathered,
    /// Buffer `index` on the whole lattice: the planes of all ranks in their order. They are
    /// gathered before each launch that has this argument. One rank: the present copy.
    Whole,
  };
  Kind kind = Kind::Current;
  int index = 0;
  /// Size of the memory that the kernel may access, for all instances; 0: unknown.
  std::int64_t bytes = 0;
  Precision precision = Precision::F64;
  bool written = false;
};

struct Kernel {
  std::string name;   ///< for messages
  std::string entry;  ///< function in `source`
  /// Native only: function called once after all tasks, for all instances; may be empty.
  std::string finish;
  std::string source;
  std::vector<Argument> arguments;
  std::int64_t partials = 0;  ///< numbers in the work array, for all instances together
  /// Of a rank's sums: so many numbers at the start of the work array are what other ranks get; 0:
  /// all are.
  std::int64_t totals = 0;
  std::int64_t for_ranks() const { return totals > 0 ? totals : partials; }
  /// CUDA blocks; OpenCL work groups; native: tasks in [0]. One launch covers every instance.
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic shared (local) memory
  /// CUDA: blocks wait for each other, so all of them have to run at the same time.
  bool together = false;
  // Cost per site, counted by the compiler. For a sum over pairs `flops`, `instructions` and
  // `special` are those of one pair. No launch depends on these numbers: they are printed, and give
  // the lower bound of a launch's time (runtime/device/limits.hpp).
  int loads = 0, stores = 0, bytes = 0, flops = 0, special = 0;
  /// Flops, with a multiplication and the addition of its product counted as one.
  int instructions = 0;
  /// The longest chain of instructions of a site that wait for each other, and the special
  /// functions in it. Of a launch of many steps: of one step.
  int chain = 0, chain_special = 0;
  Precision arithmetic = Precision::F64;
  std::int64_t sites = 0;  ///< sites that a launch computes, for all instances together
  /// Pairs that a launch computes; 0: the kernel has no sum over pairs.
  std::int64_t pairs = 0;
  std::vector<std::string> notes;  ///< which term comes from which line of the model
};

/// Planes of a buffer that the neighbours along the cut axis read: the present copy of the ghosts
/// is filled from the neighbours' own planes.
struct Halo {
  int buffer = 0;
  /// Planes below and above the own ones, at most Cut::ghost; or Cut::deepest, whatever of it a
  /// rank does not have itself.
  std::array<int, 2> depth{};
  /// The same along a second axis that is cut (Cut::Second), at most its ghosts.
  std::array<int, 2> beside{};
  /// Bit k: sites of class k of Program::order, where the buffer has a home. 0: all sites.
  std::uint64_t classes = 0;
};

struct Launch {
  int kernel = 0;
  std::vector<int> swap;         ///< buffers whose copies are exchanged afterwards
  std::vector<Halo> halos = {};  ///< filled after that; empty where the lattice is not cut
  /// Index into Program::solves: after this launch the solve is iterated until it has converged.
  int solve = -1;
  /// Indices into Program::maps, made in this order after the launch and its exchange of copies.
  std::vector<int> maps = {};
};

/// A linear map of arrays that commutes with translations of a periodic box. It is made in Fourier
/// space: to_r = sum_c f(scale*M)_rc from_c for each mode, with the matrix
/// M_rc = sum of weight*(-k^2)^laplacians*exp(i theta.offset), theta_a = 2 pi n_a/N_a in (-pi, pi]
/// and k_a = theta_a/dx. Present copies are read and written. An array may be on both sides.
struct FourierMap {
  /// f(z): z, exp(z), (exp(z) - 1)/z, (exp(z) - 1 - z)/z^2.
  enum class Function { Itself, Exp, Phi1, Phi2 };
  struct Term {
    int row = 0, column = 0;  ///< places in `to` and `from`
    double weight = 1;
    std::array<int, 4> offset{};
    int laplacians = 0;  ///< >= 0
  };
  std::string name;  ///< for messages: "exp(dt*A, x)"
  Function function = Function::Exp;
  double scale = 1;
  std::vector<int> from, to;  ///< buffers; as many of one as of the other unless f is z
  std::vector<Term> matrix;
};

/// The iterations of a linear solve. The launches up to the one with this number in `Launch::solve`
/// compute the start. Then `iterate` is launched until `done_slot` is nonzero in every instance,
/// and `finish` once. An iteration changes nothing in an instance that is done, so that several may
/// be queued before the host reads `done_slot`.
struct Solve {
  std::string name;    ///< of the field that is solved for
  std::string solver;  ///< name of the solver's text
  std::string line;    ///< text of its line in the model
  int line_number = 0;
  std::vector<Launch> iterate;
  std::vector<Launch> finish;  ///< fills `residual_slot`
  std::int64_t max = 10000;    ///< iterations at most
  int done_slot = -1;          ///< 0: not converged; 1: `until` holds; 2: a number is NaN
  int iterations_slot = -1;    ///< iterations done
  int residual_slot = -1;      ///< norm(b - A(x))/norm(b), computed from x
  /// An eigenvalue that the iterations find, with b = value*x above; -1: they solve A(x) = b. The
  /// run ends where it is not from `low` to `high`.
  int value_slot = -1;
  double low = 0, high = 0;
};

struct ScalarOutput {
  std::string name;
  int slot = 0;
  bool drift = false;          ///< for `progress`: show the relative change since the start
  int error_slot = -1;         ///< slot of the standard error; -1: none
  std::vector<int> axes = {};  ///< places in Program::axes along which the value differs
  /// The value of `first(e, condition)`: NaN until the condition has held.
  bool passage = false;
};

/// A translation-invariant linear operator, as Fourier space needs it:
/// symbol(theta) = sum_i weight_i exp(i theta.offset_i), theta_a = 2 pi n_a/N_a.
struct Symbol {
  std::vector<std::array<int, 4>> offsets;
  std::vector<double> weights;
};

/// A transform of arrays that the host does in place between two lists of launches.
struct Transform {
  enum class Kind { TransverseTraceless };
  Kind kind = Kind::TransverseTraceless;
  std::vector<int> buffers;        ///< scratch: components 00, 01, 02, 11, 12, 22
  std::vector<Symbol> derivative;  ///< along each axis; the result obeys D_i h_ij = 0
};

/// Bins of one axis of a histogram; `log`: equal in the logarithm.
struct HistogramAxis {
  int bins = 100;
  double low = 0, high = 0;
  bool find_low = true, find_high = true;  ///< take the limit from the data
  bool log = false;
};

/// How a power spectrum is binned (runtime/observe/spectrum.hpp).
struct SpectrumForm {
  int type = 2;           ///< 1: sums with the exact number of modes; 2: continuum volume
  int version = 1;        ///< k of a bin: 1 k_IR*l, 2 mean of its modes, 3 inside the average
  bool two_bins = false;  ///< modes shared by two bins (DEFROST)
  bool cross = false;     ///< cross spectrum of `buffer` and the first of `more`
  bool single = false;    ///< a bin for each value of |k| that modes have
  std::vector<Symbol> laplacian;  ///< k of a mode is sqrt(-symbol)/dx; empty: k itself
};

/// A further array of an output: scale*value + offset, with a weight in sums over components.
struct FieldPart {
  int buffer = 0;
  double scale = 1, offset = 0;
  double weight = 1;
  int slot = -1;  ///< Histogram: slot of a scalar of each instance, used instead of a buffer
};

/// Some sites of an axis: `first`, `first + every`, ... up to `last`, the axis' last site where it
/// is -1.
struct SitesOfAxis {
  std::int64_t first = 0, last = -1, every = 1;
};

struct FieldOutput {
  using Kind = OutputKind;
  Kind kind = Kind::Snapshot;
  std::string name;
  /// Buffer that holds the field: scratch memory that the output's launches fill, or a state array.
  /// What is written is scale*value + offset.
  int buffer = 0;
  double scale = 1, offset = 0;
  double weight = 1;            ///< in a sum over components
  std::vector<FieldPart> more;  ///< further arrays; their meaning is given by OutputArrays
  int axis = 2;                 ///< its meaning is given by OutputAxis
  std::int64_t plane = 0;       ///< Slice: site index along axis
  std::array<SitesOfAxis, 4> sites = {};  ///< Snapshot: what is written
  /// Largest number of bins along an axis or by distance; 0: no limit.
  int bins = 0;
  std::vector<HistogramAxis> histogram;  ///< one or two axes
  SpectrumForm spectrum;
  /// Spectrum: multiplies P and Delta; Occupation: scale factor; Surface: the level.
  int factor_slot = -1;
  int mass2_slot = -1;  ///< Occupation: effective mass squared
  /// Histogram: axes of the sweep whose instances are counted together.
  std::vector<int> over = {};
  int slot = -1;    ///< as FieldPart::slot
  int colours = 0;  ///< Links: N of N x N matrices
  /// OutputArrays::Whole: the shape of a value, {3} for a vector, {3, 3} for a matrix.
  std::vector<int> value = {};
  bool complex = false;
  /// Surface: names of the columns of `more`; axes whose ends are not joined; whether it lies in
  /// space and time, between this output and the one before.
  std::vector<std::string> carried = {};
  std::vector<int> open_axes = {};
  bool in_time = false;
};

struct Output {
  int every = 0;                      ///< steps; 0: by time, or only at the end
  int after_slot = -1;                ///< written only while this slot is not 0
  std::vector<Launch> before;         ///< launches that fill the arrays of `transforms`
  std::vector<Transform> transforms;  ///< between `before` and `launches`
  std::vector<Launch> launches;
  std::vector<ScalarOutput> scalars;
  std::vector<FieldOutput> fields;
  std::string file;
  /// Averages of this output alone, launched before all others.
  std::vector<Launch> averages = {};
  std::vector<Statistic> statistics = {};  ///< taken after `launches`
  /// Launched after the statistics, for scalars computed from them.
  std::vector<Launch> then = {};
  int plot_axis = -1;  ///< `plot ... against`: place in Program::axes
  /// Physical time between two outputs: written at the first step at or after `from` + n*interval,
  /// n = 0, 1, ... 0: not by time.
  double interval = 0;
  double from = 0;
  /// Where it is not empty, the output is written at the start and at these steps only, in order.
  /// Not stored in files of programs.
  std::vector<std::int64_t> steps = {};
  /// Whether it is written during the run, not only at its end.
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

/// Array that is filled before the initial launches, with random numbers or from a file. Meaning of
/// the members: compiler/model/system.hpp
struct RandomField {
  enum class Kind { Vacuum, Normal, Uniform, Spectrum, File, Link, Points };
  Kind kind = Kind::Normal;
  int buffer = 0;
  int stream = 0;
  bool velocity = false;
  double mass2 = 0, amplitude = 1, low = 0, high = 1, cutoff = 0;
  bool kernel_form = true;
  std::vector<double> masses = {};  ///< mass2 of each instance of the run; empty: all have `mass2`
  /// Spectrum: <|F_k|^2> for each of the box's WaveNumbers (program/wave_numbers.hpp); of all
  /// instances together, or of one after the other.
  std::vector<double> powers = {};
  std::string file = {};  ///< File: "path:set" or "path:column", as runtime/io reads it;
                          ///< Link: path of a gauge configuration
  int colours = 0;        ///< Link: N of N x N matrices
  int entry = 0;  ///< Link: which real number of a site, ((mu*N + row)*N + column)*2 + (0 re, 1
                  ///< im); File, Points: which of `components`
  int components = 1;     ///< File: real numbers of a site; re and im of a complex number are two;
                          ///< Points: of a place
  int density = -1;       ///< Points: place in Program::densities
  bool as_it_is = false;  ///< File: the file holds bodies or links, which are not resampled
  std::vector<int> leading = {};  ///< File: extents of the file's axes before those of the box
  /// File: index along these axes for each instance, the last axis fastest.
  std::vector<double> members = {};
};

/// Checks of a scale factor that follows the lattice averages.
struct Expansion {
  int scale_slot = -1;     ///< a, which must stay > 0; -1: no scale factor is evolved
  int residual_slot = -1;  ///< <rho>/(3 M^2 H^2) - 1, filled by `watch`
  double explained = 0;    ///< largest residual that the integrator's error explains
};

/// A dt beyond the integrator's limit of stability, as the compiler finds it from the linearised
/// equations (W0316). In one step the exact equations multiply their fastest growing mode by
/// `equations`; the integrator multiplies its fastest growing mode by equations*excess.
struct StepGrowth {
  double excess = 0;     ///< 0: dt is not known to be too large
  double equations = 1;  ///< >= 1
  double fits = 0;       ///< a stable dt, in physical units
};

/// Replica exchange in a Markov chain: after every `every` sweeps, instances with neighbouring
/// values along an axis of the sweep exchange their configurations with the probability that keeps
/// the distribution of each (runtime/run/exchange.hpp).
struct Exchange {
  int axis = -1;  ///< place in Program::axes; -1: no exchange
  std::int64_t every = 1;
  std::vector<int> buffers;      ///< the configuration
  std::vector<Launch> launches;  ///< fill above_slot and below_slot
  /// Change of S, were the instance's configuration at the next value of the axis, or at the one
  /// before; 0 where there is none.
  int above_slot = -1, below_slot = -1;
  /// Those values; the instance's own where there is none. The runtime sets them at the start.
  int above_value_slot = -1, below_value_slot = -1;
  /// Exchanges with the next value since the start of the run: tried, and made.
  int tried_slot = -1, made_slot = -1;
  int replica_slot = -1;  ///< place along the axis at which the configuration was at the start
};

/// Origin of a state variable, for messages (NaN) and files.
struct StateVariable {
  int buffer = 0;
  std::string shown;  ///< "phi'"
  std::string line;   ///< text of the model's line with its equation
  int line_number = 0;
};

/// How a lattice is shared by ranks: cut across one axis, the slowest with more than one site, and
/// perhaps across the next one too. Each rank has some planes of its own and, below and above them,
/// ghosts: copies of its neighbours' planes. Program::extent is what lies in a rank's memory, own
/// planes and ghosts, in every buffer. Kernels compute own planes; whatever they write into ghosts
/// is of no use. The axis is periodic in memory, which nothing that is used depends on.
struct Cut {
  /// What lies beyond an end of the whole lattice: the ghosts of the ranks at the ends.
  enum class End {
    Periodic,      ///< the planes of the other end
    Antiperiodic,  ///< the same with the other sign
    Mirror,        ///< plane k beyond the end is plane k - 1 before it, k = 1, 2, ...
    Open,          ///< all planes beyond the end are the last one before it
    Fixed,         ///< `fixed_value`
  };
  int axis = -1;           ///< -1: not cut
  std::int64_t whole = 0;  ///< planes of the whole lattice
  std::int64_t slab = 1;   ///< cuts lie at multiples of this
  std::int64_t own = 0;    ///< planes of this rank; ranks of one run may differ by `slab`
  std::array<int, 2> ghost{};
  /// The ghosts are the planes of all other ranks, above the own ones in cyclic order: sums over
  /// pairs read them.
  bool all = false;
  std::array<End, 2> ends{};  ///< of buffers whose values are not said to differ
  double fixed_value = 0;
  /// Slot of every instance with the number of the first own plane in the whole lattice. The
  /// runtime sets it, and it belongs to no checkpoint.
  int origin_slot = -1;

  /// A second axis that is cut, the next faster one than `axis`: each plane of a rank has lines of
  /// its own, where it would have all, and ghosts before and behind them. Rank r has place
  /// r % ranks along it, and r / ranks along `axis`.
  struct Second {
    int ranks = 1;           ///< along it; 1: not cut
    std::int64_t whole = 0;  ///< lines of the whole lattice
    std::int64_t slab = 1;   ///< cuts lie at multiples of this
    std::int64_t own = 0;
    std::array<int, 2> ghost{};
    std::array<End, 2> ends{};
    int origin_slot = -1;  ///< as that of `axis`: the first own line
  } second;

  /// First own plane, in the whole lattice, and number of own planes of a rank: consecutive slabs,
  /// in numbers that differ by one at most. `ranks`: all of them, along both axes.
  struct Planes {
    std::int64_t first = 0, count = 0;
  };
  Planes planes(int ranks, int rank) const;
  /// The same of the lines along the second axis; all, where it is not cut.
  Planes lines(int rank) const;
  /// Depth of a halo that fills all ghosts. It is the same on all ranks.
  std::array<int, 2> deepest() const;
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
  /// Independent copies of the lattice that one launch advances together: an ensemble or a sweep.
  /// Buffers are [instance][site], scalars [instance][slot], counters one word an instance. Every
  /// instance has its own background, and its own parameters where these are slots.
  std::int64_t instances = 1;
  double dx = 1, dx_physical = 1;  ///< program and physical lattice spacing
  /// The model gives neither length nor spacing: positions are numbers of sites.
  bool counted = false;
  double dt = 0, dt_physical = 0;
  std::uint64_t seed = 1;
  std::vector<std::pair<std::string, double>> parameters;
  /// The base unit, "GeV": units of numbers are powers of it. Empty where the model has no units.
  std::string base_unit;
  std::string length_unit = "1", time_unit = "1";
  /// Units of outputs by name: "GeV^4", "1", or "program" where only the base unit is known. A
  /// table has one for each column.
  std::vector<std::pair<std::string, std::string>> units;
  std::vector<Axis> axes;     ///< axes of the sweep; empty: one instance
  std::int64_t ensemble = 0;  ///< number of the instance in its ensemble where no axis gives it

  std::vector<Buffer> buffers;
  SiteOrder order;  ///< order of the sites of buffers with a home
  Cut cut = {};
  std::vector<Scalar> scalars;
  std::vector<Kernel> kernels;
  std::vector<StateVariable> state;
  std::vector<RandomField> random;
  /// What points are drawn from. The RandomFields of one density and stream are the components of
  /// one set of points.
  std::vector<PointDensity> densities;
  /// Of a sweep with `keep`: after the launches of `prologue` 1 where the start of the instance is
  /// kept, 0 where it is drawn again with the instance's next key; -1: every start is kept.
  int start_kept_slot = -1;
  int draws_slot = -1;  ///< with it: the number of draws, the one that was kept with them

  std::vector<Launch> prologue;  ///< after the random fields: initial values, first scalars
  std::vector<Launch> step;      ///< one time step
  /// What a step starts from beside the state, computed from the state, for one that this program
  /// takes over from another: averages, and scalars that follow from scalars. Not stored in files
  /// of programs; empty where they were not asked for (CompileOptions::renewal).
  std::vector<Launch> renewed_averages = {}, renewed_scalars = {};
  /// Launches of `prologue` that compute from the state what steps keep in memory beside it. They
  /// may be made at any time, and are after the state was written from outside. Not stored in files
  /// of programs.
  std::vector<Launch> kept_values = {};
  /// Launches of steps that differ in turn: step n has those of cycle[n mod its length], and
  /// cycle[0] equals `step`. Empty where every step has the launches of `step`.
  std::vector<std::vector<Launch>> cycle = {};
  std::vector<Launch> multi_step;           ///< many steps in one launch; may be empty
  std::vector<Launch> watch;                ///< fills the slots of `expectations` and `progress`
  std::vector<Statistic> watch_statistics;  ///< computed after `watch`
  std::vector<Launch> watch_then;           ///< launched after `watch_statistics`
  std::vector<Launch> watch_before;         ///< as Output::before
  std::vector<Transform> watch_transforms;  ///< as Output::transforms
  std::vector<Output> outputs;
  std::vector<Expectation> expectations;
  std::vector<ScalarOutput> progress;  ///< shown on the progress line ("drift")

  /// `multi_step` may begin at any step whose number is a multiple of this; 0: it is not used. The
  /// slot multi_step_slot of the batch's first instance gives the number of steps, also a multiple
  /// of this. The results are those of as many launches of `step`.
  std::int64_t multi_step_unit = 0;
  int multi_step_slot = -1;
  /// Launches that make `together_steps` steps in one pass over memory, beginning at any step. The
  /// results are those of as many launches of `step`. Empty where there is no such pass.
  std::vector<Launch> together = {};
  std::int64_t together_steps = 0;
  /// On processors `together` is a list of launches, one for each step, and they may overlap: a
  /// task may begin when the tasks within this distance of it (periodic in the task number) have
  /// ended in the launch before. 0: one launch after the other.
  std::int64_t together_reach = 0;
  /// Number of the instance in its ensemble, for noise; -1: not used. With an exchange, instances
  /// along its axis have numbers of their own as well.
  int ensemble_slot = -1;
  int step_slot = -1;       ///< number of steps done so far (exact in f64)
  int time_slot = -1;       ///< physical time of the synchronised state
  int stop_slot = -1;       ///< becomes 1 when `until` holds; later steps then change nothing
  std::int64_t steps = -1;  ///< number of steps of the run; -1: not known beforehand
  /// Conservation laws, filled by `watch`: 0 where the primitive variables of all sites can be
  /// recovered. Otherwise 1 + n, where n is the index along the last axis of the first plane (row,
  /// site) with a site where they cannot; -1 - n where all can, but in that plane not to the
  /// tolerance of the iterations. Slot -1: the model recovers no variables.
  int unsound_slot = -1;
  std::vector<Solve> solves;          ///< linear systems: Launch::solve
  std::vector<FourierMap> maps = {};  ///< Launch::maps
  Expansion expansion;
  StepGrowth step_growth;
  Exchange exchange = {};

  /// Launches of step number `step`.
  const std::vector<Launch>& launches(std::int64_t step) const {
    if (cycle.empty()) return this->step;
    return cycle[static_cast<std::size_t>(step) % cycle.size()];
  }
  /// The list with one iteration and the `finish` of the solve inserted after each launch that
  /// begins one.
  std::vector<Launch> with_iterations(const std::vector<Launch>& list) const;
  /// Calls `see` with every list of launches; all of them but `multi_step` and `together`.
  void each_list(const std::function<void(std::vector<Launch>&)>& see);
  /// The buffer whose memory holds the numbers of `buffer`: itself, or its home.
  int home(int buffer) const {
    const int home = buffers[static_cast<std::size_t>(buffer)].home;
    return home < 0 ? buffer : home;
  }
  /// Name of the coordinate of a profile along an axis: "x", or "index(x)" where the model gives
  /// its lattice no spacing; this is the number of the site, from 0.
  std::string along(int axis) const;
  /// Names of the columns of an output; empty where it has none (a map of counts).
  std::vector<std::string> columns_of(const FieldOutput& field) const;
  /// The unit of an output; "1" for a name without one.
  std::string unit_of(const std::string& output) const;
  /// Sites of one instance.
  std::int64_t sites() const { return extent[0] * extent[1] * extent[2] * extent[3]; }
  /// Extents of the lattice that all ranks share.
  std::array<std::int64_t, 4> whole_extent() const;

  /// Instances of the whole sweep. Where one launch cannot cover them all, the sweep runs in parts.
  std::int64_t all_instances() const;
  /// Index of an instance along an axis.
  std::int64_t place(std::int64_t instance, std::size_t axis) const;
  /// Number of an instance in its ensemble: instances with the same number have the same random
  /// numbers. It is 0 for the first instance, and for all without an ensemble axis. Along an axis
  /// of whole numbers the value counts, so that a draw has the same random numbers alone and among
  /// others.
  std::int64_t ensemble_number(std::int64_t instance) const;
  /// The instance in messages: "sigma0 = 0.00019, draw = 3"; empty where there are no axes.
  std::string where(std::int64_t instance) const;
};

}  // namespace vphi::program
