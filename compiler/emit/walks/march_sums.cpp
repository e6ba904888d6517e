// The sums of a march within a plane, the values it carries along, and its work at a site.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/math/draws.hpp"
#include "compiler/emit/walks/march_text.hpp"

namespace vphi::emit {

// Shares of planes still to come, and the values of the planes whose sums are not complete.
Code March::carried() const {
  Code text;
  const int rows = shape_.rows_per_thread;
  for (const Staged& staged : plan_.arrays) {
    if (!staged.halo) continue;
    for (const PlaneSum& s : staged.sums) {
      const Code member = job_.body.reads[s.read].member;
      text += code("{} {}[{}][{}];\n", real(), member, rows, plan_.width);
      if (plan_.depth > 0)
        text += code("{} {}_share[{}][{}][{}] = {{{{{{0}}}}}};\n", real(), member, 2 * plan_.depth,
                     rows, plan_.width);
    }
    if (staged.centre)
      text += code("vphi_pack {}_waiting[{}][{}];\n", name(staged), plan_.depth + 1, rows);
  }
  return text;
}

Code March::weighted(std::int64_t weight, const Code& value) const {
  if (weight == 1) return value;
  return literal(static_cast<long double>(weight), job_.body.real) + "*" + value;
}

// One column for all x of the thread's vector and its reach on both sides.
Code March::column(const Staged& staged, std::size_t index) const {
  const Column& c = staged.columns[index];
  const Code array = name(staged), column = code("{}_column{}", array, index);
  const auto added = [&](const auto& row_value) {
    Code text;
    for (int dy : c.dy) text += (text.empty() ? "" : " + ") + row_value(plan_.reach_y + dy);
    return text;
  };
  const auto here = [&](int row) { return code("{}_rows[j + {}].e[i]", array, row); };
  Code text = code(
      "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {{\n  VPHI_UNROLL\n  for (int i = 0; i < {1}; "
      "++i)\n"
      "    {2}[j][{3} + i] = {4};\n",
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
    const char* s = job_.body.real == Precision::F32 ? "f32" : "f64";
    if (lanes_exchange_ && !one_place()) {
      text += code(
          "  const {0} below_value_{1} = vphi_lane_below({2}[j][{3}]);\n"
          "  const {0} above_value_{1} = vphi_lane_above({2}[j][{4}]);\n"
          "  {2}[j][{5}] = vphi_select_{7}(first_lane, {8}, below_value_{1});\n"
          "  {2}[j][{6}] = vphi_select_{7}(last_lane, {9}, above_value_{1});\n",
          real(), d, column, c.reach + plan_.width - d, c.reach + d - 1, low, high, s,
          beyond("below"), beyond("above"));
    } else if (lanes_exchange_) {
      text += code(
          "  const {0} beyond_value_{1} = {2};\n"
          "  const {0} below_value_{1} = vphi_lane_below({3}[j][{4}]);\n"
          "  const {0} above_value_{1} = vphi_lane_above({3}[j][{5}]);\n"
          "  {3}[j][{6}] = vphi_select_{8}(first_lane, beyond_value_{1}, "
          "below_value_{1});\n"
          "  {3}[j][{7}] = vphi_select_{8}(last_lane, beyond_value_{1}, "
          "above_value_{1});\n",
          real(), d, beyond("beyond"), column, c.reach + plan_.width - d, c.reach + d - 1, low,
          high, s);
    } else {
      text += code("  {0}[j][{1}] = {2};\n  {0}[j][{3}] = {4};\n", column, low, beyond("below"),
                   high, beyond("above"));
    }
  }
  return code("{} {}[{}][{}];\n", real(), column, shape_.rows_per_thread,
              plan_.width + 2 * c.reach) +
         text + "}\n";
}

// The share of this plane in the sum of the plane `-offset` away; empty where it has none.
Code March::pattern(const Staged&, const PlaneSum& s, int offset) const {
  for (const algebra::Plane& plane : s.plan.planes)
    if (plane.offset == offset) return code("share_{}", plane.pattern);
  return {};
}

Code March::sum(const Staged& staged, const PlaneSum& s) const {
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
  // Plane k: the sum of plane k - depth is complete, the others move up.
  const int depth = plan_.depth;
  const auto plus = [&](const Code& a, const Code& b) {
    return a.empty() ? b : b.empty() ? a : a + " + " + b;
  };
  const auto share = [&](int i) { return code("{}_share[{}][j][i]", member, i); };
  const Code last = pattern(staged, s, depth);
  text += code("{}[j][i] = {};\n", member, depth == 0 ? last : plus(share(0), last));
  for (int k = 1; k < 2 * depth; ++k)
    text += code("{} = {};\n", share(k - 1), plus(share(k), pattern(staged, s, depth - k)));
  if (depth > 0) {
    const Code first = pattern(staged, s, -depth);
    text += code("{} = {};\n", share(2 * depth - 1),
                 first.empty() ? literal(0.0L, job_.body.real) : first);
  }
  return code(
      "VPHI_UNROLL\nfor (int j = 0; j < {}; ++j) {{\n  VPHI_UNROLL\n"
      "  for (int i = 0; i < {}; ++i) {{\n{}  }}\n}}\n",
      shape_.rows_per_thread, plan_.width, indent(text, 4));
}

Code March::plane_sums() const {
  Code text;
  for (const Staged& staged : plan_.arrays) {
    if (!staged.halo) continue;
    const Code array = name(staged);
    Code block = code(
        "vphi_pack {0}_rows[{1}];\nVPHI_UNROLL\nfor (int j = 0; j < {1}; ++j)\n"
        "  {0}_rows[j].v = here[{2} + (line*{3}u + j)*{4}u + {5}u + lane];\n",
        array, rows_read(), staged.first_vector, shape_.rows_per_thread, plan_.row_vectors,
        plan_.side);
    const Code inner = bound(array + "_rows[j].e[i]", "j", "");
    if (inner != array + "_rows[j].e[i]")
      block += code(
          "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {{\n  VPHI_UNROLL\n"
          "  for (int i = 0; i < {1}; ++i) {2}_rows[j].e[i] = {3};\n}}\n",
          rows_read(), plan_.width, array, inner);
    const bool reaches = std::any_of(staged.columns.begin(), staged.columns.end(),
                                     [](const Column& c) { return c.reach > 0; });
    if (reaches)
      block += code(
          "const VPHI_LOCAL_POINTER {0}* {1}_here =\n"
          "    (const VPHI_LOCAL_POINTER {0}*)(here + {2});\n",
          real(), array, staged.first_vector);
    for (std::size_t c = 0; c < staged.columns.size(); ++c) block += column(staged, c);
    for (const PlaneSum& s : staged.sums) block += sum(staged, s);
    if (staged.centre)
      block += code(
          "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j)\n"
          "  {1}_waiting[{2}][j] = {1}_rows[j + {3}];\n",
          shape_.rows_per_thread, array, plan_.depth, plan_.reach_y);
    text += "{\n" + indent(block, 2) + "}\n";
  }
  return text;
}

// Vectors of the row that is complete now, and those it will be stored from.
Code March::centres() const {
  Code text;
  for (const Staged& staged : plan_.arrays)
    if (!staged.halo)
      text += code("vphi_pack {0}_here;\n{0}_here.v = here[{1} + (line*{2}u + j)*{3}u + lane];\n",
                   name(staged), staged.first_vector, shape_.rows_per_thread, shape_.lanes);
  for (const std::string& member : job_.body.store_members) text += code("vphi_pack {};\n", member);
  return text;
}

Code March::parts() const {
  Code text;
  for (const std::string& member : job_.body.reduction_members)
    text += code("{} {}_part[{}];\n", real(), member, plan_.width);
  // sites of a vector are neighbours: what they share of random numbers is made once
  if (draws_of_strip(job_, plan_.width))
    text += strip_draws(job_, code("(at + j * {}) / {}u", idx(nx()), plan_.width), plan_.width);
  return text;
}

Code March::gather() const {
  Code text;
  for (const Staged& staged : plan_.arrays) {
    if (staged.centre)
      text += code("in.{} = {};\n", job_.body.reads[staged.centre_read].member,
                   staged.halo ? code("{}_waiting[0][j].e[i]", name(staged))
                               : code("{}_here.e[i]", name(staged)));
    for (const PlaneSum& s : staged.sums)
      text += code("in.{0} = {0}[j][i];\n", job_.body.reads[s.read].member);
  }
  text += draws_of_strip(job_, plan_.width) ? strip_draw_lines(job_, "i")
                                            : draw_lines(job_, code("at + j * {} + i", idx(nx())));
  const Code r = real();
  const Code places[3] = {"x + i", code("y0 + line*{}u + j", shape_.rows_per_thread),
                          code("z0 + step - {}u", 2 * plan_.depth)};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto own = static_cast<std::size_t>(job_.model_axis[axis]);
    if (job_.body.site_axis[own])
      text += code("in.site_{} = ({})({});\n", "xyz"[own], r, places[axis]);
  }
  return text;
}

