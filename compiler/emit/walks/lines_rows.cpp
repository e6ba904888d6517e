// Lines walked side by side on a processor: one in each lane of the vectors.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/emit/patterns/lane_rounds.hpp"
#include "compiler/emit/patterns/rows.hpp"
#include "compiler/emit/patterns/rows_text.hpp"
#include "compiler/emit/walks/lines.hpp"
#include "compiler/emit/walks/lines_rows.hpp"

namespace vphi::emit {
namespace {

class RowsWalk {
 public:
  RowsWalk(const Job& job, const kernel::Line& line, const Bindings& bindings)
      : job_(job),
        bindings_(bindings),
        kernel_(job.kernel),
        line_(line),
        shape_(line_shape(line)),
        rows_(job) {
    // Neighbouring lines lie side by side in memory, or (along x) one behind the other.
    const std::int64_t all =
        kernel_.walked_sites() / kernel_.walked()[static_cast<std::size_t>(line.axis)];
    const bool over_second = kernel_.planes && kernel_.planes->second &&
                             kernel_.planes->axis == line.axis;  // lines beside them are ghosts
    pitch_ = shape_.stride > 1 ? 1 : shape_.extent;
    beside_ = shape_.stride > 1           ? shape_.stride
              : shape_.lines_together > 0 ? shape_.lines_together
                                          : all;
    if (over_second) beside_ = all;
    blocks_ = all / beside_;
    width_ = std::min<std::int64_t>(beside_, kLaneBytes / bytes_of(job.body.real));
  }

  std::int64_t bundles() const { return (beside_ + width_ - 1) / width_; }
  std::int64_t units() const { return bundles() * blocks_; }

  Code text(std::int64_t tasks) const {
    const std::int64_t own = kernel_.walked()[static_cast<std::size_t>(line_.axis)];
    Slots slots;
    slots["name"] = job_.body.suffix;
    slots["lanes"] = rows_.lanes(Rows::Lanes::Arrays);
    slots["shares"] = rows_.shares(tasks);
    slots["units"] = std::to_string(units());
    slots["block"] = block();
    slots["tasks"] = std::to_string(tasks);
    slots["width"] = std::to_string(width_);
    slots["bundles"] = std::to_string(bundles());
    slots["last_line"] = std::to_string(beside_ - width_);
    slots["pitch"] = std::to_string(pitch_);
    slots["from"] = std::to_string(shape_.first_cell - line_.before);
    slots["start"] = std::to_string(shape_.first_cell + line_.delay);
    slots["delay"] = std::to_string(line_.delay);
    slots["end_of_line"] = std::to_string(shape_.first_cell + own + line_.delay);
    slots["stride"] = std::to_string(shape_.stride);
    slots["still"] = still_copies(job_, line_, bindings_, tasks);
    slots["end"] = line_.still.empty() ? "last" : "vphi_select_index(copies > 0, first, last)";
    Code held, hold, store, put, buffers, add;
    for (const auto& [symbol, member] : job_.body.shared)
      held += code("{} {}[{}] = {{0}};\n", real(), member, width_);
    for (std::size_t i = 0; i < line_.held.size(); ++i) {
      for (const auto& [symbol, member] : job_.body.shared) {
        if (symbol != line_.held[i].name) continue;
        hold += code("{}[i] = out.{};\n", member, job_.body.handed_members[i]);
      }
    }
    for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
      const std::size_t array = position(kernel_, kernel_.stores[i].array);
      store += code("{}[{}] = out.{};\n", write_pointer(job_, array), lane("at"),
                    job_.body.store_members[i]);
    }
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
      const Code& m = job_.body.reduction_members[i];
      buffers += code("{} {}_row[{}];\n", real(), m, width_);
      put += code("{0}_row[i] = out.{0};\n", m);
      const auto kind = kernel_.reductions[i].kind;
      Code one = code("{0}_lane[i % 8] = {0}_lane[i % 8] + (double){0}_row[i];", m);
      if (kind != kernel::ReduceKind::Sum)
        one = code("{0}_lane[i % 8] = vphi_{1}_f64({0}_lane[i % 8], (double){0}_row[i]);", m,
                   kind == kernel::ReduceKind::Minimum ? "min" : "max");
      if (line_.only[i]) add += code("if ({}) ", at_places(line_, i));
      add += code("for (vphi_index i = fresh; i < {}; ++i) {}\n", width_, one);
    }
    slots["held"] = held;
    const Code head = code("VPHI_VECTORISE\nfor (vphi_index i = 0; i < {}; ++i) {{\n", width_);
    slots["site_loop_before"] = site_loop(job_, {head, "i", width_, gather(), hold});
    slots["site_loop"] = site_loop(job_, {head, "i", width_, gather(), hold + store + put});
    slots["row_buffers"] = buffers;
    slots["add_lanes"] = add;
    slots["places"] = places();
    return fill("lines.txt", slots);
  }

