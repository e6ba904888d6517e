#include "runtime/io/files/chunks.hpp"

#ifdef VPHI_HAVE_HDF5  // and with it zlib

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>

#include "runtime/parallel.hpp"

namespace vphi::io {
namespace {

constexpr int kAhead = 4;              ///< chunks of each thread that wait to be written
constexpr int kLevel = 1;              ///< of deflate; runs and frequencies do not depend on it
constexpr double kNoise = 7.5;         ///< bits a byte from which a plane is stored
constexpr std::size_t kPerPlane = 64;  ///< bytes that a change of the method may add

/// Copies one chunk out of the array, row by row along the last axis.
std::vector<std::byte> cut(std::span<const std::byte> values, std::size_t size,
                           const std::vector<std::uint64_t>& shape,
                           const std::vector<std::uint64_t>& chunk,
                           const std::vector<std::uint64_t>& start) {
  const std::size_t rank = shape.size(), last = rank - 1;
  std::uint64_t elements = 1;
  for (auto edge : chunk) elements *= edge;
  std::vector<std::byte> out(elements * size);
  const std::uint64_t length = std::min(chunk[last], shape[last] - start[last]);
  std::vector<std::uint64_t> at(rank, 0);  // within the chunk
  while (true) {
    std::uint64_t from = 0, to = 0;
    bool inside = true;
    for (std::size_t a = 0; a < rank; ++a) {
      inside = inside && start[a] + at[a] < shape[a];
      from = from * shape[a] + start[a] + at[a];
      to = to * chunk[a] + at[a];
    }
    if (inside) std::memcpy(out.data() + to * size, values.data() + from * size, length * size);
    std::size_t axis = last;
    while (axis > 0 && ++at[axis - 1] == chunk[axis - 1]) at[axis - 1] = 0, --axis;
    if (axis == 0) return out;
  }
}

/// Bits a byte that no code can go below where bytes are independent: -sum p log2 p.
double entropy(std::span<const std::byte> bytes) {
  std::array<std::array<std::uint32_t, 256>, 4> counts{};  // four, so that sums do not wait
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) ++counts[k][std::to_integer<std::size_t>(bytes[i + k])];
  for (; i < bytes.size(); ++i) ++counts[0][std::to_integer<std::size_t>(bytes[i])];
  double bits = 0;
  for (std::size_t value = 0; value < 256; ++value) {
    const double count = counts[0][value] + counts[1][value] + counts[2][value] + counts[3][value];
    if (count > 0) bits -= count * std::log2(count / static_cast<double>(bytes.size()));
  }
  return bits / static_cast<double>(std::max<std::size_t>(1, bytes.size()));
}

/// One zlib stream over the planes of bytes. The low bytes of a mantissa are noise: they are stored
/// as they are. The others are coded by frequency and runs; looking for longer repeats costs five
/// times as long and gains nothing on fields.
std::size_t deflated(std::span<const std::byte> planes, std::size_t size,
                     std::vector<std::byte>& out) {
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, 15, 9, Z_RLE) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ended(&stream, deflateEnd);
  out.resize(deflateBound(&stream, planes.size()) + size * kPerPlane);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const std::size_t length = planes.size() / size;
  for (std::size_t b = 0; b < size; ++b) {
    const auto plane = planes.subspan(b * length, length);
    const bool noise = entropy(plane) > kNoise;
    int status = deflateParams(&stream, noise ? 0 : kLevel, noise ? Z_DEFAULT_STRATEGY : Z_RLE);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(plane.data()));
    stream.avail_in = static_cast<uInt>(plane.size());
    if (status == Z_OK) status = deflate(&stream, b + 1 < size ? Z_NO_FLUSH : Z_FINISH);
    if (status != (b + 1 < size ? Z_OK : Z_STREAM_END)) throw std::bad_alloc();  // no room in `out`
  }
  return stream.total_out;
}

std::vector<std::byte> packed(const std::vector<std::byte>& elements, std::size_t size) {
  std::vector<std::byte> out;
  const std::size_t length = deflated(shuffled(elements, size), size, out);
  out.resize(length + 4);
  const std::uint32_t sum = fletcher32(std::span(out.data(), length));
  for (int i = 0; i < 4; ++i)
    out[length + static_cast<std::size_t>(i)] = static_cast<std::byte>(sum >> (8 * i) & 0xFF);
  return out;
}

}  // namespace

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  std::uint32_t low = 0, high = 0;
  std::size_t words = bytes.size() / 2, at = 0;
  while (words > 0) {
    for (std::size_t block = std::min<std::size_t>(words, 360); block > 0; --block, --words) {
      low += static_cast<std::uint32_t>(bytes[at]) << 8 | static_cast<std::uint32_t>(bytes[at + 1]);
      high += low;
      at += 2;
    }
    low = (low & 0xFFFF) + (low >> 16), high = (high & 0xFFFF) + (high >> 16);
  }
  if (bytes.size() % 2 != 0) {
    low += static_cast<std::uint32_t>(bytes[at]) << 8;
    high += low;
    low = (low & 0xFFFF) + (low >> 16), high = (high & 0xFFFF) + (high >> 16);
  }
  low = (low & 0xFFFF) + (low >> 16), high = (high & 0xFFFF) + (high >> 16);
  return high << 16 | low;
}

std::vector<std::byte> shuffled(std::span<const std::byte> elements, std::size_t size) {
  const std::size_t count = elements.size() / size;
  std::vector<std::byte> out(elements.size());
  constexpr std::size_t kBlock = 1024;  // elements that stay in the first cache for all planes
  for (std::size_t first = 0; first < count; first += kBlock)
    for (std::size_t b = 0; b < size; ++b)
      for (std::size_t i = first; i < std::min(count, first + kBlock); ++i)
        out[b * count + i] = elements[i * size + b];
  return out;
}

void pack_chunks(std::span<const std::byte> values, std::size_t size,
                 const std::vector<std::uint64_t>& shape, const std::vector<std::uint64_t>& chunk,
                 int threads, const std::function<void(const PackedChunk&)>& write) {
  std::vector<std::vector<std::uint64_t>> starts{{}};
  for (std::size_t a = 0; a < shape.size(); ++a) {
    std::vector<std::vector<std::uint64_t>> longer;
    for (const auto& start : starts)
      for (std::uint64_t at = 0; at < shape[a]; at += chunk[a]) {
        longer.push_back(start);
        longer.back().push_back(at);
      }
    starts = std::move(longer);
  }
  const auto count = static_cast<std::int64_t>(starts.size());
  const std::int64_t group = static_cast<std::int64_t>(threads) * kAhead;
  std::vector<PackedChunk> ready(static_cast<std::size_t>(std::min(group, count)));
  for (std::int64_t first = 0; first < count; first += group) {
    const std::int64_t some = std::min(group, count - first);
    std::exception_ptr failed;
    std::mutex guard;
    runtime::parallel_ranges(some, threads, [&](std::int64_t begin, std::int64_t end) {
      try {
        for (std::int64_t i = begin; i < end; ++i) {
          auto& one = ready[static_cast<std::size_t>(i)];
          one.start = starts[static_cast<std::size_t>(first + i)];
          one.bytes = packed(cut(values, size, shape, chunk, one.start), size);
        }
      } catch (...) {
        const std::lock_guard lock(guard);
        failed = std::current_exception();
      }
    });
    if (failed) std::rethrow_exception(failed);
    for (std::int64_t i = 0; i < some; ++i) write(ready[static_cast<std::size_t>(i)]);
  }
}

}  // namespace vphi::io

#endif
