// Packs the chunks of an array in parallel, in the format of HDF5's filters shuffle, deflate and
// Fletcher-32.
//
// HDF5 runs its filters in one thread, at some 60 MB/s; a run produces data faster than that. The
// chunks are therefore packed here by all threads of the host and written by H5Dwrite_chunk. Any
// HDF5 library can read them: the formats are those of the "HDF5 File Format Specification",
// version 3, appendix. Fletcher-32 sums 16-bit words, most significant byte first, modulo 65535,
// and its four bytes follow the chunk, least significant first. At the array's far edges chunks are
// filled up with zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace vphi::io {

/// Tables of so many numbers are packed in chunks. Edges of a chunk of three axes or more, and of
/// fewer.
inline constexpr std::int64_t kLargeTable = 4096, kChunkOfSites = 64, kChunkOfPlanes = 256;

/// Fletcher's checksum as defined by HDF5.
std::uint32_t fletcher32(std::span<const std::byte> bytes);
/// The bytes reordered: byte b of all elements, for each b in turn.
std::vector<std::byte> shuffled(std::span<const std::byte> elements, std::size_t size);

/// One chunk and where it begins, slowest axis first.
struct PackedChunk {
  std::vector<std::uint64_t> start;
  std::vector<std::byte> bytes;
};

/// `values`: elements of `size` bytes, shape slowest axis first, 1 to 4 axes. `write` is called
/// with every chunk in order, in the calling thread.
void pack_chunks(std::span<const std::byte> values, std::size_t size,
                 const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& chunk,
                 int threads, const std::function<void(const PackedChunk&)>& write);

}  // namespace vphi::io
