// FFTW behind the interface of fft.hpp, or nothing where the build has no FFTW.
#pragma once

#include "runtime/fft/fft.hpp"

namespace vphi::fft {

/// False, with nothing done, where there is no FFTW.
bool fftw_forward(const Box& box, const double* in, Complex* out, int threads);
bool fftw_inverse(const Box& box, Complex* in, double* out, int threads);

}  // namespace vphi::fft
