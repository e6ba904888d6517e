// The physics of one model, derived: first-order equations in program units.
//
// `derive` (compiler/physics/derive.hpp) turns a resolved model into a System. Everything below is
// real and scalar: a complex field is two variables, a vector its components. State consists of
// lattice arrays (Variable) and of scalars that evolve with them (ScalarVariable: scale factor and
// its derivative, physical time). The schedule (compiler/schedule) orders the updates; it knows
// nothing of potentials or metrics, only which expression reads what.
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
  bool counted = false;    ///< neither length nor spacing is given: sites have numbers alone
  std::int64_t sites() const;
};

enum class Role { Coordinate, Momentum, FirstOrder };

/// One real array of state.
struct Variable {
  std::string name;   ///< unique, plain ASCII: "phi", "phi_re", "pi_phi"
  std::string shown;  ///< as the user knows it: "phi", "re(phi)", "phi'"
  int array = 0;      ///< number in Op::Load
  Role role = Role::FirstOrder;
  int partner = -1;  ///< array of the momentum or coordinate that belongs to it
  Expr rate;         ///< d/d(eta): loads, stencils, symbols, sums over pairs, totals
  dsl::Span span;
  double period = 0;    ///< an angle: kept in [0, period)
  int field = -1;       ///< number of the declared variable whose component this is (its place)
  int component = 0;    ///< which one
  bool frozen = false;  ///< a number drawn for each body: constant
  /// Scalar that the array's numbers are counted from: the value is this and what the array holds
  /// (compiler/physics/fields/deviation.hpp). Empty: the array holds the value.
  std::string reference = {};
};

/// An N x N matrix from a file, read in sums over pairs as Load(array) with the mark of a pair
/// (algebra::of_pair): the entry of row i and column j, i the body and j the other one.
struct PairMatrix {
  int array = 0;
  std::string file;         ///< path, and ":set" where it is HDF5
  bool transposed = false;  ///< the entry of row j and column i
  dsl::Span span;
};

/// A scalar that evolves: a, a', physical time.
struct ScalarVariable {
  std::string symbol;
  Expr rate;     ///< may hold Mean/Total of per-site expressions
  Expr initial;  ///< number, or with reductions over the initial state
  std::string shown;
  /// Of a Variable::reference: that of its arrays, with which it moves.
  Role role = Role::FirstOrder;
};

/// One axis of a sweep. Instances are the outer product of the axes in text order, the last axis
/// fastest. An axis of one value is folded and not listed.
struct Axis {
  std::string name;            ///< as written
  std::string symbol;          ///< scalar that holds the value of the instance
  std::vector<double> values;  ///< physical units
  bool ensemble = false;       ///< its name is used nowhere: draws with random numbers of their own
  bool fresh = false;          ///< `random ..., fresh = [name]`: own random numbers as well
  dsl::Span span;
};

/// An average of a scalar over axes of the sweep or over time (docs/rules.md rule 13); over both it
/// is an average over axes of one over time. Expressions hold `symbol`, and `error` where they want
/// the standard error of a mean.
struct Statistic {
  enum class Kind { Mean, Variance, Minimum, Maximum };
  Kind kind = Kind::Mean;
  std::string symbol, error;
  Expr value;             ///< a scalar of one instance; may hold averages over time
  std::vector<int> axes;  ///< places in System::axes; empty: over every step since the last output
  bool spans_time = false;  ///< here or in `value`
  dsl::Span span;
};

/// `first(e, condition)`: the value of e where the condition first holds. For a comparison `margin`
/// crosses 0 from below where it begins to hold, and e is interpolated between the steps. Without a
/// condition it is the rate of change of e, from its values at the last three steps.
struct FirstPassage {
  std::string symbol;
  Expr value, condition;
  Expr margin;  ///< null: no interpolation
  dsl::Span span;
};

