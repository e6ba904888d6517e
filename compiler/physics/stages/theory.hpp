// The theory: what moves the fields, a potential, a written Hamiltonian or equations of their own,
// and the order of each field's equation.
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

/// Who moves the fields.
enum class Motor { Evolution, Chain, Flow };  // of links

/// Sums of potentials, and their terms by name.
struct Potentials {
  Expr potential;  ///< sum of all; null without
  std::vector<std::pair<std::string, Expr>> potential_terms;
  std::vector<std::pair<const NamedFact*, Expr>> potentials;  ///< one for each name
};

/// A written Hamiltonian and the rates that it gives.
struct Hamiltonian {
  Expr hamiltonian_density;
  std::map<int, Expr> rates;  ///< array -> physical d/dt; of velocities: u''
  std::map<int, dsl::Span> rate_spans;
};

struct Theory : Space, Potentials, Hamiltonian {
  explicit Theory(const Space& space) : Space(space) {}
  Motor motor = Motor::Evolution;
  bool hamiltonian = false;

  /// Whether the field has a part in rho and p: not where an equation of its own replaces the
  /// potential's and no potential depends on it (a tensor of gravitational waves, a spectator).
  bool gravitates(const StateField& field) const;
};

Theory read_theory(const Space& space);

// ---- its steps; with `keep_parameters` params stay symbols, for a reader
/// Fields with the order of their equations; order 2 gets arrays for the velocities.
std::vector<StateField> decide_orders(const Space& d);
/// Whether there is a written Hamiltonian.
bool written_hamiltonian(const Declared& d);
Potentials read_potentials(const Theory& d, bool keep_parameters = false);
/// Nothing where none is written.
Hamiltonian read_hamiltonian(const Theory& d, bool keep_parameters = false);

// ---- what later stages ask of it
/// E0390 where the source `what` of a force holds the time derivative of a field.
void refuse_velocities(const Declared& d, Expr source, dsl::Span span, const std::string& what);
/// d/du(x) of the sum over all sites of h, gradient energies included.
Expr hamiltonian_force(const Space& d, Expr h, int array, dsl::Span span);

}  // namespace vphi::physics
