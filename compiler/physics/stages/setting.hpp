// The setting: axes of sweeps, the start time, and the domain, a lattice or particles.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/physics/stages/context.hpp"

namespace vphi::physics {

class Lowerer;

/// The boundaries along each axis, of the lattice or of one field.
struct Walls {
  std::array<Boundary, 4> boundary{};
  std::array<double, 4> fixed_value{};  ///< Boundary::Fixed, physical units
  /// Of a spinor: its angle beyond the last site, where the boundary is periodic but for it; null:
  /// 0.
  std::array<Expr, 4> twist{};
  /// Of links: there is none from the last site along the axis to the first.
  std::array<bool, 4> open{};
  /// shift[axis][other]: beyond the last site along `axis` a row goes on at its first site so many
  /// sites further along `other`, and before the first as many back. Of the lattice, for all
  /// fields.
  std::array<std::array<std::int64_t, 4>, 4> shift{};
  /// Whether a row along the axis, or along some axis, goes on in another row.
  bool shifted(int axis) const;
  bool shifted() const;
  /// Whether links end along some axis.
  bool any_open() const;
  /// Whether sum(u lap v) = sum(v lap u) for fields with these walls.
  bool by_parts(int dims) const;
  bool periodic(int dims) const;
  /// Every site has a neighbour on either side: periodic or antiperiodic along each axis.
  bool closed(int dims) const;
};

/// The lattice clause, evaluated; lengths in the model's base units.
struct Grid : Walls {
  bool present = false;
  int dims = 3;
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  Expr dx;               ///< a number
  bool counted = false;  ///< neither length nor spacing is given: positions are numbers of sites
  dsl::Span span;
  std::int64_t sites() const;
};

/// `particles body: N`, a domain without neighbours, instead of a lattice.
struct Particles {
  bool present = false;
  std::int64_t count = 0;
  bool direct = false;  ///< `method = pairs`
  /// `method = separable(tolerance)`: smooth periodic pair functions are replaced by Fourier series
  /// with this error, relative to the largest value; 0: not requested.
  double tolerance = 0;
  dsl::Span method_span;
  dsl::Span span;
};

struct Sweeps {
  std::vector<Axis> axes;         ///< axes with more than one value
  std::vector<Axis> single_axes;  ///< axes with one value
  std::int64_t instances() const;
};

struct Setting : Context, Sweeps {
  explicit Setting(const Context& context) : Context(context) {}
  double start_time = 0;
  Grid grid;
  Particles particles;
};

Setting read_setting(const Context& context);

// ---- its steps
Sweeps read_sweep_axes(const Context& context);
double read_start_time(const Setting& d);
Grid read_lattice(const Setting& d);
/// Reads `boundary = ...` and `boundary(t) = ...` of a clause; they replace the entries of `walls`.
void read_boundaries(const Setting& d, Lowerer& lower, const dsl::Clause& clause, int dims,
                     Walls& walls);
Particles read_particles(const Setting& d);

}  // namespace vphi::physics
