// Conversion of physical expressions to stored variables in program units (docs/rules.md rule 21,
// docs/formulas.md 1.4).
//
//   psi = A*phi,  x_program = B*x,  d(eta) = B*a^s dt,  pi = a^(c+s) d(psi)/d(eta)
//
// with c = 3 for a field in an expanding box, so that phi = psi/A, phi' = (B/A)*a^-c*pi,
// H = B*a^(s-1)*b with b = da/d(eta), and lap = B^2 * (Laplacian in program units).
//
// `form = rescaled` (docs/formulas.md 1.2): psi = A*a^r*phi and v = d(psi)/d(eta). With h = b/a,
//   phi' = (B/A)*a^(s-r)*(v - r*h*psi)
//   dv/d(eta) = (A/B^2) a^(r-2s) (phi'' + c*H*phi') - (s-2r+c) h v
//               + (r(s-r-1+c) h^2 + r a''/a) psi
// where a'' = d^2a/d(eta)^2; with c = 3 the bracket is r(s-r+2) h^2 + r a''/a.
#pragma once

#include <map>
#include <unordered_map>

#include "compiler/algebra/stencil.hpp"
#include "compiler/physics/stages/motion.hpp"

namespace vphi::physics {

class ProgramUnits {
 public:
  /// `unmixed`: stored velocities of the rescaled form stand for (A/B) a^(r-s) phi', without the
  /// term in h. This is their form at the start, until the Hubble rate is known.
  explicit ProgramUnits(const Motion& d, bool unmixed = false);

  /// The same quantity, still in physical units, as an expression of stored variables and scalars.
  /// |grad u|^2 becomes the sum of squared differences that matches the Laplacian. In a periodic
  /// box its average is that of -u lap u, and it loses no digits where u has a large mean.
  Expr quantity(Expr physical);
  /// The same for the rate of a'. In a periodic box averages of |grad u|^2 are computed from -u lap
  /// u, because the step computes lap u anyway. Compared with rho the rounding error is negligible.
  Expr quantity_of_step(Expr physical);

  /// d(psi)/d(eta) of a first-order variable from its physical rate.
  Expr first_order_rate(Expr physical, int array);
  /// d(pi)/d(eta) = (A/B^2) a^(c-s) (phi'' + c*H*phi')
  Expr momentum_rate(Expr physical, int velocity, Expr c);
  /// d(psi)/d(eta) = a^-(c+s)*pi, or v
  Expr coordinate_rate(int velocity, Expr c);

  Expr time();          ///< t: a symbol, or a function of program time
  Expr program_time();  ///< symbol of eta, where t is a function of it
  bool explicit_time() const { return static_cast<bool>(time_); }
  Expr program_start() const { return eta_start_; }
  /// e at the start: t, a and eta are replaced by their initial values (a only where it does not
  /// depend on the state).
  Expr at_start(Expr e);

  Expr scale();  ///< a: a symbol, a function of t, or 1
  Expr hubble();
  Expr log_slope();  ///< h = a'/a in program time
  Expr curvature();  ///< a''/a in program time
  Expr slope_rate;   ///< a'' where a follows the averages: set by `background_rate`
  /// The term of a stored velocity that is added once H is known, r*h*psi; null where there is
  /// none.
  Expr velocity_shift(int array);
  std::string slope_name() const;       ///< symbol of b = da/d(eta)
  Expr spacing() const { return dx_; }  ///< program units, a number
  /// The stored value of an array of state, from the physical value.
  Expr stored(int array, Expr physical) const { return physical / load_factors_.at(array); }

  /// Random arrays: factor from the array to the physical value.
  std::map<int, Expr> random_factors;

 private:
  Expr convert(Expr e);
  Expr stencil(Expr e);
  /// The value of a load of state or of a solution, physical.
  Expr loaded(Expr load);
  /// The same without the phase that a spinor has beyond the edges.
  Expr inside(Expr load);
  Expr rescaled_rate(Expr forced, int velocity, Expr c);
  Expr convert_reduction(algebra::Op op, Expr argument, dsl::Span span);
  Expr with_wall_sites(Expr density);
  Expr between_fixed_walls(Expr density, int axis) const;
  Expr matching_gradient(int array, algebra::Offset offset, algebra::Pairs pairs);

  const Motion& d_;
  bool unmixed_ = false;
  bool in_step_ = false;  ///< set inside `quantity_of_step`
  void solve_time();

  Expr dx_;
  Expr scale_;                        ///< a(eta) where t is a function of eta
  Expr time_, eta_start_;             ///< t(eta) of a prescribed power law, and eta at the start
  std::map<int, Expr> load_factors_;  ///< stored array -> factor to the physical value
  std::map<int, int> psi_of_;         ///< rescaled form: stored velocity -> its field
  std::unordered_map<const algebra::Node*, Expr> known_;
};

}  // namespace vphi::physics
