// Signal velocities of conservation laws: eigenvalues of the Jacobian of the flux.
//
// With densities U(P) and fluxes F(P) of the primitive variables P, signals along an axis run with
// the eigenvalues of dF/dU, which are those of (dU/dP)^-1 dF/dP. At one state they are found as
// numbers; for a run there is an expression of a site, of traces of powers, for any laws and
// equations of state: v + c of a gas, u of Burgers' equation, at most 1 of a relativistic
// fluid. Nothing fails: where a state has no such matrix the result is empty.
#pragma once

#include <optional>
#include <vector>

#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"

namespace vphi::physics {

class Signals {
 public:
  Signals(const Space& d, const std::vector<Law>& laws);

  /// The largest |velocity| along an axis at a state of primitive variables.
  std::optional<double> largest(const Numbers& primitives, int axis) const;

  /// Whether velocities depend on the state alone: on no time and no swept name.
  bool of_state_alone() const;

  /// The same at a site, of loads of the primitive variables; `otherwise` (null: 0) where densities
  /// do not determine them, as in a vacuum; null where they do so nowhere and `otherwise` is null.
  /// Velocities l count as sqrt(sum l^18/sum l^16): exact where all but 0 have one size, never
  /// above the largest, and at most 1.7 % below it for two of them, 2.7 % for three, 4.2 % for
  /// five.
  Expr at_site(int axis, Expr otherwise) const;

 private:
  using Formulas = std::vector<std::vector<Expr>>;

  const Space& d_;
  std::vector<int> primitives_;
  Formulas density_slopes_;            ///< [component][primitive variable]
  std::vector<Formulas> flux_slopes_;  ///< by axis
};

/// The largest speed of the initial state along the axes (of one where `one_at_a_time`, else of
/// their sum), from a part of its sites; nothing where the start is drawn or lies in a file.
std::optional<double> speed_at_start(const System& system, const Signals& signals,
                                     bool one_at_a_time);

}  // namespace vphi::physics
