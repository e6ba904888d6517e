// Packs numbers and texts into bytes, little-endian: the format of the blocks of a checkpoint.
//
// An Unpacker checks every length; a length beyond the bytes throws DamagedCheckpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace vphi::runtime {

struct DamagedCheckpoint : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Packer {
 public:
  void number(std::uint64_t value) { raw(&value, 8); }
  void whole(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
  void real(double value) { raw(&value, 8); }
  void text(const std::string& value) {
    number(value.size());
    raw(value.data(), value.size());
  }
  void reals(std::span<const double> values) {
    number(values.size());
    raw(values.data(), 8 * values.size());
  }
  void wholes(std::span<const std::int64_t> values) {
    number(values.size());
    raw(values.data(), 8 * values.size());
  }
  void points(const std::vector<std::pair<double, double>>& values) {
    number(values.size());
    for (const auto& [t, value] : values) real(t), real(value);
  }
  void bytes(std::span<const std::byte> values) {
    number(values.size());
    raw(values.data(), values.size());
  }
  /// A list, each element by `put(element)`.
  template <class List, class Put>
  void list(const List& values, const Put& put) {
    number(values.size());
    for (const auto& value : values) put(value);
  }
  const std::vector<std::byte>& all() const { return bytes_; }

 private:
  void raw(const void* from, std::size_t count) {
    const auto* bytes = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + count);
  }
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : left_(bytes) {}
  bool empty() const { return left_.empty(); }
  std::uint64_t number() {
    std::uint64_t value;
    std::memcpy(&value, take(8).data(), 8);
    return value;
  }
  std::int64_t whole() { return static_cast<std::int64_t>(number()); }
  double real() {
    double value;
    std::memcpy(&value, take(8).data(), 8);
    return value;
  }
  std::string text() {
    const auto bytes = take(number());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// The number of elements that follow, each of at least `least` bytes.
  std::size_t count(std::size_t least) {
    const std::uint64_t value = number();
    if (value > left_.size() / least) throw DamagedCheckpoint("a list is longer than its block");
    return value;
  }
  std::vector<double> reals() {
    std::vector<double> values(count(8));
    for (double& value : values) value = real();
    return values;
  }
  std::vector<std::int64_t> wholes() {
    std::vector<std::int64_t> values(count(8));
    for (std::int64_t& value : values) value = whole();
    return values;
  }
  std::vector<std::pair<double, double>> points() {
    std::vector<std::pair<double, double>> values(count(16));
    for (auto& [t, value] : values) t = real(), value = real();
    return values;
  }
  std::vector<std::byte> bytes() {
    const auto taken = take(number());
    return {taken.begin(), taken.end()};
  }
  /// A list of `Element`, each of at least `least` bytes, by `get()`.
  template <class Element, class Get>
  std::vector<Element> list(std::size_t least, const Get& get) {
    std::vector<Element> values;
    for (std::size_t i = count(least); i > 0; --i) values.push_back(get());
    return values;
  }

 private:
  std::span<const std::byte> take(std::uint64_t count) {
    if (count > left_.size()) throw DamagedCheckpoint("a block ends too early");
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }
  std::span<const std::byte> left_;
};

}  // namespace vphi::runtime
