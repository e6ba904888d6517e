#include "runtime/observe/transverse.hpp"

namespace vphi::observe {

using fft::Complex;

namespace {

constexpr int kPlace[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};

}  // namespace

Tensor project(const Tensor& v, const std::array<Complex, 3>& d) {
  const double size = std::norm(d[0]) + std::norm(d[1]) + std::norm(d[2]);
  if (!(size > 1e-24)) return {};
  Complex p[3][3], pv[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) p[i][j] = (i == j ? 1.0 : 0.0) - std::conj(d[i]) * d[j] / size;
  Complex trace = 0;  // P*_lm v_lm
  for (int i = 0; i < 3; ++i)
    for (int m = 0; m < 3; ++m) {
      pv[i][m] = 0;
      for (int l = 0; l < 3; ++l) pv[i][m] += p[i][l] * v[kPlace[l][m]];
      trace += std::conj(p[i][m]) * v[kPlace[i][m]];
    }
  const auto part = [&](int i, int j) {
    Complex sum = -0.5 * p[i][j] * trace;
    for (int m = 0; m < 3; ++m) sum += pv[i][m] * std::conj(p[j][m]);
    return sum;
  };
  Tensor h;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j)
      h[kPlace[i][j]] = i == j ? part(i, j) : 0.5 * (part(i, j) + part(j, i));
  return h;
}

void transverse_traceless(const Grid& grid, const std::vector<program::Symbol>& derivative,
                          fft::SharedTransform& transform,
                          std::array<std::vector<double>, 6>& components) {
  std::array<std::vector<Complex>, 6> modes;
  for (int c = 0; c < 6; ++c) {
    modes[c] = transform.forward(components[c]);
    components[c] = {};
  }
  for_modes(grid, transform, [&](std::int64_t index, const Mode& mode) {
    const auto i = static_cast<std::size_t>(index);
    std::array<Complex, 3> d;
    for (int axis = 0; axis < 3; ++axis) d[axis] = value(derivative[axis], mode.theta);
    Tensor v;
    for (int c = 0; c < 6; ++c) v[c] = modes[c][i];
    const Tensor h = project(v, d);
    for (int c = 0; c < 6; ++c) modes[c][i] = h[c];
  });
  const double sites = static_cast<double>(grid.sites());
  for (int c = 0; c < 6; ++c) {
    components[c] = transform.inverse(std::move(modes[c]));
    modes[c] = {};
    for (double& v : components[c]) v /= sites;
  }
}

void transverse_traceless(const Grid& grid, const std::vector<program::Symbol>& derivative,
                          std::array<std::vector<double>, 6>& components) {
  fft::SharedTransform transform(grid.box(), grid.threads);
  transverse_traceless(grid, derivative, transform, components);
}

}  // namespace vphi::observe
