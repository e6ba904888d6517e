#include "runtime/run/starts/vacuum_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/fft/lines.hpp"
#include "runtime/parallel.hpp"
#include "runtime/random/philox.hpp"

namespace vphi::runtime {
namespace {

using std::int64_t;
using std::numbers::pi;

constexpr int64_t kOversampling = 16;  ///< of the radial kernel, as in DEFROST
constexpr double kNegligible = 6.5;    ///< exp(-6.5^2) is below the rounding of f64

/// c(r) = 1/(2 pi^2 r) int k c(k) sin(k r) dk on r_i = i dx/16, by the midpoint rule:
///   sum_j x_j sin(k_j r_i) = Im[exp(i turn) conj(X_i)],  X = transform of x over M = 512 n
///   entries.
/// Of X the first 16 n + 2 entries are wanted, so sixteen interleaved parts of length 32 n are
/// transformed side by side (two in each lane) and joined: X_i = sum_s exp(-2 pi i s i/M) Y_s(i).
std::vector<double> radial_kernel(const Amplitude& amplitude, int64_t n, double dx) {
  constexpr int64_t parts = 2 * fft::kLanes;
  const int64_t count = n * kOversampling * kOversampling;
  const double dr = dx / kOversampling;
  const double dk = pi / (static_cast<double>(count) * dr);
  const fft::Lines lines(2 * count / parts);
  fft::Workspace w;
  lines.prepare(w);
  std::fill(w.re.begin(), w.re.end(), 0.0), std::fill(w.im.begin(), w.im.end(), 0.0);
  for (int64_t j = 0; j < count; ++j) {
    const double k = (static_cast<double>(j) + 0.5) * dk;
    if (k > kNegligible * amplitude.cut()) break;
    (j % 2 == 0 ? w.re : w.im)[j / 2] = k * amplitude(k) * dk;
  }
  lines.forward(w);

  const int64_t reach = n * kOversampling + 2;  // beyond the corner of half a box, sqrt(3)/2 n
  std::vector<double> kernel(reach);
  for (int64_t i = 1; i < reach; ++i) {
    const double angle = pi * static_cast<double>(i) / static_cast<double>(2 * count);
    const fft::Complex step = std::polar(1.0, -2 * angle);
    const int64_t at = i * fft::kLanes, mirror = (lines.length() - i) * fft::kLanes;
    fft::Complex sum = 0, phase = 1;
    for (int64_t l = 0; l < fft::kLanes; ++l, phase *= step * step) {
      const fft::Complex z(w.re[at + l], w.im[at + l]), zm(w.re[mirror + l], -w.im[mirror + l]);
      const fft::Complex odd = z - zm;  // 2i times the part in w.im
      sum += phase * 0.5 * (z + zm + step * fft::Complex(odd.imag(), -odd.real()));
    }
    const double sine = std::sin(angle) * sum.real() - std::cos(angle) * sum.imag();
    kernel[i] = sine / (2 * pi * pi * static_cast<double>(i) * dr);
  }
  kernel[0] = (4 * kernel[1] - kernel[2]) / 3;  // an even function's parabola
  return kernel;
}

double norm(double x, double y, double z) { return std::sqrt(x * x + y * y + z * z); }

/// Mode n of the white noise: complex normal with <|g|^2> = 1.
fft::Complex noise(const Vacuum& v, const std::array<int64_t, 4>& n, bool real) {
  const auto word = [](int64_t i) { return static_cast<std::uint32_t>(i); };
  // The highest bit keeps modes apart from numbers that are counted by site. A fourth axis has the
  // upper half of the first word: boxes of four dimensions are shorter than 2^16.
  const auto [a, b] = random::normal_pair(philox::generate(
      {word(n[0]) ^ word(n[3]) << 16, word(n[1]), word(n[2]), v.stream | 0x80000000U},
      random::key_of(v.seed)));
  if (real) return a;
  return fft::Complex(a, b) * std::numbers::sqrt2 * 0.5;
}

}  // namespace

Amplitude::Amplitude(const Vacuum& v)
    : mass2_(std::max(v.mass2, 0.0)), velocity_(v.velocity), smooth_(v.kernel_form) {
  const int64_t n = *std::max_element(v.box.n.begin(), v.box.n.end());
  const double dk = 2 * pi / (static_cast<double>(n) * v.dx);
  // half Nyquist, (n/2 + 1) dk/2 as in DEFROST
  const double half_nyquist = (static_cast<double>(n) / 2 + 1) * dk / 2;
  cut_ = v.cutoff > 0 ? v.cutoff : smooth_ ? half_nyquist : INFINITY;
}

double Amplitude::operator()(double k) const {
  const double omega = std::sqrt(k * k + mass2_);
  const double power = velocity_ ? omega / 2 : 1 / (2 * omega);
  if (!smooth_) return k <= cut_ ? std::sqrt(power) : 0;
  return std::sqrt(power) * std::exp(-(k / cut_) * (k / cut_));
}

VacuumCorrelator::VacuumCorrelator(const Vacuum& v)
    : at_(radial_kernel(Amplitude(v), *std::max_element(v.box.n.begin(), v.box.n.end()), v.dx)) {}

double VacuumCorrelator::operator()(int64_t x, int64_t y, int64_t z) const {
  const double r = norm(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)) *
                   static_cast<double>(kOversampling);
  const auto i = static_cast<int64_t>(r);
  return at_[i] + (r - static_cast<double>(i)) * (at_[i + 1] - at_[i]);
}

