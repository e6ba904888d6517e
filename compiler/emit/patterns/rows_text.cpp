#include "compiler/emit/patterns/rows_text.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/emit/math/draws.hpp"

namespace vphi::emit {
namespace {

using algebra::Offset;
using physics::Boundary;

}  // namespace

// Variable with the index along an axis across the row, and the sign or test of its boundary.
Code Rows::axis_index(int axis, int d) {
  used_[static_cast<std::size_t>(axis)] = true;
  if (d == 0) return algebra::kAxisNames[axis];
  Code& name = index_[{axis, d}];
  if (!name.empty()) return name;
  name = fmt::format("{}_{}{}", algebra::kAxisNames[axis], d > 0 ? "p" : "m", d > 0 ? d : -d);
  const Boundary boundary = kernel_.boundary[static_cast<std::size_t>(axis)];
  const std::int64_t n = extent(kernel_, axis);
  const char* x = algebra::kAxisNames[axis];
  switch (boundary) {
    case Boundary::Antiperiodic:
      coordinates_ += code("const {0} {1}_sign = vphi_turn_sign_{2}({3} + {4}, {5});\n", real(),
                           name, suffix(), x, d, n);
      [[fallthrough]];
    case Boundary::Periodic:
      coordinates_ += code("const vphi_index {} = vphi_around({} + {}, {});\n", name, x, d, n);
      break;
    case Boundary::Fixed:
      coordinates_ +=
          code("const int {0}_inside = {1} + {2} >= 0 && {1} + {2} < {3};\n", name, x, d, n);
      [[fallthrough]];
    case Boundary::Outflow:
      coordinates_ += code("const vphi_index {} = vphi_within({} + {}, {});\n", name, x, d, n);
      break;
    case Boundary::Neumann:
      coordinates_ += code("const vphi_index {} = vphi_mirrored({} + {}, {});\n", name, x, d, n);
      break;
    case Boundary::Absorbing:
      throw std::invalid_argument("absorbing boundaries are not yet in this version");
  }
  return name;
}

// Variable that points to the first site (x = 0) of a row.
Code Rows::row_pointer(std::size_t array, Offset row) {
  row.d[0] = 0;
  const Code name = job_.body.array_names[array] + (row.zero() ? "_row" : "_" + offset_name(row));
  Code& known = pointers_[name];
  if (!known.empty()) return known;
  known = name;
  Code index = "0";
  for (int axis = kernel_.dims - 1; axis > 0; --axis) {
    const Code here = axis_index(axis, row.d[axis]);
    index = index == "0" ? here : code("({}*{} + {})", index, extent(kernel_, axis), here);
  }
  const Code type = type_name(kernel_.arrays[array].store);
  coordinates_ += code("VPHI_GLOBAL const {}* {} = {} + {}*{};\n", type, name,
                       read_pointer(job_, array), index, extent(kernel_, 0));
  return name;
}

// One value of a row: at x0 + i, or at any x where the row may have to wrap (edge).
Code Rows::element(std::size_t array, const Offset& row, const Code& at, bool edge) {
  const Precision store = kernel_.arrays[array].store;
  const bool from_memory = !edge && crosses_end(row);
  const Code pointer = from_memory ? row_with_ends(array, row) : row_pointer(array, row);
  Code text = edge          ? code("vphi_edge_{}({}, {})", type_name(store), pointer, at)
              : from_memory ? pointer + "[i]"
                            : code("{}[{}]", pointer, at);
  if (store != job_.body.real) text = "(" + real() + ")" + text;
  if (from_memory) return text;
  Code inside;
  if (edge && kernel_.boundary[0] == Boundary::Fixed)
    inside = code("vphi_inside({}, {})", at, extent(kernel_, 0));
  for (int axis = 1; axis < kernel_.dims; ++axis) {
    if (row.d[axis] == 0) continue;
    const Boundary boundary = kernel_.boundary[static_cast<std::size_t>(axis)];
    const Code index = axis_index(axis, row.d[axis]);
    if (boundary == Boundary::Antiperiodic) text = with_sign(text, index + "_sign");
    if (boundary == Boundary::Fixed) inside += (inside.empty() ? "" : " & ") + index + "_inside";
  }
  if (inside.empty()) return text;
  return code("vphi_select_{}({}, {}, {})", suffix(), inside, text, fixed_number());
}

Code Rows::added(std::size_t array, const algebra::RowGroup& group, const Code& at, bool edge) {
  Code text;
  std::size_t line = 0;
  for (const Offset& row : group.rows) {
    const Code term = element(array, row, at, edge);
    const bool full = line + term.size() > 72;
    text += (text.empty() ? "" : full ? " +\n      " : " + ") + term;
    line = full ? 6 + term.size() : line + term.size() + 3;
  }
  return text;
}

// The rows of a group added up: a buffer over x with margins, or where no other x is wanted the sum
// itself (in terms of i).
Rows::Column Rows::column(const Read& read, std::size_t array, const algebra::RowGroup& group) {
  int reach = 0;
  std::string key = job_.body.array_names[array];
  for (const algebra::RowClass& points : group.classes)
    for (int dx : points.dx) reach = std::max(reach, dx < 0 ? -dx : dx);
  if (reach == 0) return {code("({})", added(array, group, "x0 + i", false)), false};
  for (const Offset& row : group.rows) key += "_" + offset_name(row);
  std::string& name = columns_[key];
  if (!name.empty()) return {name, true};
  name = fmt::format("{}_rows{}", read.member, columns_.size());
  buffers_ += code("{} {}[{}];\n", real(), name, chunk() + 2 * reach_);
  Columns rows{
      code("  {}[{} + i] = {};\n", name, reach_, added(array, group, "x0 + i", false)), {}, {}, {}};
  if (circle()) {
    rows.turned = turned(name);
  } else {
    edges_ = true;
    rows.below = code("  {}[{} - i] = {};\n", name, reach_, added(array, group, "x0 - i", true));
    rows.above = code("  {}[{} + width + i] = {};\n", name, reach_ - 1,
                      added(array, group, "x0 + width - 1 + i", true));
  }
  rows_.push_back(rows);
  return {name, true};
}

// Buffers are filled in a loop each, which reads one row at a time. Many such loops take clang
// longer than the site itself: then one loop fills 16 buffers.
Code Rows::fill_rows() const {
  const std::size_t together = rows_.size() > 64 ? 16 : 1;
  Code text;
  for (std::size_t first = 0; first < rows_.size(); first += together) {
    Code inside, beyond;
    for (std::size_t k = first; k < std::min(first + together, rows_.size()); ++k) {
      inside += rows_[k].inside;
      beyond += rows_[k].below + rows_[k].above + rows_[k].turned;
    }
    text += code("VPHI_VECTORISE\nfor (vphi_index i = 0; i < width; ++i){}\n{}",
                 together > 1 ? " {" : "", inside);
    if (together > 1) text += "}\n";
    text += code("for (vphi_index i = 1; i <= {}; ++i) {{\n{}}}\n", reach_, beyond);
  }
  return text;
}

// The order is that of the row plan, or of the column plan (algebra::apply).
Code Rows::sum(const Read& read, std::size_t array) {
  algebra::StencilData data;
  data.dims = kernel_.dims;
  data.offsets = read.offsets;
  data.weights = read.weights;
  const algebra::ColumnPlan plan = algebra::column_plan(algebra::row_plan(data));
  if (plan.shorter()) return column_sum(read, array, plan);
  Code total;
  for (const algebra::RowGroup& group : plan.rows.groups) {
    const auto [sum, buffer] = column(read, array, group);
    for (const algebra::RowClass& points : group.classes) {
      Code text;
      for (int dx : points.dx) {
        text += text.empty() ? "" : " + ";
        text += buffer ? code("{}[{} + i]", sum, reach_ + dx) : sum;
      }
      if (points.dx.size() > 1) text = "(" + text + ")";
      if (points.weight != 1) text = number(static_cast<double>(points.weight)) + "*" + text;
      total += (total.empty() ? "" : " +\n    ") + text;
    }
  }
  return total;
}

void Rows::plan() {
  for (const Read& read : job_.body.reads)
    for (const Offset& offset : read.offsets) reach_ = std::max<int>(reach_, std::abs(offset.d[0]));
  for (const Read& read : job_.body.reads) {
    const std::size_t array = position(kernel_, read.array);
    Code value;
    if (read.centre()) {
      value = code("{}[at + i]", read_pointer(job_, array));
      if (kernel_.arrays[array].store != job_.body.real) value = "(" + real() + ")" + value;
    } else {
      value = sum(read, array);
    }
    fills_ += code("in.{} = {};\n", read.member, value);
  }
  sums_ += fill_rows();
  fills_ += draw_lines(job_, "at + i");
  for (int axis = 0; axis < 4; ++axis) {
    if (!job_.body.site_axis[static_cast<std::size_t>(axis)]) continue;
    const char* x = axis == 0 ? "x0 + i" : axis < kernel_.dims ? algebra::kAxisNames[axis] : "0";
    fills_ += code("in.site_{} = {};\n", algebra::kAxisNames[axis],
                   in_whole_lattice(job_.body, static_cast<std::size_t>(axis),
                                    code("({})(int)({})", real(), x)));
  }
  Code rest = "row", head;
  for (int axis = 1; axis < kernel_.dims; ++axis) {
    const bool last = axis + 1 == kernel_.dims;
    if (used_[static_cast<std::size_t>(axis)] ||
        job_.body.site_axis[static_cast<std::size_t>(axis)])
      head += code("const vphi_index {} = {}{};\n", algebra::kAxisNames[axis], rest,
                   last ? "" : code(" % {}", extent(kernel_, axis)));
    rest += "/" + std::to_string(extent(kernel_, axis));
  }
  coordinates_ = head + coordinates_;
  if (fills_.empty()) fills_ = "in.none = (" + real() + ")0;\n";
}

// Neighbours along x beyond the ends of a row.
Code Rows::edge_functions() const {
  if (!edges_) return {};
  Code text;
  for (const Precision store : {Precision::F32, Precision::F64}) {
    bool wanted = false;
    for (const kernel::ArrayParam& array : kernel_.arrays)
      wanted = wanted || (array.read && array.store == store);
    if (!wanted) continue;
    const Code n = std::to_string(extent(kernel_, 0));
    Code value;
    switch (kernel_.boundary[0]) {
      case Boundary::Periodic:
        value = code("row[vphi_around(x, {})]", n);
        break;
      case Boundary::Antiperiodic:
        value = code("row[vphi_around(x, {0})]*vphi_turn_sign_{1}(x, {0})", n,
                     store == Precision::F32 ? "f32" : "f64");
        break;
      case Boundary::Fixed:
      case Boundary::Outflow:
        value = code("row[vphi_within(x, {})]", n);
        break;
      case Boundary::Neumann:
        value = code("row[vphi_mirrored(x, {})]", n);
        break;
      case Boundary::Absorbing:
        throw std::invalid_argument("absorbing boundaries are not yet in this version");
    }
    const std::string name = std::string("vphi_edge_") + type_name(store);
    text +=
        Code::item(name, code("VPHI_INLINE {0} {1}(VPHI_GLOBAL const {0}* row, vphi_index x) {{\n"
                              "  return {2};\n}}\n",
                              type_name(store), name, value));
  }
  return text;
}

Code Rows::width() const {
  return chunks() == 1 ? std::to_string(length())
                       : code("vphi_select_index(x0 + {0} < {1}, {0}, {1} - x0)", chunk(),
                              first_site() + length());
}

}  // namespace vphi::emit
