// `init gauss = 0` about any links, in any number of dimensions: momenta change as little as the
// kinetic energy measures it.
//
// The laws of all generators are linear in the momenta m of links and fields, law = L m, with
// coefficients of links and fields at the sites. Of all momenta that obey them
//
//   m - K^-1 L^T chi,   L K^-1 L^T chi = law,   K = d2H/dm2
//
// is the one nearest to what `init` gives, the distance being the kinetic energy of the difference.
// Momenta that are drawn with the weight exp(-kinetic energy/T) have then that weight among the
// momenta that obey the law: the energy is T/2 for each direction that is left. Links get the
// covariant gradient of chi, U chi(x + i) U^+ - chi, charged fields a rotation by chi. The operator
// is minus the covariant Laplacian and the squares of the rotations, hermitian and not below 0. The
// law is in its range, because it is L of something: directions that change nothing (a constant chi
// about links that are 1) have no law to obey.
#pragma once

#include <functional>

#include "compiler/physics/lower/gauss_law.hpp"
#include "compiler/physics/stages/start.hpp"

namespace vphi::physics {

/// `in_program`: physical values at the start in program units. `stored`: the same, of a change of
/// an array of state.
Projected gauss_projection(const Program& d, const std::vector<GeneratorLaw>& laws, dsl::Span span,
                           const std::function<Expr(Expr)>& in_program,
                           const std::function<Expr(int, Expr)>& stored);

}  // namespace vphi::physics