bool by_correlator(const Vacuum& v) { return v.kernel_form && v.dims == 3; }

double correlator_scale(const Vacuum& v) {
  return v.dx * v.dx * v.dx * (v.amplitude / std::sqrt(v.volume()));
}

ModeAmplitude amplitude_by_formula(const Vacuum& v) {
  std::array<double, 4> dk{};
  for (int axis = 0; axis < 4; ++axis)
    dk[axis] = 2 * pi / (static_cast<double>(v.box.n[axis]) * v.dx);
  return [amplitude = Amplitude(v), scale = v.amplitude / std::sqrt(v.volume()),
          dk](const std::array<int64_t, 4>& n) {
    if (n == std::array<int64_t, 4>{}) return 0.0;
    double square = 0;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const double k = static_cast<double>(n[axis]) * dk[axis];
      square += k * k;
    }
    return scale * amplitude(std::sqrt(square));
  };
}

void even_transform(const OctantShape& shape, int axis, std::vector<double>& octant, int threads) {
  const int64_t n = shape.n[axis], half = shape.half[axis];
  if (n == 1) return;
  const std::array<int64_t, 3> stride{1, shape.half[0], shape.half[0] * shape.half[1]};
  const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;  // the other two
  const int64_t lines_count = shape.half[a] * shape.half[b];
  const int64_t pack = 2 * fft::kLanes, packs = (lines_count + pack - 1) / pack;
  const fft::Lines lines(n);
  parallel_ranges(packs, threads, [&](int64_t begin, int64_t end) {
    fft::Workspace w;
    lines.prepare(w);
    for (int64_t p = begin; p < end; ++p) {
      // The last pack may leave half a lane empty. Numbers left there by another pack would change
      // the rounding of the line beside it, so the bits would depend on the number of threads.
      if (lines_count - p * pack < pack)
        std::fill(w.re.begin(), w.re.end(), 0.0), std::fill(w.im.begin(), w.im.end(), 0.0);
      const auto each = [&](const auto& visit) {
        for (int64_t l = 0; l < std::min(pack, lines_count - p * pack); ++l) {
          const int64_t line = p * pack + l;
          double* at =
              octant.data() + line % shape.half[a] * stride[a] + line / shape.half[a] * stride[b];
          visit(at, l / 2, l % 2 == 0 ? w.re : w.im);
        }
      };
      each([&](double* at, int64_t lane, std::vector<double>& part) {
        for (int64_t j = 0; j < n; ++j)
          part[j * fft::kLanes + lane] = at[std::min(j, n - j) * stride[axis]];
      });
      lines.forward(w);
      each([&](double* at, int64_t lane, std::vector<double>& part) {
        for (int64_t j = 0; j < half; ++j) at[j * stride[axis]] = part[j * fft::kLanes + lane];
      });
    }
  });
}

fft::Complex mode_noise(const Vacuum& v, const std::array<int64_t, 4>& n) {
  const bool paired = n[0] == 0 || 2 * n[0] == v.box.n[0];  // -n lies in the same plane
  std::array<int64_t, 4> mirror = n;
  int64_t row = 0, mirrored_row = 0;
  for (std::size_t axis = 3; axis > 0; --axis) {
    const int64_t extent = v.box.n[axis];
    mirror[axis] = (extent - n[axis]) % extent;
    row = row * extent + n[axis];
    mirrored_row = mirrored_row * extent + mirror[axis];
  }
  const bool drawn_there = paired && mirrored_row < row;
  std::array<int64_t, 4> mode = drawn_there ? mirror : n;
  for (std::size_t axis = 1; axis < 4; ++axis)
    if (mode[axis] > v.box.n[axis] / 2) mode[axis] -= v.box.n[axis];
  const auto g = noise(v, mode, paired && mirrored_row == row);
  return drawn_there ? std::conj(g) : g;
}

}  // namespace vphi::runtime
