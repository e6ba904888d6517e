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
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < field.histogram.size(); ++i) {
    const int slot = i == 0 ? field.slot : field.more[0].slot;
    if (slot < 0)
      values.push_back(output.array(i));
    else
      values.push_back({output.scalar(slot)});
  }
  return histogram_table(
      output.program, field,
      histogram({values.begin(), values.end()}, field.histogram, output.threads));
}

}  // namespace vphi::observe
