// Terms f(u)*R of a Lagrangian, R = 6 (H' + 2 H^2) the curvature of a metric that follows the
// averages.
//
// R a^3 = 6 (a^2 a'' + a a'^2) holds a''. Up to a total derivative a^3 f R is
// -6 a a'^2 f - 6 a^2 a' f', and with -3 M^2 a a'^2 of gravity all is a Lagrangian of first
// derivatives of u(x) and a. Of l + f R, rho0 and p0 the density and pressure of l:
//
//   u:           (a^3 p_i)' = a^3 (F_i + R df/du_i)
//   constraint:  3 M^2 H^2 = <rho>,  rho = rho0 - 6 H^2 f - 6 H f'
//   a:           M^2 (-2 a''/a - H^2) = <p>,  p = p0 + 2 f (2 a''/a + H^2) + 4 H f' + 2 f''
//
// so that rho' = -3 H (rho + p). f'' holds u'', and u'' holds R: the last line is linear in R, and
// with a''/a = R/6 - H^2
//
//   R = (M^2 H^2 - <p at R = 0>)/(M^2/3 + <dp/dR>).
//
// For f = -xi phi^2/2: 3 (M^2 - xi <phi^2>) H^2 = <rho0> + 6 xi H <phi phi'>.
#pragma once

#include "compiler/physics/stages/equations.hpp"

namespace vphi::physics {

/// The symbol of R while rates are found.
Expr unknown_curvature(Arena& arena);

/// l without its terms f*R; f is added to `d.curvature`. E0875 where f is no function of fields at
/// the site, or the rest holds H.
Expr without_curvature(Theory& d, Expr l, dsl::Span span);

/// Puts the value of R into all rates.
void close_curvature(Equations& d);

}  // namespace vphi::physics
