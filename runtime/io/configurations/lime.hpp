// LIME: a file of named records (Lattice QCD Interchange Message Encapsulation, USQCD c-lime 1.3).
//
// A record is a header of 144 bytes (magic number 0x456789ab u32, version u16, flags u16, length of
// the data u64, all big-endian, and the name in 128 bytes ended by zeros), then the data, padded
// with zeros to a multiple of eight bytes. Flags say where a message, a group of records, begins
// (0x8000) and ends (0x4000). Reading goes front to back once; records that are not used are
// skipped.
//
// Throws ConfigurationError: Truncated where a length exceeds the file, Damaged where a header is
// not valid.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/io/files/byte_stream.hpp"

namespace vphi::io {

/// Whether the next bytes are the magic number.
bool looks_like_lime(const ByteStream& stream);

struct LimeRecord {
  std::string type;  ///< name of the record
  std::uint64_t bytes = 0;
  bool begins = false, ends = false;  ///< whether it is the first or the last record of its message
};

class LimeReader {
 public:
  explicit LimeReader(ByteStream& stream) : stream_(stream) {}

  /// Skips the rest of the present record and reads the header of the next one; nothing at the end
  /// of the file.
  std::optional<LimeRecord> next();
  /// Reads bytes of the present record, which must have that many left.
  void read(std::span<std::byte> to);
  /// The rest of the present record as text, without zeros at its end; Damaged where it is longer
  /// than 1 MiB.
  std::string text();

 private:
  ByteStream& stream_;
  LimeRecord record_;
  std::uint64_t left_ = 0, padding_ = 0;  ///< bytes left in the present record, and its padding
};

class LimeWriter {
 public:
  explicit LimeWriter(const std::filesystem::path& path) : file_(path) {}

  /// Begins a record; `write` must then write exactly as many bytes as its header says.
  void begin(const LimeRecord& record);
  void write(std::span<const std::byte> bytes);
  /// A record of text.
  void text(const std::string& type, const std::string& text, bool begins, bool ends);
  void finish();

 private:
  void pad();

  NewFile file_;
};

}  // namespace vphi::io
