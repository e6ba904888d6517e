// Values of the language as real scalar expressions.
//
// A `Value` is what a subtree of the model text stands for: a real or complex number, a vector or a
// matrix of them, each component an algebra expression (or a pair of them). Complex arithmetic ends
// here: everything after `lower` is real. Values own nothing but handles into the arena; the
// functions below throw `ShapeError` where shapes do not fit (caught by the lowering, which knows
// the place in the text).
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/algebra/mover.hpp"
#include "compiler/gauge/word.hpp"

namespace vphi::physics {

using algebra::Arena;
using algebra::Expr;

/// re + i*im; `im` is null for a number that is real by construction.
struct Component {
  Expr re;
  Expr im;
  bool real() const { return !im; }
};

/// A path along links that starts at a site.
struct LinkPath {
  algebra::Offset start;
  gauge::Word word;
  int of = 0;      ///< whose links: 0 those of the model, others those of Reading::made_links
  int links = -1;  ///< the first array of the field of these links; -1: there are none
};

/// A number as most - gap, where a small gap would lose its digits in the difference: re(tr(P)) of
/// links near 1 is N - |1 - P|^2/2.
struct Gap {
  Expr most, gap;
};

struct SpinOperator;
struct SpinorForm;
struct LinkRate;

/// A number times the product of links along a path.
struct PathTerm {
  Component weight;
  LinkPath path;
};
/// A sum of such products, with the same number of colours. Sums, products and multiples of links
/// stay one: A*(B + C) is A*B + A*C, and k*(A*B) is (k*A)*B.
using PathSum = std::vector<PathTerm>;

struct Value {
  int rows = 1;
  int columns = 1;
  std::vector<Component> parts;  ///< row by row
  /// While an action is read (Reading::trace_of): the paths whose products the value is; `parts`
  /// are then not used.
  std::shared_ptr<const PathSum> path = nullptr;
  /// A spinor: rows are spin, columns colour (compiler/physics/spinors/spinors.hpp).
  bool spinor = false;
  /// An operator on spinors; `parts` are then not used.
  std::shared_ptr<const SpinOperator> acts = nullptr;
  /// The paths whose products of links are stored in `parts`, where they are known.
  std::shared_ptr<const PathSum> links = nullptr;
  /// For a spinor, while an operator is recognised: its dependence on the argument.
  std::shared_ptr<const SpinorForm> form = nullptr;
  /// For a real number, where it is known (Lowerer::keeping_gaps). Sums and multiples keep it, and
  /// `most - x` evaluates to the gap.
  std::shared_ptr<const Gap> gap = nullptr;
  /// For the time derivative of a link.
  std::shared_ptr<const LinkRate> rate = nullptr;

  bool scalar() const { return rows == 1 && columns == 1; }
  bool complex() const;
  static Value of(Expr real) { return {1, 1, {{real, {}}}}; }
  static Value of(Expr re, Expr im) { return {1, 1, {{re, im}}}; }
  static Value vector(std::vector<Component> parts);
};

/// U' = turn*U of a link U, which is unitary: U'*adj(U) is `turn`, and so is its norm.
struct LinkRate {
  Value turn, link;
};

struct ShapeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Component add(Component a, Component b);
Component subtract(Component a, Component b);
Component multiply(Component a, Component b);
Component divide(Component a, Component b);
Component conjugate(Component a);
/// The sum of conj(a_i) b_i over the parts, as many in both.
Component dot_product(const Value& a, const Value& b);
/// The same path in the opposite direction.
LinkPath inverse(const LinkPath& path);
/// The first path followed by the second; null where the second does not begin at the end of the
/// first, or has links of another field.
std::shared_ptr<const LinkPath> joined(const LinkPath& a, const LinkPath& b);

using Paths = std::shared_ptr<const PathSum>;
/// One path with the number 1.
Paths sole_path(Arena& arena, LinkPath path);
/// The path of a sum that is one path times 1; null elsewhere.
const LinkPath* sole_path(const Paths& paths);
/// The conjugate transpose; the sum as it is at another site; null of null.
Paths inverse(const Paths& paths);
Paths shifted(const Paths& paths, algebra::Offset offset, const algebra::Mover& move);
/// Null where a path of the second does not begin at the end of one of the first.
Paths joined(const Paths& a, const Paths& b);
Expr norm2(Component a);

Value add(const Value& a, const Value& b);
Value subtract(const Value& a, const Value& b);
/// Scalar times anything, matrix times matrix, matrix times column vector.
Value multiply(const Value& a, const Value& b);
Value divide(const Value& a, const Value& b);  ///< by a scalar
Value negate(const Value& a);
/// Real powers of real numbers, integer powers of complex ones.
Value power(const Value& a, const Value& b);
Expr norm2(const Value& a);

/// A decimal number as written: an exact rational where numerator and denominator fit 64 bits.
Expr decimal(Arena& arena, std::string_view text);

/// Floating-point numbers that are a small fraction to within the rounding of the arithmetic that
/// made them (100 units in the 64-bit mantissa) become that fraction: 1/phi0*phi0 is 1.
Expr snap_numbers(Expr expr);

}  // namespace vphi::physics
