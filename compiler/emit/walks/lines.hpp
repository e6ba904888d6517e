// Pattern: lines of cells walked from end to end, for sweeps that read along one axis.
//
// kernel/line.hpp says what a step of the walk does; here is where cells come from and go to. On a
// GPU a thread owns a line and holds what later cells need in registers; cells come through a ring
// in local memory, copied ahead of their use; adjacent threads have adjacent lines. All lines put
// end to end are cut into equal pieces, one a group, so that one wave of equal work fills the
// device; at the start of a piece the cells before it are walked again. On processors a block of
// lines is walked side by side, one in each lane of the vectors (lines_rows.cpp).
#pragma once

#include <algorithm>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "compiler/emit/text/frame.hpp"
#include "compiler/kernel/device.hpp"
#include "compiler/kernel/line.hpp"

namespace vphi::emit {

/// The walk of the kernel, where this pattern takes it: lines long enough for their stencil. On a
/// GPU a kernel of one dimension is walked too, in runs, where neighbouring sites share most of
/// what they compute and the runs fill the device.
std::optional<kernel::Line> lines_of(const kernel::Kernel& kernel, const TargetInfo& target);

/// What a step of it computes.
kernel::SiteFunction step_of(const kernel::Line& line);

program::Kernel emit_lines(const kernel::Line& line, const TargetInfo& target,
                           const Bindings& bindings);

// ---- shared by the forms
/// Sites between neighbours along the axis of the walk, the lines or runs of the box, and the cells
/// of one.
struct LineShape {
  std::int64_t stride = 1, extent = 1, lines = 1, run = 1;
};
LineShape line_shape(const kernel::Line& line);
inline constexpr int kLineQuad = 4;  ///< on a GPU: cells a turn of the loop

/// Turns of the loop since the cell came that stands at `place` of the present quad, or before it.
int quads_before(int place);
/// Places in `arrays` of those that the kernel reads, and which of these `array` is.
std::vector<std::size_t> arrays_read(const kernel::Kernel& kernel);
std::size_t place_in(const std::vector<std::size_t>& places, std::size_t array);
/// On a GPU: what cells are stored as on their way: the precision of all arrays where they have
/// one, else f64. What is computed in another precision changes it on reading and on writing.
Precision ring_precision(const kernel::Kernel& kernel);
bool one_precision(const kernel::Kernel& kernel);
/// On a GPU: the cells in `in`; `load` says where the one that came `age` steps ago lies.
Code take_cells(const Job& job, const kernel::Line& line,
                const std::function<Code(const Read& read, int age)>& load);
/// On a GPU: coordinates of the line across the walk, from `base`.
Code coordinates_text(const Job& job, const kernel::Line& line);
/// On a GPU: what both forms fill alike. `slots` has `copied`, `cached`, `bytes`, `in_flight`.
void line_slots(const Job& job, const kernel::Line& line, Slots& slots);

/// On a GPU: an integer that holds units*groups; 64 bits cost registers and divisions.
Code count_type(std::int64_t units, std::int64_t groups);
/// On a GPU of NVIDIA: quotients and roots that are approximate (f32) or written out (f64).
Code fast_math_functions(Precision real, const Dialect& dialect);

/// Which sums have terms at some places of a line only.
std::vector<bool> rare_sums(const kernel::Line& line);
/// Whether the cell that leaves is at one of these places.
Code at_places(const kernel::Line& line, std::size_t reduction);
/// On a GPU: what the reductions take from a cell.
Code gather_sums(const Job& job, const kernel::Line& line, int threads);
/// On a GPU: variables for what is held.
Code held_text(const Job& job, const kernel::Line& line);
/// On a GPU: the rest of `in` but the cells, the call of the site function of `job`, which is that
/// of `all` or a part of it, and what later steps hold.
Code pass_on(const Job& job, const Job& all, const kernel::Line& line,
             const std::vector<kernel::Line::Held>& held);
/// On a GPU: everything copied where nothing is to change; then there is no piece to walk.
Code still_text(const Job& job, const kernel::Line& line, const Bindings& bindings, int threads);
/// The function that reads that scalar, at file scope.
Code count_of(const Job& job, const kernel::Line& line);
/// Whether the scalar `line.still` says that nothing changes.
Code still_test(const kernel::Line& line, const Bindings& bindings);
/// The job of one step of the walk; `step` outlives it.
Job line_job(const kernel::Line& line, const TargetInfo& target, const Bindings& bindings);
/// Expression for the cell of the box at place `i` of a line.
Code cell_of(const kernel::Line& line, const Code& i);
/// `load`, the number at place `i`, with what the boundary makes of it.
Code at_boundary(const Job& job, const kernel::Line& line, int array, const Code& i,
                 const Code& load);

/// The steps that begin a walk, before any new value is due: at most two turns of the loop.
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
  /// The turn with either kind of steps; walks begin with turn `first`.
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
