#include "runtime/run/starts/vacuum.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/parallel.hpp"
#include "runtime/run/starts/vacuum_parts.hpp"

namespace vphi::runtime {

using std::int64_t;

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
    const VacuumCorrelator correlator(v);
    out = on_octant(shape, threads, [&](const auto& n) { return correlator(n[0], n[1], n[2]); });
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
  std::vector<fft::Complex> modes(static_cast<std::size_t>(v.box.modes()));
  parallel_ranges(v.box.modes() / v.box.half(), threads, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      std::array<int64_t, 4> n{};
      int64_t rest = row, in_octant = 0, stride = shape.half[0];
      for (std::size_t axis = 1; axis < 4; ++axis) {
        n[axis] = rest % shape.n[axis];
        rest /= shape.n[axis];
        in_octant += std::min(n[axis], shape.n[axis] - n[axis]) * stride;
        stride *= shape.half[axis];
      }
      for (; n[0] < shape.half[0]; ++n[0])
        modes[static_cast<std::size_t>(row * shape.half[0] + n[0])] =
            amplitude[static_cast<std::size_t>(in_octant + n[0])] * mode_noise(v, n);
    }
  });
  std::vector<double> out(v.box.sites());
  fft::inverse(v.box, modes.data(), out.data(), threads);
  return out;
}

}  // namespace vphi::runtime
