#include "compiler/emit/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "compiler/algebra/stencil.hpp"

namespace vphi::emit {
namespace {

using algebra::Offset;
using physics::Boundary;

constexpr const char* kAxis[4] = {"x", "y", "z", "t"};
constexpr std::int64_t kLongestRow = 2048;  // sites a buffer holds
constexpr std::int64_t kSitesPerTask = 8192;

std::int64_t extent(const kernel::Kernel& kernel, int axis) {
  return kernel.extent[static_cast<std::size_t>(axis)];
}

// The text of one kernel's loop over rows.
class Rows {
 public:
  explicit Rows(const Job& job) : job_(job), kernel_(job.kernel) { plan(); }

  void plan();
  std::int64_t row_count() const { return kernel_.sites() / extent(kernel_, 0); }
  std::int64_t chunk() const { return std::min(extent(kernel_, 0), kLongestRow); }
  std::int64_t chunks() const { return (extent(kernel_, 0) + chunk() - 1) / chunk(); }

  std::string width() const;
  std::string edge_functions() const;
  std::string buffers() const;
  std::string coordinates() const { return coordinates_; }
  std::string row_sums() const { return sums_; }
  std::string gather() const { return fills_; }
  std::string store() const;
  std::string put() const;
  std::string lanes() const;
  std::string add_lanes() const;
  std::string shares(std::int64_t tasks) const;

 private:
  std::string real() const { return type_name(job_.body.real); }
  std::string suffix() const { return job_.body.real == Precision::F32 ? "f32" : "f64"; }
  std::string number(double v) const {
    return literal(static_cast<long double>(v), job_.body.real);
  }
  std::string axis_index(int axis, int d);
  std::string row_pointer(std::size_t array, Offset row);
  std::string element(std::size_t array, const Offset& row, const std::string& at, bool edge);
  std::string column(const Read& read, std::size_t array, const algebra::RowGroup& group);
  std::string sum(const Read& read, std::size_t array);
  bool doubled_lanes(std::size_t i) const {
    return kernel_.sum == kernel::SumKind::Kahan && kernel_.compute == Precision::F64 &&
           kernel_.reductions[i].kind == kernel::ReduceKind::Sum;
  }