/// An array made on the host before the first step (the same on every device): random numbers, or
/// what a file says of the box, resampled onto the lattice (runtime/io/field_file.hpp), or a number
/// of each site's links in a gauge configuration (runtime/io/configurations/configuration.hpp).
struct RandomField {
  enum class Kind { Vacuum, Normal, Uniform, File, Link };
  Kind kind = Kind::Normal;
  int array = 0;          ///< number in the Loads of the initial expressions
  int stream = 0;         ///< one stream each time it is written
  bool velocity = false;  ///< Vacuum: fluctuation of the time derivative
  double mass2 = 0;       ///< Vacuum: effective mass squared, program units (clamped at use)
  std::vector<double> masses = {};  ///< mass2 of each instance where they differ
  double amplitude = 1;      ///< multiplies the result: converts to program units of the variable
  double low = 0, high = 1;  ///< Uniform
  bool kernel_form = true;   ///< DEFROST real-space kernel; false: k-space form
  double cutoff = 0;         ///< wave number, program units; 0: the default of the form
  std::string file = {};     ///< File: "/path/name.h5:set" or "/path/name:column"; Link: a path
  int colours = 0;           ///< Link: N of N x N matrices
  int entry = 0;             ///< Link, File: as program::RandomField::entry
  int components = 1;        ///< File: as program::RandomField::components, and so on
  bool as_it_is = false;
  std::vector<int> leading = {};
  std::vector<double> members = {};
};

struct InitialValue {
  int array = 0;  ///< state array that is set
  Expr value;     ///< Sites, Loads of random fields, earlier state arrays, symbols
};

/// One thing written out. Scalars are values of the synchronised state in physical units.
struct Observable {
  using Kind = program::OutputKind;
  struct Part {
    Expr value;
    double weight = 1;
  };
  std::optional<Kind> kind;   ///< of an output of fields; none: a scalar
  std::string name;           ///< dataset name: as written, or the name given with `q = expr`
  std::string unit = "1";     ///< as program::Program::units has it
  Expr value;                 ///< Scalar: with reductions; others: per site
  Expr error;                 ///< standard error of an average; null where there is none
  bool drift = false;         ///< in `progress`: its relative change is what matters
  double coordinate = 0;      ///< of a plane: position, physical units, from the centre
  std::vector<Part> more;     ///< further arrays, as program::FieldOutput::more
  Expr factor, mass2;         ///< scalars, or null: program::FieldOutput::factor_slot, mass2_slot
  program::FieldOutput form;  ///< axis, bins, options; names, buffers and slots are not set
  dsl::Span span;
};

/// A projection that needs the whole lattice: between the sweep that makes `values` and those that
/// read `arrays` (compiler/physics/fields/transverse.hpp).
struct Projection {
  std::vector<Expr> values;                 ///< components 00, 01, 02, 11, 12, 22 in physical units
  std::vector<int> arrays;                  ///< their numbers in Loads, once projected
  std::vector<program::Symbol> derivative;  ///< along each axis
};

/// What a linear operator makes of a field. Stages are made first, one after the other: values that
/// later ones and the image read at neighbours by Loads of `arrays`.
struct LinearMap {
  struct Stage {
    std::vector<int> arrays;
    std::vector<Expr> values;
    int parity = -1;  ///< wanted at sites of this parity alone, x + y + z + t mod 2; -1: everywhere
  };
  std::vector<Stage> stages;
  std::vector<Expr> image;
  int parity = -1;  ///< of the sites where the image is not 0; -1: any
};

/// The same system on half of the sites, where an operator is R + H, R at the site itself and H
/// only between sites of opposite parity: (R - H R^-1 H) y = b - H R^-1 b at odd sites, and
/// x = R^-1 (b - H y) at even ones (compiler/physics/spinors/even_odd.hpp).
struct EvenOddSystem {
  std::vector<int> arrays;  ///< y: Loads in `op`, `adjoint` and `back`
  std::vector<int> right;   ///< b: Loads in `source` and `back`
  LinearMap op, adjoint, source;
  LinearMap back;  ///< x of y and b
};

