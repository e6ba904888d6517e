// Functions whose values are links: `stout(U, rho)[mu] = exp(A)*U[mu]`.
//
// Such a function has parameters, and indices of its value behind them. A model takes it for links,
// `V = stout(U, 0.1)`; with a number behind the arguments it is applied so many times, each time to
// the links that it made before. A call may stand wherever the name of links may,
// `loop(stout(U, 0.1), mu, nu, -mu, -nu)`, also as an argument of another call.
#pragma once

#include "dsl/resolve.hpp"

namespace vphi::dsl {

/// Writes every call of such a function out as a definition, `V[mu] = exp(A)*U[mu]`: its text with
/// the arguments in place of the parameters. In a function whose own parameters are among the
/// arguments the text stands in the place of `f(s)[i]`. Names that the text of a library function
/// binds are changed where the model has them. Can fail: a wrong number of arguments, a number of
/// steps that is not a whole number from 1 to 64, an argument that is no name where the text needs
/// one. Of functions that need each other no more than a thousand lines are written; they are a
/// cycle.
void write_out_link_functions(Resolved& resolved);

/// Whether a head is that of such a function.
inline bool makes_links(const Head& head) { return !head.indices.empty(); }

}  // namespace vphi::dsl
