#include "compiler/emit/memory/gather.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/emit/math/draws.hpp"
#include "compiler/emit/text/instances.hpp"

namespace vphi::emit {
namespace {

using algebra::Offset;
using physics::Boundary;

}  // namespace

// The cells of a colour form a lattice whose extent along one axis is divided by the number of
// colours. Along it the site is modulus*(place of the cell) + first, where first follows from the
// colour and the other coordinates.
namespace {

std::int64_t cells_of(const kernel::Kernel& kernel, const kernel::Colours& colours, int axis) {
  const std::int64_t n = kernel.extent[static_cast<std::size_t>(axis)];
  return axis == colours.axis ? n / colours.modulus : n;
}

Code cell_called(const kernel::Colours& colours, int axis) {
  return Code(axis == colours.axis ? "cell_" : "") + algebra::kAxisNames[axis];
}

// The number `rest` taken apart into the places along the axes from `first` on.
Code places(const Job& job, const kernel::Colours& colours, Code rest, int first) {
  Code text;
  for (int axis = first; axis < job.kernel.dims; ++axis) {
    const Code n = index_literal(job, cells_of(job.kernel, colours, axis));
    const bool last = axis + 1 == job.kernel.dims;
    text += code("const vphi_index {} = {}{};\n", cell_called(colours, axis), rest,
                 last ? "" : " % " + n);
    rest += "/" + n;
  }
  return text;
}

// The coordinate along the axis of the colours, and the number of the site.
Code last_coordinate(const Job& job, const kernel::Colours& c) {
  const kernel::Kernel& kernel = job.kernel;
  const auto lit = [&](std::int64_t v) { return index_literal(job, v); };
  const int inverse = c.inverse();
  Code sum = c.modulus == 1 ? lit(0) : code("colour*{}", lit(inverse));
  for (int axis = 0; axis < kernel.dims; ++axis) {
    const int weight = -c.weights[static_cast<std::size_t>(axis)] * inverse % c.modulus;
    if (axis == c.axis || weight == 0) continue;
    sum += code(" + {}*{}", lit((weight + c.modulus) % c.modulus), algebra::kAxisNames[axis]);
  }
  Code at;
  for (int axis = kernel.dims - 1; axis >= 0; --axis) {
    const Code n = lit(kernel.extent[static_cast<std::size_t>(axis)]);
    at = at.empty() ? algebra::kAxisNames[axis]
                    : code("({}*{} + {})", at, n, algebra::kAxisNames[axis]);
  }
  return code("const vphi_index {0} = {1}*{2} + ({3}) % {1};\nconst vphi_index at = {4};\n",
              algebra::kAxisNames[c.axis], lit(c.modulus), cell_called(c, c.axis), sum, at);
}

kernel::Colours colours_of(const program::SiteOrder& order) {
  return {order.modulus, order.weights, order.axis, {}};
}

// Index of a cell among those of its class; `at` names the coordinate along an axis.
template <class At>
Code cell_index(const Job& job, At at) {
  const kernel::Colours classes = colours_of(job.order);
  Code index;
  for (int axis = job.kernel.dims - 1; axis >= 0; --axis) {
    Code here = at(axis);
    if (axis == classes.axis && classes.modulus > 1)
      here += "/" + index_literal(job, classes.modulus);
    const Code n = index_literal(job, cells_of(job.kernel, classes, axis));
    index = index.empty() ? here : code("({}*{} + {})", index, n, here);
  }
  return index;
}

/// What is added to a place for the instance of a group.
Code first_place(const Job& job) {
  return places_of_all_instances(job) ? Code("first_place + ") : Code();
}

}  // namespace

std::int64_t Gather::cells(const kernel::Kernel& kernel, int axis) {
  return cells_of(kernel, *kernel.colours, axis);
}

Code Gather::cell_name(const kernel::Kernel& kernel, int axis) {
  return cell_called(*kernel.colours, axis);
}

Code Gather::of_row(const Job& job) { return places(job, *job.kernel.colours, "row", 1); }

Code Gather::coloured(const Job& job) {
  return places(job, *job.kernel.colours, "cell", 0) + in_row(job);
}

Code Gather::in_row(const Job& job) {
  return last_coordinate(job, *job.kernel.colours) + sites_before_place(job);
}

int Gather::integers_of_coloured(const Job& job) {
  const kernel::Kernel& kernel = job.kernel;
  const kernel::Colours& colours = *kernel.colours;
  int count = kernel.dims + 1;  // the last coordinate and the number of the site
  for (int axis = 0; axis < kernel.dims; ++axis) {
    count += axis != colours.axis && colours.weights[static_cast<std::size_t>(axis)] != 0;
    const std::int64_t n = cells_of(kernel, colours, axis);
    if (axis + 1 < kernel.dims) count += std::has_single_bit(static_cast<std::uint64_t>(n)) ? 2 : 4;
  }
  return has_site_order(job) ? count + 2 * kernel.dims + 1 : count;
}

// Neighbouring threads take neighbouring places. The classes come in turn, so that values of one
// class that the sites of another read are still in the cache.
Code Gather::site_in_memory_order() {
  const auto lit = [&](std::int64_t v) { return index_literal(job_, v); };
  const program::SiteOrder& order = job_.order;
  const Code cells = lit(kernel_.sites() / order.modulus);
  if (!kernel_.colours) {
    const std::int64_t together = std::gcd(kernel_.walked_sites() / order.modulus, together_);
    return code(
               "const vphi_index colour = number/{0} % {1};\n"
               "const vphi_index {3} = number/{2}*{0} + number % {0};\n",
               lit(together), lit(order.modulus), lit(together * order.modulus),
               kernel_.planes ? "own" : "cell") +
           own_cell() + places(job_, colours_of(order), "cell", 0) +
           last_coordinate(job_, colours_of(order)) + sites_before_place(job_) +
           code(
               "const vphi_index shade = colour;\n"
               "const vphi_index place = {}shade*{} + cell;\n",
               first_place(job_), cells);
  }
  Code sum;
  for (int axis = 0; axis < kernel_.dims; ++axis) {
    const int weight = order.weights[static_cast<std::size_t>(axis)];
    if (weight != 0)
      sum += code("{}{}{}", sum.empty() ? "" : " + ", weight == 1 ? "" : lit(weight) + "*",
                  algebra::kAxisNames[axis]);
  }
  return coloured(job_) +
         code(
             "const vphi_index shade = ({}) % {};\n"
             "const vphi_index place = {}shade*{} + {};\n",
             sum.empty() ? lit(0) : sum, lit(order.modulus), first_place(job_), cells,
             cell_index(job_, [](int axis) { return Code(algebra::kAxisNames[axis]); }));
}

// Of a rank, which has ghosts before its own planes: the cell in memory. Classes have a share of
// each row.
Code Gather::own_cell() const {
  if (!kernel_.planes) return {};
  const auto lit = [&](std::int64_t v) { return index_literal(job_, v); };
  if (rows_apart(kernel_))
    return code(
        "const vphi_index cell = {};\n",
        RowsOfLines(kernel_).place("own", cells_of(kernel_, colours_of(job_.order), 0), lit));
  const std::int64_t plane = kernel_.walked_sites() / kernel_.planes->own / job_.order.modulus;
  return code("const vphi_index cell = own + {};\n", lit(kernel_.planes->first * plane));
}

// The variable with the place of a neighbour in the memory of arrays with a home.
Code Gather::place(const Offset& offset, int copy) {
  if (copy > 0) {
    const Code first = place(offset, 0);
    const Code name = code("{}_again{}", first, copy);
    if (known_.insert(name).second)
      text_ += code("const vphi_index {} = vphi_again({}, {});\n", name, first, copy);
    return name;
  }
  if (offset.zero()) return "place";
  const Code name = "place_" + offset_name(offset);
  if (!known_.insert(name).second) return name;
  const program::SiteOrder& order = job_.order;
  int change = 0;
  for (std::size_t k = 0; k < 4; ++k) change += order.weights[k] * offset.d[k];
  change = (change % order.modulus + order.modulus) % order.modulus;
  const auto lit = [&](std::int64_t v) { return index_literal(job_, v); };
  const Code shade =
      change == 0 ? "shade" : code("(shade + {}) % {}", lit(change), lit(order.modulus));
  const Code cell = cell_index(job_, [&](int axis) { return axis_index(axis, offset.d[axis]); });
  text_ += code("const vphi_index {} = {}{}*{} + {};\n", name, first_place(job_), shade,
                lit(kernel_.sites() / order.modulus), cell);
  integers_ += kernel_.dims + (change == 0 ? 0 : 2);
  return name;
}

Code Gather::stores(const Job& job, bool strip) {
  Code text, last;
  std::set<std::size_t> begun;
  for (std::size_t i = 0; i < job.kernel.stores.size(); ++i) {
    const std::size_t array = position(job.kernel, job.kernel.stores[i].array);
    const bool same = job.kernel.arrays[array].store == job.body.real;
    const MemoryPlace& place = job.places[array];
    const Code value = (same ? "" : Code("(") + type_name(job.kernel.arrays[array].store) + ")") +
                       "out." + job.body.store_members[i];
    if (strip) {
      text += code("{}[k] = {};\n", next_of_strip(job, array), value);
      continue;
    }
    if (place.lanes == 1) {
      text +=
          code("{}[{}] = {};\n", write_pointer(job, array), place.home < 0 ? "at" : "place", value);
      continue;
    }
    const std::size_t home = home_of(job, array);
    const Code all = job.body.array_names[home] + "_new_all";
    if (begun.insert(home).second) {
      text += code("{} {};\n", place_type(job, home), all);
      last += code("{}[place] = {};\n", write_pointer(job, array), all);
    }
    text += code("{}.{} = {};\n", all, "xyzw"[place.lane], value);
  }
  return text + last;
}

Code Gather::coordinates() {
  if (coordinates_known_) return {};
  if (has_site_order(job_)) return site_in_memory_order();
  if (kernel_.colours) return coloured(job_);
  int last = 0;
  for (int axis = 0; axis < 4; ++axis) {
    bool used = job_.body.site_axis[static_cast<std::size_t>(axis)];
    for (const Read& read : job_.body.reads)
      for (const Offset& offset : read.offsets) used = used || !offset.zero();
    if (used) last = std::max(last, axis < kernel_.dims ? axis : 0);
    if (used && axis == 0) last = std::max(last, kernel_.dims - 1);
  }
  bool wanted = false;
  for (bool b : job_.body.site_axis) wanted = wanted || b;
  for (const Read& read : job_.body.reads) wanted = wanted || !read.centre();
  if (!wanted) return {};
  Code out, rest = "at";
  for (int axis = 0; axis <= last; ++axis) {
    if (axis == last) {
      out += code("const vphi_index {} = {};\n", algebra::kAxisNames[axis], rest);
    } else {
      out += code("const vphi_index {0} = {1} % {2};\n", algebra::kAxisNames[axis], rest, n(axis));
      if (axis + 1 < last)
        out += code("const vphi_index above_{0} = {1}/{2};\n", algebra::kAxisNames[axis], rest,
                    n(axis));
      rest = axis + 1 < last ? code("above_{}", algebra::kAxisNames[axis])
                             : code("{}/{}", rest, n(axis));
    }
  }
  return out;
}

// The index along x of a neighbour that no end of the row parts from the site.
Code Gather::index_within(const Code& name, int d) const {
  const Boundary boundary = kernel_.boundary[0];
  Code text = code("const {} {} = x {} {};\n", place_type_, name, d > 0 ? "+" : "-",
                   index_literal(job_, std::abs(d)));
  if (boundary == Boundary::Antiperiodic)
    text += code("const {} {}_sign = {};\n", real(), name, number(1));
  if (boundary == Boundary::Fixed) text += code("const int {}_inside = 1;\n", name);
  return text;
}

// The variable with the index along `axis` of the neighbour `d` away; x_m1_sign and x_m1_inside
// beside it where the boundary needs them.
Code Gather::axis_index(int axis, int d) {
  if (d == 0) return algebra::kAxisNames[axis];
  Code& name = index_[{axis, d}];
  if (!name.empty()) return name;
  name = code("{}_{}{}", algebra::kAxisNames[axis], d > 0 ? "p" : "m", d > 0 ? d : -d);
  if (axis == 0 && d >= -before_ && d <= after_) {
    text_ += index_within(name, d);
    return name;
  }
  const std::int64_t extent = kernel_.extent[static_cast<std::size_t>(axis)];
  const std::int64_t up = ((d % extent) + extent) % extent;
  const std::int64_t winding = (d - up) / extent;
  const char* x = algebra::kAxisNames[axis];
  const Boundary boundary = kernel_.boundary[static_cast<std::size_t>(axis)];
  const auto lit = [&](std::int64_t v) { return index_literal(job_, v); };
  if (boundary == Boundary::Periodic || boundary == Boundary::Antiperiodic) {
    text_ += code("const vphi_index {} = vphi_wrapped({}, {}, {});\n", name, x, lit(up), n(axis));
    integers_ += 3;  // a sum, a comparison, a choice
    if (boundary == Boundary::Antiperiodic) {
      const double inner = winding % 2 == 0 ? 1 : -1;
      text_ += code("const {0} {1}_sign = vphi_select_{2}({3} + {4} >= {5}, {6}, {7});\n", real(),
                    name, job_.body.real == Precision::F32 ? "f32" : "f64", x, lit(up), n(axis),
                    number(-inner), number(inner));
    }
    return name;
  }
  if (boundary == Boundary::Absorbing)
    throw std::invalid_argument("absorbing boundaries are not yet in this version");
  if (boundary == Boundary::Neumann && std::abs(d) > 1) {
    text_ += code("const vphi_index {} = vphi_mirror_{}({}, {}, {});\n", name,
                  d < 0 ? "below" : "above", x, lit(std::abs(d)), n(axis));
    return name;
  }
  integers_ += 2;  // a sum and a bound
  text_ += d < 0
               ? code("const vphi_index {} = vphi_below({}, {});\n", name, x, lit(-d))
               : code("const vphi_index {} = vphi_above({}, {}, {});\n", name, x, lit(d), n(axis));
  if (boundary == Boundary::Fixed) {
    text_ += d < 0 ? code("const int {}_inside = {} >= {};\n", name, x, lit(-d))
                   : code("const int {}_inside = {} + {} < {};\n", name, x, lit(d), n(axis));
  }
  return name;
}

// Index of the first site of the row that `offset` lies in.
Code Gather::row(const Offset& offset) {
  Offset across = offset;
  across.d[0] = 0;
  const Code name = across.zero() ? "row" : "row_" + offset_name(across);
  if (!rows_.insert(name).second) return name;
  Code index;
  for (int axis = kernel_.dims - 1; axis > 0; --axis) {
    const Code here = axis_index(axis, offset.d[axis]);
    index = index.empty() ? here : code("({}*{} + {})", index, n(axis), here);
  }
  text_ += code("const vphi_index {} = {}*{};\n", name, index, n(0));
  integers_ += kernel_.dims - 1;  // products and sums
  return name;
}

// A read and its address: a sum with the row and one with the array. Where the place in the row is
// known the row has both, and the site before has read what lies between them.
void Gather::count_read(const Offset& offset) {
  const int x = offset.d[0];
  const bool beside = before_ + after_ > 0 && x >= -before_ && x <= after_;
  if (!beside) integers_ += offset.zero() ? 1 : 2;
  Offset across = offset;
  across.d[0] = 0;
  if (!beside || x >= 0 || !across.zero()) ++reads_;
}

// The number as it lies in memory; with the others of its place it is read once.
Code Gather::stored(std::size_t array, const Offset& offset, int copy) {
  const MemoryPlace& own = job_.places[array];
  if (strip_) return old_of_strip(job_, array) + "[k]";
  if (own.home < 0) {
    Code index = "at";
    if (!offset.zero()) {
      index = axis_index(0, offset.d[0]);
      if (kernel_.dims > 1) index = row(offset) + " + " + index;
    }
    count_read(offset);
    if (copy > 0) index = code("vphi_again({}, {})", index, copy);
    return code("{}[{}]", read_pointer(job_, array), index);
  }
  const bool first = own.lanes == 1 || own.lane == 0;
  integers_ += first, reads_ += first;
  if (own.lanes == 1) return code("{}[{}]", read_pointer(job_, array), place(offset, copy));
  const Code all = job_.body.array_names[home_of(job_, array)] + "_" + offset_name(offset) +
                   "_all" + (copy > 0 ? std::to_string(copy) : "");
  if (known_.insert(all).second) {
    const Code index = place(offset, copy);
    text_ += code("const {} {} = {}[{}];\n", place_type(job_, array), all,
                  read_pointer(job_, array), index);
  }
  return code("{}.{}", all, "xyzw"[own.lane]);
}

Code Gather::value(std::size_t array, const Offset& offset, int copy) {
  const Code which = copy > 0 ? code("_again{}", copy) : "";
  Code& name = values_[job_.body.array_names[array] + " " + offset_name(offset) + which];
  if (!name.empty()) return name;
  name = job_.body.array_names[array] + "_" + offset_name(offset) + which;
  Code load = stored(array, offset, copy);
  if (kernel_.arrays[array].store != job_.body.real) load = "(" + real() + ")" + load;
  Code inside;
  for (int axis = 0; axis < kernel_.dims; ++axis) {
    if (offset.d[axis] == 0) continue;
    const Boundary boundary = kernel_.boundary[static_cast<std::size_t>(axis)];
    const Code index = axis_index(axis, offset.d[axis]);
    if (boundary == Boundary::Antiperiodic) load += "*" + index + "_sign";
    if (boundary == Boundary::Fixed) inside += (inside.empty() ? "" : " & ") + index + "_inside";
  }
  if (!inside.empty())
    load = code("vphi_select_{}({}, {}, {})", job_.body.real == Precision::F32 ? "f32" : "f64",
                inside, load, number(kernel_.fixed_value));
  text_ += code("const {} {} = {};\n", real(), name, load);
  return name;
}

// In the order of the row plan, so that all patterns that follow it agree in the last bit.
Code Gather::sum(const Read& read, std::size_t array) {
  algebra::StencilData data;
  data.dims = kernel_.dims;
  data.offsets = read.offsets;
  data.weights = read.weights;
  const algebra::RowPlan plan = algebra::row_plan(data);
  Code total;
  int number_of = 0;
  for (const algebra::RowGroup& group : plan.groups) {
    ++number_of;
    std::map<int, Code> column;
    const auto column_at = [&](int dx) {
      if (column.count(dx)) return column[dx];
      Code text;
      std::size_t line = 0;
      for (Offset at : group.rows) {
        at.d[0] = static_cast<std::int16_t>(dx);
        const Code term = value(array, at);
        if (line + term.size() > 76) {
          text += " +\n   ";
          line = 4;
          text += " " + term;
        } else {
          text += (text.empty() ? "" : " + ") + term;
        }
        line += term.size() + 3;
      }
      if (group.rows.size() == 1) return column[dx] = text;
      Offset along;
      along.d[0] = static_cast<std::int16_t>(dx);
      const Code name = code("{}_{}_rows{}", read.member, offset_name(along), number_of);
      text_ += code("const {} {} = {};\n", real(), name, text);
      return column[dx] = name;
    };
    for (const algebra::RowClass& points : group.classes) {
      Code text;
      for (int dx : points.dx) text += (text.empty() ? "" : " + ") + column_at(dx);
      if (points.dx.size() > 1 && points.weight != 1) text = "(" + text + ")";
      if (points.weight != 1)
        text = number(static_cast<double>(points.weight)) + "*" + text;
      else if (points.dx.size() > 1)
        text = "(" + text + ")";
      total += (total.empty() ? "" : " +\n    ") + text;
    }
  }
  return total;
}

Code Gather::filled(const Read& read) {
  const std::size_t array = position(kernel_, read.array);
  const Code text = read.offsets.size() == 1 && read.weights[0] == 1
                        ? value(array, read.offsets[0], job_.signed_index ? 0 : read.copy)
                        : sum(read, array);
  return code("in.{} = {};\n", read.member, text);
}

Code Gather::axes_filled() const {
  Code fills;
  for (int axis = 0; axis < 4; ++axis)
    if (job_.body.site_axis[static_cast<std::size_t>(axis)])
      fills += axis < kernel_.dims
                   ? code("in.site_{} = {};\n", algebra::kAxisNames[axis],
                          in_whole_lattice(job_.body, static_cast<std::size_t>(axis),
                                           code("({}){}", real(), algebra::kAxisNames[axis])))
                   : code("in.site_{0} = ({1})0;\n", algebra::kAxisNames[axis], real());
  return fills;
}

Code Gather::lines(bool strip) {
  strip_ = strip;
  return with_draws(strip ? strip_draw_lines(job_) : draw_lines(job_, "at"));
}

Code Gather::lines_of_own() {
  strip_ = true;
  return with_draws(draw_lines(job_, "at"));
}

Code Gather::with_draws(Code fills) {
  Code head = coordinates();
  for (const Read& read : job_.body.reads) fills += filled(read);
  fills += axes_filled();
  if (fills.empty()) fills = "in.none = (" + real() + ")0;\n";
  return head + text_ + fills;
}

Code Gather::in_pieces() {
  text_ = coordinates() + axes_filled();
  const std::vector<Code> draws = draw_pieces(job_, "at");
  std::size_t drawn = 0;  // pieces of `draws`
  for (const Piece& piece : job_.body.pieces) {
    for (const std::size_t k : piece.reads) {
      const Code fill = filled(job_.body.reads[k]);
      text_ += fill;
    }
    for (; piece.draws > 0 && drawn <= piece.draws; ++drawn) text_ += draws[drawn];
    text_ += piece.lines;
  }
  return text_;
}

Code Gather::evaluated() {
  const Code& name = job_.body.suffix;
  const Code in = code("vphi_in_{} in;\n", name);
  if (job_.body.pieces.empty())
    return in + lines() + code("const vphi_out_{0} out = vphi_site_{0}(in, par);\n", name);
  return in + code("vphi_out_{} out;\n", name) + in_pieces();
}

Code Gather::evaluated_of_blocks(const Code& number) {
  return code("vphi_in_{0} in;\n{1}const vphi_out_{0} out = vphi_site_{0}(in, par);\n",
              job_.body.suffix, with_draws(draw_lines_of_blocks(job_, "at", number)));
}

Code Gather::functions(const Job& job) {
  return job.body.pieces.empty() ? job.body.code() : job.body.structs + job.body.rest;
}

}  // namespace vphi::emit
