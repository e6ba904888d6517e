// The lock of an output folder: one run writes at a time.
//
// The lock is `FOLDER/.vphi-lock`, held through the system (flock, which network file systems pass
// on to their servers). The system releases it when the process ends in any way, so a dead process
// does not block the folder. The file says who holds it: host, process, since when, and a message
// of the holder. On a file system without locks the text of the file decides: a process of this
// machine is checked for existence; one elsewhere touches its file every minute, and a file that
// has not been touched for ten minutes is free.
//
// A folder that cannot be written has no lock, and needs none.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "runtime/io/files/undo_file.hpp"

namespace vphi::io {

struct LockOwner {
  std::string host;
  std::int64_t process = 0;
  std::int64_t since = 0;  ///< seconds since 1970
  std::string about;       ///< one line
};

class FolderLock {
 public:
  enum class Way { System, Text };  ///< Text: as on a file system without locks

  FolderLock() = default;
  /// Tries to take the lock of a folder, which is made where it is not there. `about` is one line.
  FolderLock(std::filesystem::path folder, const std::string& about, Way way = Way::System);
  FolderLock(FolderLock&& other) noexcept { *this = std::move(other); }
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

  bool held() const { return held_; }
  /// Who has it; none where it is ours, or where the folder cannot be written.
  const std::optional<LockOwner>& other() const { return other_; }
  /// Whether the folder was not there before.
  bool fresh() const { return fresh_; }
  /// Releases it; a folder that was made for it and is empty is removed too.
  void release();

 private:
  bool take_by_system();
  bool take_by_text();
  void keep_touching();
  void sign(const std::string& about) const;

  std::filesystem::path folder_, path_;
  Descriptor file_;
  bool held_ = false, fresh_ = false;
  std::optional<LockOwner> other_;
  std::jthread touching_;  ///< where the text alone counts
};

}  // namespace vphi::io
