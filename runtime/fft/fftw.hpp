// FFTW behind the interface of fft.hpp, or nothing where the build has no FFTW.
#pragma once

#include "runtime/fft/fft.hpp"

namespace vphi::fft {

/// False, with nothing done, where there is no FFTW.
bool fftw_forward_planes(const Box& box, std::int64_t planes, const double* in, Complex* out,
                         int threads);
bool fftw_inverse_planes(const Box& box, std::int64_t planes, Complex* in, double* out,
                         int threads);
bool fftw_columns(std::int64_t length, std::int64_t count, Complex* modes, int threads,
                  bool forward);

}  // namespace vphi::fft
