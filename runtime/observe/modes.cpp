#include "runtime/observe/modes.hpp"

#include <algorithm>

namespace vphi::observe {

std::int64_t Grid::longest() const { return std::max({extent[0], extent[1], extent[2]}); }

std::complex<double> value(const program::Symbol& symbol, const std::array<double, 3>& theta) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < symbol.offsets.size(); ++i) {
    double phase = 0;
    for (int axis = 0; axis < 3; ++axis) phase += theta[axis] * symbol.offsets[i][axis];
    sum += symbol.weights[i] * std::complex<double>(std::cos(phase), std::sin(phase));
  }
  return sum;
}

std::size_t shells(const Grid& grid) {
  double corner = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const auto n = grid.extent[axis];
    const double unit = static_cast<double>(grid.longest()) / static_cast<double>(n);
    corner += std::pow(unit * static_cast<double>(n / 2), 2);
  }
  return static_cast<std::size_t>(std::sqrt(corner) + 0.5) + 1;
}

std::vector<fft::Complex> transform(const Grid& grid, std::span<const double> values) {
  const fft::Box box = grid.box();
  std::vector<fft::Complex> modes(static_cast<std::size_t>(box.modes()));
  fft::forward(box, values.data(), modes.data(), grid.threads);
  return modes;
}

}  // namespace vphi::observe
