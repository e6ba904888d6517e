// Pattern for stencils in up to three dimensions on GPUs: a march along z.
//
// On a lattice of two dimensions the march goes along the second axis, in planes of one row. A
// lattice of one dimension is one plane of one row, with the tiles side by side.
//
// A group of threads has a tile in x and y and goes through the planes of a range in z. Each plane
// of an array is copied once, several planes ahead, to local memory, with a halo where neighbours
// are read. A thread has one vector of 16 bytes in a row. Within a plane it adds the points of each
// class (algebra::PlanePlan). The contributions of a plane to the stencil sums of the planes before
// and after it stay in registers, so a 27-point stencil reads as much as a 7-point one.
//
// The vector has a length that divides a row, down to one value. The tile divides a row; in y it
// extends beyond the box where no divisor is suitable. Rows beyond it are computed, but neither
// stored nor added to sums. Beyond a boundary that is not periodic a value, a row or a plane is the
// image of one inside, with a sign, or it has a fixed value.
#pragma once

#include <optional>

#include "compiler/emit/text/frame.hpp"

namespace vphi::emit {

struct MarchPlan;

struct MarchShape {
  int lanes = 32;           ///< vectors along x
  int lines = 16;           ///< threads along y
  int rows_per_thread = 1;  ///< neighbouring rows
  int stages = 4;
  int ranges = 1;     ///< groups along z
  int occupancy = 1;  ///< number of groups on a multiprocessor for which there must be registers

  int tile_y() const { return lines * rows_per_thread; }
  /// Threads of a group, in whole warps. Surplus threads read the last line, but store nothing and
  /// add nothing to sums.
  int threads() const { return (lanes * lines + 31) / 32 * 32; }
  bool surplus() const { return lanes * lines % 32 != 0; }
};

/// The shape for this kernel and device, or nothing where the pattern does not apply.
std::optional<MarchShape> choose_march(const Job& job);
/// Whether the tile divides a row and its stages fit into local memory.
bool fits(const Job& job, const MarchShape& shape);
/// Precondition: three dimensions.
program::Kernel emit_march(const Job& job, const Bindings& bindings, const MarchShape& shape);

/// The kernel on a lattice of three dimensions with the same sites in the same order, and the job
/// of this kernel.
kernel::Kernel in_three_dimensions(kernel::Kernel kernel);
Job in_three_dimensions(const Job& job, const kernel::Kernel& in_three);

/// Whether a march is faster on a lattice of one or two dimensions. A thread has several sites at
/// once, which costs registers; where arithmetic and not memory is the limit, one site a thread is
/// faster. In one dimension only neighbours in a row are shared, which is worth the copies only for
/// vectors of four values. Measured on an H200: kernels with up to 17 instructions a byte became
/// faster, those with 58 and more slower; lines in f64 took 0.97 to 1.2 of their time. Sites of 13
/// numbers and more take 138 to 167 registers for four of them, too many for a processor to hide
/// quotients and roots: a line of such sites took 1.08 of its time, and those of 8 and fewer
/// gained.
bool worth_marching(const Job& job);

/// cp.async where the device has it, and the exchange of numbers between neighbouring lanes.
Code async_text(const Job& job, const MarchShape& shape, Slots slots);
/// Declaration of local memory of `blocks` units of 16 bytes, as vectors.
Code staging_text(const Job& job, const MarchPlan& plan, int blocks);

/// A kernel of up to three dimensions in its best shape, or nothing where the pattern does not
/// apply.
std::optional<program::Kernel> march_if_it_fits(const Job& job, const Bindings& bindings);
/// Planes that a group of a kernel of the whole lattice marches over, all where groups differ; 0:
/// the pattern does not apply.
std::int64_t planes_of_march(const Job& job);

}  // namespace vphi::emit
