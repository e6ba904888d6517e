#include "runtime/observe/kinds/kind.hpp"

#include "runtime/observe/spectrum.hpp"

namespace vphi::observe {

namespace {

program::FieldPart part_of(const program::FieldOutput& field, std::size_t i) {
  if (i == 0) return {field.buffer, field.scale, field.offset, field.weight};
  return field.more[i - 1];
}

std::vector<double> in_units(std::vector<double> values, const program::FieldPart& part) {
  if (part.scale != 1 || part.offset != 0)
    for (double& v : values) v = part.scale * v + part.offset;
  return values;
}

}  // namespace

std::vector<double> FilledOutput::array(std::size_t i) const {
  const program::FieldPart part = part_of(field, i);
  return in_units(read(part.buffer), part);
}

std::vector<double> FilledOutput::array(std::size_t i, std::size_t first, std::size_t count) const {
  const program::FieldPart part = part_of(field, i);
  return in_units(read(part.buffer, first, count), part);
}

double FilledOutput::weight(std::size_t i) const {
  return i == 0 ? field.weight : field.more[i - 1].weight;
}

Arrays FilledOutput::arrays(double time) const {
  Arrays all{time, field.factor_slot < 0 ? 0 : scalar(field.factor_slot), {}};
  for (std::size_t i = 0; i < count(); ++i) all.values.push_back(array(i));
  return all;
}

Grid FilledOutput::grid() const { return grid_of(program, threads); }

io::Table FilledOutput::rows(std::vector<double> values) const {
  return rows_of(program, field, std::move(values));
}

io::Table rows_of(const program::Program& program, const program::FieldOutput& field,
                  std::vector<double> values) {
  io::Table table;
  table.columns = program.columns_of(field);
  const auto width = static_cast<std::int64_t>(table.columns.size());
  table.shape = {static_cast<std::int64_t>(values.size()) / width, width};
  table.values = std::move(values);
  return table;
}

io::Table FilledOutput::at_sites(std::size_t arrays, const std::vector<std::int64_t>& inner) const {
  io::Table table;
  for (int axis = program.dims - 1; axis >= 0; --axis)
    table.shape.push_back(program.extent[static_cast<std::size_t>(axis)]);
  table.shape.insert(table.shape.end(), inner.begin(), inner.end());
  table.precision = program.buffers[static_cast<std::size_t>(field.buffer)].precision;
  table.part = part;
  const auto plane = static_cast<std::size_t>(program.sites() / table.shape.front());
  const auto wanted = [&](std::size_t i) {
    if (part.count == 0) return array(i);
    return array(i, static_cast<std::size_t>(part.first) * plane,
                 static_cast<std::size_t>(part.count) * plane);
  };
  for (std::size_t i = 0; i < arrays; ++i) {
    const std::vector<double> values = wanted(i);
    table.values.resize(arrays * values.size());
    for (std::size_t site = 0; site < values.size(); ++site)
      table.values[site * arrays + i] = values[site];
  }
  return table;
}

namespace {

/// |f~|^2 of own modes, summed over the arrays from `from` up to, but not including, `to`.
std::vector<double> added_power(const FilledOutput& output, fft::SharedTransform& transform,
                                std::size_t from, std::size_t to) {
  std::vector<double> power(static_cast<std::size_t>(transform.modes()));
  for (std::size_t i = from; i < to; ++i)
    add_power(transform, output.array(i), output.weight(i), power);
  return power;
}

}  // namespace

bool has_bin_sums(const program::FieldOutput& field) {
  const program::OutputShape shape = program::row_of(field.kind).shape;
  return shape == program::OutputShape::WaveNumbers || shape == program::OutputShape::Places;
}

BinSums bin_sums(const FilledOutput& output, fft::SharedTransform& transform) {
  const program::OutputRow& row = program::row_of(output.field.kind);
  if (row.shape == program::OutputShape::Places)
    return row.axis == program::OutputAxis::ByDistance ? correlator_sums(output, transform)
                                                       : profile_sums(output, transform);
  const Grid grid = output.grid();
  const program::SpectrumForm& form = output.field.spectrum;
  if (output.field.kind == program::OutputKind::Occupation) {
    const std::size_t half = output.count() / 2;
    const auto power = added_power(output, transform, 0, half);
    const auto rate = added_power(output, transform, half, 2 * half);
    return occupation_sums(grid, form, transform, power, rate,
                           output.scalar(output.field.factor_slot),
                           output.scalar(output.field.mass2_slot));
  }
  return spectrum_sums(grid, form, transform,
                       form.cross ? cross_power(transform, output.array(0), output.array(1))
                                  : added_power(output, transform, 0, output.count()));
}

BinSums sums_of_all(const FilledOutput& output) {
  if (output.sums != nullptr) return *output.sums;
  fft::SharedTransform transform(output.grid().box(), output.threads);
  return bin_sums(output, transform);
}

io::Table point_table(const FilledOutput& output, const std::vector<ProfilePoint>& points) {
  const auto most = static_cast<std::size_t>(output.field.bins);
  std::vector<double> rows;
  for (const ProfilePoint& point : points) {
    if (most > 0 && rows.size() >= 3 * most) break;
    rows.insert(rows.end(), {point.x, point.mean, point.count});
  }
  return output.rows(std::move(rows));
}

Grid grid_of(const program::Program& program, int threads) {
  return {program.whole_extent(), program.dims, program.dx_physical, threads};
}

}  // namespace vphi::observe
