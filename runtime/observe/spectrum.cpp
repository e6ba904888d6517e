#include "runtime/observe/spectrum.hpp"

#include <algorithm>

namespace vphi::observe {

using std::numbers::pi;

namespace {

/// Surface of the unit sphere over (2 pi)^d: Delta = it * k^d P.
double sphere(int dims) {
  constexpr double of_dims[] = {1 / pi, 1 / (2 * pi), 1 / (2 * pi * pi), 1 / (8 * pi * pi)};
  return of_dims[dims - 1];
}

/// P = this * <|f~|^2>
double normal(const Grid& grid) {
  return std::pow(grid.dx, grid.dims) / static_cast<double>(grid.sites());
}

/// Of a box on one device.
fft::SharedTransform whole(const Grid& grid) { return {grid.box(), grid.threads}; }

}  // namespace

void add_power(fft::SharedTransform& transform, std::span<const double> values, double weight,
               std::vector<double>& power) {
  const auto modes = transform.forward(values);
  for (std::size_t i = 0; i < modes.size(); ++i) power[i] += weight * std::norm(modes[i]);
}

void add_power(const Grid& grid, std::span<const double> values, double weight,
               std::vector<double>& power) {
  auto transform = whole(grid);
  add_power(transform, values, weight, power);
}

std::vector<double> cross_power(fft::SharedTransform& transform, std::span<const double> f,
                                std::span<const double> g) {
  const auto a = transform.forward(f), b = transform.forward(g);
  std::vector<double> power(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) power[i] = std::real(a[i] * std::conj(b[i]));
  return power;
}

std::vector<double> cross_power(const Grid& grid, std::span<const double> f,
                                std::span<const double> g) {
  auto transform = whole(grid);
  return cross_power(transform, f, g);
}

double wave_number(const Grid& grid, const program::SpectrumForm& form, const Mode& mode) {
  if (form.laplacian.empty()) return grid.k_ir() * mode.distance;
  return std::sqrt(std::max(0.0, -value(form.laplacian[0], mode.theta).real())) / grid.dx;
}

BinSums spectrum_sums(const Grid& grid, const program::SpectrumForm& form,
                      fft::SharedTransform& transform, const std::vector<double>& power) {
  // 0: modes, 1: k, 2: |f~|^2, 3: k |f~|^2, 4: k^d |f~|^2
  const auto terms = [&](std::int64_t i, const Mode& mode) -> std::array<double, 5> {
    const double p = power[static_cast<std::size_t>(i)];
    const double k = wave_number(grid, form, mode);
    return {1, k, p, k * p, std::pow(k, grid.dims) * p};
  };
  return form.single ? single_sums(grid, transform, terms)
                     : shell_sums(grid, form.two_bins, transform, terms);
}

std::vector<SpectrumBin> spectrum_of(const Grid& grid, const program::SpectrumForm& form,
                                     const BinSums& sums) {
  const double sites = static_cast<double>(grid.sites());
  std::vector<SpectrumBin> out;
  for (std::size_t l = 1; l < sums.size(); ++l) {
    const auto& [modes, k, p, kp, kdp] = sums[l];
    if (modes == 0) continue;
    SpectrumBin bin;
    bin.k = form.version == 1 ? grid.k_ir() * static_cast<double>(l) : k / modes;
    bin.power = normal(grid) * p / modes;
    const bool inside = form.version == 3;
    if (form.type == 1) {
      bin.delta = (inside ? kp : bin.k * p) / (grid.k_ir() * sites * sites);
    } else {
      bin.delta = sphere(grid.dims) *
                  (inside ? normal(grid) * kdp / modes : std::pow(bin.k, grid.dims) * bin.power);
    }
    bin.modes = modes;
    out.push_back(bin);
  }
  return out;
}

std::vector<SpectrumBin> spectrum(const Grid& grid, const program::SpectrumForm& form,
                                  const std::vector<double>& power) {
  auto transform = whole(grid);
  return spectrum_of(grid, form, spectrum_sums(grid, form, transform, power));
}

BinSums occupation_sums(const Grid& grid, const program::SpectrumForm& form,
                        fft::SharedTransform& transform, const std::vector<double>& power,
                        const std::vector<double>& rate_power, double a, double mass2) {
  const double m2 = std::max(0.0, mass2);
  // 0: modes, 1: k, 2: n, 3: omega, 4: k^d omega n
  return shell_sums(grid, form.two_bins, transform,
                    [&](std::int64_t index, const Mode& mode) -> std::array<double, 5> {
                      const auto i = static_cast<std::size_t>(index);
                      const double k = wave_number(grid, form, mode);
                      const double omega = std::sqrt(k * k + a * a * m2);
                      if (omega == 0) return {};
                      const double n = a * a / 2 * normal(grid) *
                                       (omega * power[i] + a * a * rate_power[i] / omega);
                      return {1, k, n, omega, std::pow(k, grid.dims) * omega * n};
                    });
}

std::vector<OccupationBin> occupation_of(const Grid& grid, const program::SpectrumForm& form,
                                         const BinSums& sums, double a) {
  std::vector<OccupationBin> out;
  for (std::size_t l = 1; l < sums.size(); ++l) {
    const auto& [modes, k, n, omega, energy] = sums[l];
    if (modes == 0) continue;
    OccupationBin bin;
    bin.k = form.version == 1 ? grid.k_ir() * static_cast<double>(l) : k / modes;
    bin.number = n / modes;
    bin.omega = omega / modes;
    bin.energy = sphere(grid.dims) * energy / modes / std::pow(a, grid.dims + 1);
    bin.modes = modes;
    out.push_back(bin);
  }
  return out;
}

std::vector<OccupationBin> occupation(const Grid& grid, const program::SpectrumForm& form,
                                      const std::vector<double>& power,
                                      const std::vector<double>& rate_power, double a,
                                      double mass2) {
  auto transform = whole(grid);
  return occupation_of(grid, form,
                       occupation_sums(grid, form, transform, power, rate_power, a, mass2), a);
}

}  // namespace vphi::observe