 private:
  Code real() const { return type_name(job_.body.real); }
  /// Where a block of lines begins: the unit's, of the own ones.
  Code block() const {
    const std::int64_t lines = shape_.stride > 1 ? shape_.stride : beside_;
    const Code own = code("unit / {}", bundles());
    const std::int64_t first = shape_.first_line / shape_.stride * shape_.stride * shape_.extent +
                               shape_.first_line % shape_.stride;
    const Code below = first > 0 ? code("{} + ", first) : Code();
    if (shape_.lines_together == 0) return below + code("{} * {}", own, lines * shape_.extent);
    const std::int64_t of_plane = shape_.lines_together / beside_;
    return below + code("{0} / {1} * {2} + {0} % {1} * {3}", own, of_plane,
                        shape_.lines_apart * shape_.extent, lines * shape_.extent);
  }
  Code lane(const Code& at) const {
    return pitch_ == 1 ? at + " + i" : code("{} + i*{}", at, pitch_);
  }

  /// Index of the cells that a step reads.
  Code places() const {
    std::set<int> ages;
    for (const Read& read : job_.body.reads) ages.insert(-read.offsets[0].d[line_.axis]);
    Code text;
    for (const int age : ages) {
      text += code("const vphi_index place_{0} = cell - {0};\n", age);
      text += code("const vphi_index row_{0} = base + ({1}) * {2};\n", age,
                   cell_of(line_, code("place_{}", age)), shape_.stride);
    }
    return text;
  }

  Code gather() const {
    Code text;
    for (const Read& read : job_.body.reads) {
      const int age = -read.offsets[0].d[line_.axis];
      const std::size_t array = position(kernel_, read.array);
      const Code load = code("{}[{}]", read_pointer(job_, array), lane(code("row_{}", age)));
      text += code("in.{} = {};\n", read.member,
                   at_boundary(job_, line_, read.array, code("place_{}", age), load));
    }
    for (const auto& [symbol, member] : job_.body.shared)
      text += code("in.{0} = {0}[i];\n", member);
    for (int axis = 0; axis < 4; ++axis) {
      if (!job_.body.site_axis[static_cast<std::size_t>(axis)]) continue;
      Code place = axis == line_.axis ? "cell" : "0";
      if (axis != line_.axis && axis < kernel_.dims) place = site(axis, lane("base"));
      text += code("in.site_{} = {};\n", algebra::kAxisNames[axis],
                   in_whole_lattice(job_.body, static_cast<std::size_t>(axis),
                                    code("({})({})", real(), place)));
    }
    if (text.empty()) text = "in.none = (" + real() + ")0;\n";
    return text;
  }

  Code site(int axis, const Code& at) const {
    std::int64_t below = 1;
    for (int a = 0; a < axis; ++a) below *= kernel_.extent[static_cast<std::size_t>(a)];
    return code("({}) / {} % {}", at, below, kernel_.extent[static_cast<std::size_t>(axis)]);
  }

  const Job& job_;
  const Bindings& bindings_;
  const kernel::Kernel& kernel_;
  const kernel::Line& line_;
  LineShape shape_;
  Rows rows_;
  std::int64_t beside_ = 1, pitch_ = 1, width_ = 1;
  std::int64_t blocks_ = 1;  ///< of lines that lie beside each other
};

}  // namespace

Code still_copies(const Job& job, const kernel::Line& line, const Bindings& bindings,
                  std::int64_t tasks) {
  if (line.still.empty()) return {};
  Code text = code(
      "const vphi_index copies = vphi_select_index({}, {}, 0);\n"
      "for (vphi_index at = copies * task / {}; at < copies * (task + 1) / {}; ++at) {{\n",
      still_test(line, bindings), job.kernel.sites(), tasks, tasks);
  for (std::size_t i = 0; i < job.kernel.arrays.size(); ++i) {
    if (!job.kernel.arrays[i].written) continue;
    text += code("  {}[at] = {}[at];\n", write_pointer(job, i), read_pointer(job, i));
  }
  return text + "}\n";
}

program::Kernel emit_lines_rows(const Job& job, const kernel::Line& line,
                                const Bindings& bindings) {
  const RowsWalk walk(job, line, bindings);
  const Loop loop{walk.units(), [&](std::int64_t tasks) { return walk.text(tasks); },
                  count_of(job, line)};
  return emit_rows(job, bindings, &loop);
}

}  // namespace vphi::emit
