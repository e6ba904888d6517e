// A cache of compiled code on disk, addressed by content.
//
// The key is the SHA-256 of everything that can change the code: source, flags, device, driver and
// compiler version, each with its name and length, so that different lists of parts have different
// keys. An entry repeats its key and carries a checksum of its bytes; one that does not agree, or
// that another user wrote, is treated as absent and replaced. Entries appear complete (written
// under another name, synced, renamed), so that any number of processes may share the folder. A
// folder that cannot be written is not an error: code is then compiled at every start.
//
// The folder: $VPHI_CACHE, else $XDG_CACHE_HOME/vphi, else ~/.cache/vphi. It is kept below
// $VPHI_CACHE_MB (512) million bytes: every ten minutes at most, a process that has stored
// something removes the entries used longest ago, but none that another process reads at that
// moment.
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
  /// The user's cache; one without a folder where no home is known.
  static DiskCache standard();

  std::optional<std::string> load(const std::string& key) const;
  /// True where the entry is on disk afterwards; never throws.
  bool store(const std::string& key, std::string_view bytes) const noexcept;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path path_of(const std::string& key) const { return folder_ / key; }
  /// Whether entries can be written now (it tries).
  bool writable() const;
  /// Number and bytes of the entries.
  std::pair<std::size_t, std::size_t> contents() const;
  /// Removes the entries used longest ago until at most `bytes` are left; those being read stay.
  void shrink(std::size_t bytes) const noexcept;
  /// Most bytes that the folder may hold.
  static std::size_t limit();

 private:
  void tidy() const noexcept;

  std::filesystem::path folder_;
};

}  // namespace vphi::runtime
