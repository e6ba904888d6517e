// The code of a march beyond the ends of the box and of the last tile.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/walks/march_text.hpp"

namespace vphi::emit {

using physics::Boundary;

bool March::bounded() const {
  for (int axis = 0; axis < 3; ++axis)
    if (reaches(axis) &&
        (boundary(axis) == Boundary::Antiperiodic || boundary(axis) == Boundary::Fixed))
      return true;
  return false;
}

// Index in y of a staged row; those of the halo lie around the box or inside its ends.
Code March::row_place(const Code& row) const {
  const Code n = idx(ny());
  if (wraps(1))
    return code("vphi_wrapped(vphi_wrapped(y0, {0}, {1}), {2} % {1}, {1})",
                idx(ny() - plan_.reach_y), n, row);
  return code("vphi_above(vphi_below(y0 + {}, {}), {}, {})", row, idx(plan_.reach_y), idx(0), n);
}

Code March::line() const {
  const Code line = code("thread / {}u", shape_.lanes);
  if (!shape_.surplus()) return line;
  return code("(unsigned)vphi_above({}, {}, {})", line, idx(0), idx(shape_.lines));
}

Code March::first_plane() const {
  const std::int64_t nz = kernel_.extent[2];
  if (!wraps(2)) return {};
  return code("vphi_index halo_plane = (vphi_index)((z0 + {}u) % {}u) * {};\n", nz - plan_.depth,
              nz, idx(nx() * ny()));
}

Code March::this_plane() const {
  if (wraps(2)) return {};
  return code(
      "const vphi_index halo_plane =\n    vphi_above(vphi_below(z0 + load_step, {}), {}, {}) * "
      "{};\n",
      idx(plan_.depth), idx(0), idx(kernel_.extent[2]), idx(nx() * ny()));
}

Code March::next_plane() const {
  if (!wraps(2)) return {};
  return code("halo_plane = vphi_wrapped(halo_plane, {}, {});\n", idx(nx() * ny()),
              idx(kernel_.sites()));
}

// Which of this thread's rows, and which planes, lie beyond an end that changes their values.
Code March::row_flags() const {
  if (!flagged(1)) return {};
  return code(
      "int row_outside[{0}];\nVPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {{\n"
      "  const unsigned row = y0 + line*{1}u + j;\n"
      "  row_outside[j] = (row < {2}u) | (row >= {3}u);\n}}\n",
      planes_.rows_read(), shape_.rows_per_thread, plan_.reach_y, ny() + plan_.reach_y);
}

Code March::plane_flags() const {
  if (!flagged(2)) return {};
  return code("const int plane_outside = (z0 + step < {}u) | (z0 + step >= {}u);\n", plan_.depth,
              kernel_.extent[2] + plan_.depth);
}

Code March::bound_function() const {
  if (!bounded()) return {};
  const char* s = job_.body.real == Precision::F32 ? "f32" : "f64";
  return Code::item(
      "vphi_bound",
      code("// Beyond an end of the box: the image with its sign, or the value that is fixed "
           "there.\n"
           "VPHI_INLINE {0} vphi_bound({0} value, int turned, int fixed) {{\n"
           "  return vphi_select_{1}(fixed, {2}, vphi_select_{1}(turned, -value, value));\n}}\n",
           real(), s, literal(static_cast<long double>(kernel_.fixed_value), job_.body.real)));
}

// `value` of staged row `row`; `beyond`: the flag of a place beyond the row's ends, or nothing.
Code March::bound(const Code& value, const Code& row, const Code& beyond) const {
  Code negated, fixed;
  const auto add = [&](int axis, const Code& flag) {
    if (flag.empty() || !flagged(axis)) return;
    const bool sign = boundary(axis) == Boundary::Antiperiodic;
    Code& list = sign ? negated : fixed;
    list += (list.empty() ? "" : sign ? " ^ " : " | ") + flag;
  };
  add(0, beyond);
  add(1, "row_outside[" + row + "]");
  add(2, "plane_outside");
  if (negated.empty() && fixed.empty()) return value;
  return code("vphi_bound({}, {}, {})", value, negated.empty() ? "0" : negated,
              fixed.empty() ? "0" : fixed);
}

// Whether this thread's row is inside the box, and its sums count.
Code March::owned() const {
  Code text;
  if (overhangs())
    text +=
        code("const int row_inside = y0 + line*{}u + j < {}u;\n", shape_.rows_per_thread, end_y());
  if (shape_.surplus() && !kernel_.reductions.empty())
    text += code("const int counted = at_work{};\n", overhangs() ? " & row_inside" : "");
  return text;
}

// `value` where it counts, else what changes no reduction of this kind.
Code March::counted(std::size_t reduction, const Code& value) const {
  if (!shape_.surplus() && !overhangs()) return value;
  const char* s = job_.body.real == Precision::F32 ? "f32" : "f64";
  Code neutral = literal(0.0L, job_.body.real);
  const auto kind = kernel_.reductions[reduction].kind;
  if (kind == kernel::ReduceKind::Minimum) neutral = "(" + real() + ")VPHI_INFINITY";
  if (kind == kernel::ReduceKind::Maximum) neutral = "-(" + real() + ")VPHI_INFINITY";
  return code("vphi_select_{}({}, {}, {})", s, shape_.surplus() ? "counted" : "row_inside", value,
              neutral);
}

}  // namespace vphi::emit
