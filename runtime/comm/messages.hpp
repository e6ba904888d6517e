// Messages between all pairs of ranks, in one piece of memory (Comm::each_to_each).
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace vphi::comm {

/// Numbers for each rank, one rank after the other: what is given, or where it is taken.
template <class T>
class Messages {
 public:
  /// So many numbers by rank.
  explicit Messages(const std::vector<std::int64_t>& sizes)
      : memory_(static_cast<std::size_t>(
            std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}))) {
    std::size_t at = 0;
    for (const std::int64_t size : sizes) {
      const auto one = std::span(memory_).subspan(at, static_cast<std::size_t>(size));
      given_.push_back(std::as_bytes(one)), taken_.push_back(std::as_writable_bytes(one));
      at += one.size();
    }
  }
  T* data() { return memory_.data(); }
  std::vector<T> release() { return std::move(memory_); }
  std::span<const std::span<const std::byte>> given() const { return given_; }
  std::span<const std::span<std::byte>> taken() const { return taken_; }

 private:
  std::vector<T> memory_;
  std::vector<std::span<const std::byte>> given_;
  std::vector<std::span<std::byte>> taken_;
};

/// What is given, by rank, where the numbers lie so already.
template <class T>
std::vector<std::span<const std::byte>> given_of(const std::vector<T>& numbers,
                                                 const std::vector<std::int64_t>& sizes) {
  std::vector<std::span<const std::byte>> given;
  std::size_t at = 0;
  for (const std::int64_t size : sizes) {
    given.push_back(std::as_bytes(std::span(numbers).subspan(at, static_cast<std::size_t>(size))));
    at += static_cast<std::size_t>(size);
  }
  return given;
}

}  // namespace vphi::comm
