// The lock of an output folder: one run writes at a time.
//
// The lock is `FOLDER/.vphi-lock`, held through the system (flock, which network file systems pass
// on to their servers). The system releases it when the process ends in any way, so a dead process
// does not block the folder. The file names its owner: host, process, start time, and a message. On
// a file system without locks the text of the file is the lock. An owner on this machine holds it
// while its process exists. An owner elsewhere touches the file every minute, and the lock is free
// when it has not been touched for ten minutes.
//
// A folder that cannot be written has no lock.
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
  /// Tries to take the lock of a folder, which is created where it does not exist. `about` is one
  /// line.
  FolderLock(std::filesystem::path folder, const std::string& about, Way way = Way::System);
  FolderLock(FolderLock&& other) noexcept { *this = std::move(other); }
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

  bool held() const { return held_; }
  /// The other owner; none where this object has the lock, or where the folder cannot be written.
  const std::optional<LockOwner>& other() const { return other_; }
  /// Whether the folder was created.
  bool fresh() const { return fresh_; }
  /// Releases the lock; a folder that was created for it and is empty is removed.
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
  std::jthread touching_;  ///< touches the file where the text is the lock
};

}  // namespace vphi::io
