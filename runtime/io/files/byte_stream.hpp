// Bytes that are read once, from front to back, and a new file that appears when it is complete.
//
// A ByteStream is a file or a span of memory (a test, a fuzzer). Its size is known from the start,
// so what a header says about lengths can be compared before memory is taken. A NewFile is written
// under a temporary name (".writing"), synced and renamed, so that a file of its name is complete.
// An error of the system is a ResultsError with the reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "runtime/io/files/undo_file.hpp"

namespace vphi::io {

class ByteStream {
 public:
  explicit ByteStream(const std::filesystem::path& path);
  /// Borrows the bytes.
  ByteStream(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }  ///< for messages
  std::uint64_t size() const { return size_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return size_ - position_; }
  /// Fills `to` and moves on; the number of bytes that were left, at most `to.size()`.
  std::size_t read(std::span<std::byte> to);
  /// The next bytes without moving.
  std::size_t peek(std::span<std::byte> to) const;
  /// Moves on; not beyond the end.
  void skip(std::uint64_t bytes);

 private:
  std::string name_;
  Descriptor file_;
  std::span<const std::byte> bytes_;
  std::uint64_t size_ = 0, position_ = 0;
};

class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  ~NewFile();  ///< removes what was begun and not finished
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes);
  std::uint64_t size() const { return size_; }
  /// Syncs the file and gives it its name.
  void finish();

 private:
  std::filesystem::path path_, beside_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  bool done_ = false;
};

}  // namespace vphi::io
