// What a map in Fourier space moves and computes (FourierMap in program/program.hpp): the counts of
// transforms, as Kernel has those of a kernel.
//
// A map copies each array to a box of f64 modes, transforms it axis by axis, multiplies modes by
// the entries of its matrix, and goes back. Each of these passes reads and writes memory once. An
// axis takes one pass where its lines fit the fast memory of a group of threads, else as many as
// there are factors that fit (Bailey, J. Supercomputing 4, 23 (1990)). Counts are the least that
// memory needs: a library may take more passes, and does so for lengths with large prime factors.
// Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.hpp"

namespace vphi::program {

/// How the transforms of a kind of device use fast memory: bytes that an entry of a line takes.
struct Tiling {
  double line = 16;     ///< of lines that are contiguous
  double beside = 256;  ///< of lines beside each other, which are taken as so many that memory is
                        ///< read in whole pieces
  bool planes = false;  ///< two axes take one pass where a plane of them fits
};
/// CUDA, cuFFT: values stay in registers and meet in shared memory as one f64 at a time, 8 lines
/// (128 bytes of complex numbers) beside each other. Of cuFFT 12.0 on an H200 these are the longest
/// lines of one kernel: 16384 and 2048 with 227 KiB.
/// OpenCL, VkFFT 1.2.26, VkFFTScheduler in vkFFT.h: local memory over 16 bytes, over 32 beside each
/// other (coalescedMemory), and up to four times as much in registers (registerBoost).
/// Processors: FFTW's planes, and 16 columns together (runtime/fft/fftw.cpp), in a core's cache.
Tiling tiling_of(Target target);

/// Passes over memory for lines of `length` complex numbers. `fast`: bytes of fast memory.
int passes_of_line(std::int64_t length, double fast, const Tiling& tiling, bool contiguous);
/// The same for real rows. One with an even number of entries is half as many complex numbers,
/// whose transform is parted into that of the row: in the same pass, or in one more where the row
/// takes several.
int passes_of_row(std::int64_t length, double fast, const Tiling& tiling);

/// A read and a write of memory, or a launch on a device.
struct Pass {
  double bytes = 0;  ///< read plus written, of all instances
  double flops = 0;  ///< operations in f64: 5 n log2 n of a complex line, half of it of a real one
  bool transform = false;  ///< along an axis
};
/// All of a map. Of a lattice that ranks share, the part of this rank.
std::vector<Pass> passes_of(const Program& program, const FourierMap& map, double fast);
/// Bytes of the boxes and of the matrices that these maps keep, each once.
double bytes_of_maps(const Program& program, const std::vector<int>& maps);

/// An entry of a map's matrix that is not 0 for all modes.
struct FourierEntry {
  int row = 0, column = 0;
  bool real = true;  ///< for all modes
};
/// Found from modes of a coarse grid, which has the constant one and the shortest waves.
std::vector<FourierEntry> entries_of(const Program& program, const FourierMap& map);
/// Whether two maps have the same function of the same matrix.
bool same_matrices(const FourierMap& a, const FourierMap& b);

}  // namespace vphi::program
