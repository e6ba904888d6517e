#include "runtime/observe/reduce.hpp"

#include <algorithm>

#include "runtime/observe/histogram.hpp"
#include "runtime/observe/profile.hpp"
#include "runtime/observe/spectrum.hpp"
#include "runtime/observe/transverse.hpp"

namespace vphi::observe {

using io::Table;
using program::FieldOutput;
using program::Program;
using std::int64_t;

namespace {

/// Array i of an output, in the units it is written in.
std::vector<double> part(const FieldOutput& f, const ReadBuffer& read, std::size_t i = 0) {
  const program::FieldPart first{f.buffer, f.scale, f.offset, f.weight};
  const program::FieldPart& p = i == 0 ? first : f.more[i - 1];
  auto values = read(p.buffer);
  if (p.scale != 1 || p.offset != 0)
    for (double& v : values) v = p.scale * v + p.offset;
  return values;
}

double weight(const FieldOutput& f, std::size_t i) {
  return i == 0 ? f.weight : f.more[i - 1].weight;
}

Grid grid_of(const Program& p, int threads) { return {p.extent, p.dims, p.dx_physical, threads}; }

/// Rows of numbers under named columns.
Table columns(std::string group, std::vector<std::string> names, std::vector<double> values) {
  Table table;
  table.group = std::move(group);
  const auto width = static_cast<int64_t>(names.size());
  table.shape = {static_cast<int64_t>(values.size()) / width, width};
  table.columns = std::move(names);
  table.values = std::move(values);
  return table;
}

std::vector<double> added_power(const Grid& grid, const FieldOutput& f, const ReadBuffer& read,
                                std::size_t from, std::size_t to) {
  std::vector<double> power(static_cast<std::size_t>(grid.box().modes()));
  for (std::size_t i = from; i < to; ++i) add_power(grid, part(f, read, i), weight(f, i), power);
  return power;
}

Table spectrum_table(const Grid& grid, const FieldOutput& f, const ReadBuffer& read,
                     const std::vector<double>& scalars) {
  std::vector<double> power;
  if (grid.dims <= 3) {
    power = f.spectrum.cross ? cross_power(grid, part(f, read), part(f, read, 1))
                             : added_power(grid, f, read, 0, f.more.size() + 1);
  }
  const double factor = f.factor_slot >= 0 ? scalars[static_cast<std::size_t>(f.factor_slot)] : 1;
  std::vector<double> rows;
  for (const SpectrumBin& bin : spectrum(grid, f.spectrum, power))
    rows.insert(rows.end(), {bin.k, factor * bin.power, factor * bin.delta, bin.modes});
  return columns("spectra", {"k", "P", "Delta", "modes"}, std::move(rows));
}

Table occupation_table(const Grid& grid, const FieldOutput& f, const ReadBuffer& read,
                       const std::vector<double>& scalars) {
  std::vector<double> rows;
  if (grid.dims <= 3) {
    const std::size_t half = (f.more.size() + 1) / 2;
    const auto power = added_power(grid, f, read, 0, half);
    const auto rate = added_power(grid, f, read, half, 2 * half);
    for (const OccupationBin& bin :
         occupation(grid, f.spectrum, power, rate, scalars[static_cast<std::size_t>(f.factor_slot)],
                    scalars[static_cast<std::size_t>(f.mass2_slot)]))
      rows.insert(rows.end(), {bin.k, bin.number, bin.omega, bin.energy, bin.modes});
  }
  return columns("occupations", {"k", "n", "omega", "energy", "modes"}, std::move(rows));
}

Table counted(const FieldOutput& f, const ReadBuffer& read, const std::vector<double>& scalars,
              int threads) {
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < f.histogram.size(); ++i) {
    const int slot = i == 0 ? f.slot : f.more[0].slot;
    if (slot < 0)
      values.push_back(part(f, read, i));
    else
      values.push_back({scalars[static_cast<std::size_t>(slot)]});
  }
  return histogram_table(f, histogram({values.begin(), values.end()}, f.histogram, threads));
}

/// At most `most` points, or all for 0.
Table point_table(const char* group, const std::string& coordinate, const char* what,
                  const std::vector<ProfilePoint>& points, int most) {
  std::vector<double> rows;
  for (const ProfilePoint& point : points) {
    if (most > 0 && rows.size() >= 3 * static_cast<std::size_t>(most)) break;
    rows.insert(rows.end(), {point.x, point.mean, point.count});
  }
  return columns(group, {coordinate, what, "count"}, std::move(rows));
}

Table correlator_table(const Grid& grid, const FieldOutput& f, const ReadBuffer& read) {
  std::vector<ProfilePoint> points;
  if (grid.dims <= 3) {
    std::vector<fft::Complex> products(static_cast<std::size_t>(grid.box().modes()));
    if (f.spectrum.cross) {
      add_product(grid, part(f, read), part(f, read, 1), 1, products);
    } else {
      for (std::size_t i = 0; i <= f.more.size(); ++i) {
        const auto values = part(f, read, i);
        add_product(grid, values, values, weight(f, i), products);
      }
    }
    const auto c = correlations(grid, std::move(products));
    points = f.axis < 0 ? radial_correlator(grid, c) : axis_correlator(grid, c, f.axis);
  }
  return point_table("correlators", "r", "C", points, f.bins);
}

Table snapshot_table(const Program& p, const FieldOutput& f, const ReadBuffer& read) {
  Table table;
  table.group = "snapshots";
  for (int axis = p.dims - 1; axis >= 0; --axis)
    table.shape.push_back(p.extent[static_cast<std::size_t>(axis)]);
  table.precision = p.buffers[static_cast<std::size_t>(f.buffer)].precision;
  if (f.more.empty()) {
    table.values = part(f, read);
    return table;
  }
  for (const int n : f.value) table.shape.push_back(n);
  if (f.value.size() == 1) table.inner = {"component"};
  if (f.value.size() == 2) table.inner = {"row", "column"};
  if (f.complex) table.shape.push_back(2), table.inner.emplace_back("part");
  const std::size_t width = f.more.size() + 1;
  for (std::size_t c = 0; c < width; ++c) {
    const std::vector<double> values = part(f, read, c);
    table.values.resize(width * values.size());
    for (std::size_t site = 0; site < values.size(); ++site)
      table.values[site * width + c] = values[site];
  }
  return table;
}

Table slice_table(const Program& p, const FieldOutput& f, const ReadBuffer& read) {
  if (f.axis < 0) {  // fewer dimensions than the cut has: everything
    Table table = snapshot_table(p, f, read);
    table.group = "slices";
    return table;
  }
  const auto values = part(f, read);
  int64_t stride = 1;
  for (int axis = 0; axis < f.axis; ++axis) stride *= p.extent[static_cast<std::size_t>(axis)];
  const int64_t n = p.extent[static_cast<std::size_t>(f.axis)];
  Table table;
  table.group = "slices";
  for (int64_t block = 0; block < p.sites() / (stride * n); ++block) {
    const auto first = values.begin() + (block * n + f.plane) * stride;
    table.values.insert(table.values.end(), first, first + stride);
  }
  for (int axis = p.dims - 1; axis >= 0; --axis)
    if (axis != f.axis) table.shape.push_back(p.extent[static_cast<std::size_t>(axis)]);
  if (table.shape.empty()) table.shape.push_back(1);
  const double middle = static_cast<double>(n - 1) / 2;
  table.numbers = {{"axis", static_cast<double>(f.axis)},
                   {"plane", static_cast<double>(f.plane)},
                   {"position", (static_cast<double>(f.plane) - middle) * p.dx_physical}};
  table.precision = p.buffers[static_cast<std::size_t>(f.buffer)].precision;
  return table;
}

/// In the order of runtime/io/configurations/configuration.hpp: [t][z][y][x][mu][row][column][re,
/// im].
Table links_table(const Program& p, const FieldOutput& f, const ReadBuffer& read) {
  Table table;
  table.group = "links";
  for (int axis = p.dims - 1; axis >= 0; --axis)
    table.shape.push_back(p.extent[static_cast<std::size_t>(axis)]);
  for (const std::int64_t n : {p.dims, f.colours, f.colours, 2}) table.shape.push_back(n);
  const std::size_t width = f.more.size() + 1, sites = static_cast<std::size_t>(p.sites());
  table.values.resize(sites * width);
  table.precision = p.buffers[static_cast<std::size_t>(f.buffer)].precision;
  for (std::size_t entry = 0; entry < width; ++entry) {
    const std::vector<double> values = read(entry == 0 ? f.buffer : f.more[entry - 1].buffer);
    const double scale = entry == 0 ? f.scale : f.more[entry - 1].scale;
    const double offset = entry == 0 ? f.offset : f.more[entry - 1].offset;
    for (std::size_t site = 0; site < sites; ++site)
      table.values[site * width + entry] = scale * values[site] + offset;
  }
  return table;
}

Table made(const Program& p, const FieldOutput& f, const ReadBuffer& read,
           const std::vector<double>& scalars, int threads) {
  const Grid grid = grid_of(p, threads);
  switch (f.kind) {
    case FieldOutput::Kind::Spectrum:
      return spectrum_table(grid, f, read, scalars);
    case FieldOutput::Kind::Occupation:
      return occupation_table(grid, f, read, scalars);
    case FieldOutput::Kind::Slice:
      return slice_table(p, f, read);
    case FieldOutput::Kind::Histogram:
      return counted(f, read, scalars, threads);
    case FieldOutput::Kind::Correlator:
      return correlator_table(grid, f, read);
    case FieldOutput::Kind::Profile:
      return f.axis < 0
                 ? point_table("profiles", "r", "mean", radial_profile(grid, part(f, read)), f.bins)
                 : point_table("profiles", p.along(f.axis), "mean",
                               axis_profile(grid, part(f, read), f.axis,
                                            p.counted ? observe::Origin::FirstSite
                                                      : observe::Origin::Middle),
                               f.bins);
    case FieldOutput::Kind::Links:
      return links_table(p, f, read);
    case FieldOutput::Kind::Snapshot:
      break;
  }
  return snapshot_table(p, f, read);
}

}  // namespace