/// x with A(x) = b, the operator linear (compiler/physics/spinors/solve.hpp). Arrays are numbers in
/// Loads, one for each real component; a component is (re, im) with `im` null where the field is
/// real.
struct LinearSystem {
  std::string name;  ///< as the user calls the solution, or the text of the call
  int rows = 1, columns = 1;
  bool complex = false;
  bool spinor = false;
  std::array<bool, 4> antiperiodic{};  ///< StateField::antiperiodic of a spinor
  std::vector<int> arrays;             ///< x: re, im of each component
  LinearMap op;                        ///< A(x), of Loads of `arrays`
  LinearMap adjoint;                   ///< A^+(x), the same; empty where the box does not allow it
  std::vector<Expr> source;            ///< b
  std::optional<EvenOddSystem> even_odd;
  /// Place in System::solves of the first system with this operator and solver; its kernels are
  /// this one's as well. -1: it is the first itself.
  int like = -1;
  std::string iterations, residual;  ///< scalars
  std::shared_ptr<const text::Solver> solver;
  /// The text around it that takes solutions from it in a lesser precision; null without.
  std::shared_ptr<const text::Solver> refining;
  Options options;
  dsl::Span span;
};

struct OutputClause {
  int every = 0;        ///< steps; 0: by time, or at the end only
  double interval = 0;  ///< > 0: physical time from one to the next, counted from `from`
  double from = 0;      ///< the start time
  Expr after;           ///< null or a condition on scalars
  std::vector<Observable> observables;
  std::string file;
  Expr averages_from;        ///< null or when averages over time begin
  std::string plot_against;  ///< `plot y against a`: the axis; then it is at the end
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
  bool at_end = false;  ///< of averages over time: judged once, when the run ends
  dsl::Span span;
};

/// What multiplies the noise (docs/formulas.md 5.1). Commutative: the order of two noises does not
/// matter, sum_j g_jr d(g_is)/d(x_j) is symmetric in r and s.
enum class NoiseClass { None, Additive, Diagonal, Commutative, General };
enum class Calculus { Ito, Stratonovich };

struct Noise {
  NoiseClass kind = NoiseClass::None;
  std::vector<dsl::Span> streams;    ///< where each stream was written
  std::optional<Calculus> calculus;  ///< as declared
  int points = 0;                    ///< of the distribution of a step's noise: 2, 3; 0: Gaussian
};

/// A value of each site that is computed from others; Loads of its number stand for it.
struct Derived {
  int array = 0;
  std::string name;
  Expr value;
  bool keep = false;  ///< read at several places and costly: stored rather than computed again
  int clause = 0;     ///< limits: number of the clause, whose components act at once
};

/// A flux scheme along one axis: lines in order, then what they give for each quantity.
struct AxisScheme {
  int axis = 0;
  std::vector<Derived> lines;
  std::map<int, Expr> result;  ///< quantity -> new value (a step), or its part of d/dt
  /// Quantity -> what its site has gained through the face to its next neighbour, of a step or per
  /// time; what comes through the other face is this, one site before, with a minus. Empty where
  /// the text has another form: then what leaves the box is not known.
  std::map<int, Expr> face;
};

/// Conservation laws (compiler/physics/fluids/conservation.hpp). Numbers of quantities are arrays
/// of state; those of recovered values and of lines have no memory of their own.
struct Conservation {
  std::vector<int> quantities;
  std::vector<Derived> recovered;  ///< primitive variables, from quantities and earlier ones
  std::vector<AxisScheme> sweeps;  ///< one for each axis
  bool step = false;               ///< the text is a step of length `kStepLength`, not a rate
  bool half_step = false;          ///< recovered values of a step are those at half of it
  std::map<int, Expr> source;      ///< of a step: d/dt of a quantity beside its fluxes
  struct Share {
    int axis = 0;
    double weight = 1;
  };
  std::vector<std::vector<Share>> orders;  ///< of a step: those of successive steps, in turn
  std::vector<Expr>
      speeds;          ///< by axis: signal velocity of a site, of quantities and recovered ones
  double courant = 0;  ///< the scheme's own limit of speed*dt/dx; 0: it names none
  Expr residual;       ///< what `solve` has left, of quantities; null without
  double residual_left = 0;  ///< bound of the error that the iterations leave
  /// A scalar: program::Program::unsound_slot.
  Expr unsound;
  /// Whether a site can be recovered: 1 where the recovered values reproduce the quantities, none
  /// is NaN and the equation of `solve` holds; of quantities and recovered values.
  Expr sound;
  std::string fixes;       ///< scalar that counts what limits have changed; empty: not used
  std::map<int, int> odd;  ///< array -> reflecting axis along which it changes sign in the mirror
  std::map<int, std::string> outflow;  ///< quantity -> scalar: what has left an open box
  static constexpr const char* kStepLength = "flux_dt";
};

