// Chunks of an array, packed as HDF5's filters shuffle, deflate and Fletcher-32 would, in parallel.
//
// HDF5 runs its filters in one thread, at some 60 MB/s; a run makes data faster than that. The
// chunks are therefore packed here by as many threads as the host has and handed to HDF5 as they
// are (H5Dwrite_chunk). Any reader of HDF5 reads them: the filters' formats are those of the
// "HDF5 File Format Specification", version 3, appendix; Fletcher-32 sums 16-bit words, most
// significant byte first, modulo 65535, and its four bytes follow the chunk, least significant
// first. At the array's far edges chunks are filled up with zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace vphi::io {

/// Fletcher's checksum as HDF5 takes it.
std::uint32_t fletcher32(std::span<const std::byte> bytes);
/// Byte b of every element together, for each b in turn.
std::vector<std::byte> shuffled(std::span<const std::byte> elements, std::size_t size);

/// One chunk and where it begins, slowest axis first.
struct PackedChunk {
  std::vector<std::uint64_t> start;
  std::vector<std::byte> bytes;
};

/// `values`: elements of `size` bytes, shape slowest axis first, 1 to 4 axes. `write` gets every
/// chunk in order, in the calling thread.
void pack_chunks(std::span<const std::byte> values, std::size_t size,
                 const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& chunk,
                 int threads, const std::function<void(const PackedChunk&)>& write);

}  // namespace vphi::io
