// The physics of one model, derived: first-order equations in program units.
//
// `derive` (compiler/physics/derive.hpp) turns a resolved model into a System. Everything below is
// real and scalar: a complex field is two variables, a vector its components. State consists of
// lattice arrays (Variable) and of scalars that evolve with them (ScalarVariable: scale factor and
// its derivative, physical time). The schedule (compiler/schedule) orders the updates from what
// each expression reads; it knows nothing of potentials or metrics.
//
// Program units: psi = A*phi, x_program = B*x, d(eta) = B*a^s dt, momentum
// pi = a^(3+s) d(psi)/d(eta) (docs/formulas.md 1.4 with alpha = -s). Without a metric a = 1.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/algebra/expr.hpp"
#include "compiler/model/dynamics.hpp"
#include "compiler/model/numerics.hpp"
#include "dsl/syntax/text.hpp"
#include "program/program.hpp"

namespace vphi::physics {

using algebra::Expr;

struct Lattice {
  int dims = 3;
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  std::array<Boundary, 4> boundary{};
  double fixed_value = 0;
  double dx = 1;           ///< spacing in program units
  double dx_physical = 1;  ///< in the model's base units
  /// The model gives neither length nor spacing: positions are numbers of sites.
  bool counted = false;
  std::int64_t sites() const;
};

enum class Role { Coordinate, Momentum, FirstOrder };

/// One real array of state.
struct Variable {
  std::string name;   ///< unique, plain ASCII: "phi", "phi_re", "pi_phi"
  std::string shown;  ///< in the model's notation: "phi", "re(phi)", "phi'"
  int array = 0;      ///< its number in Loads (Node::index)
  Role role = Role::FirstOrder;
  int partner = -1;  ///< array of the conjugate momentum or coordinate
  Expr rate;         ///< d/d(eta): loads, stencils, symbols, sums over pairs, totals
  dsl::Span span;
  double period = 0;    ///< > 0: an angle, kept in [0, period)
  int field = -1;       ///< index of the declared variable whose component this is
  int component = 0;    ///< number of the component
  bool frozen = false;  ///< constant: a random number of each body that is drawn once
  /// The scalar from which the array holds the deviation: the value is their sum
  /// (compiler/physics/fields/deviation.hpp). Empty: the array holds the value.
  std::string reference = {};
};

/// An N x N matrix from a file, for sums over pairs. The entry of row i (the body) and column j
/// (the other body) is a Load of the array at the offset that algebra::pair_entry gives it.
struct PairMatrix {
  int array = 0;
  std::string file;         ///< path, and ":set" where it is HDF5
  bool transposed = false;  ///< the sum reads the entry of row j and column i
  dsl::Span span;
};

/// A scalar that evolves: a, a' or physical time.
struct ScalarVariable {
  std::string symbol;
  Expr rate;     ///< may contain Mean or Total of per-site expressions
  Expr initial;  ///< may contain reductions over the initial state
  std::string shown;
  /// A Variable::reference has the role of its arrays, and is updated with them.
  Role role = Role::FirstOrder;
};

/// One axis of a sweep. Instances are the outer product of the axes in text order, the last axis
/// fastest. An axis of one value is folded and not listed.
struct Axis {
  std::string name;            ///< as written
  std::string symbol;          ///< scalar that holds the value of the instance
  std::vector<double> values;  ///< physical units
  /// No expression uses its name: independent draws, each with its own random numbers.
  bool ensemble = false;
  bool fresh = false;  ///< `random ..., fresh = [name]`: own random numbers as well
  bool free = false;   ///< a parameter with one value, which kernels read (CompileOptions::free)
  dsl::Span span;
};

/// An average of a scalar over axes of the sweep or over time (docs/rules.md rule 13); over both it
/// is the average over axes of an average over time. Expressions contain `symbol` for its value and
/// `error` for the standard error of a mean.
struct Statistic {
  enum class Kind { Mean, Variance, Minimum, Maximum };
  Kind kind = Kind::Mean;
  std::string symbol, error;
  Expr value;             ///< a scalar of one instance; may contain averages over time
  std::vector<int> axes;  ///< places in System::axes; empty: over every step since the last output
  bool spans_time = false;  ///< it, or a statistic in `value`, is over time
  dsl::Span span;
};

/// `first(e, condition)`: the value of e where the condition first holds. For a comparison,
/// `margin` crosses 0 from below when the comparison begins to hold, and e is interpolated between
/// the two steps. Without a condition the value is the rate of change of e, from the last three
/// steps.
struct FirstPassage {
  std::string symbol;
  Expr value, condition;
  Expr margin;  ///< null: no interpolation
  dsl::Span span;
};

/// An array that is filled before the first step, with the same values on every device. It holds
/// random numbers, a field of a file resampled onto the lattice (runtime/io/field_file.hpp), or one
/// real number of each site's links in a gauge configuration
/// (runtime/io/configurations/configuration.hpp).
struct RandomField {
  enum class Kind { Vacuum, Normal, Uniform, Spectrum, File, Link, Points };
  Kind kind = Kind::Normal;
  int array = 0;          ///< its number in Loads of the initial expressions
  int stream = 0;         ///< a stream for each place in the model's text that draws
  bool velocity = false;  ///< Vacuum: fluctuation of the time derivative
  double mass2 = 0;       ///< Vacuum: effective mass squared, program units (clamped at use)
  std::vector<double> masses = {};  ///< mass2 of each instance where they differ
  std::vector<double> powers = {};  ///< Spectrum: as program::RandomField::powers, physical units
  double amplitude = 1;      ///< multiplies the result: converts to program units of the variable
  double low = 0, high = 1;  ///< Uniform, Points: bounds of a component
  bool kernel_form = true;   ///< DEFROST real-space kernel; false: k-space form
  double cutoff = 0;         ///< wave number, program units; 0: the default of the form
  std::string file = {};     ///< File: "/path/name.h5:set" or "/path/name:column"; Link: a path
  int colours = 0;           ///< Link: N of N x N matrices
  int entry = 0;             ///< Link, File: as program::RandomField::entry
  int components = 1;        ///< File: as program::RandomField::components, and so on
  int density = -1;          ///< Points: place in System::densities
  bool as_it_is = false;
  std::vector<int> leading = {};
  std::vector<double> members = {};
};

struct InitialValue {
  int array = 0;  ///< state array that is set
  Expr value;     ///< Sites, Loads of random fields, earlier state arrays, symbols
};

/// Gauss's law of one generator of a gauge group, which the start obeys by a solve
/// (compiler/physics/starts/gauss_start.hpp). Program units, expressions of stored state.
struct GaussStart {
  Expr law;                      ///< divergence of E and charge at a site, to become 0
  std::vector<int> electric;     ///< arrays of E along each axis
  std::vector<Expr> unit;        ///< what 1 in units of `law` adds to each of them, a number
  std::map<int, Expr> rotation;  ///< momentum -> its change by a rotation that all sites share
};

/// Gauss's laws of all generators together, about any links: the solution of a linear system says
/// how momenta of links and fields change (compiler/physics/starts/gauss_projection.hpp). Program
/// units, expressions of stored state.
struct GaussProjection {
  /// The scalar with the total of `size`, which the solver reads.
  static constexpr const char* kSize = "gauss_size";
  std::size_t solve = 0;       ///< place in System::solves
  Expr size;                   ///< squares of the terms that cancel in the laws, at a site
  std::map<int, Expr> change;  ///< momentum -> what is added to it
};

/// One thing written out. Scalars are values of the synchronised state in physical units.
struct Observable {
  using Kind = program::OutputKind;
  struct Part {
    Expr value;
    double weight = 1;
  };
  std::optional<Kind> kind;  ///< kind of an output of fields; none: a scalar
  std::string name;          ///< dataset name: as written, or the name given with `q = expr`
  std::string unit = "1";    ///< as program::Program::units has it
  Expr value;                ///< a scalar, which may contain reductions, or a value per site
  Expr error;                ///< standard error of an average; null where there is none
  bool drift = false;        ///< in `progress`: its relative change is shown
  double coordinate = 0;     ///< of a plane: position, physical units, from the centre
  std::vector<Part> more;    ///< further arrays, as program::FieldOutput::more
  Expr factor, mass2;        ///< scalars, or null: program::FieldOutput::factor_slot, mass2_slot
  /// Axis, bins and options; names, buffers and slots are set by the schedule.
  program::FieldOutput form;
  dsl::Span span;
};

/// A projection that needs the whole lattice: it takes place between the kernel that computes
/// `values` and the kernels that read `arrays` (compiler/physics/fields/transverse.hpp).
struct Projection {
  std::vector<Expr> values;  ///< components 00, 01, 02, 11, 12, 22 in physical units
  /// Array numbers of the projected components, for Loads.
  std::vector<int> arrays;
  std::vector<program::Symbol> derivative;  ///< along each axis
};

/// A linear operator applied to a field. The stages are computed first, one after the other. Later
/// stages and the image read their values at neighbouring sites, by Loads of `arrays`.
struct LinearMap {
  struct Stage {
    std::vector<int> arrays;
    std::vector<Expr> values;
    /// Needed only at sites with this value of x + y + z + t mod 2; -1: at all sites.
    int parity = -1;
  };
  std::vector<Stage> stages;
  std::vector<Expr> image;
  int parity = -1;  ///< parity of the sites where the image can be nonzero; -1: all sites
};

/// The same system on half of the sites, where an operator is R + H, R at the site itself and H
/// only between sites of opposite parity: (R - H R^-1 H) y = b - H R^-1 b at odd sites, and
/// x = R^-1 (b - H y) at even ones (compiler/physics/spinors/even_odd.hpp).
struct EvenOddSystem {
  std::vector<int> arrays;  ///< y: numbers in Loads of `op`, `adjoint` and `back`
  std::vector<int> right;   ///< b: numbers in Loads of `source` and `back`
  LinearMap op, adjoint, source;
  LinearMap back;  ///< x as a function of y and b
};

/// A linear system A(x) = b, to be solved for x (compiler/physics/spinors/solve.hpp). Each real
/// component has an array, given by its number in Loads. A component is (re, im), with `im` null
/// where the field is real.
struct LinearSystem {
  std::string name;  ///< name of the solution in the model, or the text of the call
  int rows = 1, columns = 1;
  bool complex = false;
  bool spinor = false;
  std::array<bool, 4> antiperiodic{};  ///< StateField::antiperiodic of a spinor
  std::vector<int> arrays;             ///< x: re, im of each component
  LinearMap op;                        ///< A(x), as a function of Loads of `arrays`
  /// A^+(x), likewise; empty where the boundaries do not allow it.
  LinearMap adjoint;
  std::vector<Expr> source;  ///< b
  std::optional<EvenOddSystem> even_odd;
  /// Index into System::solves of the first system with the same operator and solver, whose kernels
  /// this one shares. -1: this is the first.
  int like = -1;
  bool wide = false;  ///< solved in f64, whatever the precision of the fields
  /// Arrays of earlier solutions, the newest first: the start is the best of their combinations.
  /// Empty: the start is 0.
  std::vector<std::vector<int>> past = {};
  bool positive = false;  ///< A is hermitian and positive
  bool at_start = false;  ///< solved before the first step: the state is the one in memory
  /// Fields of the solver's text that are wanted beside x, by name: the arrays for them, which are
  /// those of the reduced system where there is one.
  std::map<std::string, std::vector<int>> beside = {};
  /// Names of the scalars with the number of iterations and the residual.
  std::string iterations, residual;
  std::shared_ptr<const text::Solver> solver;
  /// The text of the outer solver that uses `solver` in a lower precision (iterative refinement);
  /// null: none.
  std::shared_ptr<const text::Solver> refining;
  Options options;
  /// An eigenvalue of A, which the text finds as its number `value`, with x its eigenvector and b
  /// the start. The run ends where it is not from `low` to `high`.
  struct Eigenvalue {
    std::string scalar;  ///< name of the scalar that holds it
    double low = 0, high = 0;
  };
  std::optional<Eigenvalue> eigenvalue = {};
  dsl::Span span;
};

/// Replica exchange along an axis of the sweep (`sample ..., exchange = K`): what the runtime does
/// between sweeps (program::Exchange).
struct Exchange {
  std::size_t axis = 0;     ///< place in System::axes
  std::vector<int> arrays;  ///< the configuration
  /// Scalars of every instance that the runtime sets: the axis' values above and below.
  static constexpr const char* kAbove = "exchange_above";
  static constexpr const char* kBelow = "exchange_below";
  /// Exchanges with the value above: tried, and made. Where the configuration was at the start.
  static constexpr const char* kTried = "exchange_tried";
  static constexpr const char* kMade = "exchange_made";
  static constexpr const char* kReplica = "exchange_replica";
};

struct OutputClause {
  int every = 0;        ///< steps; 0: by time, or at the end only
  double interval = 0;  ///< > 0: physical time between outputs, counted from `from`
  double from = 0;      ///< the start time
  Expr after;           ///< written only while this condition on scalars holds; null: always
  std::vector<Observable> observables;
  std::string file;
  /// Averages over time count the steps where this condition holds; null: all steps.
  Expr averages_from;
  /// `plot y against a`: name of the axis; the output is then written at the end of the run.
  std::string plot_against;
  /// It is no output: its two scalars are the changes of S above and below.
  std::optional<Exchange> exchange = {};
  bool regular() const { return every > 0 || interval > 0; }
  dsl::Span span;
};

struct Expectation {
  enum class Kind { Condition, Drift, Conserved };
  Kind kind = Kind::Condition;
  std::string text;     ///< as written
  Expr value;           ///< Condition: left side; Drift, Conserved: the quantity (a scalar)
  Expr ok;              ///< Condition: 0 or 1
  Expr scale;           ///< Conserved: total(abs(u))
  double bound = 0;     ///< Drift: relative; Conserved: within
  bool at_end = false;  ///< checked once, at the end of the run (averages over time)
  dsl::Span span;
};

/// Class of the amplitudes g of the noise (docs/formulas.md 5.1). Commutative: sum_j g_jr
/// d(g_is)/d(x_j) is symmetric in r and s.
enum class NoiseClass { None, Additive, Diagonal, Commutative, General };
enum class Calculus { Ito, Stratonovich };

struct Noise {
  NoiseClass kind = NoiseClass::None;
  std::vector<dsl::Span> streams;    ///< place of each stream in the model
  std::optional<Calculus> calculus;  ///< as declared
  /// Number of values in the distribution of a step's noise: 2 or 3; 0: Gaussian.
  int points = 0;
};

/// A per-site value that is computed from others; expressions refer to it by Loads of `array`.
struct Derived {
  int array = 0;
  std::string name;
  Expr value;
  bool keep = false;  ///< stored, because it is costly and read at several places
  /// Limits: number of the clause; all components of a clause are applied at once. Recovered values
  /// that are iterated together: number of their group, 0 for others.
  int clause = 0;
  /// Recovered values that are iterated: the value if the iteration starts from what a state close
  /// by has, as reads of the arrays of recovered values. Limits: the value, with reads of recovered
  /// values not yet replaced by what quantities make of them. Null: none.
  Expr from_recovered{};
};

/// A flux scheme along one axis: its lines in order, and their result for each quantity.
struct AxisScheme {
  int axis = 0;
  std::vector<Derived> lines;
  std::map<int, Expr> result;  ///< quantity -> new value (a step), or its part of d/dt
  /// Quantity -> gain of the site through the face towards its next neighbour, per step or per unit
  /// of time. The gain through the other face is minus this value at the site before. Empty where
  /// the text is not of this form: what leaves the box is then not known.
  std::map<int, Expr> face;
};

/// Conservation laws (compiler/physics/fluids/conservation.hpp). A quantity is numbered by its
/// array of state. The numbers of recovered values and of lines have no memory.
struct Conservation {
  std::vector<int> quantities;
  /// Primitive variables, as functions of quantities and earlier ones.
  std::vector<Derived> recovered;
  /// Whether iterations for them may start from what an earlier stage of the step has.
  bool starts_from_stages = true;
  std::vector<AxisScheme> sweeps;  ///< one for each axis
  bool step = false;               ///< the text is a step of length `kStepLength`, not a rate
  bool half_step = false;          ///< the scheme uses recovered values at half of the step
  /// For a step: source terms, d/dt of a quantity apart from its fluxes.
  std::map<int, Expr> source;
  struct Share {
    int axis = 0;
    double weight = 1;
  };
  /// For a step: splittings of successive steps, used in turn.
  std::vector<std::vector<Share>> orders;
  /// For each axis: signal velocity at a site, as a function of quantities and recovered values.
  std::vector<Expr> speeds;
  double courant = 0;  ///< the scheme's limit of speed*dt/dx; 0: the scheme gives none
  /// What terms with derivatives damp (compiler/physics/fluids/diffusion.hpp).
  struct Diffusion {
    /// Rate of the wave that is damped fastest, 1/time, at a site, as a function of quantities and
    /// recovered values; null: there are no such terms.
    Expr rate;
    std::string laws;                ///< whose terms they are, as shown
    std::optional<double> at_start;  ///< dt times the largest rate at the start; none: not known
    /// The expectation that dt times the rate stays below the integrator's limit, which is put in
    /// when that is known.
    std::optional<std::size_t> promise;
  };
  Diffusion diffusion;
  /// A name that `solve` finds.
  struct Solved {
    std::string name;
    std::vector<int> arrays;  ///< its recovered values, by component
    Expr residual;    ///< largest |u - g(u)| of a component, of quantities and recovered values
    double left = 0;  ///< bound of the error after the iterations
    Expr holds;       ///< 1 where the residual is small enough for a state that can be recovered
  };
  std::vector<Solved> solved;  ///< in the order in which they are found
  /// The scalar of program::Program::unsound_slot.
  Expr unsound;
  /// 1 where the site can be recovered: the recovered values reproduce the quantities, none is NaN,
  /// and the equation of `solve` holds. A function of quantities and recovered values.
  Expr sound;
  std::string fixes;  ///< scalar that counts the values changed by limits; empty: not used
  /// Array -> reflecting axis at whose walls its mirror image has the opposite sign.
  std::map<int, int> odd;
  std::map<int, std::string> outflow;  ///< quantity -> scalar: amount that has left an open box
  static constexpr const char* kStepLength = "flux_dt";
};

/// `evolve ..., launch = step`, `group` or `groups`: how many steps a launch takes, and which
/// groups of threads share an instance. ByCounts: chosen by the compiler.
enum class Launches { ByCounts, Step, Group, Groups };

/// `evolve ..., together = k`: number of steps in one pass over memory.
struct Together {
  int steps = 0;  ///< 0: chosen by the compiler
  dsl::Span span;
};

/// The fastest linear waves u'' = -w^2 u about the initial state, program units. dt is compared
/// with their stability limit (compiler/schedule/integrator/stability.hpp).
struct FastestWaves {
  double waves2 = 0;  ///< largest k_eff^2 term of w^2 at the start
  /// Largest eigenvalue of V'' at the start; 0 where it is not known as a number.
  double mass2 = 0;
  /// The stencil whose largest eigenvalue gives `waves2`; -1: no single Laplacian does.
  int stencil = -1;
  double written_out2 = 0;  ///< w^2 where the equations read neighbours explicitly; 0: not known
  std::string masses;       ///< m^2 of each field, for messages; empty: there are none
  double frequency2() const { return waves2 + mass2; }
};

struct System;
/// The amount of a quantity that leaves the box at a site: an expression of quantities, recovered
/// values and lines, which is nonzero only at the first and the last site along the axis of
/// `sweep`.
Expr lost_through_walls(const System& system, const AxisScheme& sweep, int quantity);

struct System {
  std::shared_ptr<algebra::Arena> arena;
  Lattice lattice;
  std::vector<Variable> variables;
  std::vector<ScalarVariable> scalars;
  int arrays = 0;                      ///< array numbers in use (state, random fields, scratch)
  std::vector<Axis> axes;              ///< axes of the sweep with more than one value
  std::int64_t ensemble = 0;           ///< number of the instance in its ensemble, without an axis
  std::vector<Statistic> statistics;   ///< statistics in observables and expectations
  std::vector<FirstPassage> passages;  ///< first passages in observables and expectations
  /// Averages over time in expectations count the steps where this condition holds; null: all
  /// steps.
  Expr averages_from;
  std::vector<RandomField> random;
  std::vector<program::PointDensity> densities;  ///< what points are drawn from
  /// Scalars of a start that is drawn again: whether it is kept, and the number of draws; empty:
  /// every start is kept.
  std::string start_kept, draws;
  std::vector<InitialValue> initial;
  std::vector<GaussStart> gauss;                    ///< laws that are made to hold after `initial`
  std::optional<GaussProjection> gauss_projection;  ///< the same about links that are not 1
  std::vector<PairMatrix> matrices;
  std::vector<Projection> projections;
  std::vector<LinearSystem> solves;
  std::vector<OutputClause> outputs;
  std::vector<Expectation> expectations;
  std::vector<Observable> progress;  ///< scalars always watched (drift of energy, Friedmann)
  std::string scale_factor;          ///< scalar that follows the averages; empty: there is none
  /// <rho>/(3 M^2 H^2) - 1; null: no metric that follows the averages.
  Expr friedmann;
  /// Largest |friedmann| that the integrator's error explains (schedule/integrator/stability.hpp).
  double friedmann_explained = 0;

