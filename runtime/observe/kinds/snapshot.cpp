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

/// Leaves the chosen sites of a table of all sites, with the place of the first one and the
/// distance between two as further numbers.
void choose(const FilledOutput& output, std::size_t width, io::Table& table) {
  const program::Program& p = output.program;
  const auto n = p.extent;
  std::array<Chosen, 4> take{};
  std::size_t all = width;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(p.dims); ++axis) {
    take[axis] = chosen(output, axis);
    all *= static_cast<std::size_t>(take[axis].count);
    table.shape[static_cast<std::size_t>(p.dims) - 1 - axis] = take[axis].count;
    const std::string name(1, "xyzt"[axis]);
    const double middle = static_cast<double>(n[axis] - 1) / 2;
    table.numbers.emplace_back("first_" + name,
                               (static_cast<double>(take[axis].first) - middle) * p.dx_physical);
    table.numbers.emplace_back("step_" + name,
                               static_cast<double>(take[axis].every) * p.dx_physical);
  }
  std::vector<double> values;
  values.reserve(all);
  const auto site = [&](std::size_t axis, std::int64_t i) {
    return take[axis].first + i * take[axis].every;
  };
  for (std::int64_t t = 0; t < take[3].count; ++t)
    for (std::int64_t z = 0; z < take[2].count; ++z)
      for (std::int64_t y = 0; y < take[1].count; ++y)
        for (std::int64_t x = 0; x < take[0].count; ++x) {
          const std::int64_t at =
              ((site(3, t) * n[2] + site(2, z)) * n[1] + site(1, y)) * n[0] + site(0, x);
          const auto from = table.values.begin() + at * static_cast<std::int64_t>(width);
          values.insert(values.end(), from, from + static_cast<std::int64_t>(width));
        }
  table.values = std::move(values);
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

}  // namespace

bool takes_all_sites(const program::FieldOutput& field) {
  return std::ranges::all_of(field.sites, [](const program::SitesOfAxis& sites) {
    return sites.first == 0 && sites.last < 0 && sites.every == 1;
  });
}

template <>
io::Table table_of<program::OutputKind::Snapshot>(const FilledOutput& output) {
  io::Table table = at_all_sites(output);
  if (!takes_all_sites(output.field)) choose(output, output.count(), table);
  return table;
}

}  // namespace vphi::observe
