// Replica exchange (parallel tempering): `sample ..., exchange = K`.
//
// Instances with neighbouring values of a swept name exchange their configurations x with the
// probability min(1, exp(-D)), D = [S'(x) - S(x)] + [S(x') - S'(x')], where S is the action with
// the first value and S' with the second. This leaves exp(-S(x) - S'(x')) as it is (Swendsen and
// Wang, Phys. Rev. Lett. 57 (1986) 2607; Hukushima and Nemoto, J. Phys. Soc. Jpn. 65 (1996) 1604).
// Any action is taken; the name may stand anywhere in it. Here the two brackets are derived from
// the text of the actions, as scalars of each instance: S with the value of the axis above, or
// below, minus S with its own. The runtime draws and exchanges (runtime/run/exchange.hpp).
#pragma once

#include <optional>

#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/outputs.hpp"

namespace vphi::physics {

/// Whether the model's chain exchanges configurations.
bool exchanges(const Context& d);
/// The axis along which the model's chain exchanges configurations, a place in System::axes; -1:
/// the axis has one value. Nothing without `exchange`. Fails where the name is no sweep (E0737).
std::optional<int> exchange_axis(const Setting& d);
/// The exchange as a clause with two scalars (OutputClause::exchange); nothing where there is none,
/// or where the axis has one value. Fails where the axis is not one (E0737), where no action
/// depends on it (E0779), and for determinants (E0901).
std::optional<OutputClause> read_exchange(const Program& d, Lowerer& lower, ProgramUnits& units);

}  // namespace vphi::physics