Table histogram_table(const FieldOutput& f, const Histogram& h) {
  Table table;
  if (f.histogram.size() == 1) {
    std::vector<double> rows;
    for (std::size_t b = 0; b < h.counts.size(); ++b)
      rows.insert(rows.end(), {h.edges[0][b], h.edges[0][b + 1], static_cast<double>(h.counts[b]),
                               h.density(b)});
    table = columns("histograms", {"low", "high", "count", "density"}, std::move(rows));
  } else {
    table.group = "histograms";
    table.shape = {f.histogram[0].bins, f.histogram[1].bins};
    table.values.assign(h.counts.begin(), h.counts.end());
    table.axes = {{"edges_0", h.edges[0]}, {"edges_1", h.edges[1]}};
  }
  table.numbers = {{"below", static_cast<double>(h.below)},
                   {"above", static_cast<double>(h.above)},
                   {"invalid", static_cast<double>(h.invalid)}};
  table.name = f.name;
  return table;
}

Table reduce(const Program& program, const FieldOutput& field, const ReadBuffer& read,
             const std::vector<double>& scalars, int threads) {
  Table table = made(program, field, read, scalars, threads);
  table.name = field.name;
  return table;
}

void apply(const Program& program, const program::Transform& transform, const ReadBuffer& read,
           const std::function<void(int, const std::vector<double>&)>& write, int threads) {
  std::array<std::vector<double>, 6> components;
  for (std::size_t c = 0; c < 6; ++c) components[c] = read(transform.buffers[c]);
  transverse_traceless(grid_of(program, threads), transform.derivative, components);
  for (std::size_t c = 0; c < 6; ++c) write(transform.buffers[c], components[c]);
}

}  // namespace vphi::observe
