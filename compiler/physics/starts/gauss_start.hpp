// `init gauss = 0`: a start that obeys Gauss's law whatever fields and momenta are drawn.
//
// The law of a generator at a site is sum_i (E_i(x) - E_i(x - i)) + charge(x) = 0. Two changes of
// what `init` gives make it hold:
//   - the sum of the charges over a periodic box has to vanish, because that of the divergence
//     does. Momenta of charged fields get p -> p + sum_b c_b T_b f, one number c_b for each
//     generator and all sites. Total charges are linear in them; the change of one generator's by
//     another's is a symmetric matrix, not below 0;
//   - E_i -> E_i + chi(x + i) - chi(x), -lap chi = divergence + charge, with the lattice's own
//     differences: the smallest change of E that does it, the projection. It is made for each
//     generator by itself, for links of SU(n) that start as 1; those of U(1) start as any.
// About other links, where links end at the box, and in four dimensions, all momenta are projected
// together (gauss_projection.hpp).
#pragma once

#include "compiler/physics/stages/start.hpp"

namespace vphi::physics {

/// Parts momenta that need H from what H adds to them: the law is solved for without it, the
/// Friedmann equation has the energies of what then is there, and H follows. That addition must
/// obey the law by itself; E0895 where the algebra does not find that.
void part_with_hubble(const Program& d, StartValues& start);
/// Sets `gauss` or `projected` of the result where an `init` names `gauss`. `start`: the values of
/// `init`. E0895 where it cannot be obeyed.
void gauss_start(const Program& d, ProgramUnits& units, const StartValues& start, Start& result);

}  // namespace vphi::physics
