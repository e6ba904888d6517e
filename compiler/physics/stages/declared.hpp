// The declarations: fields, conserved quantities, links and spinors, and the arrays that store
// them.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/gauge/clifford.hpp"
#include "compiler/gauge/group.hpp"
#include "compiler/physics/stages/setting.hpp"

namespace vphi::physics {

struct Value;

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
  /// For links: their group and how a link is stored (gauge::LinkType). `arrays` has the links of
  /// the axes one after the other.
  std::optional<gauge::LinkType> links = std::nullopt;
  /// Links of Z(N): N, and the angles are 2 pi n/N; 0: other links.
  int roots = 0;
  /// Of type su(n): the arrays are the coordinates u_a of the matrix u_a T_a of the algebra
  /// (compiler/gauge/group.hpp), those of a `gauge` line one axis after the other.
  std::optional<gauge::Group> algebra = std::nullopt;
  /// Declared by a `fermion` line: rows are spin, columns colour. `edges`: beside what the
  /// lattice's own boundary does.
  bool spinor = false;
  EdgePhases edges{};
  bool particle = false;  ///< `var x[k]`
  bool periodic = false;  ///< a real angle, kept in [0, period)
  /// `values = ...`: what the field may be at a site, ascending; empty: any number.
  std::vector<std::int64_t> values = {};
  Expr length = {};             ///< `norm = ...`: length of a vector at each site; null: any
  bool conserved = false;       ///< of a `conserve` line
  bool primitive = false;       ///< of a `primitive` line: recovered from the conserved quantities
  bool relaxed = false;         ///< of a `relax` line: both a primitive variable and stored
  int order = 0;                ///< 1 or 2, once the equations are known
  bool hamiltonian = false;     ///< order 1 as one of a canonical pair
  std::vector<int> velocities;  ///< order 2: array of d/dt of each array
  /// Of a coordinate whose momentum a written Lagrangian makes (fields/canonical_form.hpp): arrays
  /// without memory that stand for d/dt of each array there, for links of SU(n) for w_a of
  /// U' = 1i*w_a*T_a*U, axis by axis.
  std::vector<int> rates_in_lagrangian = {};
  Walls walls;  ///< boundaries; those of the lattice where its line gives none
  const dsl::Definition* drawn = nullptr;  ///< `w[i] ~ cauchy(0, 1)`: drawn once, then fixed
  dsl::Span span;
  /// Kinetic energy of one real array is norm/2 * u'^2: 1 for real, 2 for complex fields.
  int norm() const { return complex ? 2 : 1; }
  /// SU(n) links: the value is a matrix for each direction, not a list of components.
  bool matrices() const { return links && links->group.kind == gauge::Kind::SU; }
  /// Index of this array in `arrays`; -1: it is not there.
  int place(int array) const;
  /// Neither a quantity of the conservation laws nor made of them: it has an equation of its own.
  bool beside_laws() const { return !conserved && !primitive; }
};

/// Pseudo array: Load(gradient_of(u)) is |grad u|^2 of the real array u, physical.
constexpr int kGradientBase = 1 << 20;
constexpr int gradient_of(int array) { return kGradientBase + array; }
constexpr bool is_gradient(int array) { return array >= kGradientBase; }

struct Declared : Setting {
  explicit Declared(const Setting& setting) : Setting(setting) {}
  std::vector<StateField> fields;
  gauge::Gammas gammas = gauge::gammas(gauge::GammaBasis::Chiral);
  int spins = 4;  ///< components of spin of each spinor
  /// StateField::edges of each `fermion`, including those without memory.
  std::map<std::string, EdgePhases> spinor_edges;

  const StateField* field(const std::string& name) const;
  /// The field and component that an array belongs to (as coordinate or velocity).
  const StateField* field_of(int array) const;
  /// Boundaries of the field that an array belongs to; those of the lattice for other arrays.
  Walls walls_of(int array) const;
  /// Whether the lattice and every field on it are periodic.
  bool periodic() const;
  /// The field of a canonical momentum, or the momentum of a field; null without a Hamiltonian.
  const StateField* conjugate(const StateField& field) const;
  bool is_momentum(const StateField& field) const;
};

/// Fields of the model's lines, and the quantities of its conservation laws.
Declared declare_fields(const Setting& setting);
/// Arrays for the conserved fields. Marks those of `declared` that relax, which have one too.
std::vector<StateField> conserved_fields(const Setting& d, std::vector<StateField>& declared);
/// Fails where a density couples neighbours of fields with different boundaries. The derivative of
/// its sum is then not a shift of its terms.
void check_coupled_walls(const Declared& d, Expr density, dsl::Span span);
/// The values of the field's real arrays, from a value of the field's shape.
std::vector<Expr> by_array(const Declared& d, const StateField& field, const Value& v);

}  // namespace vphi::physics
