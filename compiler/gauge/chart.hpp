// Coordinates of a moving link about the link U0 at the start of a step:
//
//   U = exp(i theta) U0,   theta = theta_a T_a.
//
// theta is a vector: sums of rates are coordinates again, so that any integrator of general rates
// moves a link within its group. With ad v = i[theta, v] the velocity w of U' = i w U gives
//   theta' = w - ad w/2 + sum_k (B_2k/(2k)!) ad^2k w
// (Munthe-Kaas; Hairer, Lubich, Wanner, Geometric Numerical Integration, III.4 and IV.7).
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

}  // namespace vphi::gauge
