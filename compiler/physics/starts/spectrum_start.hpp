// Waves with a given power as initial values: `init phi ~ spectrum(P)`.
//
// In d dimensions and a periodic box of volume V, f(x) = sum_k F_k e^{ikx} with F_k complex normal,
//   <|F_k|^2> = P(k)/V,
// independent for all pairs (k, -k); the zero mode is 0. This is the P of the output `spectrum`
// (runtime/observe/spectrum.hpp). P is a formula of the wave number `k` of the lattice's modes, or
// "file:column", a table over k.
#pragma once

#include "compiler/physics/lower/reading.hpp"
#include "compiler/physics/stages/program.hpp"

namespace vphi::physics {

/// The field of the call `e`, whose mean square of each mode is `share` times P/V; physical units.
RandomField spectrum_draw(const Program& d, Lowerer& lower, const dsl::Expr& e,
                          const Reading& reading, double share);

}  // namespace vphi::physics
