#include "compiler/emit/walks/plane_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace vphi::emit {

Code PlaneText::copy_halo(const Code& also) const {
  const int full = plan_.halo_rows / shape_.lines;
  const int copies = (plan_.halo_rows + shape_.lines - 1) / shape_.lines;
  Code copy;
  for (const Staged& staged : plan_.arrays)
    if (staged.halo)
      copy += code(
          "    vphi_copy_vector(to + {0} + row*{1}u + {2}u + lane,\n"
          "                     {3} + (halo_plane + row_at[i]));\n",
          staged.first_vector, plan_.row_vectors, plan_.side, read_pointer(job_, staged.array));
  Code where = full == copies ? "" : code("i < {} || row < {}u", full, plan_.halo_rows);
  if (!also.empty()) where = where.empty() ? also : also + " && (" + where + ")";
  return code(
      "VPHI_UNROLL\nfor (int i = 0; i < {0}; ++i) {{\n"
      "  const unsigned row = line + i * {1}u;\n"
      "  if ({2}) {{\n{3}  }}\n}}\n",
      copies, shape_.lines, where.empty() ? "1" : where, copy);
}

Code PlaneText::copy_edges() const {
  if (plan_.side == 0) return {};
  Code text = code("if (thread < {}u) {{\n", edge_rows() * 2 * plan_.side);
  for (const Staged& staged : plan_.arrays)
    if (staged.halo)
      text += code("  vphi_copy_vector(to + {} + edge_to, {} + (halo_plane + edge_at));\n",
                   staged.first_vector, read_pointer(job_, staged.array));
  return text + "}\n";
}

Code PlaneText::rows(const Staged& staged, int first) const {
  return code(
      "vphi_pack {0}_rows[{1}];\nVPHI_UNROLL\nfor (int j = 0; j < {1}; ++j)\n"
      "  {0}_rows[j].v = here[{2} + (line*{3}u + j)*{4}u + {5}u + lane];\n",
      name(staged), rows_read(), first, shape_.rows_per_thread, plan_.row_vectors, plan_.side);
}

Code PlaneText::here(const Staged& staged, int first) const {
  const bool reaches =
      std::ranges::any_of(staged.columns, [](const Column& c) { return c.reach > 0; });
  if (!reaches) return {};
  return code(
      "const VPHI_LOCAL_POINTER {0}* {1}_here =\n"
      "    (const VPHI_LOCAL_POINTER {0}*)(here + {2});\n",
      real(), name(staged), first);
}

Code PlaneText::weighted(std::int64_t weight, const Code& value) const {
  if (weight == 1) return value;
  return literal(static_cast<long double>(weight), job_.body.real) + "*" + value;
}

Code PlaneText::column(const Staged& staged, std::size_t index, Beside beside,
                       const Bound& bound) const {
  const Column& c = staged.columns[index];
  const Code array = name(staged), column = code("{}_column{}", array, index);
  const auto added = [&](const auto& row_value) {
    Code text;
    for (int dy : c.dy) text += (text.empty() ? "" : " + ") + row_value(plan_.reach_y + dy);
    return text;
  };
  const auto here = [&](int row) { return code("{}_rows[j + {}].e[i]", array, row); };
  Code text = code(
      "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {{\n  VPHI_UNROLL\n"
      "  for (int i = 0; i < {1}; ++i)\n    {2}[j][{3} + i] = {4};\n",
      shape_.rows_per_thread, plan_.width, column, c.reach, added(here));
  for (int d = 1; d <= c.reach; ++d) {
    const auto beyond = [&](const char* side) {
      return added([&](int row) {
        const Code value =
            code("{0}_here[(line*{1}u + j + {5}u)*{2}u + {3}_{4}]", array, shape_.rows_per_thread,
                 plan_.row_vectors * plan_.width, side, d, row);
        return bound(value, code("j + {}", row), code("{}_outside_{}", side, d));
      });
    };
    const int low = c.reach - d, high = c.reach + plan_.width + d - 1;
    if (beside == Beside::Row) {
      text += code("  {0}[j][{1}] = {2};\n  {0}[j][{3}] = {4};\n", column, low, beyond("below"),
                   high, beyond("above"));
      continue;
    }
    Code low_place = code("beyond_value_{}", d), high_place = low_place;
    if (beside == Beside::LaneOrPlace)
      text += code("  const {} beyond_value_{} = {};\n", real(), d, beyond("beyond"));
    else
      low_place = beyond("below"), high_place = beyond("above");
    text += code(
        "  const {0} below_value_{1} = vphi_lane_below({2}[j][{3}]);\n"
        "  const {0} above_value_{1} = vphi_lane_above({2}[j][{4}]);\n"
        "  {2}[j][{5}] = vphi_select_{7}(first_lane, {8}, below_value_{1});\n"
        "  {2}[j][{6}] = vphi_select_{7}(last_lane, {9}, above_value_{1});\n",
        real(), d, column, c.reach + plan_.width - d, c.reach + d - 1, low, high,
        job_.body.real == Precision::F32 ? "f32" : "f64", low_place, high_place);
  }
  return code("{} {}[{}][{}];\n", real(), column, shape_.rows_per_thread,
              plan_.width + 2 * c.reach) +
         text + "}\n";
}

