// The workbench of `derive`: what its steps share while a System grows.
//
// Expressions on the workbench are in physical units: Load(u) is the field, Load(momentum of u) its
// physical time derivative, `a`, `H`, `t` are symbols, and Load(gradient_of(u)) stands for
// |grad u|^2 at the site. `program_units` turns them into the stored variables at the end.
//
// A step that meets an error adds a diagnostic and throws Failure; `derive` catches it at the end
// of the step, so that one wrong clause does not hide the next one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/gauge/clifford.hpp"
#include "compiler/gauge/group.hpp"
#include "compiler/model/options.hpp"
#include "compiler/model/system.hpp"
#include "compiler/physics/facts.hpp"
#include "compiler/physics/ledger.hpp"
#include "compiler/physics/lower/values.hpp"

namespace vphi::physics {

struct Failure {};

/// What lies beyond the edges along each axis: of the lattice, or of one field.
struct Walls {
  std::array<Boundary, 4> boundary{};
  std::array<double, 4> fixed_value{};  ///< Boundary::Fixed, physical units
  /// sum(u lap v) = sum(v lap u) for fields in these walls: nothing is lost there.
  bool by_parts(int dims) const;
  bool periodic(int dims) const;
  /// Every site has a neighbour on either side: periodic or antiperiodic along each axis.
  bool closed(int dims) const;
};

/// A declared field or var: which arrays hold its components.
struct StateField {
  std::string name;
  int rows = 1, columns = 1;
  std::vector<int> cells;   ///< for each component (row by row), its place in `arrays`
  std::vector<int> arrays;  ///< real arrays: re, im of the distinct components
  bool complex = false;
  bool symmetric = false;
  bool link = false;   ///< one value for each link: a row for each axis
  bool angle = false;  ///< U(1): the arrays are angles, the value is exp(1i*angle)
  /// Of links: their group, and how `arrays` holds one link after the other (gauge::LinkType).
  std::optional<gauge::LinkType> links = std::nullopt;
  /// Of a `fermion` line: rows are spin, columns colour; `antiperiodic[axis]`: its sign changes
  /// where a neighbour lies beyond the edge.
  bool spinor = false;
  std::array<bool, 4> antiperiodic{};
  bool particle = false;        ///< `var x[k]`
  bool periodic = false;        ///< a real angle, kept in [0, 2 pi)
  bool conserved = false;       ///< of a `conserve` line
  bool primitive = false;       ///< of a `primitive` line: found back from the conserved ones
  int order = 0;                ///< 1 or 2, once the equations are known
  bool hamiltonian = false;     ///< order 1 as one of a canonical pair
  std::vector<int> velocities;  ///< order 2: array of d/dt of each array
  Walls walls;                  ///< the lattice's, where its line names no others
  const dsl::Definition* drawn = nullptr;  ///< `w[i] ~ cauchy(0, 1)`: drawn once, then fixed
  dsl::Span span;
  /// Kinetic energy of one real array is norm/2 * u'^2: 1 for real, 2 for complex fields.
  int norm() const { return complex ? 2 : 1; }
  /// SU(n): its value is a matrix for each direction, not a list of components.
  bool matrices() const { return links && links->group.kind == gauge::Kind::SU; }
  /// Where this array stands in `arrays`; -1: elsewhere.
  int place(int array) const;
};

/// The lattice clause, evaluated; lengths in the model's base units.
struct Grid : Walls {
  bool present = false;
  int dims = 3;
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  Expr dx;  ///< a number
  dsl::Span span;
  std::int64_t sites() const;
};

/// `particles body: N`, the domain in the place of a lattice.
struct Particles {
  bool present = false;
  std::int64_t count = 0;
  bool direct = false;  ///< `method = pairs`
  /// `method = separable(tolerance)`: smooth periodic functions as Fourier series with this error,
  /// relative to the largest value; 0: not asked for.
  double tolerance = 0;
  dsl::Span method_span;
};

/// Arrays beside a state array whose displacement an equation reads (displacement.hpp); variables
/// once the equations are known.
struct Companions {
  int array = 0;
  int start = 0;     ///< its value at the start
  int winding = -1;  ///< an angle's count of turns; -1: it is none
};

enum class Metric { Minkowski, Prescribed, SelfConsistent };

struct Background {
  Metric metric = Metric::Minkowski;
  std::string scale = "a";  ///< the user's name of the scale factor
  Expr prescribed;          ///< a(t)
  Expr radiation, matter;   ///< symbols of rho_r, rho_m at a = 1; null where absent
  std::unordered_map<const algebra::Node*, Expr> fluids;  ///< and their values
  Expr planck2;                                           ///< (8 pi G)^-1 in the model's units
  dsl::Span span;
};

/// psi = A*phi, x_program = B*x, d(eta) = B*a^s dt; stored beside psi is its canonical momentum.
/// Rescaled: psi = A*a^r*phi, and d(psi)/d(eta) is stored beside it (docs/formulas.md 1.2).
struct Rescaling {
  Expr A, B, s, r;
  bool automatic = false;
  bool rescaled = false;
};

struct Derivation {
  Derivation(const dsl::Resolved& model, const CompileOptions& with, dsl::Diagnostics& messages)
      : resolved(model),
        options(with),
        diagnostics(messages),
        facts(collect_facts(model)),
        ledger(model) {}

