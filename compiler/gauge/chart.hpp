// Coordinates of a moving link about the link U0 at the start of a step:
//
//   U = exp(i theta) U0,   theta = theta_a T_a.
//
// theta is a vector: sums of rates are coordinates again, so that any integrator of general rates
// moves a link within its group. With ad v = i[theta, v] the velocity w of U' = i w U gives
//   theta' = w - ad w/2 + sum_k (B_2k/(2k)!) ad^2k w
// (Munthe-Kaas; Hairer, Lubich, Wanner, Geometric Numerical Integration, III.4 and IV.7).
//
// A step of length h of the midpoint rule takes instead
//   U1 = exp(i h w) U0,  E1 = E0 + h (F + i[w, m]),   w, F at exp(i h w/2) U0 and the momentum m,
// so that F + i[w, m], the rate of E in the frame of the link's beginning, and F, that in the frame
// of its end, are both added as they are. The second, adj(U1) E1 U1 = adj(U0) E0 U0 + h adj(U) F U,
// holds for m = (sinh(ad)/ad)(E - tanh(ad/2)(E - E0)), theta = h w/2, E = (E0 + E1)/2. A sum of
// rates that vanishes at every state, as that of Gauss's law of an H that gauge transformations
// leave as it is, then is a sum of changes that vanishes in every step. It is the step of the
// discrete action h L(exp(i h w/2) U0, w) (Marsden, West, Acta Numerica 10 (2001) 357; Bou-Rabee,
// Marsden, Found. Comput. Math. 9 (2009) 197).
#pragma once

#include "compiler/gauge/group.hpp"

namespace vphi::gauge {

/// Powers of ad in theta' with a remainder below `unit` for |ad| up to 0.5, as of a link of SU(2)
/// that turns by half a radian in a step. Even. Longer turns have a larger remainder,
/// (|ad|/2pi)^(n + 2).
int chart_powers(double unit);

/// i[u, v] of u = u_a T_a and v = v_a T_a, by its coordinates.
std::vector<Expr> bracket(const Group& group, std::span<const Expr> u, std::span<const Expr> v);

/// theta' of a velocity, up to `powers` powers of ad.
std::vector<Expr> turn_rate(const Group& group, std::span<const Expr> theta,
                            std::span<const Expr> velocity, int powers);

/// m of the midpoint rule, of E at the middle and what it has changed by.
std::vector<Expr> middle_momentum(const Group& group, std::span<const Expr> theta,
                                  std::span<const Expr> momentum, std::span<const Expr> change,
                                  int powers);

}  // namespace vphi::gauge
