// Stencils: linear operators on the lattice, and what follows from their weights.
//
// A StencilData (expr.hpp) is a list of offsets with integer weights over one denominator. These
// functions recognise it in an expression, check it by its moments, compute its symbol in Fourier
// space and its largest eigenvalue, and divide it into sums that a kernel shares between points:
//
// * RowPlan: rows along x with equal weights are added first, then combined along x (CPUs).
// * PlanePlan: planes across the last axis; each class of points with equal weights is summed once
//   per plane, and all planes combine the same class sums with integer weights (marches on GPUs).
//
// A plan fixes the order of the additions: it is that of `apply` below, and an emitter that follows
// it gives the same bits. All functions are pure; recognition returns the reason of a failure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::algebra {

Offset mirrored(Offset offset);
Offset sum_of(Offset a, Offset b);

// ---- making ----------------------------------------------------------------------------------

/// Offsets with components in {-1, 0, 1} of which `nonzero` are not 0: 1 faces, 2 edges, 3 corners.
std::vector<Offset> neighbours(int dims, int nonzero);
/// Sum of `u` over these neighbours; 0 where there are none (edges in one dimension).
Expr neighbour_sum(Expr u, int dims, int nonzero);

struct Recognised {
  std::optional<StencilData> stencil;
  std::string why_not;  ///< the reason, in one sentence, where there is none
};
/// `expr` as a linear operator on the array of its loads: a sum of loads with coefficients that are
/// exact rationals times the same power of the symbol `dx` (null: no spacing occurs).
Recognised recognise(Expr expr, Expr dx, int dims, std::string name);

/// The operator with mirrored offsets: sum_x v (L u) = sum_x (L^T v) u.
StencilData adjoint(const StencilData& stencil);
bool is_symmetric(const StencilData& stencil);

/// dx^p/denominator * sum of weight * argument shifted, as an expression without Stencil nodes. A
/// spectral operator has no weights: it stays a Stencil.
Expr written_out(const StencilData& stencil, Expr argument, Expr dx);

/// Energy density of the gradient that belongs to a Laplacian L with weights w_i at offsets o_i:
/// 1/4 sum_i w_i (u(x + o_i) - u(x))^2, whose total is that of -u L u / 2 to round-off where the
/// box is periodic. It is -u L u / 2 itself where L is spectral. Includes 1/denominator and dx^p.
/// `u` is a Load. Pairs::Once counts each pair of sites at one of the two sites, for a symmetric
/// stencil: the total in a periodic box is the same, at half the work.
enum class Pairs { Both, Once };
Expr gradient_energy(const StencilData& stencil, Expr u, Expr dx, Pairs pairs = Pairs::Both);

// ---- properties ------------------------------------------------------------------------------

/// sum_i w_i prod_a o_i[a]^power[a] / denominator, exact.
Rational moment(const StencilData& stencil, const std::array<int, 4>& power);

/// How well the operator approximates the Laplacian.
struct Consistency {
  bool laplacian = false;  ///< sum of weights 0, odd moments 0, second moments 2, dx_power -2
  int order = 0;           ///< error is O(dx^order); 0 where it is not a Laplacian
  bool isotropic = false;  ///< the leading error depends on |k| alone
  std::string error;       ///< the reason, where it is not a Laplacian
};
Consistency consistency(const StencilData& stencil);

/// -dx^2 times the symbol: k_eff^2 dx^2 at the wave vector k dx (real part).
double k_eff2(const StencilData& stencil, const std::array<double, 4>& k_dx);
/// The same as an expression of the symbols "kx", "ky", "kz", "kt" (each k dx), for printing.
Expr symbol(Arena& arena, const StencilData& stencil);

/// Largest k_eff^2 dx^2 over the Brillouin zone.
struct LargestEigenvalue {
  double value = 0;
  bool exact = false;  ///< at a corner of the zone: `rational` is the value
  Rational rational;
  std::array<double, 4> at{};  ///< k dx
};
LargestEigenvalue largest_eigenvalue(const StencilData& stencil);