  const Job& job_;
  const kernel::Kernel& kernel_;
  std::array<bool, 4> used_{};
  int reach_ = 0;  // margin of the buffers
  std::map<std::pair<int, int>, std::string> index_;
  std::map<std::string, std::string> pointers_;  // array and row -> variable
  std::map<std::string, std::string> factors_;   // variable -> sign or inside test
  std::map<std::string, std::string> columns_;   // rows added -> buffer
  std::string coordinates_, sums_, fills_, buffers_;
};

// Variable with the index along an axis across the row, and the sign or test of its boundary.
std::string Rows::axis_index(int axis, int d) {
  used_[static_cast<std::size_t>(axis)] = true;
  if (d == 0) return kAxis[axis];
  std::string& name = index_[{axis, d}];
  if (!name.empty()) return name;
  name = fmt::format("{}_{}{}", kAxis[axis], d > 0 ? "p" : "m", d > 0 ? d : -d);
  const Boundary boundary = kernel_.boundary[static_cast<std::size_t>(axis)];
  const std::int64_t n = extent(kernel_, axis);
  const char* x = kAxis[axis];
  switch (boundary) {
    case Boundary::Antiperiodic:
      coordinates_ += fmt::format("const {0} {1}_sign = vphi_turn_sign_{2}({3} + {4}, {5});\n",
                                  real(), name, suffix(), x, d, n);
      [[fallthrough]];
    case Boundary::Periodic:
      coordinates_ +=
          fmt::format("const vphi_index {} = vphi_around({} + {}, {});\n", name, x, d, n);
      break;
    case Boundary::Fixed:
      coordinates_ +=
          fmt::format("const int {0}_inside = {1} + {2} >= 0 && {1} + {2} < {3};\n", name, x, d, n);
      [[fallthrough]];
    case Boundary::Neumann:
    case Boundary::Outflow:
      coordinates_ +=
          fmt::format("const vphi_index {} = vphi_within({} + {}, {});\n", name, x, d, n);
      break;
    case Boundary::Absorbing:
      throw std::invalid_argument("absorbing boundaries are not yet in this version");
  }
  return name;
}

// Variable that points to the first site (x = 0) of a row.
std::string Rows::row_pointer(std::size_t array, Offset row) {
  row.d[0] = 0;
  const std::string name =
      job_.body.array_names[array] + (row.zero() ? "_row" : "_" + offset_name(row));
  std::string& known = pointers_[name];
  if (!known.empty()) return known;
  known = name;
  std::string index = "0";
  for (int axis = kernel_.dims - 1; axis > 0; --axis) {
    const std::string here = axis_index(axis, row.d[axis]);
    index = index == "0" ? here : fmt::format("({}*{} + {})", index, extent(kernel_, axis), here);
  }
  const std::string type = type_name(kernel_.arrays[array].store);
  coordinates_ += fmt::format("VPHI_GLOBAL const {}* {} = {} + {}*{};\n", type, name,
                              read_pointer(job_, array), index, extent(kernel_, 0));
  return name;
}

// One value of a row: at x0 + at, or at any x where the row may have to wrap (edge).
std::string Rows::element(std::size_t array, const Offset& row, const std::string& at, bool edge) {
  const std::string pointer = row_pointer(array, row);
  const Precision store = kernel_.arrays[array].store;
  std::string text = edge ? fmt::format("vphi_edge_{}({}, {})", type_name(store), pointer, at)
                          : fmt::format("{}[{}]", pointer, at);
  if (store != job_.body.real) text = "(" + real() + ")" + text;
  std::string inside;
  if (edge && kernel_.boundary[0] == Boundary::Fixed)
    inside = fmt::format("vphi_inside({}, {})", at, extent(kernel_, 0));
  for (int axis = 1; axis < kernel_.dims; ++axis) {
    if (row.d[axis] == 0) continue;
    const Boundary boundary = kernel_.boundary[static_cast<std::size_t>(axis)];
    const std::string index = axis_index(axis, row.d[axis]);
    if (boundary == Boundary::Antiperiodic) text += "*" + index + "_sign";
    if (boundary == Boundary::Fixed) inside += (inside.empty() ? "" : " & ") + index + "_inside";
  }
  if (inside.empty()) return text;
  return fmt::format("vphi_select_{}({}, {}, {})", suffix(), inside, text,
                     number(kernel_.fixed_value));
}

// The rows of a group added up: a buffer over x with margins, or where no other x is wanted the sum
// itself (in terms of i).
std::string Rows::column(const Read& read, std::size_t array, const algebra::RowGroup& group) {
  int reach = 0;
  std::string key = job_.body.array_names[array];
  for (const algebra::RowClass& points : group.classes)
    for (int dx : points.dx) reach = std::max(reach, dx < 0 ? -dx : dx);
  const auto added = [&](const std::string& at, bool edge) {
    std::string text;
    std::size_t line = 0;
    for (const Offset& row : group.rows) {
      const std::string term = element(array, row, at, edge);
      const bool full = line + term.size() > 72;
      text += (text.empty() ? "" : full ? " +\n      " : " + ") + term;
      line = full ? 6 + term.size() : line + term.size() + 3;
    }
    return text;
  };
  if (reach == 0) return "(" + added("x0 + i", false) + ")";
  for (const Offset& row : group.rows) key += "_" + offset_name(row);
  std::string& name = columns_[key];
  if (!name.empty()) return name;
  name = fmt::format("{}_rows{}", read.member, columns_.size());
  buffers_ += fmt::format("{} {}[{}];\n", real(), name, chunk() + 2 * reach_);
  sums_ += fmt::format(
      "VPHI_VECTORISE\nfor (vphi_index i = 0; i < width; ++i)\n"
      "  {}[{} + i] = {};\n",
      name, reach_, added("x0 + i", false));
  sums_ += fmt::format(
      "for (vphi_index i = 1; i <= {0}; ++i) {{\n"
      "  {1}[{0} - i] = {2};\n"
      "  {1}[{3} + width + i] = {4};\n}}\n",
      reach_, name, added("x0 - i", true), reach_ - 1, added("x0 + width - 1 + i", true));
  return name;
}

// The order is that of the row plan (algebra::apply).
std::string Rows::sum(const Read& read, std::size_t array) {
  algebra::StencilData data;
  data.dims = kernel_.dims;
  data.offsets = read.offsets;
  data.weights = read.weights;
  std::string total;
  for (const algebra::RowGroup& group : algebra::row_plan(data).groups) {
    const std::string buffer = column(read, array, group);
    for (const algebra::RowClass& points : group.classes) {
      std::string text;
      for (int dx : points.dx) {
        text += text.empty() ? "" : " + ";
        text += buffer.front() == '(' ? buffer : fmt::format("{}[{} + i]", buffer, reach_ + dx);
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
    std::string value;
    if (read.centre()) {
      value = fmt::format("{}[at + i]", read_pointer(job_, array));
      if (kernel_.arrays[array].store != job_.body.real) value = "(" + real() + ")" + value;
    } else {
      value = sum(read, array);
    }
    fills_ += fmt::format("in.{} = {};\n", read.member, value);
  }
  for (int axis = 0; axis < 4; ++axis) {
    if (!job_.body.site_axis[static_cast<std::size_t>(axis)]) continue;
    const char* x = axis == 0 ? "x0 + i" : axis < kernel_.dims ? kAxis[axis] : "0";
    fills_ += fmt::format("in.site_{} = ({})(int)({});\n", kAxis[axis], real(), x);
  }
  std::string rest = "row", head;
  for (int axis = 1; axis < kernel_.dims; ++axis) {
    const bool last = axis + 1 == kernel_.dims;
    if (used_[static_cast<std::size_t>(axis)] ||
        job_.body.site_axis[static_cast<std::size_t>(axis)])
      head += fmt::format("const vphi_index {} = {}{};\n", kAxis[axis], rest,
                          last ? "" : fmt::format(" % {}", extent(kernel_, axis)));
    rest += "/" + std::to_string(extent(kernel_, axis));
  }
  coordinates_.insert(0, head);
  if (fills_.empty()) fills_ = "in.none = (" + real() + ")0;\n";
}

// Neighbours along x beyond the ends of a row.
std::string Rows::edge_functions() const {
  if (columns_.empty()) return {};
  std::string text;
  for (const Precision store : {Precision::F32, Precision::F64}) {
    bool wanted = false;
    for (const kernel::ArrayParam& array : kernel_.arrays)
      wanted = wanted || (array.read && array.store == store);
    if (!wanted) continue;
    const std::string n = std::to_string(extent(kernel_, 0));
    std::string value;
    switch (kernel_.boundary[0]) {
      case Boundary::Periodic:
        value = "row[vphi_around(x, " + n + ")]";
        break;
      case Boundary::Antiperiodic:
        value = "row[vphi_around(x, " + n + ")]*vphi_turn_sign_" +
                (store == Precision::F32 ? "f32" : "f64") + "(x, " + n + ")";
        break;
      case Boundary::Fixed:
      case Boundary::Neumann:
      case Boundary::Outflow:
        value = "row[vphi_within(x, " + n + ")]";
        break;
      case Boundary::Absorbing:
        throw std::invalid_argument("absorbing boundaries are not yet in this version");
    }
    text += fmt::format(
        "VPHI_INLINE {0} vphi_edge_{0}(VPHI_GLOBAL const {0}* row, vphi_index x) {{\n"
        "  return {1};\n}}\n",
        type_name(store), value);
  }
  return text;
}

std::string Rows::buffers() const {
  std::string text = buffers_;
  for (const std::string& member : job_.body.reduction_members)
    text += fmt::format("{} {}_row[{}];\n", real(), member, chunk());
  return text;
}

std::string Rows::store() const {
  std::string text;
  for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
    const std::size_t array = position(kernel_, kernel_.stores[i].array);
    const Precision store = kernel_.arrays[array].store;
    text += fmt::format("{}[at + i] = {}out.{};\n", write_pointer(job_, array),
                        store == job_.body.real ? "" : std::string("(") + type_name(store) + ")",
                        job_.body.store_members[i]);
  }
  return text;
}

std::string Rows::put() const {
  std::string text;
  for (const std::string& member : job_.body.reduction_members)
    text += fmt::format("{0}_row[i] = out.{0};\n", member);
  return text;
}

std::string Rows::lanes() const {
  std::string text;
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    const std::string& member = job_.body.reduction_members[i];
    const char* start = "0.0";
    if (kernel_.reductions[i].kind == kernel::ReduceKind::Minimum) start = "VPHI_INFINITY";
    if (kernel_.reductions[i].kind == kernel::ReduceKind::Maximum) start = "-VPHI_INFINITY";
    text += fmt::format("double {}_lane[8] = {{{}}};\n", member,
                        fmt::join(std::vector<std::string>(8, start), ", "));
    if (doubled_lanes(i)) text += fmt::format("double {}_carry[8] = {{0.0}};\n", member);
  }
  return text;
}

std::string Rows::add_lanes() const {
  std::string text;
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    const std::string& m = job_.body.reduction_members[i];
    std::string add = fmt::format("{0}_lane[j] = {0}_lane[j] + (double){0}_row[i + j];", m);
    if (kernel_.reductions[i].kind == kernel::ReduceKind::Minimum)
      add = fmt::format("{0}_lane[j] = vphi_min_f64({0}_lane[j], (double){0}_row[i + j]);", m);
    if (kernel_.reductions[i].kind == kernel::ReduceKind::Maximum)
      add = fmt::format("{0}_lane[j] = vphi_max_f64({0}_lane[j], (double){0}_row[i + j]);", m);
    if (doubled_lanes(i))
      add = fmt::format("vphi_accumulate_f64(&{0}_lane[j], &{0}_carry[j], {0}_row[i + j]);", m);
    text += fmt::format(
        "for (vphi_index i = 0; i < width / 8 * 8; i += 8)\n"
        "  for (int j = 0; j < 8; ++j) {0}\n"
        "for (vphi_index i = width / 8 * 8, j = 0; i + j < width; ++j) {0}\n",
        add);
  }
  return text;
}

std::string Rows::shares(std::int64_t tasks) const {
  std::string text;
  for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
    const std::string& m = job_.body.reduction_members[i];
    if (doubled_lanes(i))
      text += fmt::format("for (int j = 0; j < 8; ++j) {0}_lane[j] -= {0}_carry[j];\n", m);
    text += fmt::format(
        "for (int j = 4; j > 0; j /= 2)\n  for (int k = 0; k < j; ++k)\n"
        "    {0}_lane[k] = vphi_join_{1}({2}, {0}_lane[k], {0}_lane[k + j]);\n",
        m, job_.body.suffix, i);
    text +=
        fmt::format("partials[{} + task] = {}_lane[0];\n", static_cast<std::int64_t>(i) * tasks, m);
  }
  return text;
}

