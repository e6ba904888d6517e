// LIME: a file of named records (Lattice QCD Interchange Message Encapsulation, USQCD c-lime 1.3).
//
// A record is a header of 144 bytes (magic number 0x456789ab u32, version u16, flags u16, length
// of the data u64, all big-endian, and the name in 128 bytes ended by zeros), then the data, filled
// up with zeros to a multiple of eight bytes. Flags say where a message, a group of records, begins
// (0x8000) and ends (0x4000). Reading goes front to back once; records that are not used are
// skipped.
//
// A length beyond the end of the file is ConfigurationError Truncated, a header that is none is
// Damaged.
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
  bool begins = false, ends = false;  ///< its message
};

class LimeReader {
 public:
  explicit LimeReader(ByteStream& stream) : stream_(stream) {}

  /// The next record, past whatever is left of the one before; none at the end of the file.
  std::optional<LimeRecord> next();
  /// Bytes of the present record, which must have them.
  void read(std::span<std::byte> to);
  /// All of the present record, zeros at its end dropped; Damaged where it is longer than 1 MiB.
  std::string text();

 private:
  ByteStream& stream_;
  LimeRecord record_;
  std::uint64_t left_ = 0, padding_ = 0;  ///< of the present record
};

class LimeWriter {
 public:
  explicit LimeWriter(const std::filesystem::path& path) : file_(path) {}

  /// A record whose bytes follow by `write`, as many as it says.
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