// ---- plans -----------------------------------------------------------------------------------

/// Points along x with equal weights.
struct RowClass {
  std::int64_t weight = 0;
  std::vector<int> dx;  ///< ascending
};

/// Rows (dy, dz, dt) whose weights along x are equal.
struct RowGroup {
  std::vector<Offset> rows;       ///< d[0] = 0; the first is nearest to the centre
  std::vector<RowClass> classes;  ///< ordered by |dx|
};

/// value = sum over groups, over classes of weight * (sum over dx of t(x + dx)),
/// t(x) = sum over rows of u(x + row). All sums from left to right, in the order of the lists.
struct RowPlan {
  std::vector<RowGroup> groups;
};
RowPlan row_plan(const StencilData& stencil);

/// Points within a plane that have equal weights in every plane operator.
struct PlaneClass {
  std::vector<Offset> points;  ///< component along the march axis is 0
};

struct Plane {
  int offset = 0;   ///< along the march axis
  int pattern = 0;  ///< index into PlanePlan::patterns
};

/// value = sum over planes p of sum over classes c of patterns[p.pattern][c] * S_c(p.offset),
/// S_c(k) = sum over the points of class c in plane k. A weight 0 means that the class is absent.
/// For the 27-point Laplacian: classes C, F (4 faces), D (4 diagonals); patterns
/// {14, 3, 1} at k = -1 and +1, {-128, 14, 3} at k = 0.
struct PlanePlan {
  int march_axis = 2;                               ///< the last axis: dims - 1
  int reach = 0;                                    ///< largest |component| within a plane
  int depth = 0;                                    ///< largest |offset| along the march
  std::vector<PlaneClass> classes;                  ///< by distance from the centre
  std::vector<std::vector<std::int64_t>> patterns;  ///< weight of each class
  std::vector<Plane> planes;                        ///< ascending offset
};
PlanePlan plane_plan(const StencilData& stencil);

/// Integer-weighted sum (without dx^p/denominator) in the order of the plan.
/// `read(Offset)` gives u at the site plus the offset.
template <class Real, class Read>
Real apply(const RowPlan& plan, const Read& read) {
  Real value = 0;
  bool first = true;
  for (const RowGroup& group : plan.groups) {
    const auto column = [&](int dx) {
      Real t = 0;
      for (std::size_t i = 0; i < group.rows.size(); ++i) {
        Offset at = group.rows[i];
        at.d[0] = static_cast<std::int16_t>(dx);
        t = i == 0 ? read(at) : t + read(at);
      }
      return t;
    };
    for (const RowClass& c : group.classes) {
      Real s = column(c.dx[0]);
      for (std::size_t i = 1; i < c.dx.size(); ++i) s = s + column(c.dx[i]);
      const Real term = c.weight == 1 ? s : static_cast<Real>(c.weight) * s;
      value = first ? term : value + term;
      first = false;
    }
  }
  return value;
}

template <class Real, class Read>
Real apply(const PlanePlan& plan, const Read& read) {
  Real value = 0;
  bool first = true;
  for (const Plane& plane : plan.planes) {
    Real part = 0;
    bool first_class = true;
    for (std::size_t c = 0; c < plan.classes.size(); ++c) {
      const std::int64_t weight = plan.patterns[static_cast<std::size_t>(plane.pattern)][c];
      if (weight == 0) continue;
      Real s = 0;
      for (std::size_t i = 0; i < plan.classes[c].points.size(); ++i) {
        Offset at = plan.classes[c].points[i];
        at.d[plan.march_axis] = static_cast<std::int16_t>(plane.offset);
        s = i == 0 ? read(at) : s + read(at);
      }
      const Real term = weight == 1 ? s : static_cast<Real>(weight) * s;
      part = first_class ? term : part + term;
      first_class = false;
    }
    value = first ? part : value + part;
    first = false;
  }
  return value;
}

}  // namespace vphi::algebra
