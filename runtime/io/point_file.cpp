#include "runtime/io/point_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/io/field_file.hpp"
#include "runtime/io/start_error.hpp"

namespace vphi::io {
namespace {

/// Shares of a Gaussian in cells of one axis, per length; `first` is the number of the first cell.
struct Shares {
  std::int64_t first = 0;
  std::vector<double> values;
};

/// Nothing is left of a Gaussian, to rounding, beyond this many widths.
constexpr double kReach = 9;

Shares shares_along(double at, double width, std::int64_t sites, double dx) {
  const double low = -static_cast<double>(sites) * dx / 2;
  const auto cell = [&](double x) {
    return static_cast<std::int64_t>(
        std::clamp(std::floor((x - low) / dx), 0.0, static_cast<double>(sites)));
  };
  Shares out{cell(at - kReach * width), {}};
  const std::int64_t end = std::min(cell(at + kReach * width) + 1, sites);
  const auto below = [&](std::int64_t edge) {
    const double x = low + static_cast<double>(edge) * dx;
    return std::erf((x - at) / (std::numbers::sqrt2 * width)) / 2;
  };
  for (std::int64_t i = out.first; i < end; ++i)
    out.values.push_back((below(i + 1) - below(i)) / dx);
  return out;
}

/// Points that are all outside of the box, by more than their width reaches, make no field.
void check_some_inside(const std::vector<std::vector<double>>& positions, const std::string& file,
                       const std::array<std::int64_t, 4>& extent, double dx, double width) {
  const std::size_t points = positions.empty() ? 0 : positions[0].size();
  std::string ends;
  for (std::size_t a = 0; a < positions.size() && points > 0; ++a) {
    const double half = static_cast<double>(extent[a]) * dx / 2;
    const auto [low, high] = std::ranges::minmax(positions[a]);
    ends += fmt::format("{}{} from {:.4g} to {:.4g} in a box from {:.4g} to {:.4g}",
                        a == 0 ? "" : ", ", "xyz"[a], low, high, -half, half);
  }
  for (std::size_t point = 0; point < points; ++point) {
    bool inside = true;
    for (std::size_t a = 0; a < positions.size(); ++a)
      inside = inside && std::abs(positions[a][point]) <
                             static_cast<double>(extent[a]) * dx / 2 + kReach * width;
    if (inside) return;
  }
  if (points > 0)
    throw StartError(
        fmt::format("{}: all {} points lie outside of the box, with {}; positions count from its "
                    "centre, in the length unit of the model: `units`, and move or scale them",
                    file, points, ends));
}

}  // namespace

std::vector<double> spread_field(std::span<const std::vector<double>> positions,
                                 const std::vector<double>& weights,
                                 const std::array<std::int64_t, 4>& extent, double dx,
                                 double width) {
  std::vector<double> out(static_cast<std::size_t>(extent[0] * extent[1] * extent[2]), 0.0);
  std::array<Shares, 3> shares;
  shares.fill({0, {1.0}});
  for (std::size_t point = 0; point < weights.size(); ++point) {
    if (weights[point] == 0) continue;
    for (std::size_t a = 0; a < positions.size(); ++a)
      shares[a] = shares_along(positions[a][point], width, extent[a], dx);
    const auto& [along_x, along_y, along_z] = shares;
    for (std::size_t z = 0; z < along_z.values.size(); ++z) {
      for (std::size_t y = 0; y < along_y.values.size(); ++y) {
        const double weight = weights[point] * along_z.values[z] * along_y.values[y];
        const std::int64_t row = (along_z.first + static_cast<std::int64_t>(z)) * extent[1] +
                                 along_y.first + static_cast<std::int64_t>(y);
        const auto to = out.begin() + row * extent[0] + along_x.first;
        for (std::size_t x = 0; x < along_x.values.size(); ++x)
          to[static_cast<std::ptrdiff_t>(x)] += weight * along_x.values[x];
      }
    }
  }
  return out;
}

std::vector<std::vector<double>> spread_points(const std::string& file, const PointPlace& place,
                                               const std::vector<std::int64_t>& members,
                                               const std::array<std::int64_t, 4>& extent,
                                               double dx) {
  const auto axes = static_cast<std::size_t>(place.dims);
  std::vector<std::vector<FieldFile>> columns;  // of each number of a row, of each member
  for (int entry = 0; entry <= place.dims; ++entry) {
    const FieldPlace column{1, place.dims + 1, entry, true, place.leading};
    columns.push_back(read_fields(file, column, members));
  }
  std::vector<std::vector<double>> out;
  for (std::size_t m = 0; m < members.size(); ++m) {
    std::vector<std::vector<double>> positions;
    for (std::size_t a = 0; a < axes; ++a) positions.push_back(std::move(columns[a][m].values));
    const std::vector<double>& weights = columns[axes][m].values;
    const auto bad = std::ranges::find_if(weights, [](double w) { return w < 0; });
    if (bad != weights.end())
      throw StartError(fmt::format(
          "{}: point {} has the weight {}; a row is a position, {} numbers, and a weight "
          "that is not negative",
          file, bad - weights.begin(), *bad, place.dims));
    std::string member = file;
    if (const std::size_t open = member.rfind("{}"); open != std::string::npos)
      member.replace(open, 2, std::to_string(members[m]));
    check_some_inside(positions, member, extent, dx, place.width);
    out.push_back(spread_field(positions, weights, extent, dx, place.width));
  }
  return out;
}

}  // namespace vphi::io
