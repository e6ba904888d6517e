#include "runtime/device/cache.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/device/sha256.hpp"

namespace vphi::runtime {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMagic = "vphi code 1\n";
// magic, digest of the key (64), digest of the bytes (64), then the bytes
constexpr std::size_t kHeader = kMagic.size() + 64 + 64;
constexpr std::size_t kLargestEntry = std::size_t(1) << 30;
constexpr std::size_t kLimit = 512'000'000;
constexpr auto kBetweenTidyings = std::chrono::minutes(10);
constexpr auto kAbandoned = std::chrono::hours(1);  ///< a half-written entry of a killed process
constexpr const char* kStamp = "tidied";            ///< its time is that of the last clean-up

class File {
 public:
  File(const char* path, int flags, mode_t mode = 0) : fd_(::open(path, flags | O_CLOEXEC, mode)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }
  explicit operator bool() const { return fd_ >= 0; }
  int fd() const { return fd_; }

  bool write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes.remove_prefix(std::size_t(n));
    }
    return true;
  }

 private:
  int fd_;
};

std::string text_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value ? value : "";
}

/// Keys name files: letters, digits, - and _.
bool is_file_name(std::string_view key) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  return !key.empty() && key.size() <= 200 &&
         key.find_first_not_of(kLetters) == std::string_view::npos;
}

constexpr std::string_view kNew = ".new.";

std::string temporary_name(const fs::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.string() + std::string(kNew) + std::to_string(::getpid()) + "." +
         std::to_string(counter++);
}

}  // namespace

CacheKey& CacheKey::add(std::string_view name, std::string_view value) {
  for (std::string_view part : {name, value}) {
    parts_ += std::to_string(part.size()) + ":";
    parts_ += part;
  }
  return *this;
}

std::string CacheKey::text() const { return hex(sha256(parts_)); }

DiskCache DiskCache::standard() {
  if (const std::string own = text_of("VPHI_CACHE"); !own.empty()) return DiskCache(own);
  if (const std::string xdg = text_of("XDG_CACHE_HOME"); !xdg.empty())
    return DiskCache(fs::path(xdg) / "vphi");
  if (const std::string home = text_of("HOME"); !home.empty())
    return DiskCache(fs::path(home) / ".cache" / "vphi");
  return DiskCache(fs::path());
}

std::optional<std::string> DiskCache::load(const std::string& key) const {
  if (folder_.empty() || !is_file_name(key)) return std::nullopt;
  const File file(path_of(key).c_str(), O_RDONLY | O_NOFOLLOW);
  struct stat about {};
  if (!file || fstat(file.fd(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  flock(file.fd(), LOCK_SH);  // shrink() leaves it alone; given back when the file is closed
  const bool ours = about.st_uid == geteuid() || about.st_uid == 0;
  const auto size = std::size_t(about.st_size);
  if (!ours || size < kHeader || size > kLargestEntry) return std::nullopt;

  std::string text(size, '\0');
  std::size_t have = 0;
  while (have < size) {
    const ssize_t n = ::read(file.fd(), text.data() + have, size - have);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    have += std::size_t(n);
  }
  const std::string_view view(text);
  const std::string_view bytes = view.substr(kHeader);
  if (view.substr(0, kMagic.size()) != kMagic ||
      view.substr(kMagic.size(), 64) != hex(sha256(key)) ||
      view.substr(kMagic.size() + 64, 64) != hex(sha256(bytes)))
    return std::nullopt;
  futimens(file.fd(), nullptr);  // used now: shrink() keeps it longest
  return std::string(bytes);
}

bool DiskCache::store(const std::string& key, std::string_view bytes) const noexcept try {
  if (folder_.empty() || !is_file_name(key)) return false;
  std::error_code error;
  if (!fs::is_directory(folder_, error)) {
    fs::create_directories(folder_, error);
    if (error) return false;
    fs::permissions(folder_, fs::perms::owner_all, error);
  }
  const fs::path path = path_of(key);
  const std::string temporary = temporary_name(path);
  File file(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (!file) return false;
  const bool whole = file.write(kMagic) && file.write(hex(sha256(key))) &&
                     file.write(hex(sha256(bytes))) && file.write(bytes) && fsync(file.fd()) == 0 &&
                     file.close();
  if (whole && std::rename(temporary.c_str(), path.c_str()) == 0) {
    tidy();
    return true;
  }
  ::unlink(temporary.c_str());
  return false;
} catch (...) {
  return false;
}

bool DiskCache::writable() const {
  const std::string key = CacheKey().add("probe", std::to_string(::getpid())).text();
  if (!store(key, "probe")) return false;
  std::error_code error;
  fs::remove(path_of(key), error);
  return true;
}

std::pair<std::size_t, std::size_t> DiskCache::contents() const {
  std::pair<std::size_t, std::size_t> sum{0, 0};
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored) || it->path().filename() == kStamp) continue;
    const auto bytes = it->file_size(ignored);
    if (!ignored) sum = {sum.first + 1, sum.second + bytes};
  }
  return sum;
}

std::size_t DiskCache::limit() {
  const std::string wanted = text_of("VPHI_CACHE_MB");
  char* end = nullptr;
  const double megabytes = std::strtod(wanted.c_str(), &end);
  const bool number = !wanted.empty() && *end == '\0' && megabytes >= 0 && megabytes < 1e9;
  return number ? std::size_t(megabytes * 1e6) : kLimit;
}

void DiskCache::tidy() const noexcept try {
  const fs::path stamp = folder_ / kStamp;
  std::error_code error;
  const auto last = fs::last_write_time(stamp, error);
  const auto now = fs::file_time_type::clock::now();
  if (!error && now - last < kBetweenTidyings && last <= now) return;
  const File touched(stamp.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
  if (!touched || futimens(touched.fd(), nullptr) != 0) return;
  const std::size_t most = limit();
  if (contents().second > most) shrink(most - most / 4);
} catch (...) {
}

void DiskCache::shrink(std::size_t bytes) const noexcept try {
  struct Entry {
    fs::file_time_type time;
    std::size_t size;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::size_t total = 0;
  const auto now = fs::file_time_type::clock::now();
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored) || it->is_symlink(ignored)) continue;
    const std::string name = it->path().filename().string();
    const auto time = it->last_write_time(ignored);
    if (name == kStamp || ignored) continue;
    if (name.find(kNew) != std::string::npos) {  // being written, or left behind
      if (now - time > kAbandoned) fs::remove(it->path(), ignored);
      continue;
    }
    entries.push_back({time, it->file_size(ignored), it->path()});
    total += entries.back().size;
  }
  if (total <= bytes) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.time < b.time; });
  for (const Entry& entry : entries) {
    if (total <= bytes) break;
    const File file(entry.path.c_str(), O_RDONLY | O_NOFOLLOW);
    if (!file || flock(file.fd(), LOCK_EX | LOCK_NB) != 0) continue;  // another process reads it
    fs::remove(entry.path, error);
    total -= std::min(total, entry.size);
  }
} catch (...) {
}

}  // namespace vphi::runtime
