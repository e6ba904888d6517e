// The Hamiltonian of a written Lagrangian that moves links.
//
// Links have no coordinates whose sums stay in their group, so that their equations are those of
// momenta. With L = total(a^3 l), U' = 1i*w*U for links and u' for all other fields,
//
//   p_i = dL/du_i' = sum_j M_ij u_j' + b_i,   H = total((p - b) M^-1 (p - b)/2 - a^3 l at rest).
//
// M is a matrix at each site; b may read neighbours, since velocities that are read there count in
// dL/du_i' too. Each field beside the links has a momentum of its own, which a model does not name;
// the second name of a `gauge` line is that of the links. All else, forces, Gauss's law, energies
// and the Friedmann equation, follows from H as if it were written.
#pragma once

#include <map>
#include <vector>

#include "compiler/physics/stages/theory.hpp"

namespace vphi::physics {

struct Scope;

/// Whether the model has links that move by a written Lagrangian.
bool moves_links_by_lagrangian(const Space& d);

/// The fields as canonical pairs, coordinate before momentum. Those with an equation of their own,
/// whose order is set, stay as they are.
std::vector<StateField> with_momenta(const Space& d, const std::vector<StateField>& fields);

struct CanonicalForm {
  Theory reading;  ///< by which l is read: velocities are the arrays that stand for them
  Expr kinetic;    ///< (p - b) M^-1 (p - b)/2, a density
  Expr at_rest;    ///< -a^3 l without velocities
  std::map<int, Expr> momenta;  ///< Hamiltonian::momenta
};

/// `d`: with the fields of `with_momenta`. E0874 where velocities of different sites share a
/// kinetic term, E0873 where a velocity has none, E0878 where l holds a momentum.
CanonicalForm canonical_form(const Theory& d, bool keep_parameters);

/// -a^3 l without velocities, as `lower` reads it.
Expr lagrangian_at_rest(const Theory& reading, Lowerer& lower, const Scope& scope);

}  // namespace vphi::physics