std::string Rows::width() const {
  return chunks() == 1 ? std::to_string(extent(kernel_, 0))
                       : fmt::format("vphi_select_index(x0 + {0} < {1}, {0}, {1} - x0)", chunk(),
                                     extent(kernel_, 0));
}

// Arguments of a task by name; `arrays` false: only what the finish needs.
std::string pointers(const Job& job, bool arrays = true) {
  std::string text;
  int at = 0;
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    const kernel::ArrayParam& array = job.kernel.arrays[i];
    const std::string type = type_name(array.store);
    if (array.read || !array.next) {
      const char* c = array.written && !array.next ? "" : "const ";
      text += fmt::format("{0}{1}* VPHI_RESTRICT {2} = ({0}{1}*)args[{3}];\n", c, type,
                          read_pointer(job, i), at++);
    }
    if (array.next)
      text += fmt::format("{0}* VPHI_RESTRICT {1} = ({0}*)args[{2}];\n", type,
                          write_pointer(job, i), at++);
  }
  if (!arrays) text.clear();
  text += fmt::format("double* scalars = (double*)args[{}];\n", at++);
  if (!job.kernel.reductions.empty())
    text += fmt::format("double* partials = (double*)args[{}];\n", at);
  return text;
}

}  // namespace

program::Kernel emit_rows(const Job& job, const Bindings& bindings) {
  const kernel::Kernel& kernel = job.kernel;
  const bool cpp = job.language == Language::Cpp;
  program::Kernel out;
  Slots slots = common_slots(job, 1);
  if (!job.per_site()) {
    slots["pointers"] = pointers(job);
    out.source = fill(cpp ? "epilogue_cpp.txt" : "epilogue_gpu.txt", slots);
    out.arguments = arguments(job, bindings, false, 0);
    return out;
  }
  Rows rows(job);
  const std::int64_t units = rows.row_count() * rows.chunks();
  const std::int64_t tasks = std::clamp<std::int64_t>(kernel.sites() / kSitesPerTask, 1,
                                                      std::min<std::int64_t>(units, 512));
  slots["tasks"] = std::to_string(tasks);
  slots["units"] = std::to_string(units);
  slots["chunks"] = std::to_string(rows.chunks());
  slots["chunk"] = std::to_string(rows.chunk());
  slots["nx"] = std::to_string(kernel.extent[0]);
  slots["width"] = rows.width();
  slots["edges"] = rows.edge_functions();
  slots["buffers"] = rows.buffers();
  slots["coordinates"] = rows.coordinates();
  slots["row_sums"] = rows.row_sums();
  slots["gather"] = rows.gather();
  slots["store"] = rows.store();
  slots["put"] = rows.put();
  slots["lanes"] = rows.lanes();
  slots["add_lanes"] = rows.add_lanes();
  slots["shares"] = rows.shares(tasks);
  slots["reductions"] = std::to_string(std::max<std::size_t>(1, kernel.reductions.size()));
  slots["join"] = kernel.reductions.empty() ? "" : join_functions(job);
  slots["suffix"] = "f64";
  slots["real"] = "double";
  slots["compensated"] = kernel.sum == kernel::SumKind::Kahan ? fill("compensated.txt", slots) : "";
  slots["finish_name"] = job.entry + "_finish";
  if (cpp) {
    slots["pointers"] = pointers(job);
    slots["scalar_pointers"] = pointers(job, false);
  }
  out.partials = tasks * static_cast<std::int64_t>(kernel.reductions.size());
  slots["fold"] =
      kernel.reductions.empty() ? "const double total[1] = {0.0};" : fill("fold_rows.txt", slots);
  slots["rows"] = fill("rows.txt", slots);
  slots["finish_function"] =
      !job.epilogue() ? "" : fill(cpp ? "finish_cpp.txt" : "finish_rows_opencl.txt", slots);
  out.source = fill(cpp ? "rows_cpp.txt" : "rows_opencl.txt", slots);
  if (cpp && job.epilogue()) out.finish = slots["finish_name"];
  out.arguments = arguments(job, bindings, !cpp && job.epilogue(), out.partials);
  out.grid = {static_cast<std::uint32_t>(tasks), 1, 1};
  return out;
}

}  // namespace vphi::emit
