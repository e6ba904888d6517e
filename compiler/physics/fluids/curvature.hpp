// Conservation laws in the coordinates of `metric scale(h1, h2, h3)`, ds^2 = dt^2 - sum h_i^2
// dx_i^2, with components in the orthonormal frame. With G = h1*h2*h3, H_k = d(ln h_k)/dt and
// K_ik = d(ln h_i)/(h_k dx_k):
//
//   a number    U' = -(1/G) sum_k d(G/h_k F_k)/dx_k - U sum_k H_k
//   the energy  the same, and - sum_k H_k T_kk
//   a vector    M_i' = -(1/G) sum_k d(G/h_k T_ik)/dx_k - M_i (sum_k H_k + H_i)
//                      - sum_{k != i} (T_ik K_ik - T_kk K_ki)
//
// T is the flux of the vector; along a coordinate without an axis it has its isotropic part alone.
// What has a curl as its flux crosses surfaces: B_i' = -B_i sum_{k != i} H_k - (curl E)_i.
// In an expanding box all three factors are a, and the energies and T are what expands it:
// rho = E and p = (T_xx + T_yy + T_zz)/3, sums over the fluids, with which rho' = -3 H (rho + p)
// for the means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/physics/fluids/conservation.hpp"

namespace vphi::physics {

/// Adds what scale factors do apart from the areas of faces to the sources of the laws.
void add_curvature(const Equations& d, std::vector<Law>& laws);
/// What laws add to the energy density and the pressure of an expanding box: the laws that `energy`
/// names, and the stress of their momenta.
struct LawEnergy {
  Expr density, pressure;
};
/// Nothing without laws, or where `energy = none`.
std::optional<LawEnergy> energy_of_laws(const Equations& d);
/// Replaces the differences between faces by those of flux times area over the volume of the cell;
/// `use` is the line of the model that names the scheme.
void take_areas(const Equations& d, AxisScheme& scheme, const dsl::Clause& use,
                const std::string& name);
/// The laws with fluxes per coordinate, F_k/h_k, and a velocity along an axis per coordinate.
std::vector<Law> per_coordinate(const Space& d, std::vector<Law> laws);
Expr per_coordinate(const Space& d, Expr velocity, int axis);

}  // namespace vphi::physics
