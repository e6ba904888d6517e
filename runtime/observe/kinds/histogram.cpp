#include "runtime/observe/kinds/kind.hpp"

namespace vphi::observe {

io::Table histogram_table(const program::Program& program, const program::FieldOutput& field,
                          const Histogram& h) {
  io::Table table;
  if (field.histogram.size() == 1) {
    std::vector<double> rows;
    for (std::size_t b = 0; b < h.counts.size(); ++b)
      rows.insert(rows.end(), {h.edges[0][b], h.edges[0][b + 1], static_cast<double>(h.counts[b]),
                               h.density(b)});
    table = rows_of(program, field, std::move(rows));
  } else {
    table.shape = {field.histogram[0].bins, field.histogram[1].bins};
    table.values.assign(h.counts.begin(), h.counts.end());
    table.axes = {{"edges_0", h.edges[0]}, {"edges_1", h.edges[1]}};
  }
  table.numbers = {{"below", static_cast<double>(h.below)},
                   {"above", static_cast<double>(h.above)},
                   {"invalid", static_cast<double>(h.invalid)}};
  table.kind = field.kind, table.name = field.name;
  return table;
}

template <>
io::Table table_of<program::OutputKind::Histogram>(const FilledOutput& output) {
  const program::FieldOutput& field = output.field;
  const auto values = [&](std::size_t axis, std::size_t first, std::size_t count) {
    const int slot = axis == 0 ? field.slot : field.more[0].slot;
    return slot < 0 ? output.array(axis, first, count) : std::vector<double>{output.scalar(slot)};
  };
  const auto sites = field.slot < 0 ? static_cast<std::size_t>(output.program.sites()) : 1;
  return histogram_table(output.program, field,
                         histogram(values, sites, kSitesAtOnce, field.histogram, output.threads));
}

}  // namespace vphi::observe
