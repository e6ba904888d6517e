#include "runtime/observe/kinds/kind.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace vphi::observe {
namespace {

/// The sites that are written, along one axis.
struct Chosen {
  std::int64_t first = 0, count = 1, every = 1;
};

Chosen chosen(const FilledOutput& output, std::size_t axis) {
  const program::SitesOfAxis& sites = output.field.sites[axis];
  const std::int64_t last = sites.last < 0 ? output.program.extent[axis] - 1 : sites.last;
  return {sites.first, (last - sites.first) / sites.every + 1, sites.every};
}

using Choice = std::array<Chosen, 4>;

Choice choice_of(const FilledOutput& output) {
  Choice take{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(output.program.dims); ++axis)
    take[axis] = chosen(output, axis);
  return take;
}

/// The shape, and the place of the first site and the distance between two as further numbers.
void describe(const program::Program& p, const Choice& take, io::Table& table) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(p.dims); ++axis) {
    table.shape[static_cast<std::size_t>(p.dims) - 1 - axis] = take[axis].count;
    const std::string name(1, "xyzt"[axis]);
    const double middle = static_cast<double>(p.extent[axis] - 1) / 2;
    table.numbers.emplace_back("first_" + name,
                               (static_cast<double>(take[axis].first) - middle) * p.dx_physical);
    table.numbers.emplace_back("step_" + name,
                               static_cast<double>(take[axis].every) * p.dx_physical);
  }
}

/// Appends the chosen sites of planes that begin with number `below` along the slowest axis.
void append(const FilledOutput& output, const Choice& take, std::int64_t below,
            const std::vector<double>& planes, std::vector<double>& values) {
  const auto n = output.program.extent;
  const auto width = static_cast<std::int64_t>(output.count());
  Choice here = take;
  const auto slowest = static_cast<std::size_t>(output.program.dims) - 1;
  const std::int64_t end = below + static_cast<std::int64_t>(planes.size()) * n[slowest] /
                                       output.program.sites() / width;
  const auto site = [&](std::size_t axis, std::int64_t i) {
    return here[axis].first + i * here[axis].every;
  };
  while (here[slowest].count > 0 && site(slowest, 0) < below)
    here[slowest].first += here[slowest].every, --here[slowest].count;
  while (here[slowest].count > 0 && site(slowest, here[slowest].count - 1) >= end)
    --here[slowest].count;
  here[slowest].first -= below;
  for (std::int64_t t = 0; t < here[3].count; ++t)
    for (std::int64_t z = 0; z < here[2].count; ++z)
      for (std::int64_t y = 0; y < here[1].count; ++y)
        for (std::int64_t x = 0; x < here[0].count; ++x) {
          const std::int64_t at =
              ((site(3, t) * n[2] + site(2, z)) * n[1] + site(1, y)) * n[0] + site(0, x);
          const auto from = planes.begin() + at * width;
          values.insert(values.end(), from, from + width);
        }
}

io::Table at_all_sites(const FilledOutput& output) {
  const program::FieldOutput& field = output.field;
  if (output.count() == 1) return output.at_sites(1, {});
  std::vector<std::int64_t> inner(field.value.begin(), field.value.end());
  if (field.complex) inner.push_back(2);
  io::Table table = output.at_sites(output.count(), inner);
  if (field.value.size() == 1) table.inner = {"component"};
  if (field.value.size() == 2) table.inner = {"row", "column"};
  if (field.complex) table.inner.emplace_back("part");
  return table;
}

/// Runs of planes with chosen sites, each of at most so many; between planes far apart there is
/// none.
std::vector<io::Table::Part> runs_of(const Chosen& planes, std::int64_t most) {
  std::vector<io::Table::Part> runs;
  const std::int64_t together = planes.every == 1 ? most : 1;
  for (std::int64_t k = 0; k < planes.count; k += together)
    runs.push_back({planes.first + k * planes.every, std::min(together, planes.count - k)});
  return runs;
}

}  // namespace

io::Table chosen_sites(const FilledOutput& output, std::size_t at_once) {
  const program::Program& p = output.program;
  const Choice take = choice_of(output);
  const auto slowest = static_cast<std::size_t>(p.dims) - 1;
  const std::int64_t plane = p.sites() / p.extent[slowest];
  const std::int64_t most = static_cast<std::int64_t>(at_once) / plane;
  std::vector<io::Table::Part> runs{{0, 0}};
  if (most < p.extent[slowest]) runs = runs_of(take[slowest], std::max<std::int64_t>(1, most));
  io::Table table;
  std::vector<double> values;
  for (const io::Table::Part& run : runs) {
    FilledOutput some = output;
    some.part = run;
    table = at_all_sites(some);
    append(output, take, run.first, table.values, values);
  }
  describe(p, take, table);
  table.part = {};
  table.values = std::move(values);
  return table;
}

bool takes_all_sites(const program::FieldOutput& field) {
  return std::ranges::all_of(field.sites, [](const program::SitesOfAxis& sites) {
    return sites.first == 0 && sites.last < 0 && sites.every == 1;
  });
}

template <>
io::Table table_of<program::OutputKind::Snapshot>(const FilledOutput& output) {
  return takes_all_sites(output.field) ? at_all_sites(output) : chosen_sites(output, kSitesAtOnce);
}

}  // namespace vphi::observe