Code PlaneText::shares(const PlaneSum& s, const Code& suffix) const {
  if (plan_.depth == 0) return {};
  return code("{} {}_share{}[{}][{}][{}] = {{{{{{0}}}}}};\n", real(),
              job_.body.reads[s.read].member, suffix, 2 * plan_.depth, shape_.rows_per_thread,
              plan_.width);
}

Code PlaneText::sum(const Staged& staged, const PlaneSum& s, const Code& suffix) const {
  const Code member = job_.body.reads[s.read].member;
  Code text;
  for (std::size_t c = 0; c < s.terms.size(); ++c) {
    Code points;
    for (const auto& [column, dx] : s.terms[c])
      points += (points.empty() ? "" : " + ") + code("{}_column{}[j][i + {}]", name(staged), column,
                                                     staged.columns[column].reach + dx);
    text += code("const {} class_{} = {};\n", real(), c, points);
  }
  for (std::size_t p = 0; p < s.plan.patterns.size(); ++p) {
    Code share;
    for (std::size_t c = 0; c < s.terms.size(); ++c)
      if (s.plan.patterns[p][c] != 0)
        share +=
            (share.empty() ? "" : " + ") + weighted(s.plan.patterns[p][c], code("class_{}", c));
    text += code("const {} share_{} = {};\n", real(), p, share);
  }
  const int depth = plan_.depth;
  // the share of this plane in the sum of the plane `-offset` away; empty where it has none
  const auto pattern = [&](int offset) -> Code {
    for (const algebra::Plane& plane : s.plan.planes)
      if (plane.offset == offset) return code("share_{}", plane.pattern);
    return {};
  };
  const auto plus = [&](const Code& a, const Code& b) {
    return a.empty() ? b : b.empty() ? a : a + " + " + b;
  };
  const auto share = [&](int i) { return code("{}_share{}[{}][j][i]", member, suffix, i); };
  const Code last = pattern(depth);
  text += code("{}[j][i] = {};\n", member, depth == 0 ? last : plus(share(0), last));
  for (int k = 1; k < 2 * depth; ++k)
    text += code("{} = {};\n", share(k - 1), plus(share(k), pattern(depth - k)));
  if (depth > 0) {
    const Code first = pattern(-depth);
    text += code("{} = {};\n", share(2 * depth - 1),
                 first.empty() ? literal(0.0L, job_.body.real) : first);
  }
  return code(
      "VPHI_UNROLL\nfor (int j = 0; j < {}; ++j) {{\n  VPHI_UNROLL\n"
      "  for (int i = 0; i < {}; ++i) {{\n{}  }}\n}}\n",
      shape_.rows_per_thread, plan_.width, indent(text, 4));
}

}  // namespace vphi::emit
