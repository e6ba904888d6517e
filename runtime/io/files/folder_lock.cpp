#include "runtime/io/files/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <fstream>
#include <mutex>
#include <sstream>
#include <utility>

namespace vphi::io {

namespace fs = std::filesystem;

namespace {

constexpr auto kTouch = std::chrono::minutes(1);
constexpr auto kForsaken = std::chrono::minutes(10);

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// An identifier of this start of the machine.
std::string boot() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id.empty() ? "unknown" : id;
}

/// When a process began, in ticks since the machine started; empty: there is no such process.
std::string start_of(std::int64_t process) {
  std::ifstream stat(fmt::format("/proc/{}/stat", process));
  std::string text;
  if (!std::getline(stat, text)) return {};
  std::istringstream rest(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string word;
  for (int field = 3; field <= 22; ++field) rest >> word;
  return word;
}

/// The content of a lock's file.
struct Signature {
  LockOwner owner;
  std::string boot, start;
};

Signature read_signature(const fs::path& path) {
  Signature s;
  std::ifstream in(path);
  std::string process, since;
  std::getline(in, s.owner.host), std::getline(in, s.boot), std::getline(in, process);
  std::getline(in, s.start), std::getline(in, since), std::getline(in, s.owner.about);
  s.owner.process = std::atoll(process.c_str()), s.owner.since = std::atoll(since.c_str());
  return s;
}

/// Whether the owner of a lock is alive, from the content of its file: by its process on this
/// machine, by the file's time on another one.
bool alive(const Signature& s, const fs::path& path) {
  if (s.owner.host == host_name()) {
    if (s.boot != boot()) return false;
    const std::string start = start_of(s.owner.process);
    return !start.empty() && start == s.start;
  }
  std::error_code error;
  const auto touched = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - touched < kForsaken;
}

/// Whether the name still belongs to the open file.
bool still_named(int descriptor, const fs::path& path) {
  struct stat open_file {
  }, named{};
  return fstat(descriptor, &open_file) == 0 && stat(path.c_str(), &named) == 0 &&
         open_file.st_ino == named.st_ino && open_file.st_dev == named.st_dev;
}

}  // namespace

FolderLock::FolderLock(fs::path folder, const std::string& about, Way way)
    : folder_(std::move(folder)), path_(folder_ / ".vphi-lock") {
  std::error_code error;
  fresh_ = fs::create_directories(folder_, error);
  held_ = way == Way::System ? take_by_system() : take_by_text();
  if (held_) sign(about);
}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  folder_ = std::move(other.folder_), path_ = std::move(other.path_);
  file_ = std::move(other.file_), touching_ = std::move(other.touching_);
  held_ = std::exchange(other.held_, false), fresh_ = std::exchange(other.fresh_, false);
  other_ = std::move(other.other_);
  return *this;
}

FolderLock::~FolderLock() { release(); }

void FolderLock::release() {
  touching_ = {};
  std::error_code ignored;
  // The file is removed while the lock is held. A process that has opened it meanwhile notices and
  // tries again.
  if (std::exchange(held_, false)) fs::remove(path_, ignored);
  file_ = {};
  if (std::exchange(fresh_, false)) fs::remove(folder_, ignored);  // only where it is empty
}

bool FolderLock::take_by_system() {
  for (;;) {
    constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC;
    file_ = Descriptor(open(path_.c_str(), kFlags | O_EXCL, 0666));
    const bool made = static_cast<bool>(file_);
    if (!made) file_ = Descriptor(open(path_.c_str(), kFlags, 0666));
    if (!file_) return false;
    if (flock(file_.number(), LOCK_EX | LOCK_NB) == 0) {
      if (still_named(file_.number(), path_)) return true;
      continue;  // the process that held it has just removed it
    }
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) {
      other_ = read_signature(path_).owner;
      file_ = {};
      return false;
    }
    if (!made) return take_by_text();  // no locks here
    keep_touching();
    return true;
  }
}

bool FolderLock::take_by_text() {
  for (;;) {
    file_ = Descriptor(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file_) break;
    if (errno != EEXIST) return false;
    const Signature there = read_signature(path_);
    if (alive(there, path_)) {
      other_ = there.owner;
      return false;
    }
    std::error_code error;
    fs::remove(path_, error);
    if (error) return false;
  }
  keep_touching();
  return true;
}

void FolderLock::keep_touching() {
  touching_ = std::jthread([path = path_](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, stop, kTouch, [&] { return stop.stop_requested(); })) {
      std::error_code ignored;
      fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    }
  });
}

void FolderLock::sign(const std::string& about) const {
  const std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", host_name(), boot(), getpid(),
                                       start_of(getpid()), std::time(nullptr), about);
  // The lock holds without its text, which is for the message of a process that finds it taken.
  if (ftruncate(file_.number(), 0) != 0 ||
      pwrite(file_.number(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return;
}

}  // namespace vphi::io
