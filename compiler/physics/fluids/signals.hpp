// Signal velocities of conservation laws: eigenvalues of the Jacobian of the flux.
//
// With densities U(P) and fluxes F(P) of the primitive variables P, the signal velocities along an
// axis are the eigenvalues of dF/dU, which are those of (dU/dP)^-1 dF/dP. Sources S that hold
// derivatives of P in space and time change them, to those of (dU/dP - dS/dP')^-1 (dF/dP -
// dS/d(grad P)), for waves that are long against dx. At one state they are
// computed as numbers. For a run there is an expression for a site, made of traces of powers, which
// holds for any laws and equation of state: v + c for a gas, u for Burgers' equation, at most 1 for
// a relativistic fluid. Nothing fails: the result is empty where dU/dP has no inverse.
#pragma once

#include <complex>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "compiler/algebra/matrix.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"

namespace vphi::physics {

using Formulas = std::vector<std::vector<Expr>>;

class Signals {
 public:
  Signals(const Space& d, const std::vector<Law>& laws,
          const std::map<int, int>& primitive_rates = {});

  /// The largest |velocity| along an axis at a state of primitive variables; `sources`: of the laws
  /// with their sources, otherwise of the fluxes alone.
  std::optional<double> largest(const Numbers& primitives, int axis, bool sources = true) const;
  /// All velocities along an axis: complex where waves grow. Empty where dU/dP has no inverse.
  std::vector<std::complex<double>> velocities(const Numbers& primitives, int axis) const;
  /// The state with 0 for what relaxes: large stresses make waves of their own.
  Numbers without_stresses(Numbers primitives) const;
  /// The sign of det(dU/dP), -1, 0 or 1; nothing where the matrix is not square or not finite.
  std::optional<int> orientation(const Numbers& primitives) const;

  /// Whether the velocities depend on the state only, not on time or a swept name.
  bool of_state_alone() const;
  /// Whether they depend on fields that have equations of their own.
  bool reads_fields() const;

  /// The same at a site, as an expression of Loads of the primitive variables. It is `otherwise`
  /// (null: 0) where the densities do not determine the primitive variables, as in a vacuum. Null
  /// where they do so nowhere and `otherwise` is null. The largest velocity is computed as sqrt(sum
  /// l^18/sum l^16): exact where all nonzero |l| are equal, never above the largest, and at most
  /// 1.7 % below it for two of them, 2.7 % for three, 4.2 % for five.
  Expr at_site(int axis, Expr otherwise) const;

 private:
  /// Whether a slope of the densities or the fluxes holds such a node.
  bool slopes_hold(const std::function<bool(Expr)>& node) const;
  void prepare();
  /// Matrices whose quotient has the velocities as eigenvalues; nothing where they are not square.
  std::optional<std::pair<algebra::Matrix, algebra::Matrix>> slopes_at(const Numbers& primitives,
                                                                       int axis,
                                                                       bool sources) const;

  const Space& d_;
  std::vector<int> primitives_;
  std::map<int, Expr> densities_;      ///< quantity -> as a function of primitive variables
  Formulas density_slopes_;            ///< [component][primitive variable]
  std::vector<Formulas> flux_slopes_;  ///< for each axis
  /// What sources that read neighbours and hold derivatives in time take from the two; empty where
  /// none does.
  Formulas rate_slopes_;
  std::vector<Formulas> gradient_slopes_;
  /// For each axis: slopes of the densities and of the fluxes, row by row, and those of the
  /// sources.
  std::vector<algebra::Evaluation> of_laws_, of_sources_;
  algebra::Evaluation of_densities_;
};

/// u^-1 f at a site, as expressions of Loads of the primitive variables.
struct SiteJacobian {
  Formulas matrix;
  Expr sound;  ///< 1 where no pivot is 0
};
/// Nothing where u has no inverse.
std::optional<SiteJacobian> jacobian_at_site(const Space& d, Formulas u, Formulas f);

/// Its largest |eigenvalue|, of traces of powers as Signals::at_site.
Expr largest_at_site(const SiteJacobian& jacobian, Expr otherwise);

/// A state in which no pivot is 0, unlike matter at rest.
Numbers sample_state(const Space& d);

/// The eigenvalues of u^-1 f; empty where u has no inverse.
std::vector<std::complex<double>> eigenvalues_of(algebra::Matrix u, algebra::Matrix f);

/// The largest |eigenvalue| of u^-1 f; nothing where u has no inverse.
std::optional<double> spectral_radius_of(algebra::Matrix u, algebra::Matrix f);

/// The largest speed in the initial state, from a sample of its sites: along one axis where
/// `one_at_a_time`, otherwise the sum over the axes. Nothing where the initial state is random or
/// read from a file.
std::optional<double> speed_at_start(const System& system, const Signals& signals,
                                     bool one_at_a_time);

/// A bound of the signals that one is faster than.
struct Outrun {
  double signal = 0, bound = 0;
};
/// The state of the start in which a signal exceeds the bound of its axis most, by more than a
/// twentieth; nothing where none does, or where the start is random or read from a file.
std::optional<Outrun> outrun_at_start(const System& system, const Signals& signals,
                                      const std::vector<Expr>& bounds);

/// A velocity that is not real: waves with it grow.
struct GrowingWave {
  Numbers state;  ///< primitive variables
  int axis = 0;
  std::complex<double> velocity;
};
/// Of the velocities in a state the one with the largest imaginary part, over all axes; nothing
/// where they are real to a fiftieth of the largest, which is more than rounding makes of
/// velocities that are equal.
std::optional<GrowingWave> growing_wave(const Signals& signals, const Numbers& primitives,
                                        int axes);
/// The same at the sites of the start, with 0 for what relaxes; nothing also where the start is
/// random or read from a file.
std::optional<GrowingWave> growing_at_start(const System& system, const Signals& signals);

/// The largest value of an expression of primitive variables at the same sites; NaN where one is.
/// `where`: the state there.
std::optional<double> largest_at_start(const System& system, Expr value, Numbers* where = nullptr);

}  // namespace vphi::physics
