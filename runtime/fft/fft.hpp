// Fourier transforms of real lattice data in one to four dimensions, in f64 on the host.
//
// Used for initial fluctuations and for spectra. One interface has two engines: FFTW where the
// build found it (it is optional because it is under the GPL), and a built-in mixed-radix transform
// for any length (Bluestein's algorithm where a prime factor is large). The caller owns all memory.
// Nothing here fails except for lack of memory (std::bad_alloc). An engine gives the same bits for
// every number of threads; two engines agree to rounding.
//
// Convention: forward is f~(n) = sum_x f(x) exp(-2 pi i n x/N); inverse has the other sign; neither
// is normalised. Arrays have x fastest; the half-complex side holds n_x = 0 .. N_x/2.
#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace vphi::fft {

using Complex = std::complex<double>;

/// Sites along each axis, x first; axes that are not given have one.
struct Extents : std::array<std::int64_t, 4> {
  Extents(std::initializer_list<std::int64_t> given = {}) : array{1, 1, 1, 1} {
    std::copy_n(given.begin(), std::min(given.size(), size()), begin());
  }
};

struct Box {
  Extents n;

  std::int64_t half() const { return n[0] / 2 + 1; }
  std::int64_t sites() const { return n[0] * n[1] * n[2] * n[3]; }
  std::int64_t modes() const { return half() * n[1] * n[2] * n[3]; }
  /// The slowest axis with more than one entry; of a row y.
  std::size_t slowest() const { return n[3] > 1 ? 3 : n[2] > 1 ? 2 : 1; }
};

enum class Engine { Best, BuiltIn };

/// `in` has box.sites() numbers and is kept, `out` box.modes().
void forward(const Box& box, const double* in, Complex* out, int threads,
             Engine engine = Engine::Best);
/// `in` is overwritten. It must be the transform of real data, as `forward` makes it.
void inverse(const Box& box, Complex* in, double* out, int threads, Engine engine = Engine::Best);

/// The two halves of a transform, which ranks that share a box do by themselves (shared_fft.hpp). A
/// column is a line along the slowest axis with more than one entry, and a plane all that has one
/// number there. Columns lie side by side: entry j of column c at j*count + c.
/// A single row is one plane, and columns have one entry.
std::int64_t planes_of(const Box& box);
std::int64_t columns_of(const Box& box);
/// `forward` and `inverse` without the slowest axis, for so many planes of a box.
void forward_planes(const Box& box, std::int64_t planes, const double* in, Complex* out,
                    int threads, Engine engine = Engine::Best);
void inverse_planes(const Box& box, std::int64_t planes, Complex* in, double* out, int threads,
                    Engine engine = Engine::Best);
/// The rest, in place.
void forward_columns(std::int64_t length, std::int64_t count, Complex* modes, int threads,
                     Engine engine = Engine::Best);
void inverse_columns(std::int64_t length, std::int64_t count, Complex* modes, int threads,
                     Engine engine = Engine::Best);
/// Columns that an engine may transform together: a share of them has the bits of the whole where
/// it begins at a multiple of this.
inline constexpr std::int64_t kColumnsTogether = 16;

/// The name of Engine::Best: "FFTW" or "built-in".
const char* engine_name();

}  // namespace vphi::fft
