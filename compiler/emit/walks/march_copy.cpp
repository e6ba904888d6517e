// The addresses from and to which a march copies.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/walks/march_text.hpp"

namespace vphi::emit {

March::March(const Job& job, const MarchShape& shape)
    : job_(job), kernel_(job.kernel), shape_(shape), plan_(plan_march(job)) {
  apply_shape(job, shape, plan_);
  lanes_exchange_ = job.dialect.can.exchange_lanes;
}

bool March::has_halo() const {
  return std::any_of(plan_.arrays.begin(), plan_.arrays.end(),
                     [](const Staged& staged) { return staged.halo; });
}

// Offsets of the rows this thread copies, within a plane; and of one vector beyond the tile's
// sides.
Code March::copy_places() const {
  const int copies = (plan_.halo_rows + shape_.lines - 1) / shape_.lines;
  Code text = code(
      "vphi_index row_at[{0}];\nVPHI_UNROLL\nfor (int i = 0; i < {0}; ++i)\n"
      "  row_at[i] = {1}*{2} + x;\n",
      copies, row_place(code("(line + i * {}u)", shape_.lines)), idx(nx()));
  if (plan_.side == 0) return text;
  const int both = 2 * plan_.side;
  return text + code(
                    "const unsigned edge_row = thread/{0}u + {1}u, edge_side = thread % {0}u;\n"
                    "const unsigned edge_vector = edge_side + vphi_select_index(edge_side < {2}u, "
                    "0, {3});\n"
                    "const unsigned edge_to = edge_row*{4}u + edge_vector;\n"
                    "const vphi_index edge_at =\n"
                    "    {5}*{6} +\n"
                    "    vphi_wrapped(vphi_wrapped(x0, {7}, {6}), edge_vector*{8} % {6}, {6});\n",
                    both, plan_.reach_y - plan_.edge_y, plan_.side, idx(shape_.lanes),
                    plan_.row_vectors, row_place("edge_row"), idx(nx()),
                    idx(nx() - plan_.side * plan_.width), plan_.width);
}

// Places in a staged row of the values that lie beyond this thread's vector or its warp's.
Code March::edge_places() const {
  if (plan_.reach_x == 0) return {};
  const int segment = std::min(32, shape_.lanes), base = plan_.side * plan_.width;
  Code text;
  if (lanes_exchange_ && one_place())
    text += code("const int first_lane = lane % {0}u == 0u, last_lane = lane % {0}u == {1}u;\n",
                 segment, segment - 1);
  if (lanes_exchange_ && !one_place())
    text += code(
        "const int first_lane = (lane == 0u) | (thread % 32u == 0u);\n"
        "const int last_lane = (lane == {}u) | (thread % 32u == 31u);\n",
        shape_.lanes - 1);
  for (int d = 1; d <= plan_.reach_x; ++d) {
    // A tile that is a whole row finds its neighbours at the other end of it, or at the same one.
    const bool one = lanes_exchange_ && one_place();
    const Code lane = one ? code("(lane | {}u)", segment - 1) : "lane";
    Code below = code("{}u + lane*{}u - {}u", base, plan_.width, d);
    Code above = code("{}u + {}*{}u + {}u", base, lane, plan_.width, plan_.width + d - 1);
    if (plan_.side == 0 && wraps(0)) {
      below = code("(lane*{}u + {}u) % {}u", plan_.width, nx() - d, nx());
      above = code("({}*{}u + {}u) % {}u", lane, plan_.width, plan_.width + d - 1, nx());
    } else if (plan_.side == 0) {
      below = code("(unsigned)vphi_below(lane*{}u, {})", plan_.width, idx(d));
      above = code("(unsigned)vphi_above({}*{}u + {}u, {}, {})", lane, plan_.width, plan_.width - 1,
                   idx(d), idx(nx()));
    } else if (!wraps(0)) {  // values copied beyond an end of the box are not used
      below = code("(unsigned)(vphi_below(x, {}) + {}u - x0)", idx(d), base);
      above = code("(unsigned)(vphi_above(x0 + {}*{}u + {}u, {}, {}) + {}u - x0)", lane,
                   plan_.width, plan_.width - 1, idx(d), idx(nx()), base);
    }
    if (flagged(0)) {
      const Code place = plan_.side == 0 ? code("lane*{}u", plan_.width) : "x";
      const Code low = code("{} < {}u", place, d);
      const Code high = code("{} + {}u >= {}u", place, plan_.width - 1 + d, nx());
      text += one ? code(
                        "const int beyond_outside_{} = (first_lane & ({})) | "
                        "(last_lane & ({}));\n",
                        d, low, high)
                  : code("const int below_outside_{0} = {1};\nconst int above_outside_{0} = {2};\n",
                         d, low, high);
    }
    if (lanes_exchange_ && !one) {
      // Lanes that get the value from their neighbour read one and the same place.
      text += code(
          "const unsigned below_{0} = (unsigned)vphi_select_index(first_lane, {1}, 0);\n"
          "const unsigned above_{0} = (unsigned)vphi_select_index(last_lane, {2}, 0);\n",
          d, below, above);
    } else if (lanes_exchange_) {
      text += code(
          "const unsigned beyond_{} =\n    (unsigned)vphi_select_index(first_lane, {},\n"
          "                                {});\n",
          d, below, above);
    } else {
      text += code("const unsigned below_{0} = {1};\nconst unsigned above_{0} = {2};\n", d, below,
                   above);
    }
  }
  return text;
}

Code March::copy_halo() const {
  return has_halo() ? planes_.copy_halo(shape_.surplus() ? "at_work" : "") : Code();
}

Code March::copy_edges() const { return has_halo() ? planes_.copy_edges() : Code(); }

Code March::copy_centre() const {
  Code text;
  for (const Staged& staged : plan_.arrays)
    if (!staged.halo)
      for (int j = 0; j < shape_.rows_per_thread; ++j) {
        Code y = code("(y0 + line + {}u)", j * shape_.lines);
        if (overhangs()) y = code("vphi_above({}, {}, {})", y, idx(0), idx(ny()));
        text += code(
            "  vphi_copy_vector(to + {0} + (line + {1}u)*{2}u + lane,\n"
            "                   {3} + (centre_plane + {4}*{5} + x));\n",
            staged.first_vector, j * shape_.lines, shape_.lanes, read_pointer(job_, staged.array),
            y, idx(nx()));
      }
  if (text.empty()) return {};
  if (shape_.surplus()) text = "  if (at_work) {\n" + text + "  }\n";
  return code("if (load_step >= {}u) {{\n{}  centre_plane += {};\n}}\n", 2 * plan_.depth, text,
              idx(nx() * ny()));
}

}  // namespace vphi::emit
