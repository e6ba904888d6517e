#include "runtime/fft/fft.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/fft/fftw.hpp"
#include "runtime/fft/lines.hpp"
#include "runtime/parallel.hpp"

namespace vphi::fft {
namespace {

/// Transforms along x between rows of real numbers and rows of half-complex ones. An even row is
/// packed into half as many complex numbers z_j = f_2j + i f_2j+1.
class RealRows {
 public:
  explicit RealRows(std::int64_t n) : n_(n), packed_(n % 2 == 0 ? n / 2 : n), lines_(packed_) {
    for (std::int64_t k = 0; k <= n / 2; ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      twist_.emplace_back(std::cos(angle), std::sin(angle));
    }
  }

  void forward(const double* in, Complex* out, std::int64_t rows, Workspace& w) const {
    const std::int64_t half = n_ / 2 + 1;
    for (std::int64_t l = 0; l < rows; ++l) {
      const double* row = in + l * n_;
      if (even())
        for (std::int64_t j = 0; j < packed_; ++j)
          w.re[j * kLanes + l] = row[2 * j], w.im[j * kLanes + l] = row[2 * j + 1];
      else
        for (std::int64_t j = 0; j < n_; ++j)
          w.re[j * kLanes + l] = row[j], w.im[j * kLanes + l] = 0;
    }
    lines_.forward(w);
    const auto z = [&](std::int64_t k, std::int64_t l) {
      return Complex(w.re[k * kLanes + l], w.im[k * kLanes + l]);
    };
    for (std::int64_t l = 0; l < rows; ++l)
      for (std::int64_t k = 0; k < half; ++k) {
        if (!even()) {
          out[l * half + k] = z(k, l);
          continue;
        }
        // F_k = (Z_k + Z*_{h-k})/2 - i w^k (Z_k - Z*_{h-k})/2
        const Complex a = z(k % packed_, l), b = std::conj(z((packed_ - k) % packed_, l));
        const Complex odd = (a - b) * twist_[k];
        out[l * half + k] = 0.5 * (a + b + Complex(odd.imag(), -odd.real()));
      }
  }

  void inverse(const Complex* in, double* out, std::int64_t rows, Workspace& w) const {
    const std::int64_t half = n_ / 2 + 1;
    for (std::int64_t l = 0; l < rows; ++l) {
      const Complex* row = in + l * half;
      for (std::int64_t k = 0; k < packed_; ++k) {
        Complex z;
        if (even()) {
          // the steps of `forward` undone, times two: unnormalised
          const Complex a = row[k], b = std::conj(row[packed_ - k]);
          const Complex odd = (a - b) * std::conj(twist_[k]);
          z = a + b + Complex(-odd.imag(), odd.real());
          if (k == 0)
            z = {row[0].real() + row[packed_].real(), row[0].real() - row[packed_].real()};
        } else {
          z = k < half ? row[k] : std::conj(row[n_ - k]);
          if (k == 0) z = row[0].real();
        }
        w.re[k * kLanes + l] = z.real(), w.im[k * kLanes + l] = z.imag();
      }
    }
    lines_.backward(w);
    for (std::int64_t l = 0; l < rows; ++l) {
      double* row = out + l * n_;
      for (std::int64_t j = 0; j < packed_; ++j) {
        if (even())
          row[2 * j] = w.re[j * kLanes + l], row[2 * j + 1] = w.im[j * kLanes + l];
        else
          row[j] = w.re[j * kLanes + l];
      }
    }
  }

  const Lines& lines() const { return lines_; }

 private:
  bool even() const { return n_ % 2 == 0; }

  std::int64_t n_, packed_;
  Lines lines_;
  std::vector<Complex> twist_;
};

/// Complex transforms along y or z: lines lie `stride` apart, neighbours in x side by side.
void along(const Lines& lines, Complex* data, std::int64_t stride, std::int64_t width,
           std::int64_t groups, std::int64_t group_stride, int threads, bool forward) {
  const std::int64_t blocks = (width + kLanes - 1) / kLanes, n = lines.length();
  runtime::parallel_ranges(groups * blocks, threads, [&](std::int64_t begin, std::int64_t end) {
    Workspace w;
    lines.prepare(w);
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t first = piece % blocks * kLanes;
      const std::int64_t lanes = std::min(kLanes, width - first);
      Complex* base = data + piece / blocks * group_stride + first;
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t l = 0; l < lanes; ++l) {
          const Complex z = base[j * stride + l];
          w.re[j * kLanes + l] = z.real(), w.im[j * kLanes + l] = z.imag();
        }
      forward ? lines.forward(w) : lines.backward(w);
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t l = 0; l < lanes; ++l)
          base[j * stride + l] = {w.re[j * kLanes + l], w.im[j * kLanes + l]};
    }
  });
}

