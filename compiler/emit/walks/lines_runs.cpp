#include "compiler/emit/walks/lines_runs.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/emit/patterns/lane_rounds.hpp"
#include "compiler/emit/patterns/rows.hpp"
#include "compiler/emit/patterns/rows_text.hpp"
#include "compiler/emit/walks/lines_rows.hpp"

namespace vphi::emit {
namespace {

/// Cells of a run, as a multiple of the cells before it, and at least. Short runs keep what the
/// lanes read close together in memory.
constexpr std::int64_t kLongRun = 8, kShortest = 48;

std::int64_t width_of(Precision real) { return kLaneBytes / bytes_of(real); }

class RunsWalk {
 public:
  RunsWalk(const Job& job, const kernel::Line& line, const Bindings& bindings)
      : job_(job),
        bindings_(bindings),
        kernel_(job.kernel),
        line_(line),
        first_(line_shape(line).first_cell),
        cells_(line.step.walked()[static_cast<std::size_t>(line.axis)]),
        width_(width_of(job.body.real)),
        rows_(job) {}

  std::int64_t units() const { return (cells_ + block() - 1) / block(); }

  Code text(std::int64_t tasks) const {
    Slots slots;
    slots["name"] = job_.body.suffix;
    slots["lanes"] = rows_.lanes();
    slots["shares"] = rows_.shares(tasks);
    slots["units"] = std::to_string(units());
    slots["tasks"] = std::to_string(tasks);
    slots["width"] = std::to_string(width_);
    slots["run"] = std::to_string(line_.run);
    slots["block"] = std::to_string(block());
    slots["before"] = std::to_string(line_.before);
    slots["delay"] = std::to_string(line_.delay);
    slots["first_cell"] = first_ > 0 ? code("{} + ", first_) : Code();
    slots["end_cell"] = std::to_string(first_ + cells_);
    slots["still"] = still_copies(job_, line_, bindings_, tasks);
    slots["end"] = line_.still.empty() ? "last" : "vphi_select_index(copies > 0, first, last)";
    slots["held"] = held();
    slots["row_buffers"] = buffers();
    slots["site_loop"] = sites();
    slots["store"] = store();
    slots["add_lanes"] = add_lanes();
    return fill("lines_runs.txt", slots);
  }

 private:
  Code real() const { return type_name(job_.body.real); }
  std::int64_t block() const { return width_ * line_.run; }

  /// A cell of each run.
  Code sites() const {
    const Code head = code("VPHI_VECTORISE\nfor (vphi_index i = 0; i < {}; ++i) {{\n", width_);
    const Code cell = code("const vphi_index cell = base + i * {} + step;\n", line_.run);
    return site_loop(job_, {head, "i", width_, gather(), hold() + put(), cell + places()});
  }

  Code held() const {
    Code text;
    for (const auto& [symbol, member] : job_.body.shared)
      text += code("{} {}[{}] = {{0}};\n", real(), member, width_);
    return text;
  }

  Code hold() const {
    Code text;
    for (std::size_t i = 0; i < line_.held.size(); ++i) {
      for (const auto& [symbol, member] : job_.body.shared)
        if (symbol == line_.held[i].name)
          text += code("{}[i] = out.{};\n", member, job_.body.handed_members[i]);
    }
    return text;
  }

  /// Results of a step: of the stores, then of the reductions.
  std::vector<Code> leaving() const {
    std::vector<Code> members(job_.body.store_members.begin(), job_.body.store_members.end());
    for (const Code member : job_.body.reduction_members) members.push_back(member);
    return members;
  }

  Code buffers() const {
    Code text;
    for (const Code& member : leaving()) text += code("{} {}_row[{}];\n", real(), member, width_);
    return text;
  }

  Code put() const {
    Code text;
    for (const Code& member : leaving()) text += code("{0}_row[i] = out.{0};\n", member);
    return text;
  }

  Code store() const {
    if (kernel_.stores.empty()) return {};
    Code text = "for (vphi_index i = 0; i < count; ++i) {\n";
    for (std::size_t i = 0; i < kernel_.stores.size(); ++i) {
      const std::size_t array = position(kernel_, kernel_.stores[i].array);
      text += code("  {}[at + i * {}] = {}_row[i];\n", write_pointer(job_, array), line_.run,
                   job_.body.store_members[i]);
    }
    return text + "}\n";
  }