Code March::put() const {
  Code text;
  for (const std::string& member : job_.body.store_members)
    text += code("{0}.e[i] = out.{0};\n", member);
  for (const std::string& member : job_.body.reduction_members)
    text += code("{0}_part[i] = out.{0};\n", member);
  return text;
}

// Plain stores: marking those of arrays written in place as streaming lost 1 % (H200, 512^3).
Code March::store() const {
  Code text;
  for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
    const std::size_t array = position(kernel_, kernel_.stores[i].array);
    text += (overhangs() || shape_.surplus() ? "  " : "") +
            code("vphi_store_vector({} + (at + j * {}), {}.v);\n", write_pointer(job_, array),
                 idx(nx()), job_.body.store_members[i]);
  }
  const Code one = shape_.surplus() ? overhangs() ? "at_work & row_inside" : "at_work"
                   : overhangs()    ? "row_inside"
                                    : "";
  if (!one.empty() && !text.empty()) text = "if (" + one + ") {\n" + text + "}\n";
  return text;
}

Code March::accumulate_parts() const {
  Code text;
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    const Code part = job_.body.reduction_members[i] + "_part";
    if (kernel_.reductions[i].kind != kernel::ReduceKind::Sum) {
      for (int e = 0; e < plan_.width; ++e)
        text += accumulate(job_, i, counted(i, code("{}[{}]", part, e)));
      continue;
    }
    const Code added = plan_.width == 4   ? code("({0}[0] + {0}[1]) + ({0}[2] + {0}[3])", part)
                       : plan_.width == 2 ? code("{0}[0] + {0}[1]", part)
                                          : code("{}[0]", part);
    text += accumulate(job_, i, counted(i, added));
  }
  return text;
}

Code March::shift() const {
  Code text;
  for (const Staged& staged : plan_.arrays)
    if (staged.halo && staged.centre)
      for (int d = 0; d < plan_.depth; ++d)
        text += code(
            "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {1}_waiting[{2}][j] = "
            "{1}_waiting[{3}][j];\n",
            shape_.rows_per_thread, name(staged), d, d + 1);
  return text;
}

}  // namespace vphi::emit
