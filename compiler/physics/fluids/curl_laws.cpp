#include "compiler/physics/fluids/curl_laws.hpp"

#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"
#include "compiler/physics/fields/coordinates.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

using algebra::Offset;
using algebra::Op;

namespace {

/// One pair of axes i < j: E along neither of them.
class Turning {
 public:
  Turning(const Equations& d, Conservation& c, const Law& law, std::size_t i, std::size_t j)
      : arena_(d.arena()), along_i_(c.sweeps[i]), along_j_(c.sweeps[j]), i_(i), j_(j) {
    of_i_ = law.arrays[i], of_j_ = law.arrays[j];
    const Expr up = along_i_.face.at(of_j_), right = along_j_.face.at(of_i_);
    const Expr sum = minus(plus(up, moved(up, i_, -1)), plus(right, moved(right, j_, -1)));
    const Expr cell = arena_.raw(Op::Mul, {arena_.rational(1, 4), sum});
    c.sweeps.back().lines.push_back({d.new_array(), "curl_" + law.name, cell});
    cell_ = arena_.load(c.sweeps.back().lines.back().array);
    volume_ = kernel::with_fixed_order(d.coordinates.given() ? cell_volume(d) : arena_.integer(1));
  }

  void put() {
    put(along_i_, of_j_, i_, arena_.rational(1, 2));
    put(along_j_, of_i_, j_, arena_.rational(-1, 2));
  }

 private:
  Expr plus(Expr a, Expr b) { return arena_.raw(Op::Add, {a, b}); }
  Expr minus(Expr a, Expr b) { return arena_.raw(Op::Sub, {a, b}); }
  static Expr moved(Expr e, std::size_t axis, int by) {
    Offset offset;
    offset.d[axis] = by;
    return algebra::shift(e, offset);
  }

  /// A face has the mean of both cells.
  void put(AxisScheme& scheme, int array, std::size_t axis, Expr weight) {
    const Expr face = arena_.raw(Op::Mul, {weight, plus(cell_, moved(cell_, axis, 1))});
    scheme.face[array] = face;
    const Expr gain = minus(face, moved(face, axis, -1));
    scheme.result[array] = volume_.is_one() ? gain : arena_.raw(Op::Div, {gain, volume_});
  }

  Arena& arena_;
  AxisScheme &along_i_, &along_j_;
  std::size_t i_, j_;
  int of_i_ = 0, of_j_ = 0;
  Expr cell_;    ///< E/dx in the cell, times the area of a face
  Expr volume_;  ///< of a cell
};

void refuse_curl_where(const Equations& d, const Conservation& c, const Law& law) {
  const auto refuse = [&](const char* what) { d.fail(errors::not_yet(law.span, what)); };
  if (c.step) refuse("`curl` in a law whose scheme is a step, not a right side such as `kt`");
  if (curvilinear(d)) refuse("`curl` in a law beside `metric scale`");
  if (!law.noise.empty()) refuse("noise in a law with `curl`");
  for (int axis = 0; axis < d.grid.dims; ++axis)
    if (d.grid.boundary[static_cast<std::size_t>(axis)] != Boundary::Periodic)
      refuse("`curl` in a law in a box that is not periodic");
  for (const AxisScheme& scheme : c.sweeps)
    if (scheme.face.empty()) refuse("`curl` in a law whose scheme has no fluxes at faces");
}

}  // namespace

void keep_divergence(const Equations& d, Conservation& c) {
  for (const Law& law : d.laws) {
    if (!law.curl) continue;
    refuse_curl_where(d, c, law);
    for (std::size_t i = 0; i < law.arrays.size(); ++i) {
      c.sweeps[i].result[law.arrays[i]] = d.arena().integer(0);
      c.sweeps[i].face[law.arrays[i]] = d.arena().integer(0);
    }
    for (std::size_t i = 0; i < law.arrays.size(); ++i)
      for (std::size_t j = i + 1; j < law.arrays.size(); ++j) Turning(d, c, law, i, j).put();
  }
}

}  // namespace vphi::physics
