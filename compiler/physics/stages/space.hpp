// Space: the lattice's Laplacian, and the metric of the background.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/physics/stages/declared.hpp"

namespace vphi::physics {

enum class Metric { Minkowski, Prescribed, SelfConsistent };

struct Background {
  Metric metric = Metric::Minkowski;
  std::string scale = "a";  ///< name of the scale factor in the model
  Expr prescribed;          ///< a(t)
  Expr radiation, matter;   ///< symbols of rho_r, rho_m at a = 1; null where absent
  /// Symbols of `radiation` and `matter` -> their values.
  std::unordered_map<const algebra::Node*, Expr> fluids;
  Expr planck2;  ///< (8 pi G)^-1 in the model's units
  dsl::Span span;
};

/// `metric scale(h1, h2, h3)`: orthogonal coordinates, ds^2 = dt^2 - sum h_i^2 dx_i^2. Factors
/// beyond the axes of the lattice belong to coordinates on which nothing depends.
struct Coordinates {
  std::vector<Expr> factors;  ///< functions of positions and t; empty without the clause
  bool moving = false;        ///< a factor changes with t
  bool curved = false;        ///< a factor depends on a position
  dsl::Span span;

  bool given() const { return !factors.empty(); }
};

struct Space : Declared {
  explicit Space(const Declared& declared) : Declared(declared) {}
  int laplacian = -1;  ///< number of the stencil, dx_power -2, any unit of dx
  Background background;
  Coordinates coordinates;

  bool expanding() const { return background.metric != Metric::Minkowski; }
  Expr scale() const { return arena().symbol(background.scale); }
  Expr scale_or_one() const { return expanding() ? scale() : arena().integer(1); }
  Expr hubble() const { return arena().symbol("H"); }
};

Space read_space(const Declared& declared);

// ---- its steps
/// Number of the stencil of `lap`; -1 without a lattice.
int choose_laplacian(const Declared& d);
/// (8 pi G)^-1 in the model's units.
Expr read_units(const Context& d);
Background read_metric(const Space& d, Expr planck2);
Coordinates read_coordinates(const Space& d);

// ---- functions for later stages
Expr hubble2(const Space& d, Expr density);
/// Evaluates e for homogeneous fields: every Load is replaced by its value, and stencils and
/// gradients are 0. `known` becomes false where a value is null.
Expr at_homogeneous(const Space& d, Expr e, const std::map<int, Expr>& values, bool& known);

}  // namespace vphi::physics
