#include "runtime/run/starts/vacuum.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/parallel.hpp"
#include "runtime/run/starts/vacuum_parts.hpp"

namespace vphi::runtime {
namespace {

using std::int64_t;

/// value(x, y, z) on the octant.
template <class Value>
std::vector<double> on_octant(const OctantShape& shape, int threads, const Value& value) {
  std::vector<double> out(shape.size());
  parallel_ranges(shape.half[2], threads, [&](int64_t begin, int64_t end) {
    for (int64_t z = begin; z < end; ++z)
      for (int64_t y = 0; y < shape.half[1]; ++y)
        for (int64_t x = 0; x < shape.half[0]; ++x)
          out[(z * shape.half[1] + y) * shape.half[0] + x] = value(x, y, z);
  });
  return out;
}

}  // namespace

double Vacuum::volume() const {
  double volume = 1;
  for (int axis = 0; axis < dims; ++axis) volume *= static_cast<double>(box.n[axis]) * dx;
  return volume;
}

VacuumRecipe vacuum_recipe(const Vacuum& v) {
  VacuumRecipe recipe;
  recipe.cut = Amplitude(v).cut();
  recipe.smooth = v.kernel_form;
  recipe.scale = v.amplitude / std::sqrt(v.volume());
  if (by_correlator(v)) {
    recipe.correlator = VacuumCorrelator(v).release();
    recipe.scale *= v.dx * v.dx * v.dx;
  }
  return recipe;
}

std::vector<double> vacuum_amplitudes(const Vacuum& v, int threads) {
  const OctantShape shape(v.box);
  std::vector<double> out;
  if (by_correlator(v)) {
    out = on_octant(shape, threads, VacuumCorrelator(v));
    for (int axis = 0; axis < 3; ++axis) even_transform(shape, axis, out, threads);
    const double scale = correlator_scale(v);
    for (double& c : out) c *= scale;
  } else {
    out = on_octant(shape, threads, amplitude_by_formula(v));
  }
  out[0] = 0;  // the zero mode is the homogeneous value
  return out;
}

std::vector<double> vacuum_field(const Vacuum& v, int threads) {
  return vacuum_field(v, vacuum_amplitudes(v, threads), threads);
}

std::vector<double> vacuum_field(const Vacuum& v, const std::vector<double>& amplitude,
                                 int threads) {
  const OctantShape shape(v.box);
  const auto [nx, ny, nz] = shape.n;
  std::vector<fft::Complex> modes(v.box.modes());
  parallel_ranges(ny * nz, threads, [&, ny = ny, nz = nz](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t y = row % ny, z = row / ny;
      const double* rms =
          amplitude.data() +
          (std::min(z, nz - z) * shape.half[1] + std::min(y, ny - y)) * shape.half[0];
      for (int64_t x = 0; x < shape.half[0]; ++x)
        modes[row * shape.half[0] + x] = rms[x] * mode_noise(v, x, y, z);
    }
  });
  std::vector<double> out(v.box.sites());
  fft::inverse(v.box, modes.data(), out.data(), threads);
  return out;
}

}  // namespace vphi::runtime
