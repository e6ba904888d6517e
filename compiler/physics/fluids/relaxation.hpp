// `relax q = target, time = tau, along = v`, and derivatives in time of primitive variables in the
// sources of laws.
//
// A variable that relaxes is a primitive variable that no density determines, and is stored itself.
// Its equation q' + v.grad(q) = (target - q)/tau is a law with the flux q*v, to which q*div(v) is
// added: the flux goes through the scheme of the model. Each component is a number that is carried
// along; nothing here knows what it is the stress or the flux of.
//
// Sources, targets and times may hold derivatives in time of primitive variables, p'. They are not
// differences between steps. Densities U(p) and sources S(p, p') that are linear in p' give
//   (dU/dp - dS/dp') p' = -div(F) + S(p, 0) - dU/dt,
// with the fluxes of the scheme and in dU/dt also what fields with equations of their own change, a
// linear system at each site that is solved by elimination without a choice of pivots at run time.
// Order, exact restarts and any integrator are those of the laws without such terms.
#pragma once

#include <map>
#include <vector>

#include "compiler/physics/fluids/conservation.hpp"

namespace vphi::physics {

/// Gives each primitive variable a stand-in for its derivative in time (Laws::primitive_rates).
void name_primitive_rates(Equations& d);
/// The laws of `relax` lines.
std::vector<Law> read_relaxations(const Equations& d, Lowerer& lower);
/// Whether a source holds the derivative in time of a primitive variable.
bool holds_primitive_rates(const Equations& d, const std::vector<Law>& laws);
/// Rates of quantities from those of the fluxes alone, for laws whose sources hold derivatives of
/// primitive variables. Operations keep their order.
std::map<int, Expr> with_known_rates(const Equations& d, const std::vector<Law>& laws,
                                     const std::map<int, Expr>& of_fluxes);
/// A source with names such as v[0]' for the stand-ins, to be printed.
Expr with_named_rates(const Equations& d, Expr source);
/// The law of a relaxing variable that makes signals fastest in a state, and how fast they are,
/// summed over the first `axes` axes, where it does not follow its target.
struct Carrier {
  const Law* law = nullptr;
  double without = 0;
};
Carrier carrier_of_signals(const Program& d, const std::vector<Law>& laws,
                           const std::map<int, double>& state, int axes);
/// Adds the promise that dt resolves each time of `relax`; E0834 where it does not at the start.
void check_relaxation(const Program& d, System& system);

}  // namespace vphi::physics
