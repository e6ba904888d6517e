// A stream of bytes that is read once, and a new file that gets its name when it is complete.
//
// A ByteStream is a file or a span of memory (a test, a fuzzer). Its size is known from the start,
// so the lengths in a header can be checked before memory is allocated. A NewFile is written under
// a temporary name (".writing"), synced and renamed. Errors of the system are thrown as
// ResultsError with the reason.
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
  /// Keeps a reference to the bytes.
  ByteStream(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }  ///< for messages
  std::uint64_t size() const { return size_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return size_ - position_; }
  /// Reads into `to` and advances. Returns the number of bytes read, less than `to.size()` at the
  /// end.
  std::size_t read(std::span<std::byte> to);
  /// Reads the next bytes without advancing.
  std::size_t peek(std::span<std::byte> to) const;
  /// Advances, at most to the end.
  void skip(std::uint64_t bytes);

 private:
  std::string name_;
  Descriptor file_;
  std::span<const std::byte> bytes_;
  std::uint64_t size_ = 0, position_ = 0;
};

/// Throws where something that is not a file has the name of one that is to be written: its new
/// name would take the place of a device.
void refuse_special(const std::filesystem::path& path);

class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  ~NewFile();  ///< removes a file that was not finished
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
