#include "compiler/emit/walks/march_steps_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/math/draws.hpp"
#include "compiler/emit/text/reading.hpp"

namespace vphi::emit {
namespace {

std::int64_t around(std::int64_t distance, std::int64_t extent) {
  return (distance + extent - 1) / extent * extent - distance;
}

}  // namespace

MarchSteps::MarchSteps(const Job& job, const Bindings& bindings, const StepsShape& shape)
    : job_(job),
      bindings_(bindings),
      kernel_(job.kernel),
      steps_shape_(shape),
      shape_(shape.march),
      steps_(shape.steps),
      plan_(plan_march(job)) {
  apply_shape(job, shape_, plan_);
  for (const Staged& staged : plan_.arrays) {
    first_in_level_.push_back(level_vectors_);
    if (staged.halo) level_vectors_ += plan_.halo_rows * plan_.row_vectors;
  }
}

bool MarchSteps::site_axis(int axis) const {
  return job_.body
      .site_axis[static_cast<std::size_t>(job_.model_axis[static_cast<std::size_t>(axis)])];
}

int MarchSteps::store_of(const Staged& staged) const {
  const int array = kernel_.arrays[staged.array].array;
  for (std::size_t i = 0; i < kernel_.stores.size(); ++i)
    if (kernel_.stores[i].array == array) return static_cast<int>(i);
  return -1;
}

// ---- where things lie -------------------------------------------------------------------------

// Surplus threads compute the same as those of the last line, and own no sites.
Code MarchSteps::line() const {
  const Code line = code("thread / {}u", shape_.lanes);
  if (!shape_.surplus()) return line;
  return code("(unsigned)vphi_above({}, {}, {})", line, idx(0), idx(shape_.lines));
}

// The first row of the staged tile, and the places of this thread's vector and rows.
Code MarchSteps::places() const {
  const int ey = steps_shape_.edge_rows + plan_.reach_y, ex = steps_shape_.edge_vectors;
  const int rows = shape_.rows_per_thread;
  const int copies = (plan_.halo_rows + shape_.lines - 1) / shape_.lines;
  const std::int64_t vectors = row_vectors_of_box();
  Code text = code(
      "const unsigned first_vector = vphi_group_x()*{}u + {}u, first_row = vphi_group_y()*{}u + "
      "{}u;\n",
      stored_vectors(), around(ex + plan_.side, vectors), stored_rows(), around(ey, ny()));
  text += code("const unsigned x = (first_vector + {}u + lane) % {}u * {}u;\n", plan_.side, vectors,
               plan_.width);
  text += code(
      "vphi_index row_at[{0}], site_row[{1}];\nVPHI_UNROLL\nfor (int i = 0; i < {0}; ++i)\n"
      "  row_at[i] = (vphi_index)((first_row + line + i * {2}u) % {3}u) * {4} + x;\n"
      "VPHI_UNROLL\nfor (int j = 0; j < {1}; ++j)\n"
      "  site_row[j] = (vphi_index)((first_row + line*{1}u + j + {5}u) % {3}u) * {4} + x;\n",
      copies, rows, shape_.lines, ny(), idx(nx()), plan_.reach_y);
  if (site_axis(1))
    text += code(
        "unsigned site_y[{0}];\nVPHI_UNROLL\nfor (int j = 0; j < {0}; ++j)\n"
        "  site_y[j] = (first_row + line*{0}u + j + {1}u) % {2}u;\n",
        rows, plan_.reach_y, ny());
  // Sites in the edge of the tile or beyond the end of the box belong to another group.
  text += code(
      "int owned[{0}];\nVPHI_UNROLL\nfor (int j = 0; j < {0}; ++j) {{\n"
      "  const unsigned column = lane - {1}u, row = line*{0}u + j - {2}u;\n"
      "  owned[j] = {7}column < {3}u & row < {4}u & vphi_group_x()*{3}u + column < {5}u &\n"
      "             vphi_group_y()*{4}u + row < {6}u;\n}}\n",
      rows, ex, steps_shape_.edge_rows, stored_vectors(), stored_rows(), vectors, ny(),
      shape_.surplus() ? code("thread < {}u & ", shape_.lanes * shape_.lines) : Code());
  if (plan_.side == 0) return text;
  const int both = 2 * plan_.side;
  return text +
         code(
             "const unsigned edge_row = thread/{0}u + {1}u, edge_side = thread % {0}u;\n"
             "const unsigned edge_vector =\n"
             "    edge_side + (unsigned)vphi_select_index(edge_side < {2}u, 0, {3});\n"
             "const unsigned edge_to = edge_row*{4}u + edge_vector;\n"
             "const vphi_index edge_at = (vphi_index)((first_row + edge_row) % {5}u) * {6} +\n"
             "                           (first_vector + edge_vector) % {7}u * {8}u;\n",
             both, plan_.reach_y - plan_.edge_y, plan_.side, idx(shape_.lanes), plan_.row_vectors,
             ny(), idx(nx()), vectors, plan_.width);
}

// Places in a staged row of the values beside this thread's vector, where no other lane has them.
Code MarchSteps::edge_places() const {
  if (plan_.reach_x == 0) return {};
  const bool exchange = job_.dialect.can.exchange_lanes;
  const int base = plan_.side * plan_.width;
  Code text;
  if (exchange)
    text += code(
        "const int first_lane = (lane == 0u) | (thread % 32u == 0u);\n"
        "const int last_lane = (lane == {0}u) | (thread % 32u == 31u);\n"
        "const unsigned to_last = (unsigned)vphi_select_index({0}u - lane < 31u - thread % 32u,\n"
        "                                                     {0}u - lane, 31u - thread % 32u);\n",
        shape_.lanes - 1);
  for (int d = 1; d <= plan_.reach_x; ++d) {
    const Code lane = exchange ? "(lane + to_last)" : "lane";
    Code below = code("{}u + lane*{}u - {}u", base, plan_.width, d);
    Code above = code("{}u + {}*{}u + {}u", base, lane, plan_.width, plan_.width + d - 1);
    if (plan_.side == 0) {
      below = code("(lane*{}u + {}u) % {}u", plan_.width, nx() * plan_.reach_x - d, nx());
      above = code("({}*{}u + {}u) % {}u", lane, plan_.width, plan_.width + d - 1, nx());
    }
    if (exchange) {
      // One place for both: no lane is the first and the last. The others read what the last does.
      text += code(
          "const unsigned beyond_{} =\n"
          "    (unsigned)vphi_select_index(first_lane, {},\n                                {});\n",
          d, below, above);
    } else {
      text += code("const unsigned below_{0} = {1};\nconst unsigned above_{0} = {2};\n", d, below,
                   above);
    }
  }
  return text;
}

// Planes from memory, and for each step the plane that it makes: number (where sites take their
// place along z) and place in the arrays.
Code MarchSteps::first_planes() const {
  const auto first = [&](std::int64_t below) {
    return code("(z0 + {}u) % {}u", around(below, nz()), nz());
  };
  const std::int64_t plane = nx() * ny(), depth = plan_.depth;
  Code text =
      code("vphi_index halo_plane = (vphi_index)({}) * {};\n", first(steps_ * depth), idx(plane));
  if (std::ranges::any_of(plan_.arrays, [](const Staged& s) { return !s.halo; }))
    text += code("vphi_index centre_plane = (vphi_index)({}) * {};\n", first((steps_ - 1) * depth),
                 idx(plane));
  for (int l = 0; l < steps_; ++l) {
    // the first plane of the march makes the plane so far below z0
    const std::int64_t below = steps_ * depth + depth + std::int64_t{l} * (depth + 1);
    if (wants_plane(l))
      text += code("vphi_index plane_{} = (vphi_index)({}) * {};\n", l, first(below), idx(plane));
    if (site_axis(2)) text += code("unsigned z_{} = {};\n", l, first(below));
  }
  return text;
}

// ---- from memory to local memory --------------------------------------------------------------

Code MarchSteps::copy_centre() const {
  Code text;
  for (const Staged& staged : plan_.arrays)
    if (!staged.halo)
      text += code(
          "  VPHI_UNROLL\n  for (int j = 0; j < {0}; ++j)\n"
          "    vphi_copy_vector(to + {1} + (line*{0}u + j)*{2}u + lane,\n"
          "                     {3} + (centre_plane + site_row[j]));\n",
          shape_.rows_per_thread, staged.first_vector, shape_.lanes,
          read_pointer(job_, staged.array));
  if (text.empty()) return {};
  return code(
      "if (load_step >= {}u) {{\n{}"
      "  centre_plane = vphi_select_index(centre_plane == {}, 0, centre_plane + {});\n}}\n",
      2 * plan_.depth, text, idx((nz() - 1) * nx() * ny()), idx(nx() * ny()));
}

// ---- scalars ----------------------------------------------------------------------------------

std::vector<int> MarchSteps::used_slots() const {
  std::vector<int> list = job_.body.slots_read;
  list.insert(list.end(), job_.body.slots_written.begin(), job_.body.slots_written.end());
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

Code MarchSteps::take_slots(int level, const Code& own, const std::vector<int>& slots) const {
  Code text;
  for (const int slot : slots)
    text += code("{0}[{1}] = scalars_of_steps[{2} + {1}];\n", own, slot_text(bindings_, slot),
                 static_cast<std::size_t>(level) * bindings_.slots.size());
  return text;
}

// The epilogue of step `level`, from scalars in local memory to private ones.
Code MarchSteps::next_scalars(int level) const {
  return code("double own[{}];\n", bindings_.slots.size()) +
         take_slots(level, "own", used_slots()) +
         code(
             "const double total[1] = {{0.0}};\n"
             "vphi_epilogue_{0}(own, vphi_before_of_{0}(own), total);\n",
             job_.body.suffix);
}

Code MarchSteps::local_scalars() const {
  return code("VPHI_LOCAL double scalars_of_steps[{}];\n",
              static_cast<std::size_t>(steps_) * bindings_.slots.size());
}

// Barriers separate the scalars of successive steps, as launches do, so that the compiler sees them
// as loaded from memory.
Code MarchSteps::scalars_of_steps() const {
  const std::size_t count = bindings_.slots.size();
  Code text = code(
      "for (unsigned i = thread; i < {0}u; i += {1}u) scalars_of_steps[i] = scalars[i];\n"
      "vphi_barrier();\n",
      count, shape_.threads());
  for (int l = 1; l < steps_; ++l) {
    Code next = job_.epilogue()
                    ? next_scalars(l - 1)
                    : code("double own[{}];\n", count) + take_slots(l - 1, "own", used_slots());
    for (const int slot : used_slots())
      next += code("scalars_of_steps[{} + {}] = own[{}];\n", static_cast<std::size_t>(l) * count,
                   slot_text(bindings_, slot), slot_text(bindings_, slot));
    text += "if (thread == 0u) {\n" + indent(next, 2) + "}\nvphi_barrier();\n";
  }
  for (int l = 0; l < steps_; ++l)
    text +=
        code("double own_{0}[{1}];\n{2}const vphi_par_{3} par_{0} = vphi_par_of_{3}(own_{0});\n", l,
             count, take_slots(l, code("own_{}", l), job_.body.slots_read), job_.body.suffix);
  return text;
}

// The last group to arrive takes the scalars all steps on.
Code MarchSteps::finish() const {
  if (!job_.epilogue()) return {};
  Code save;
  for (const int slot : job_.body.slots_written)
    save += code("scalars[{0}] = own[{0}];\n", slot_text(bindings_, slot));
  return "vphi_barrier_all();  // everybody has read the scalars\n"
         "if (thread == 0u) {\n"
         "  vphi_fence();\n"
         "  if (vphi_count_one(counter) == vphi_groups() - 1u) {\n" +
         indent(next_scalars(steps_ - 1) + save, 4) +
         "    *counter = 0u;\n"
         "  }\n"
         "}\n";
}

}  // namespace vphi::emit
