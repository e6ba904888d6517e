// The theory: potentials, a written Lagrangian or Hamiltonian, or explicit equations, and the order
// of each field's equation.
//
// Expressions are in physical units: Load(u) is the field, Load(momentum of u) its physical time
// derivative, `a`, `H`, `t` are symbols, and Load(gradient_of(u)) stands for |grad u|^2 at the
// site.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/physics/stages/space.hpp"

namespace vphi::physics {

/// How the fields change: by equations of motion, by a Markov chain, or by a flow.
enum class Motor { Evolution, Chain, Flow };  // Flow: of links

/// Potentials: their sum, and their terms by name.
struct Potentials {
  Expr potential;  ///< sum of all; null: there are none
  std::vector<std::pair<std::string, Expr>> potential_terms;
  std::vector<std::pair<const NamedFact*, Expr>> potentials;  ///< one for each name
};

/// Written Lagrangian densities per physical volume, functions of fields and velocities.
struct Lagrangian {
  Expr lagrangian;  ///< sum of all; null: there are none
  /// f of a term f*R with the curvature R = 6 (H' + 2 H^2) of a metric that follows the averages;
  /// null: there is none. It is not part of `lagrangian` (fields/curvature_coupling.hpp).
  Expr curvature;
  /// R: a symbol until all rates are known, then its value; null without `curvature`.
  Expr curvature_scalar;
  std::vector<std::pair<const NamedFact*, Expr>> lagrangians;
};

/// A written Hamiltonian and the rates that it gives.
struct Hamiltonian {
  Expr hamiltonian_density;
  std::map<int, Expr> rates;  ///< array -> physical d/dt; of velocities: u''
  std::map<int, dsl::Span> rate_spans;
  std::vector<LinkMotion> link_motions;  ///< of links of SU(n): velocities in physical time
  /// Where a written Lagrangian is brought to this form: array of a momentum -> dL/du' by the
  /// arrays StateField::rates_in_lagrangian.
  std::map<int, Expr> momenta;
};

struct Theory : Space, Potentials, Lagrangian, Hamiltonian {
  explicit Theory(const Space& space) : Space(space) {}
  Motor motor = Motor::Evolution;
  bool hamiltonian = false;

  /// Whether the field contributes to rho and p. It does not where it has an explicit equation and
  /// no potential depends on it (a tensor of gravitational waves, a spectator).
  /// With a Lagrangian rho and p are its own, and no field contributes by itself.
  bool gravitates(const StateField& field) const;
  /// Whether the Lagrangian makes its equation, or `derived` in it.
  bool follows_lagrangian(const StateField& field) const;
};

Theory read_theory(const Space& space);

// ---- its steps; with `keep_parameters` params stay symbols, for printing
/// The fields with the orders of their equations; fields of order 2 get arrays for the velocities.
std::vector<StateField> decide_orders(const Space& d);
/// Whether the model has a written Hamiltonian.
bool written_hamiltonian(const Declared& d);
Potentials read_potentials(const Theory& d, bool keep_parameters = false);
Lagrangian read_lagrangian(const Theory& d, bool keep_parameters = false);
/// The written Hamiltonian and its rates; empty where there is none.
Hamiltonian read_hamiltonian(const Theory& d, bool keep_parameters = false);

// ---- what later stages ask of it
/// E0762 where `e`, what a source of forces is made of, names rho, p or w, or, unless `curvature`,
/// the rate of H where the metric follows the averages.
void refuse_energies(const Space& d, const dsl::Expr& e, const std::string& source,
                     bool curvature = false);
/// E0390 where the source `what` of a force holds the time derivative of a field.
void refuse_velocities(const Declared& d, Expr source, dsl::Span span, const std::string& what);
/// A density whose total is the number `h`; E0709 where there is none.
Expr hamiltonian_density_of(const Space& d, Expr h, dsl::Span span);
/// d/du(x) of the sum over all sites of h, gradient energies included.
Expr hamiltonian_force(const Space& d, Expr h, int array, dsl::Span span);

}  // namespace vphi::physics