  double dt = 0;                    ///< program units
  double dt_physical = 0;           ///< at a = 1
  program::StepGrowth step_growth;  ///< for the warning W0316
  std::string time = "t";           ///< scalar variable that is physical time
  /// Condition on scalars that ends the run; null: --steps ends it.
  Expr until;
  double end_time = 0;  ///< > 0: `until` is `t > end` with t linear in eta
  Launches launches = Launches::ByCounts;
  Together together;
  dsl::Span evolve_span, dt_span;  ///< of the clause and of its dt; empty where nothing evolves
  /// All integrators of the model and of the library, the model's first, for proposals in messages.
  std::vector<text::Integrator> integrators;

  Dynamics dynamics;
  std::optional<FastestWaves> fastest;  ///< set where an integrator acts on waves
  /// Limits of state arrays, applied after each update in the order of the text.
  std::vector<Derived> limits;
  std::optional<Conservation> conservation;

  Numerics numerics;
  Noise noise;
  Generator generator = Generator::Philox10;  ///< generator of `noise`; initial values use Philox10
  std::uint64_t seed = 1;

  // for `explain` and the report
  double A = 1, B = 1, s = 0, r = 0;
  std::vector<ShownEquation> physical;  ///< with the user's parameter names
  std::vector<ShownEquation> program;
  std::vector<std::pair<std::string, double>> folded;  ///< parameters and their values
  std::vector<std::string> remarks;                    ///< choices made, one sentence each
  int laplacian = -1;                                  ///< stencil number of lap(), or -1

  std::int64_t instances() const;  ///< of the whole sweep
};

}  // namespace vphi::physics
