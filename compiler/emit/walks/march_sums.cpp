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
      text += code("{} {}[{}][{}];\n", real(), job_.body.reads[s.read].member, rows, plan_.width) +
              planes_.shares(s, "");
    }
    if (staged.centre)
      text += code("vphi_pack {}_waiting[{}][{}];\n", name(staged), plan_.depth + 1, rows);
  }
  return text;
}

Code March::plane_sums() const {
  const Beside beside = !lanes_exchange_ ? Beside::Row
                        : one_place()    ? Beside::LaneOrPlace
                                         : Beside::LaneOrPlaces;
  const auto bounded = [&](const Code& value, const Code& row, const Code& beyond) {
    return bound(value, row, beyond);
  };
  Code text;
  for (const Staged& staged : plan_.arrays) {
    if (!staged.halo) continue;
    const Code array = name(staged);
    Code block = planes_.rows(staged, staged.first_vector);
    const Code inner = bound(array + "_rows[j].e[i]", "j", "");
    if (inner != array + "_rows[j].e[i]")
      block += code(
          "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {{\n  VPHI_UNROLL\n"
          "  for (int i = 0; i < {1}; ++i) {2}_rows[j].e[i] = {3};\n}}\n",
          planes_.rows_read(), plan_.width, array, inner);
    block += planes_.here(staged, staged.first_vector);
    for (std::size_t c = 0; c < staged.columns.size(); ++c)
      block += planes_.column(staged, c, beside, bounded);
    for (const PlaneSum& s : staged.sums) block += planes_.sum(staged, s, "");
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
      text += code("in.site_{} = {};\n", "xyz"[own],
                   in_whole_lattice(job_.body, own, code("({})({})", r, places[axis])));
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
