#include "compiler/emit/patterns/wave.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "compiler/algebra/transform.hpp"
#include "compiler/emit/dialects/dialect.hpp"

namespace vphi::emit {
namespace {

constexpr std::int64_t kSitesOfUnit = 2048;  // of a row (kernel.hpp)
constexpr int kMostSteps = 8;
constexpr std::int64_t kFewestTasks = 4;  // tasks of the box for each task in progress

/// Units of rows (kernel.hpp) between that of a site and the farthest one that it reads, around the
/// ends of the box. Neighbours along y at an end of it are a whole plane away.
std::int64_t reach_in_units(const kernel::Kernel& kernel) {
  std::array<std::int64_t, 3> reach{};
  const auto see = [&](const algebra::Offset& offset) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      reach[axis] = std::max<std::int64_t>(reach[axis], std::abs(offset.d[axis]));
  };
  for (const algebra::Expr read : algebra::reads(kernel.values())) {
    if (read.is(algebra::Op::Load)) see(read->offset);
    if (!read.is(algebra::Op::Stencil)) continue;
    for (const algebra::Offset& offset : read->arena->stencil_data(read->index).offsets)
      see(offset);
  }
  const std::int64_t in_row = (kernel.extent[0] + kSitesOfUnit - 1) / kSitesOfUnit;
  if (kernel.dims == 1) return (reach[0] + kSitesOfUnit - 1) / kSitesOfUnit;
  const std::int64_t rows =
      kernel.dims == 2 ? reach[1]
                       : reach[2] * kernel.extent[1] + (reach[1] > 0 ? kernel.extent[1] - 1 : 0);
  return rows * in_row + in_row - 1;
}

}  // namespace

std::optional<Wave> wave_of(const kernel::Kernel& kernel, std::int64_t tasks, int wish,
                            std::string& why) {
  const auto refuse = [&](std::string reason) {
    why = std::move(reason);
    return std::nullopt;
  };
  if (wish == 0)
    return refuse(
        "on processors sweeps overlap where `together` asks for it alone: no gain is known");
  std::int64_t bytes = 0;
  for (const kernel::ArrayParam& array : kernel.arrays)
    bytes += kernel.sites() * bytes_of(array.store) * (array.next ? 2 : 1);
  const std::int64_t units =
      kernel.sites() / kernel.extent[0] * ((kernel.extent[0] + kSitesOfUnit - 1) / kSitesOfUnit);
  // tasks differ by a unit in size, and the ends of a reach lie somewhere in one
  const std::int64_t reach = (reach_in_units(kernel) * tasks + units - 1) / units + 1;
  Wave wave{wish, reach};
  if (wave.steps > kMostSteps)
    return refuse(fmt::format("a wave has {} steps at most", kMostSteps));
  if (tasks < kFewestTasks * wave.steps * reach)
    return refuse(fmt::format("the {} tasks of a sweep are too few for a wave of {} steps", tasks,
                              wave.steps));
  why = fmt::format(
      "a sweep follows the one before {} of {} tasks behind, so that {:.1f} MiB are on their way",
      reach, tasks,
      static_cast<double>(bytes) * static_cast<double>((wave.steps + 1) * reach + 1) /
          static_cast<double>(tasks) / (1 << 20));
  return wave;
}

}  // namespace vphi::emit
