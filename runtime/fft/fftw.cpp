#include "runtime/fft/fftw.hpp"

#ifdef VPHI_HAVE_FFTW

#include <fftw3.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "program/fourier_map.hpp"
#include "runtime/parallel.hpp"

namespace vphi::fft {
namespace {

// FFTW's own threads use an algorithm that depends on their number, so the last bits of results do
// too. Here the transform is cut into pieces whose shapes depend on the box alone. Threads share
// the pieces, and the plan of a piece does not depend on the thread.

/// Rows that one call transforms where a plane is a row.
std::int64_t rows_of_piece(const Box& box) {
  return program::planes_together({box.n[0], box.n[1], box.n[2], 1});
}
/// Entry j of the first column of a piece.
std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j * kColumnsTogether); }

// Only execution is thread-safe, so making and destroying plans is guarded.
std::mutex& planner() {
  static std::mutex guard;
  return guard;
}

struct Destroy {
  void operator()(fftw_plan plan) const {
    const std::lock_guard lock(planner());
    fftw_destroy_plan(plan);
  }
};
using Plan = std::unique_ptr<std::remove_pointer_t<fftw_plan>, Destroy>;

fftw_complex* raw(Complex* data) { return reinterpret_cast<fftw_complex*>(data); }

/// The direction of a transform, and FFTW's flag for pieces that may start unaligned for vector
/// loads. The flag follows from the shape, since the memory itself is aligned to 16 bytes.
struct Way {
  bool forward = true;
  unsigned flags = FFTW_ESTIMATE;
};

/// Real rows along x, `planes` of them made of whole x-y planes.
Plan plan_real(const Way& way, int rank, const int* n, int count, double* real, Complex* modes) {
  int real_size = 1, modes_size = n[rank - 1] / 2 + 1;
  for (int i = 0; i < rank; ++i) real_size *= n[i];
  for (int i = 0; i + 1 < rank; ++i) modes_size *= n[i];
  const std::lock_guard lock(planner());
  return Plan(way.forward
                  ? fftw_plan_many_dft_r2c(rank, n, count, real, nullptr, 1, real_size, raw(modes),
                                           nullptr, 1, modes_size, way.flags | FFTW_PRESERVE_INPUT)
                  : fftw_plan_many_dft_c2r(rank, n, count, raw(modes), nullptr, 1, modes_size, real,
                                           nullptr, 1, real_size, way.flags | FFTW_DESTROY_INPUT));
}

/// `count` neighbouring lines of complex numbers, `stride` apart from entry to entry, in place.
Plan plan_lines(const Way& way, int n, std::int64_t stride, std::int64_t count, Complex* modes) {
  const std::lock_guard lock(planner());
  const auto step = static_cast<int>(stride);
  return Plan(fftw_plan_many_dft(1, &n, static_cast<int>(count), raw(modes), nullptr, step, 1,
                                 raw(modes), nullptr, step, 1,
                                 way.forward ? FFTW_FORWARD : FFTW_BACKWARD, way.flags));
}

/// Pieces of `size` out of `count`, a shorter one last: `run(plan, first)` by any thread.
template <class Make, class Run>
void in_pieces(std::int64_t count, std::int64_t size, int threads, const Make& make,
               const Run& run) {
  const std::int64_t pieces = (count + size - 1) / size, rest = count - (pieces - 1) * size;
  const Plan whole = pieces > 1 || rest == size ? make(size) : Plan();
  const Plan last = rest < size ? make(rest) : Plan();
  runtime::parallel_ranges(pieces, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      run(i == pieces - 1 && last ? last.get() : whole.get(), i * size);
  });
}

/// Between the real box and modes: along all axes but the slowest, plane by plane, or along x in
/// groups of rows.
void real_part(const Way& way, const Box& box, std::int64_t planes, double* real, Complex* modes,
               int threads) {
  std::vector<int> sizes;
  for (std::size_t axis = box.slowest(); --axis > 0;)
    if (box.n[axis] > 1) sizes.push_back(static_cast<int>(box.n[axis]));
  sizes.push_back(static_cast<int>(box.n[0]));
  const auto rank = static_cast<int>(sizes.size());
  const std::int64_t one = box.sites() / planes_of(box), one_out = columns_of(box);
  in_pieces(
      planes, rank > 1 ? 1 : rows_of_piece(box), threads,
      [&](std::int64_t rows) {
        return plan_real(way, rank, sizes.data(), static_cast<int>(rows), real, modes);
      },
      [&](fftw_plan plan, std::int64_t first) {
        if (way.forward)
          fftw_execute_dft_r2c(plan, real + first * one, raw(modes + first * one_out));
        else
          fftw_execute_dft_c2r(plan, raw(modes + first * one_out), real + first * one);
      });
}

Way way_of(const Box& box, const double* real, const Complex* modes, bool forward) {
  const auto address = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
  const std::int64_t rows = box.slowest() > 1 ? columns_of(box) / box.half() : rows_of_piece(box);
  const bool odd = box.n[0] * rows % 2 != 0;
  const bool aligned = (address(real) | address(modes)) % 16 == 0;
  return {forward, FFTW_ESTIMATE | (odd || !aligned ? FFTW_UNALIGNED : 0U)};
}

}  // namespace

bool fftw_forward_planes(const Box& box, std::int64_t planes, const double* in, Complex* out,
                         int threads) {
  real_part(way_of(box, in, out, true), box, planes, const_cast<double*>(in), out, threads);
  return true;
}

bool fftw_inverse_planes(const Box& box, std::int64_t planes, Complex* in, double* out,
                         int threads) {
  real_part(way_of(box, out, in, false), box, planes, out, in, threads);
  return true;
}

/// Piece by piece in memory of its own, so that a plan does not depend on how many columns there
/// are.
bool fftw_columns(std::int64_t length, std::int64_t count, Complex* modes, int threads,
                  bool forward) {
  const Way way{forward, FFTW_ESTIMATE};
  const auto memory = static_cast<std::size_t>(length * kColumnsTogether);
  std::vector<Complex> example(memory);
  in_pieces(
      count, kColumnsTogether, threads,
      [&](std::int64_t columns) {
        return plan_lines(way, static_cast<int>(length), kColumnsTogether, columns, example.data());
      },
      [&](fftw_plan plan, std::int64_t first) {
        thread_local std::vector<Complex> piece;
        piece.resize(memory);
        const std::int64_t columns = std::min(kColumnsTogether, count - first);
        for (std::int64_t j = 0; j < length; ++j)
          std::copy_n(modes + j * count + first, columns, &piece[at(j)]);
        fftw_execute_dft(plan, raw(piece.data()), raw(piece.data()));
        for (std::int64_t j = 0; j < length; ++j)
          std::copy_n(&piece[at(j)], columns, modes + j * count + first);
      });
  return true;
}

const char* engine_name() { return "FFTW"; }

}  // namespace vphi::fft

#else

namespace vphi::fft {

bool fftw_forward_planes(const Box&, std::int64_t, const double*, Complex*, int) { return false; }
bool fftw_inverse_planes(const Box&, std::int64_t, Complex*, double*, int) { return false; }
bool fftw_columns(std::int64_t, std::int64_t, Complex*, int, bool) { return false; }
const char* engine_name() { return "built-in"; }

}  // namespace vphi::fft

#endif
