// The code of a march of several steps for a plane, step by step.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/math/draws.hpp"
#include "compiler/emit/walks/march_steps_text.hpp"

namespace vphi::emit {

// Clears planes of the intermediate levels: their margins are never written but are read, so they
// must hold finite numbers.
Code MarchSteps::clear() const {
  return code(
      "VPHI_LOCAL_POINTER vphi_vector* levels = staging + {0};\n"
      "vphi_pack nothing;\n"
      "VPHI_UNROLL\nfor (int i = 0; i < {1}; ++i) nothing.e[i] = {2};\n"
      "for (unsigned i = thread; i < {3}u; i += {4}u) levels[i] = nothing.v;\n",
      shape_.stages * plan_.stage_vectors, plan_.width, literal(0.0L, job_.body.real),
      2 * (steps_ - 1) * level_vectors_, shape_.threads());
}

// Shares of planes still to come, values of planes whose sums are not complete, and what a step
// has made for the next one.
Code MarchSteps::carried() const {
  Code text;
  const int rows = shape_.rows_per_thread, depth = plan_.depth;
  for (int l = 0; l < steps_; ++l)
    for (const Staged& staged : plan_.arrays) {
      for (const PlaneSum& s : staged.sums) text += planes_.shares(s, code("_{}", l));
      if (staged.halo && (staged.centre || store_of(staged) < 0))
        text += code("vphi_pack {}_waiting_{}[{}][{}];\n", name(staged), l, depth + 1, rows);
      if (!staged.halo && l > 0)
        text += code("vphi_pack {}_made_{}[{}][{}];\n", name(staged), l, depth + 1, rows);
    }
  // finite numbers from the first plane on, though their results are not used
  Code zero;
  for (int l = 0; l < steps_; ++l)
    for (const Staged& staged : plan_.arrays) {
      const bool waits = staged.halo && (staged.centre || store_of(staged) < 0);
      const bool made = !staged.halo && l > 0;
      if (waits || made)
        zero += code("{}_{}_{}[d][j] = nothing;\n", name(staged), waits ? "waiting" : "made", l);
    }
  if (zero.empty()) return text;
  return text + code(
                    "VPHI_UNROLL\nfor (int d = 0; d < {}; ++d) {{\n  VPHI_UNROLL\n"
                    "  for (int j = 0; j < {}; ++j) {{\n{}  }}\n}}\n",
                    depth + 1, rows, indent(zero, 4));
}

// The rows of the newest plane of an array, and what they give to its sums.
Code MarchSteps::rows_of(const Staged& staged, int level) const {
  const Code array = name(staged);
  const auto place = static_cast<std::size_t>(&staged - plan_.arrays.data());
  const int first = level == 0 ? staged.first_vector : first_in_level_[place];
  const Beside beside = job_.dialect.can.exchange_lanes ? Beside::LaneOrPlace : Beside::Row;
  const auto inside = [](const Code& value, const Code&, const Code&) { return value; };
  Code block = planes_.rows(staged, first) + planes_.here(staged, first);
  for (std::size_t c = 0; c < staged.columns.size(); ++c)
    block += planes_.column(staged, c, beside, inside);
  for (const PlaneSum& s : staged.sums) block += planes_.sum(staged, s, code("_{}", level));
  if (staged.centre || store_of(staged) < 0)
    block += code(
        "VPHI_UNROLL\nfor (int j = 0; j < {0}; ++j)\n"
        "  {1}_waiting_{2}[{3}][j] = {1}_rows[j + {4}];\n",
        shape_.rows_per_thread, array, level, plan_.depth, plan_.reach_y);
  return "{\n" + indent(block, 2) + "}\n";
}

Code MarchSteps::gather(int level) const {
  Code text;
  for (const Staged& staged : plan_.arrays) {
    if (staged.centre)
      text += code("in.{} = {};\n", job_.body.reads[staged.centre_read].member,
                   staged.halo ? code("{}_waiting_{}[0][j].e[i]", name(staged), level)
                               : code("{}_here.e[i]", name(staged)));
    for (const PlaneSum& s : staged.sums)
      text += code("in.{0} = {0}[j][i];\n", job_.body.reads[s.read].member);
  }
  if (draws())
    text += draws_of_strip(job_, plan_.width)
                ? strip_draw_lines(job_, "i")
                : draw_lines(job_, code("plane_{} + site_row[j] + i", level));
  const Code places[3] = {"x + i", "site_y[j]", code("z_{}", level)};
  for (int axis = 0; axis < 3; ++axis)
    if (site_axis(axis))
      text +=
          code("in.site_{} = ({})({});\n", "xyz"[job_.model_axis[static_cast<std::size_t>(axis)]],
               real(), places[static_cast<std::size_t>(axis)]);
  return text;
}

// The values of a row of sites go to memory or to the next step.
Code MarchSteps::give(int level) const {
  Code text;
  if (last(level)) {
    for (std::size_t i = 0; i < kernel_.stores.size(); ++i)
      text += code("  vphi_store_vector({} + (plane_{} + site_row[j]), {}.v);\n",
                   write_pointer(job_, position(kernel_, kernel_.stores[i].array)), level,
                   job_.body.store_members[i]);
    return code("if (owned[j] & (step >= {}u)) {{\n", first_stored()) + text + "}\n";
  }
  for (std::size_t a = 0; a < plan_.arrays.size(); ++a) {
    const Staged& staged = plan_.arrays[a];
    const int store = store_of(staged);
    const Code own = staged.halo ? code("{}_waiting_{}[0][j]", name(staged), level)
                                 : code("{}_here", name(staged));
    const Code made =
        store < 0 ? own : Code(job_.body.store_members[static_cast<std::size_t>(store)]);
    if (staged.halo)
      text += code("to[{} + (line*{}u + j + {}u)*{}u + {}u + lane] = {}.v;\n", first_in_level_[a],
                   shape_.rows_per_thread, plan_.reach_y, plan_.row_vectors, plan_.side, made);
    else
      text += code("{}_made_{}[{}][j] = {};\n", name(staged), level + 1, plan_.depth, made);
  }
  return text;
}

// The sites whose sums are complete now.
Code MarchSteps::sites(int level) const {
  Code head;
  for (const Staged& staged : plan_.arrays) {
    if (staged.halo) continue;
    head += code("vphi_pack {}_here", name(staged));
    head += level == 0
                ? code(";\n{}_here.v = here[{} + (line*{}u + j)*{}u + lane];\n", name(staged),
                       staged.first_vector, shape_.rows_per_thread, shape_.lanes)
                : code(" = {}_made_{}[0][j];\n", name(staged), level);
  }
  for (const std::string& member : job_.body.store_members) head += code("vphi_pack {};\n", member);
  if (draws_of_strip(job_, plan_.width))
    head +=
        strip_draws(job_, code("(plane_{} + site_row[j]) / {}u", level, plan_.width), plan_.width);
  Code put;
  for (const std::string& member : job_.body.store_members)
    put += code("{0}.e[i] = out.{0};\n", member);
  const Code& k = job_.body.suffix;
  const Code one = code("vphi_in_{0} in;\n", k) + gather(level) +
                   code("const vphi_out_{0} out = vphi_site_{0}(in, par_{1});\n", k, level) + put;
  return code("VPHI_UNROLL\nfor (int j = 0; j < {}; ++j) {{\n", shape_.rows_per_thread) +
         indent(head + code("VPHI_UNROLL\nfor (int i = 0; i < {}; ++i) {{\n", plan_.width) +
                    indent(one, 2) + "}\n",
                2) +
         indent(give(level), 2) + "}\n";
}

// Planes move up by one. What this step has taken goes before the step below fills its last place.
Code MarchSteps::shift(int level) const {
  Code lines;
  for (const Staged& staged : plan_.arrays) {
    const bool waits = staged.halo && (staged.centre || store_of(staged) < 0);
    const bool made = !staged.halo && level > 0;
    if (!waits && !made) continue;
    const char* kind = waits ? "waiting" : "made";
    for (int d = 0; d < plan_.depth; ++d)
      lines += code("  {0}_{1}_{2}[{3}][j] = {0}_{1}_{2}[{4}][j];\n", name(staged), kind, level, d,
                    d + 1);
  }
  if (lines.empty()) return {};
  return code("VPHI_UNROLL\nfor (int j = 0; j < {}; ++j) {{\n", shape_.rows_per_thread) + lines +
         "}\n";
}

Code MarchSteps::level(int level) const {
  Code text = level == 0
                  ? Code("const VPHI_LOCAL_POINTER vphi_vector* here = staging + stage;\n")
                  : code("const VPHI_LOCAL_POINTER vphi_vector* here = levels + {}u + before;\n",
                         2 * (level - 1) * level_vectors_);
  if (!last(level))
    text += code("VPHI_LOCAL_POINTER vphi_vector* to = levels + {}u + made;\n",
                 2 * level * level_vectors_);
  if (draws())
    text += draw_walker(job_, bindings_, "0", code("own_{}", level)) +
            draw_word(job_, bindings_, code("own_{}", level), false);
  for (const Staged& staged : plan_.arrays)
    for (const PlaneSum& s : staged.sums)
      text += code("{} {}[{}][{}];\n", real(), job_.body.reads[s.read].member,
                   shape_.rows_per_thread, plan_.width);
  for (const Staged& staged : plan_.arrays)
    if (staged.halo) text += rows_of(staged, level);
  text += sites(level) + shift(level);
  const std::int64_t plane = nx() * ny();
  if (wants_plane(level))
    text += code("plane_{0} = vphi_select_index(plane_{0} == {1}, 0, plane_{0} + {2});\n", level,
                 idx((nz() - 1) * plane), idx(plane));
  if (site_axis(2))
    text += code("z_{0} = (unsigned)vphi_select_index(z_{0} == {1}u, 0, z_{0} + 1u);\n", level,
                 nz() - 1);
  return "{\n" + indent(text, 2) + "}\n";
}

// From the last step down: each reads what the one below it made in the plane before.
Code MarchSteps::levels() const {
  Code text;
  for (int l = steps_ - 1; l >= 0; --l) text += level(l);
  return text;
}

}  // namespace vphi::emit