  const dsl::Resolved& resolved;
  const CompileOptions& options;
  dsl::Diagnostics& diagnostics;
  Facts facts;
  Ledger ledger;
  System system;
  Grid grid;
  Particles particles;
  Background background;
  Rescaling rescaling;
  std::vector<StateField> fields;
  std::vector<Companions> companions;
  gauge::Gammas gammas = gauge::gammas(gauge::GammaBasis::Chiral);
  /// StateField::turns of each `fermion`, those without memory among them.
  std::map<std::string, std::array<bool, 4>> spinor_antiperiodic;
  /// The same of spinors that no field is: arrays of linear systems.
  std::map<int, std::array<bool, 4>> antiperiodic_arrays;
  int laplacian = -1;  ///< number of the stencil, dx_power -2, any unit of dx
  Expr potential;      ///< sum of all potentials; null without
  std::vector<std::pair<std::string, Expr>> potential_terms;
  std::vector<std::pair<const NamedFact*, Expr>> potentials;  ///< one for each name
  std::map<int, Expr> rates;    ///< array -> physical d/dt; of velocities: u''
  std::map<int, Expr> weights;  ///< array of a coordinate -> c of the momentum a^c*u'
  std::map<int, dsl::Span> rate_spans;
  std::map<int, dsl::Span> lines;  ///< tables of the arena that hold pieces of straight lines
  bool hamiltonian = false;
  Expr hamiltonian_density;
  std::map<std::string, bool> swept_used;  ///< swept name -> whether a formula holds it
  std::vector<Axis> single_axes;           ///< sweeps of one value
  double start_time = 0;
  std::map<std::string, int> noise_places;  ///< place in the text and indices -> stream
  Expr dt;                                  ///< physical step at a = 1; null until it is known

  Arena& arena() { return *system.arena; }
  [[noreturn]] void fail(dsl::Diagnostic diagnostic) {
    diagnostics.add(std::move(diagnostic));
    throw Failure{};
  }
  StateField* field(const std::string& name);
  /// The field and component that an array belongs to (as coordinate or velocity).
  const StateField* field_of(int array) const;
  /// Of the field that an array belongs to; what belongs to none has the lattice's.
  Walls walls_of(int array) const;
  /// The lattice and every field on it are periodic.
  bool periodic() const;
  /// The field that a canonical momentum belongs to, and the other way; null without a Hamiltonian.
  const StateField* conjugate(const StateField& field) const;
  bool is_momentum(const StateField& field) const;
  /// Whether the field has a part in rho and p: not where an equation of its own replaces the
  /// potential's and no potential depends on it (a tensor of gravitational waves, a spectator).
  bool gravitates(const StateField& field) const;
  bool expanding() const { return background.metric != Metric::Minkowski; }
  Expr scale() { return arena().symbol(background.scale); }
  Expr scale_or_one() { return expanding() ? scale() : arena().integer(1); }
  Expr hubble() { return arena().symbol("H"); }
  Expr time() { return arena().symbol("t"); }
  bool rescaled() const { return rescaling.rescaled; }
};

/// Pseudo array: Load(gradient_of(u)) is |grad u|^2 of the real array u, physical.
constexpr int kGradientBase = 1 << 20;
constexpr int gradient_of(int array) { return kGradientBase + array; }
constexpr bool is_gradient(int array) { return array >= kGradientBase; }

}  // namespace vphi::physics
