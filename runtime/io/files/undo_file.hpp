// A file that can be restored to its contents at a mark.
//
// Result files grow while a run goes on, and a library may rewrite any part of them. After
// `mark(g)` everything that is overwritten is saved first, page by page, in a log beside:
// STEM.g.undo. A process that is killed at any moment leaves a file and its logs behind, and
// `go_back(g)` makes of them, byte for byte, the file as it was at mark g. What was appended after
// the mark is cut off.
//
// New contents of old pages wait in memory until `commit`. Then the old contents go to the log, the
// log to the disk (one fdatasync), and the new bytes to the file; so every page that may have
// changed has a whole record, and a torn record at the end of a log belongs to a page that has not
// changed. Each page is saved once a mark. Logs older than the oldest mark that may still be wanted
// are removed with `forget_before`.
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

/// A file descriptor, closed at its end.
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
  /// made empty and old logs of this stem are removed; else it is opened as it is.
  UndoFile(std::filesystem::path path, std::filesystem::path logs, bool fresh);
  UndoFile(UndoFile&&) = default;
  ~UndoFile();  ///< commits; failures are not reported

  /// Makes the file what it was at mark `generation`. Later logs are removed, that of the mark
  /// starts again.
  void go_back(std::int64_t generation);
  /// From now on the present contents can be restored. They are on the disk when it returns.
  void mark(std::int64_t generation);
  void forget_before(std::int64_t generation);

  std::uint64_t size() const { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> to) const;  ///< zeros beyond the end
  void write(std::uint64_t offset, std::span<const std::byte> from);
  void resize(std::uint64_t size);
  /// Everything written is in the file, as far as the system is concerned.
  void commit();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path log_path(std::int64_t generation) const;
  std::vector<std::int64_t> generations() const;  ///< of the logs that exist, ascending
  bool is_old(std::uint64_t page) const { return page < saved_.size() && !saved_[page]; }
  void log_page(std::uint64_t page);
  /// Writes back what the log has saved; the length of the file at its mark, if its head is whole.
  std::optional<std::uint64_t> apply(std::int64_t generation);

  std::filesystem::path path_, logs_;
  Descriptor file_, log_;
  std::uint64_t size_ = 0, marked_size_ = 0, log_size_ = 0;
  std::vector<bool> saved_;                                  ///< pages of the file at the mark
  std::map<std::uint64_t, std::vector<std::byte>> waiting_;  ///< new contents of old pages
};

/// Writes and reads whole spans, whatever the system takes at a time; throw ResultsError.
void write_fully(int descriptor, std::uint64_t offset, std::span<const std::byte> from,
                 const std::string& path);
std::size_t read_fully(int descriptor, std::uint64_t offset, std::span<std::byte> to,
                       const std::string& path);
/// fsync of a file by name; throws ResultsError.
void sync_file(const std::filesystem::path& path);
/// fsync of a folder, so that a rename in it lasts.
void sync_folder(const std::filesystem::path& folder);

}  // namespace vphi::io