  Code add_lanes() const {
    Code text;
    for (std::size_t i = 0; i < kernel_.reductions.size(); ++i) {
      const Code m = job_.body.reduction_members[i];
      const auto kind = kernel_.reductions[i].kind;
      if (line_.only[i]) {
        for (const std::int64_t place : *line_.only[i]) {
          const std::int64_t lane = place % block() / line_.run;
          text += code(
              "if ((at == {0}) & (count > {1})) {2}_lane[{3}] = {2}_lane[{3}] + "
              "(double){2}_row[{1}];\n",
              place - lane * line_.run, lane, m, place % 8);
        }
      } else if (kind == kernel::ReduceKind::Sum) {
        text += code(
            "for (vphi_index i = 0; i < count; ++i) {0}_lane[i % 8] = {0}_lane[i % 8] + "
            "(double){0}_row[i];\n",
            m);
      } else {
        text += code(
            "for (vphi_index i = 0; i < count; ++i) {0}_lane[i % 8] = vphi_{1}_f64({0}_lane[i % "
            "8], (double){0}_row[i]);\n",
            m, kind == kernel::ReduceKind::Minimum ? "min" : "max");
      }
    }
    return text;
  }

  /// Indices of the cells that a step reads.
  Code places() const {
    std::set<int> ages;
    for (const Read& read : job_.body.reads) ages.insert(age_of(read));
    Code text;
    for (const int age : ages) {
      text += code("const vphi_index place_{0} = cell - {0};\n", age);
      text += code("const vphi_index row_{0} = {1};\n", age, cell_of(line_, code("place_{}", age)));
    }
    return text;
  }

  Code gather() const {
    Code text;
    for (const Read& read : job_.body.reads) {
      const std::size_t array = position(kernel_, read.array);
      const Code load = code("{}[row_{}]", read_pointer(job_, array), age_of(read));
      text += code("in.{} = {};\n", read.member,
                   at_boundary(job_, line_, read.array, code("place_{}", age_of(read)), load));
    }
    for (const auto& [symbol, member] : job_.body.shared)
      text += code("in.{0} = {0}[i];\n", member);
    for (int axis = 0; axis < 4; ++axis) {
      if (!job_.body.site_axis[static_cast<std::size_t>(axis)]) continue;
      text += code("in.site_{} = {};\n", algebra::kAxisNames[axis],
                   in_whole_lattice(job_.body, static_cast<std::size_t>(axis),
                                    code("({})({})", real(), axis == 0 ? "cell" : "0")));
    }
    if (text.empty()) text = "in.none = (" + real() + ")0;\n";
    return text;
  }

  int age_of(const Read& read) const { return -read.offsets[0].d[line_.axis]; }

  const Job& job_;
  const Bindings& bindings_;
  const kernel::Kernel& kernel_;
  const kernel::Line& line_;
  std::int64_t first_ = 0, cells_ = 1, width_ = 1;  ///< of the cells: those that are computed
  Rows rows_;
};

}  // namespace

std::int64_t run_of_lane(const kernel::Line& line, std::int64_t cells) {
  const std::int64_t width = width_of(line.step.compute);
  const std::int64_t begins = std::max(1, line.before + line.delay);
  const std::int64_t wish = width * std::max(kLongRun * begins, kShortest);
  const std::int64_t units = (cells + wish - 1) / wish;
  return (cells + width * units - 1) / (width * units);
}

bool cut_into_lanes(kernel::Line& line) {
  line.run = run_of_lane(line, line.step.walked()[static_cast<std::size_t>(line.axis)]);
  return line.run >= 2 * std::max(1, line.before + line.delay);
}

program::Kernel emit_lines_runs(const Job& job, const kernel::Line& line,
                                const Bindings& bindings) {
  const RunsWalk walk(job, line, bindings);
  const Loop loop{walk.units(), [&](std::int64_t tasks) { return walk.text(tasks); },
                  count_of(job, line)};
  return emit_rows(job, bindings, &loop);
}

}  // namespace vphi::emit
