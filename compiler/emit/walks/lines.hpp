// Pattern: walks along lines of cells, for kernels that read along one axis.
//
// kernel/line.hpp defines a step of the walk; this pattern moves the cells from and to memory. On a
// GPU a thread has a line and holds the values that later cells need in registers. Cells pass
// through a ring buffer in local memory, copied ahead of their use; adjacent threads have adjacent
// lines. All lines, end to end, are divided into equal pieces, one for each group, so that all
// groups run at once with equal work. A piece starts with the cells before it, to compute the held
// values. On processors a block of lines is walked side by side, one in each lane of the vectors
// (lines_rows.cpp); a single line is cut into runs there too (lines_runs.cpp).
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "compiler/emit/text/frame.hpp"
#include "compiler/kernel/device.hpp"
#include "compiler/kernel/line.hpp"

namespace vphi::emit {

/// The walk of the kernel, where this pattern applies: the lines must be long enough for their
/// stencil. A kernel of one dimension is walked in runs where neighbouring sites share most of
/// their computation; on a GPU the runs must fill the device.
std::optional<kernel::Line> lines_of(const kernel::Kernel& kernel, const TargetInfo& target);

/// The site function of one step of the walk.
kernel::SiteFunction step_of(const kernel::Line& line);

program::Kernel emit_lines(const kernel::Line& line, const TargetInfo& target,
                           const Bindings& bindings);

// ---- common to the variants of the pattern
/// stride: distance in memory of neighbours along the axis; extent: cells of a line in memory;
/// lines: number of lines (or runs) that are walked; run: cells of a run, or those that are walked
/// of a line that is not cut. Ghosts lie before the first line, or before the first cell of a line.
/// Where two axes are cut, so many lines that are walked follow one another in memory, which has so
/// many with the ghosts behind them; 0: all follow one another.
struct LineShape {
  std::int64_t stride = 1, extent = 1, lines = 1, run = 1;
  std::int64_t first_line = 0, first_cell = 0;
  std::int64_t lines_together = 0, lines_apart = 0;
};
LineShape line_shape(const kernel::Line& line);
/// The number in memory of a line with the number `own` among those that are walked.
Code line_in_memory(const Job& job, const LineShape& shape, const Code& own);
physics::Boundary boundary_of(const kernel::Line& line);
inline constexpr int kLineQuad = 4;  ///< on a GPU: cells in one iteration of the loop

/// Iterations of the loop since the cell at `place` (negative: before the present quad) was read.
int quads_before(int place);
/// Indices into kernel.arrays of the arrays that the kernel reads, and the position of `array`
/// among them.
std::vector<std::size_t> arrays_read(const kernel::Kernel& kernel);
std::size_t place_in(const std::vector<std::size_t>& places, std::size_t array);
/// On a GPU: precision of the ring buffer. It is that of the arrays where all have the same,
/// otherwise f64. Numbers are converted to and from the precision of the arithmetic on reading and
/// writing.
Precision ring_precision(const kernel::Kernel& kernel);
bool one_precision(const kernel::Kernel& kernel);
/// On a GPU: fills the cells of `in`; `load` reads the cell of `age` steps ago.
Code take_cells(const Job& job, const kernel::Line& line,
                const std::function<Code(const Read& read, int age)>& load);
/// On a GPU: coordinates of the line perpendicular to the walk, from `base`.
Code coordinates_text(const Job& job, const kernel::Line& line);
/// On a GPU: fills the slots common to both variants. `slots` has `copied`, `cached`, `bytes`,
/// `in_flight`.
void line_slots(const Job& job, const kernel::Line& line, Slots& slots);

/// On a GPU: number of groups, `wanted` or fewer; `most` have work enough, of all planes or of
/// those of a slab. Where ranks share the lattice and there are sums, each slab has as many.
std::int64_t groups_of_walk(const kernel::Kernel& kernel, std::int64_t wanted, std::int64_t most,
                            std::int64_t most_of_slab);
/// Lines and cells of a line that one slab has, where ranks share the lattice.
LineShape shape_of_slab(const kernel::Line& line);
/// On a GPU: the smallest integer type that can hold units*groups; 64 bits cost registers and
/// slower divisions.
Code count_type(std::int64_t units, std::int64_t groups);
/// On NVIDIA's GPUs: quotients and roots, approximate in f32, computed inline in f64.
Code fast_math_functions(Precision real, const Dialect& dialect);

/// For each reduction, whether its terms are nonzero only at some places of a line.
std::vector<bool> rare_sums(const kernel::Line& line);
/// Condition that the finished cell is at one of these places.
Code at_places(const kernel::Line& line, std::size_t reduction);
/// On a GPU: adds the finished cell to the reductions.
Code gather_sums(const Job& job, const kernel::Line& line, int threads);
/// On a GPU: declarations of the held values.
Code held_text(const Job& job, const kernel::Line& line);
/// On a GPU: the members of `in` other than cells, and the call of the site function of `job` with
/// the parameters `par`. `symbol` gives the text of a value that is handed to the function.
Code call_step(const Job& job, const kernel::Line& line,
               const std::function<Code(const std::string&)>& symbol, const Code& par);
/// On a GPU: the members of `in` other than cells, the call of the site function of `job` (that of
/// `all`, or a part of it), and the assignments of the held values.
Code pass_on(const Job& job, const Job& all, const kernel::Line& line,
             const std::vector<kernel::Line::Held>& held);
/// On a GPU: copies all arrays of an instance that has stopped, instead of a walk.
Code still_text(const Job& job, const kernel::Line& line, const Bindings& bindings, int threads);
/// The function that reads the scalar `line.still`, at file scope.
Code count_of(const Job& job, const kernel::Line& line);
/// Condition that the instance has stopped (`line.still`).
Code still_test(const kernel::Line& line, const Bindings& bindings);
/// The job of one step of the walk; `line` must outlive it.
Job line_job(const kernel::Line& line, const TargetInfo& target, const Bindings& bindings);
/// Index in the box of the cell at place `i` of a line.
Code cell_of(const kernel::Line& line, const Code& i);
/// `load`, the number at place `i`, with the sign or value that the boundary gives it.
Code at_boundary(const Job& job, const kernel::Line& line, int array, const Code& i,
                 const Code& load);

/// The first steps of a walk, before any new value is stored: at most two iterations of the loop.
struct Warm {
  Warm(const kernel::Line& whole, const TargetInfo& target, const Bindings& bindings)
      : quads(std::min(2, (whole.before + whole.delay) / kLineQuad)),
        line(whole.warm(quads * kLineQuad)),
        job(line_job(line, target, bindings)) {}
  Warm(const Warm&) = delete;
  Warm& operator=(const Warm&) = delete;

  bool any() const { return !line.held.empty(); }
  Code functions() const { return any() ? job.body.code() : Code(); }
  Code parameters() const {
    return any() ? code("const vphi_par_{0} warm_par = vphi_par_of_{0}(scalars);", job.body.suffix)
                 : Code();
  }
  /// The body of the loop, with first steps or usual steps; walks begin with iteration `first`.
  Code iteration(int first, const Code& warm, const Code& rows) const {
    if (!any()) return rows;
    return code("if (quad < {}) {{\n{}}} else {{\n{}}}\n", first + quads, indent(warm, 2),
                indent(rows, 2));
  }

  int quads;
  kernel::Line line;
  Job job;
};

}  // namespace vphi::emit
