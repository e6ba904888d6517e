// Where the lines of a walk lie in memory, and how groups share them.
#include <algorithm>

#include "compiler/emit/walks/lines.hpp"

namespace vphi::emit {
namespace {

/// Ghosts of a lattice that is cut along two axes: before the first cell along one of them, and
/// before the first line, or between lines, along the other.
void between_two(const kernel::Line& line, LineShape& shape) {
  const kernel::Planes& planes = *line.step.planes;
  const int second = planes.axis - 1;
  const auto lines_below = [&](int axis) {  // in memory, of what has one place along `axis`
    std::int64_t lines = 1;
    for (int a = 0; a < axis; ++a)
      if (a != line.axis) lines *= line.step.extent[static_cast<std::size_t>(a)];
    return lines;
  };
  if (line.axis == planes.axis) {
    shape.first_cell = planes.first;
    shape.first_line = lines_below(second) * planes.second->first;
  } else if (line.axis == second) {
    shape.first_cell = planes.second->first;
    shape.first_line = lines_below(planes.axis) * planes.first;
  } else {
    shape.first_line =
        lines_below(planes.axis) * planes.first + lines_below(second) * planes.second->first;
    shape.lines_together = lines_below(second) * planes.second->own;
    shape.lines_apart = lines_below(planes.axis);
  }
}

}  // namespace

Code line_in_memory(const Job& job, const LineShape& shape, const Code& own) {
  const Code first = index_literal(job, shape.first_line);
  if (shape.lines_together > 0)
    return code("({0} / {1} * {2} + {0} % {1} + {3})", own,
                index_literal(job, shape.lines_together), index_literal(job, shape.lines_apart),
                first);
  return shape.first_line == 0 ? own : code("({} + {})", own, first);
}

LineShape line_shape(const kernel::Line& line) {
  LineShape shape;
  const auto axis = static_cast<std::size_t>(line.axis);
  for (std::size_t a = 0; a < axis; ++a) shape.stride *= line.step.extent[a];
  shape.extent = line.step.extent[axis];
  shape.run = line.step.walked()[axis];
  shape.lines = line.step.walked_sites() / shape.run;
  if (line.step.planes) {
    const kernel::Planes& planes = *line.step.planes;
    if (planes.second)
      between_two(line, shape);
    else if (planes.axis == line.axis)
      shape.first_cell = planes.first;
    else
      shape.first_line = shape.lines / planes.own * planes.first;
  }
  if (line.run > 0) {
    shape.run = line.run;
    shape.lines = (shape.extent + line.run - 1) / line.run;
  }
  return shape;
}

LineShape shape_of_slab(const kernel::Line& line) {
  LineShape shape = line_shape(line);
  if (!line.step.planes) return shape;
  const kernel::Planes& planes = *line.step.planes;
  std::int64_t& cut = planes.axis == line.axis ? shape.run : shape.lines;
  cut = cut / planes.own * planes.slab;
  return shape;
}

std::int64_t groups_of_walk(const kernel::Kernel& kernel, std::int64_t wanted, std::int64_t most,
                            std::int64_t most_of_slab) {
  if (!kernel.planes || kernel.reductions.empty())
    return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, most));
  const kernel::Planes& planes = *kernel.planes;
  const std::int64_t slabs = planes.whole / planes.slab;
  const std::int64_t across =
      planes.second ? planes.ranks * planes.second->own / planes.second->whole : planes.ranks;
  const std::int64_t of_rank = (slabs + across - 1) / across;  // the largest
  return std::clamp<std::int64_t>(wanted / of_rank, 1, std::max<std::int64_t>(1, most_of_slab)) *
         (planes.own / planes.slab);
}

}  // namespace vphi::emit
