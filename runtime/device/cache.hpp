// A cache of compiled code on disk, addressed by content.
//
// The key is the SHA-256 of everything that can change the code: source, flags, device, driver and
// compiler version, each with its name and length, so that different lists of parts have different
// keys. An entry contains its key and a checksum of its bytes. An entry that fails the check, or
// that another user wrote, is treated as absent and replaced. Entries are written under a temporary
// name, synced and renamed, so that any number of processes may share the folder. A folder that
// cannot be written is not an error: code is then compiled at every start.
//
// The folder: $VPHI_CACHE, else $XDG_CACHE_HOME/vphi, else ~/.cache/vphi. Its size is kept below
// $VPHI_CACHE_MB million bytes (default 512): at most every ten minutes, a process that has stored
// an entry removes the least recently used ones, except those that another process is reading.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace vphi::runtime {

/// Collects the named parts of a key.
class CacheKey {
 public:
  CacheKey& add(std::string_view name, std::string_view value);
  /// 64 hexadecimal digits.
  std::string text() const;

 private:
  std::string parts_;
};

class DiskCache {
 public:
  explicit DiskCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// The user's cache; it has no folder where the home directory is unknown.
  static DiskCache standard();

  std::optional<std::string> load(const std::string& key) const;
  /// Stores an entry. True where it is on disk afterwards; never throws.
  bool store(const std::string& key, std::string_view bytes) const noexcept;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path path_of(const std::string& key) const { return folder_ / key; }
  /// Whether entries can be written; tested by writing.
  bool writable() const;
  /// Number and bytes of the entries.
  std::pair<std::size_t, std::size_t> contents() const;
  /// Removes the least recently used entries until at most `bytes` are left; entries that are being
  /// read stay.
  void shrink(std::size_t bytes) const noexcept;
  /// Largest number of bytes in the folder.
  static std::size_t limit();

 private:
  void tidy() const noexcept;

  std::filesystem::path folder_;
};

}  // namespace vphi::runtime
