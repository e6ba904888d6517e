// A file that can be restored to its contents at a mark.
//
// Result files grow during a run, and a library may rewrite any part of them. After `mark(g)` the
// old contents of every page that is overwritten are saved in a log, STEM.g.undo. If the process is
// killed at any moment, `go_back(g)` restores the file from the logs, byte for byte, as it was at
// mark g. Bytes appended after the mark are cut off.
//
// New contents of old pages are kept in memory until `commit`. Then the old contents are written to
// the log, the log is synced to disk (one fdatasync), and the new bytes are written to the file.
// Every page that may have changed therefore has a complete record, and an incomplete record at the
// end of a log belongs to a page that has not changed. Each page is saved once per mark.
// `forget_before` removes logs of marks that are no longer needed.
//
// A log is: 8 bytes "vphiundo", length of the file at the mark (u64), CRC-32C of both (u32), then
// records: offset (u64), length (u32), CRC-32C of offset, length and bytes (u32), bytes.
//
// All functions throw ResultsError with the system's reason (disk full, no permission, damaged
// log).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace vphi::io {

/// A file descriptor that the destructor closes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

class UndoFile {
 public:
  /// `logs`: folder and stem of the logs; empty: no log is ever written. With `fresh` the file is
  /// emptied and old logs of this stem are removed; otherwise it is opened unchanged.
  UndoFile(std::filesystem::path path, std::filesystem::path logs, bool fresh);
  UndoFile(UndoFile&&) = default;
  ~UndoFile();  ///< commits; failures are not reported

  /// Restores the file to mark `generation`. Later logs are removed, and the log of this mark is
  /// restarted.
  void go_back(std::int64_t generation);
  /// Marks the present contents, which can be restored from now on. They are on disk when the
  /// function returns.
  void mark(std::int64_t generation);
  void forget_before(std::int64_t generation);

  std::uint64_t size() const { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> to) const;  ///< zeros beyond the end
  void write(std::uint64_t offset, std::span<const std::byte> from);
  void resize(std::uint64_t size);
  /// Passes everything that was written to the operating system.
  void commit();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path log_path(std::int64_t generation) const;
  std::vector<std::int64_t> generations() const;  ///< of the logs that exist, ascending
  bool is_old(std::uint64_t page) const { return page < saved_.size() && !saved_[page]; }
  void log_page(std::uint64_t page);
  /// Writes the pages in a log back to the file. Returns the length of the file at the mark, if the
  /// head of the log is valid.
  std::optional<std::uint64_t> apply(std::int64_t generation);

  std::filesystem::path path_, logs_;
  Descriptor file_, log_;
  std::uint64_t size_ = 0, marked_size_ = 0, log_size_ = 0;
  std::vector<bool> saved_;                                  ///< pages of the file at the mark
  std::map<std::uint64_t, std::vector<std::byte>> waiting_;  ///< new contents of old pages
};

/// Write and read whole spans; they throw ResultsError.
void write_fully(int descriptor, std::uint64_t offset, std::span<const std::byte> from,
                 const std::string& path);
std::size_t read_fully(int descriptor, std::uint64_t offset, std::span<std::byte> to,
                       const std::string& path);
/// fsync of a file by name; throws ResultsError.
void sync_file(const std::filesystem::path& path);
/// fsync of a folder, so that a rename in it is durable.
void sync_folder(const std::filesystem::path& folder);

}  // namespace vphi::io
