// Equations of motion: one for every variable, of first or second order, of the right type.
#pragma once

#include <set>
#include <string>

#include "dsl/resolve.hpp"
#include "dsl/types/infer.hpp"

namespace vphi::dsl {

/// Right sides are checked against the variables; every variable must have an equation or get one
/// from potential, H or action (docs/rules.md rules 14 and 15).
void check_equations(Resolved& resolved, Inference& inference);

/// Names of the variables that are coordinates and momenta where the model has a Hamiltonian: those
/// that it moves, and those with an equation of their own beside what it gives.
std::set<std::string> canonical_names(const Resolved& resolved);

/// A field without equation and initial value that stands in the model as the name of an argument
/// alone: of a function, where the model solves a linear system. Like such a spinor it has no
/// memory.
bool names_argument(const Resolved& resolved, const Symbol& symbol);

/// Whether the model measures its initial state: links or spinors without `sample`, `evolve`,
/// `action` or an equation, and outputs `at end` only.
bool measures(const Resolved& resolved);

/// Whether links have an equation of their own: a flow, in units of the lattice.
bool links_flow(const Resolved& resolved);

/// What the model as a whole must have: time or a Markov chain, initial values.
void check_model(Resolved& resolved);

}  // namespace vphi::dsl
