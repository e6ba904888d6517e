#include "runtime/fft/lines.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace vphi::fft {
namespace {

using Complex = std::complex<double>;
constexpr std::size_t L = kLanes;

/// exp(-2 pi i p/q), with p reduced first so that large products lose nothing.
Complex root(std::int64_t p, std::int64_t q) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(p % q) / static_cast<double>(q);
  return {std::cos(angle), std::sin(angle)};
}

struct Lane {
  double re[L], im[L];
};

inline void load(Lane& v, const double* re, const double* im, Complex w) {
  const double c = w.real(), s = w.imag();
  for (std::size_t l = 0; l < L; ++l) {
    v.re[l] = re[l] * c - im[l] * s;
    v.im[l] = re[l] * s + im[l] * c;
  }
}

inline void load(Lane& v, const double* re, const double* im) {
  for (std::size_t l = 0; l < L; ++l) v.re[l] = re[l], v.im[l] = im[l];
}

/// Sign +1: a + b, sign -1: a - b.
inline void add(Lane& to, const Lane& a, const Lane& b, double sign) {
  for (std::size_t l = 0; l < L; ++l) {
    to.re[l] = a.re[l] + sign * b.re[l];
    to.im[l] = a.im[l] + sign * b.im[l];
  }
}

inline void store(const Lane& v, double* re, double* im) {
  for (std::size_t l = 0; l < L; ++l) re[l] = v.re[l], im[l] = v.im[l];
}

/// Two-point transform, in place.
inline void butterfly2(Lane* v) {
  Lane sum, difference;
  add(sum, v[0], v[1], 1), add(difference, v[0], v[1], -1);
  v[0] = sum, v[1] = difference;
}

/// Four-point transform: -i times (v1 - v3) needs no product.
inline void butterfly4(Lane* v) {
  Lane a, b, c, d;
  add(a, v[0], v[2], 1), add(b, v[0], v[2], -1);
  add(c, v[1], v[3], 1), add(d, v[1], v[3], -1);
  add(v[0], a, c, 1), add(v[2], a, c, -1);
  for (std::size_t l = 0; l < L; ++l) {
    v[1].re[l] = b.re[l] + d.im[l], v[1].im[l] = b.im[l] - d.re[l];
    v[3].re[l] = b.re[l] - d.im[l], v[3].im[l] = b.im[l] + d.re[l];
  }
}

/// r-point transform by its definition; r is a small prime.
inline void butterfly(Lane* v, int r, const std::vector<Complex>& roots) {
  std::array<Lane, 13> out;
  for (int q = 0; q < r; ++q) {
    out[q] = v[0];
    for (int j = 1; j < r; ++j) {
      const Complex w = roots[static_cast<std::size_t>(q * j % r)];
      for (std::size_t l = 0; l < L; ++l) {
        out[q].re[l] += v[j].re[l] * w.real() - v[j].im[l] * w.imag();
        out[q].im[l] += v[j].re[l] * w.imag() + v[j].im[l] * w.real();
      }
    }
  }
  for (int q = 0; q < r; ++q) v[q] = out[q];
}

std::vector<int> factors(std::int64_t n) {
  std::vector<int> found;
  for (int radix : {4, 2, 3, 5, 7, 11, 13})
    for (; n % radix == 0; n /= radix) found.push_back(radix);
  if (n > 1) found.clear();
  return found;
}

}  // namespace

Lines::Lines(std::int64_t length) : length_(length) {
  const auto radices = factors(length);
  if (length > 1 && radices.empty()) {
    std::int64_t inner = 1;
    while (inner < 2 * length - 1) inner *= 2;
    inner_ = std::make_unique<Lines>(inner);
    for (std::int64_t j = 0; j < length; ++j)
      chirp_.push_back(root(j * j % (2 * length), 2 * length));
    Workspace w;
    inner_->prepare(w);
    std::fill(w.re.begin(), w.re.end(), 0.0), std::fill(w.im.begin(), w.im.end(), 0.0);
    for (std::int64_t j = 0; j < length; ++j)
      for (std::int64_t at : {j, (inner - j) % inner}) {
        w.re[at * kLanes] = chirp_[j].real();
        w.im[at * kLanes] = -chirp_[j].imag();
      }
    inner_->forward(w);
    for (std::int64_t j = 0; j < inner; ++j)
      filter_.push_back(Complex(w.re[j * kLanes], w.im[j * kLanes]) / static_cast<double>(inner));
    return;
  }
  std::int64_t done = 1;
  for (int radix : radices) {
    Stage stage{radix, done, {}, {}};
    for (std::int64_t k = 0; k < done; ++k)
      for (int q = 1; q < radix; ++q) stage.twiddles.push_back(root(q * k, done * radix));
    for (int q = 0; q < radix; ++q) stage.roots.push_back(root(q, radix));
    stages_.push_back(std::move(stage));
    done *= radix;
  }
}

