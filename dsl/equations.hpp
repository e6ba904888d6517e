// Checks equations of motion: there must be one for every variable, of first or second order, with
// the right type.
#pragma once

#include <set>
#include <string>

#include "dsl/resolve.hpp"
#include "dsl/types/infer.hpp"

namespace vphi::dsl {

/// Right sides are checked against the variables; every variable must have an equation or get one
/// from potential, H or action (docs/rules.md rules 14 and 15).
void check_equations(Resolved& resolved, Inference& inference);

/// Names of the coordinates and momenta where the model has a Hamiltonian: variables whose
/// equations follow from it, also those with additional terms in an equation of their own.
std::set<std::string> canonical_names(const Resolved& resolved);

/// Whether a field without equation and initial value is only the name of an argument of a
/// function, in a model that solves a linear system. Like such a spinor it has no memory.
bool names_argument(const Resolved& resolved, const Symbol& symbol);

/// Whether the model measures its initial state: links or spinors without `sample`, `evolve`,
/// `action` or an equation, and outputs `at end` only.
bool measures(const Resolved& resolved);

/// Whether links have an equation (a flow, in units of the lattice).
bool links_flow(const Resolved& resolved);

/// Checks the model as a whole: it needs time or a Markov chain, and initial values.
void check_model(Resolved& resolved);

}  // namespace vphi::dsl