/// `evolve ..., launch = step`, `group` or `groups`: how many steps a launch takes, and who shares
/// an instance in it.
enum class Launches { ByCounts, Step, Group, Groups };

/// `evolve ..., together = k`: steps in one pass over memory.
struct Together {
  int steps = 0;  ///< 0: as the counts say
  dsl::Span span;
};

/// The fastest waves about the start, program units: dt is compared with their stability limit
/// (compiler/schedule/integrator/stability.hpp). Of linear waves u'' = -w^2 u.
struct FastestWaves {
  double waves2 = 0;        ///< largest k_eff^2 term of w^2 at the start
  double mass2 = 0;         ///< largest eigenvalue of V'', the same; 0 where it is not a number
  int stencil = -1;         ///< whose largest eigenvalue it is; -1: no one Laplacian's
  double written_out2 = 0;  ///< w^2 where neighbours are written out; 0: not known
  std::string masses;       ///< m^2 of each field, for people; empty: there are none
  double frequency2() const { return waves2 + mass2; }
};

struct System;
/// What leaves the box at a site: an expression of quantities, recovered values and lines, not 0 at
/// the first and the last site of the axis of `sweep`.
Expr lost_through_walls(const System& system, const AxisScheme& sweep, int quantity);

struct System {
  std::shared_ptr<algebra::Arena> arena;
  Lattice lattice;
  std::vector<Variable> variables;
  std::vector<ScalarVariable> scalars;
  int arrays = 0;                      ///< numbers given out so far (state, random, scratch)
  std::vector<Axis> axes;              ///< of more than one value
  std::int64_t ensemble = 0;           ///< number of the instance in its ensemble, without an axis
  std::vector<Statistic> statistics;   ///< that observables and promises name
  std::vector<FirstPassage> passages;  ///< the same
  Expr averages_from;                  ///< null or when those over time begin, in promises
  std::vector<RandomField> random;
  std::vector<InitialValue> initial;
  std::vector<PairMatrix> matrices;
  std::vector<Projection> projections;
  std::vector<LinearSystem> solves;
  std::vector<OutputClause> outputs;
  std::vector<Expectation> expectations;
  std::vector<Observable> progress;  ///< scalars always watched (drift of energy, Friedmann)
  std::string scale_factor;          ///< scalar that follows the averages; empty: there is none
  Expr friedmann;                    ///< <rho>/(3 M^2 H^2) - 1; null without
  /// Largest |friedmann| that the integrator's error can be (schedule/integrator/stability.hpp).
  double friedmann_explained = 0;

  double dt = 0;                    ///< program units
  double dt_physical = 0;           ///< at a = 1
  program::StepGrowth step_growth;  ///< where W0316 is said
  std::string time = "t";           ///< scalar variable that is physical time
  Expr until;                       ///< condition on scalars; null: --steps decides
  double end_time = 0;              ///< > 0 where `until` is `t > end` and t is linear in eta
  Launches launches = Launches::ByCounts;
  Together together;
  dsl::Span evolve_span, dt_span;  ///< of the clause and of its dt; empty where nothing evolves
  /// All that the library and the model define, the model's first: what messages propose.
  std::vector<text::Integrator> integrators;

  Dynamics dynamics;
  std::optional<FastestWaves> fastest;  ///< where variables follow an integrator on waves
  std::vector<Derived> limits;          ///< values of state arrays after each update, in text order
  std::optional<Conservation> conservation;

  Numerics numerics;
  Noise noise;
  Generator generator = Generator::Philox10;  ///< of `noise`; initial values take Philox10
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