/// Along the axes between x and the slowest one.
void middle_axes(const Box& box, std::int64_t planes, Complex* data, int threads, bool forward) {
  std::int64_t stride = box.half(), groups = planes * columns_of(box) / stride;
  for (std::size_t axis = 1; axis < box.slowest(); ++axis) {
    const std::int64_t n = box.n[axis];
    groups /= n;
    if (n > 1) along(Lines(n), data, stride, stride, groups, stride * n, threads, forward);
    stride *= n;
  }
}

std::int64_t rows_of(const Box& box, std::int64_t planes) {
  return planes * columns_of(box) / box.half();
}

template <class Row>
void each_row_block(std::int64_t count, const RealRows& rows, int threads, const Row& row) {
  const std::int64_t blocks = (count + kLanes - 1) / kLanes;
  runtime::parallel_ranges(blocks, threads, [&](std::int64_t begin, std::int64_t end) {
    Workspace w;
    rows.lines().prepare(w);
    for (std::int64_t b = begin; b < end; ++b)
      row(b * kLanes, std::min(kLanes, count - b * kLanes), w);
  });
}

/// Threads are started in each call, which takes as long as the transform of some thousand numbers.
int worth(int threads, std::int64_t numbers) {
  constexpr std::int64_t kEach = 1 << 14;
  return static_cast<int>(std::clamp<std::int64_t>(numbers / kEach, 1, std::max(threads, 1)));
}

}  // namespace

std::int64_t planes_of(const Box& box) { return box.n[box.slowest()]; }
std::int64_t columns_of(const Box& box) { return box.modes() / planes_of(box); }

void forward_planes(const Box& box, std::int64_t planes, const double* in, Complex* out,
                    int threads, Engine engine) {
  threads = worth(threads, planes * columns_of(box));
  if (engine == Engine::Best && fftw_forward_planes(box, planes, in, out, threads)) return;
  const RealRows rows(box.n[0]);
  each_row_block(rows_of(box, planes), rows, threads,
                 [&](std::int64_t first, std::int64_t count, Workspace& w) {
                   rows.forward(in + first * box.n[0], out + first * box.half(), count, w);
                 });
  middle_axes(box, planes, out, threads, true);
}

void inverse_planes(const Box& box, std::int64_t planes, Complex* in, double* out, int threads,
                    Engine engine) {
  threads = worth(threads, planes * columns_of(box));
  if (engine == Engine::Best && fftw_inverse_planes(box, planes, in, out, threads)) return;
  middle_axes(box, planes, in, threads, false);
  const RealRows rows(box.n[0]);
  each_row_block(rows_of(box, planes), rows, threads,
                 [&](std::int64_t first, std::int64_t count, Workspace& w) {
                   rows.inverse(in + first * box.half(), out + first * box.n[0], count, w);
                 });
}

void forward_columns(std::int64_t length, std::int64_t count, Complex* modes, int threads,
                     Engine engine) {
  threads = worth(threads, length * count);
  if (length == 1 || count == 0) return;
  if (engine == Engine::Best && fftw_columns(length, count, modes, threads, true)) return;
  along(Lines(length), modes, count, count, 1, 0, threads, true);
}

void inverse_columns(std::int64_t length, std::int64_t count, Complex* modes, int threads,
                     Engine engine) {
  threads = worth(threads, length * count);
  if (length == 1 || count == 0) return;
  if (engine == Engine::Best && fftw_columns(length, count, modes, threads, false)) return;
  along(Lines(length), modes, count, count, 1, 0, threads, false);
}

void forward(const Box& box, const double* in, Complex* out, int threads, Engine engine) {
  forward_planes(box, planes_of(box), in, out, threads, engine);
  forward_columns(planes_of(box), columns_of(box), out, threads, engine);
}

void inverse(const Box& box, Complex* in, double* out, int threads, Engine engine) {
  inverse_columns(planes_of(box), columns_of(box), in, threads, engine);
  inverse_planes(box, planes_of(box), in, out, threads, engine);
}

}  // namespace vphi::fft
