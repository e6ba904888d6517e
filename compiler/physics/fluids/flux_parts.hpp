// Parts of fluxes that are no function of the state in one cell: derivatives and white noise.
//
// The flux of a law is read apart, F(U) + G + n. A flux scheme takes F to the faces by its text. G,
// the terms with derivatives in space (viscosity, conduction of heat, diffusion), is taken at each
// face: values there are those of the line through the two cells beside it, so d(u, x) is
// (u@x - u)/dx at a face along x and the mean of both cells at the others. Diffusion then has the
// compact Laplacian, which damps every wave. The noise n has a number of its own for each face, and
// its factor is taken there too: what leaves a cell enters the next one, and with -D*grad(u) as G
// the structure factor is that of equilibrium at every wave number (Donev and others, Comm. App.
// Math. Comp. Sci. 5 (2010) 149).
#pragma once

#include <cstddef>

#include "compiler/physics/stages/equations.hpp"

namespace vphi::physics {

/// The offset of so many cells along an axis.
algebra::Offset cells_along(std::size_t axis, int count);

/// Whether it reads a field elsewhere than at its own site.
bool reads_neighbours(Expr e);

/// Moves derivatives from Law::flux to Law::through, and noise from Law::flux and Law::source to
/// Law::noise. Errors: E0760, a term that is not linear in its noise; E0839, a derivative of
/// another kind than `d(u, x)` of values of the state.
void take_apart(const Equations& d, Law& law);

/// What the noise adds to U' of a component, unit noise being that of a cell; null where it has
/// none.
Expr noise_in_rate(const Equations& d, const Law& law, std::size_t component);

}  // namespace vphi::physics
