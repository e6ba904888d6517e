// Fields of random modes on a lattice that ranks share: each rank draws the modes of its columns,
// and they are transformed together (fft/shared_fft.hpp). A rank holds a share of the modes. The
// numbers are those of `vacuum_field`, to the last bit, where the transform has those of one
// device. All functions are called by all ranks. Throws CommError.
#pragma once

#include "runtime/comm/comm.hpp"
#include "runtime/fft/shared_fft.hpp"
#include "runtime/run/starts/vacuum.hpp"

namespace vphi::runtime {

/// Amplitudes of the vacuum for the modes of this rank. Where they are the transform of a
/// correlator, ranks share that of the octant, which takes a box with several planes in z.
ModeAmplitude shared_amplitude(const Vacuum& vacuum, const fft::SharedTransform& transform,
                               comm::Comm& comm, int threads);

/// The field at this rank's sites, x fastest.
std::vector<double> shared_field(const Vacuum& vacuum, const ModeAmplitude& amplitude,
                                 fft::SharedTransform& transform, int threads);

}  // namespace vphi::runtime