Lines::~Lines() = default;
Lines::Lines(Lines&&) noexcept = default;

void Lines::prepare(Workspace& w) const {
  const auto size = static_cast<std::size_t>((inner_ ? inner_->length_ : length_) * kLanes);
  for (auto* part : {&w.re, &w.im, &w.other_re, &w.other_im}) part->resize(size);
}

/// Stockham: stage with radix r takes entries j, j + n/r, ... and writes them `done` apart.
void Lines::stages(double*& re, double*& im, double*& to_re, double*& to_im) const {
  for (const Stage& stage : stages_) {
    const int r = stage.radix;
    const std::int64_t stride = length_ / r, blocks = stride / stage.done;
    for (std::int64_t b = 0; b < blocks; ++b) {
      for (std::int64_t k = 0; k < stage.done; ++k) {
        std::array<Lane, 13> v;
        const std::int64_t from = b * stage.done + k, to = b * stage.done * r + k;
        const Complex* w = stage.twiddles.data() + k * (r - 1);
        load(v[0], re + from * kLanes, im + from * kLanes);
        for (int q = 1; q < r; ++q) {
          const std::int64_t at = (from + q * stride) * kLanes;
          load(v[q], re + at, im + at, w[q - 1]);
        }
        if (r == 4)
          butterfly4(v.data());
        else if (r == 2)
          butterfly2(v.data());
        else
          butterfly(v.data(), r, stage.roots);
        for (int q = 0; q < r; ++q) {
          const std::int64_t at = (to + q * stage.done) * kLanes;
          store(v[q], to_re + at, to_im + at);
        }
      }
    }
    std::swap(re, to_re), std::swap(im, to_im);
  }
}

/// X_k = c_k sum_j (x_j c_j) conj(c_{k-j}), c_j = exp(-i pi j^2/n): a cyclic convolution.
void Lines::bluestein(Workspace& w) const {
  const auto rotate = [&](std::int64_t j, Complex c) {
    for (std::int64_t l = j * kLanes; l < (j + 1) * kLanes; ++l) {
      const Complex x = Complex(w.re[l], w.im[l]) * c;
      w.re[l] = x.real(), w.im[l] = x.imag();
    }
  };
  for (std::int64_t j = 0; j < length_; ++j) rotate(j, chirp_[j]);
  std::fill(w.re.begin() + length_ * kLanes, w.re.end(), 0.0);
  std::fill(w.im.begin() + length_ * kLanes, w.im.end(), 0.0);
  inner_->forward(w);
  for (std::int64_t j = 0; j < inner_->length_; ++j) rotate(j, filter_[j]);
  inner_->backward(w);
  for (std::int64_t j = 0; j < length_; ++j) rotate(j, chirp_[j]);
}

void Lines::run(Workspace& w) const {
  if (inner_) return bluestein(w);
  double *re = w.re.data(), *im = w.im.data();
  double *to_re = w.other_re.data(), *to_im = w.other_im.data();
  stages(re, im, to_re, to_im);
  if (stages_.size() % 2 == 1) {  // the result lies in the other pair
    std::swap(w.re, w.other_re);
    std::swap(w.im, w.other_im);
  }
}

void Lines::forward(Workspace& w) const { run(w); }

void Lines::backward(Workspace& w) const {
  // The transform of swapped parts, swapped again, has the other sign.
  std::swap(w.re, w.im);
  std::swap(w.other_re, w.other_im);
  run(w);
  std::swap(w.re, w.im);
  std::swap(w.other_re, w.other_im);
}

}  // namespace vphi::fft
