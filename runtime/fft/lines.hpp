// Complex transforms of many lines of one length, eight at a time.
//
// The lines lie side by side (entry j of line l at j*kLanes + l, real and imaginary parts apart),
// so that every butterfly is a vector operation with one scalar twiddle factor. The algorithm is
// Stockham's (no bit reversal) with radices 4, 2, 3, 5, 7, 11, 13; a length with a larger prime
// factor goes through Bluestein's chirp convolution. A Lines object owns tables only and may be
// used by several threads at once, each with its own Workspace.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace vphi::fft {

inline constexpr std::int64_t kLanes = 8;

/// Input and output of a transform, and scratch memory.
struct Workspace {
  std::vector<double> re, im, other_re, other_im, chirp;
};

class Lines {
 public:
  explicit Lines(std::int64_t length);
  ~Lines();
  Lines(Lines&&) noexcept;

  std::int64_t length() const { return length_; }
  /// Sizes the workspace for this length.
  void prepare(Workspace& w) const;
  /// Transforms w.re, w.im in place, sign -1 in the exponent.
  void forward(Workspace& w) const;
  /// The same with sign +1.
  void backward(Workspace& w) const;

 private:
  struct Stage {
    int radix = 1;
    std::int64_t done = 1;                       ///< product of the radices before
    std::vector<std::complex<double>> twiddles;  ///< radix - 1 for each of `done`
    std::vector<std::complex<double>> roots;     ///< radix-th roots of one
  };
  void stages(double*& re, double*& im, double*& to_re, double*& to_im) const;
  void bluestein(Workspace& w) const;
  void run(Workspace& w) const;

  std::int64_t length_;
  std::vector<Stage> stages_;
  std::unique_ptr<Lines> inner_;              ///< Bluestein: a power of two
  std::vector<std::complex<double>> chirp_;   ///< exp(-i pi j^2/n)
  std::vector<std::complex<double>> filter_;  ///< transform of the conjugate chirp, over inner n
};

}  // namespace vphi::fft
