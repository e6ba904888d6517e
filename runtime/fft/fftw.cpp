#include "runtime/fft/fftw.hpp"

#ifdef VPHI_HAVE_FFTW

#include <fftw3.h>

#include <mutex>

namespace vphi::fft {
namespace {

// Only fftw_execute is thread-safe, so making and destroying plans is guarded.
std::mutex& planner() {
  static std::mutex guard;
  return guard;
}

struct Axes {
  int rank = 0;
  int n[3]{};
};

/// Slowest axis first, as FFTW counts; axes of one site are left out.
Axes axes(const Box& box) {
  Axes a;
  for (int axis : {2, 1, 0})
    if (box.n[axis] > 1 || axis == 0) a.n[a.rank++] = static_cast<int>(box.n[axis]);
  return a;
}

template <class Make>
void run(int threads, const Make& make) {
  fftw_plan plan{};
  {
    const std::lock_guard lock(planner());
#ifdef VPHI_HAVE_FFTW_THREADS
    static const int started = fftw_init_threads();
    if (started != 0) fftw_plan_with_nthreads(threads);
#else
    static_cast<void>(threads);
#endif
    plan = make();
  }
  fftw_execute(plan);
  const std::lock_guard lock(planner());
  fftw_destroy_plan(plan);
}

fftw_complex* raw(Complex* data) { return reinterpret_cast<fftw_complex*>(data); }

}  // namespace

bool fftw_forward(const Box& box, const double* in, Complex* out, int threads) {
  const Axes a = axes(box);
  run(threads, [&] {
    return fftw_plan_dft_r2c(a.rank, a.n, const_cast<double*>(in), raw(out),
                             FFTW_ESTIMATE | FFTW_PRESERVE_INPUT);
  });
  return true;
}

bool fftw_inverse(const Box& box, Complex* in, double* out, int threads) {
  const Axes a = axes(box);
  run(threads, [&] {
    return fftw_plan_dft_c2r(a.rank, a.n, raw(in), out, FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
  });
  return true;
}

const char* engine_name() { return "FFTW"; }

}  // namespace vphi::fft

#else

namespace vphi::fft {

bool fftw_forward(const Box&, const double*, Complex*, int) { return false; }
bool fftw_inverse(const Box&, Complex*, double*, int) { return false; }
const char* engine_name() { return "built-in"; }

}  // namespace vphi::fft

#endif
