#include "runtime/io/files/undo_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <set>
#include <system_error>

#include "runtime/io/files/crc32c.hpp"
#include "runtime/io/results.hpp"

namespace vphi::io {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kMostWaiting = 4096;  ///< pages: 16 MB
constexpr char kMagic[9] = "vphiundo";
constexpr std::size_t kHead = 20, kRecordHead = 16;

[[noreturn]] void fail(const std::string& path, const char* doing) {
  throw ResultsError(fmt::format("{} cannot be {}: {}", path, doing,
                                 std::error_code(errno, std::generic_category()).message()));
}

template <class T>
void put(std::vector<std::byte>& to, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof(T));
}

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

Descriptor open_file(const fs::path& path, int flags) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (!file) fail(path.string(), (flags & O_CREAT) != 0 ? "made" : "opened");
  return file;
}

std::uint64_t length(const Descriptor& file, const fs::path& path) {
  struct stat about {};
  if (::fstat(file.number(), &about) != 0) fail(path.string(), "read");
  return static_cast<std::uint64_t>(about.st_size);
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

void write_fully(int descriptor, std::uint64_t offset, std::span<const std::byte> from,
                 const std::string& path) {
  while (!from.empty()) {
    const ssize_t done = ::pwrite(descriptor, from.data(), from.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail(path, "written");
    from = from.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
}

std::size_t read_fully(int descriptor, std::uint64_t offset, std::span<std::byte> to,
                       const std::string& path) {
  std::size_t total = 0;
  while (total < to.size()) {
    const ssize_t done = ::pread(descriptor, to.data() + total, to.size() - total,
                                 static_cast<off_t>(offset + total));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path, "read");
    if (done == 0) break;
    total += static_cast<std::size_t>(done);
  }
  return total;
}

void sync_file(const fs::path& path) {
  const Descriptor handle(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!handle || ::fsync(handle.number()) != 0) fail(path.string(), "written");
}

void sync_folder(const fs::path& folder) {
  const Descriptor handle(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY));
  if (handle) ::fsync(handle.number());  // some file systems do not have it; nothing is lost
}

UndoFile::UndoFile(fs::path path, fs::path logs, bool fresh)
    : path_(std::move(path)), logs_(std::move(logs)) {
  if (fresh && !logs_.empty())
    for (auto generation : generations()) fs::remove(log_path(generation));
  file_ = open_file(path_, fresh ? O_RDWR | O_CREAT | O_TRUNC : O_RDWR);
  size_ = length(file_, path_);
}

fs::path UndoFile::log_path(std::int64_t generation) const {
  return logs_.string() + fmt::format(".{}.undo", generation);
}

std::vector<std::int64_t> UndoFile::generations() const {
  std::vector<std::int64_t> found;
  const std::string stem = logs_.filename().string() + ".";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(logs_.parent_path(), error)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with(stem) || !name.ends_with(".undo")) continue;
    name = name.substr(stem.size(), name.size() - stem.size() - 5);
    std::int64_t generation = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), generation);
    if (wrong == std::errc() && end == name.data() + name.size()) found.push_back(generation);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// ---- going forward ------------------------------------------------------------------------------

void UndoFile::mark(std::int64_t generation) {
  commit();
  if (::fsync(file_.number()) != 0) fail(path_.string(), "written");
  if (logs_.empty()) return;
  const fs::path path = log_path(generation);
  std::error_code ignored;  // a folder that cannot be made shows when the log is opened
  fs::create_directories(path.parent_path(), ignored);
  Descriptor log = open_file(path, O_RDWR | O_CREAT | O_TRUNC);
  std::vector<std::byte> head;
  for (int i = 0; i < 8; ++i) head.push_back(static_cast<std::byte>(kMagic[i]));
  put(head, size_);
  put(head, crc32c(head));
  write_fully(log.number(), 0, head, path.string());
  if (::fsync(log.number()) != 0) fail(path.string(), "written");
  sync_folder(logs_.parent_path());
  log_ = std::move(log);
  log_size_ = kHead;
  marked_size_ = size_;
  saved_.assign((size_ + kPage - 1) / kPage, false);
}

void UndoFile::forget_before(std::int64_t generation) {
  if (logs_.empty()) return;
  std::error_code error;
  for (auto old : generations())
    if (old < generation) fs::remove(log_path(old), error);
}

void UndoFile::log_page(std::uint64_t page) {
  const std::uint64_t offset = page * kPage;
  std::vector<std::byte> before(std::min(kPage, marked_size_ - offset)), record;
  read_fully(file_.number(), offset, before, path_.string());
  put(record, offset);
  put(record, static_cast<std::uint32_t>(before.size()));
  put(record, crc32c(before, crc32c(record)));
  record.insert(record.end(), before.begin(), before.end());
  write_fully(log_.number(), log_size_, record, path_.string() + " (its undo log)");
  log_size_ += record.size();
}

void UndoFile::commit() {
  if (waiting_.empty()) return;
  for (const auto& [page, bytes] : waiting_)
    if (!saved_[page]) log_page(page);
  if (::fdatasync(log_.number()) != 0) fail(path_.string() + " (its undo log)", "written");
  for (const auto& [page, bytes] : waiting_) saved_[page] = true;
  while (!waiting_.empty()) {  // with a full disk the rest stays queued
    const auto& [page, bytes] = *waiting_.begin();
    write_fully(file_.number(), page * kPage, bytes, path_.string());
    waiting_.erase(waiting_.begin());
  }
}

UndoFile::~UndoFile() {
  try {
    commit();
  } catch (const std::exception&) {
    // The disk is full, which an earlier call has reported; the log restores the file.
  }
}

void UndoFile::read(std::uint64_t offset, std::span<std::byte> to) const {
  const std::size_t got = read_fully(file_.number(), offset, to, path_.string());
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(got), to.end(), std::byte{0});
  const std::uint64_t end = offset + to.size();
  for (auto it = waiting_.lower_bound(offset / kPage);
       it != waiting_.end() && it->first * kPage < end; ++it) {
    const auto& [page, bytes] = *it;
    const std::uint64_t first = std::max(offset, page * kPage);
    const std::uint64_t last = std::min(end, page * kPage + bytes.size());
    if (first < last) std::memcpy(&to[first - offset], &bytes[first - page * kPage], last - first);
  }
}

void UndoFile::write(std::uint64_t offset, std::span<const std::byte> from) {
  size_ = std::max(size_, offset + from.size());
  while (!from.empty()) {
    const std::uint64_t page = offset / kPage, start = offset - page * kPage;
    if (!log_ || page >= saved_.size()) {  // all the rest is new
      write_fully(file_.number(), offset, from, path_.string());
      return;
    }
    const std::size_t count = std::min<std::size_t>(from.size(), kPage - start);
    if (is_old(page) || waiting_.contains(page)) {
      auto [place, fresh] = waiting_.try_emplace(page);
      auto& bytes = place->second;
      if (fresh) {
        bytes.resize(kPage);
        bytes.resize(read_fully(file_.number(), page * kPage, bytes, path_.string()));
      }
      if (bytes.size() < start + count) bytes.resize(start + count);
      std::memcpy(&bytes[start], from.data(), count);
    } else {
      write_fully(file_.number(), offset, from.first(count), path_.string());
    }
    offset += count;
    from = from.subspan(count);
  }
  if (waiting_.size() > kMostWaiting) commit();
}

void UndoFile::resize(std::uint64_t size) {
  if (size == size_) return;
  commit();
  bool any = false;
  for (std::uint64_t page = size / kPage; page < saved_.size(); ++page)
    if (log_ && is_old(page)) log_page(page), saved_[page] = any = true;
  if (any && ::fdatasync(log_.number()) != 0) fail(path_.string() + " (its undo log)", "written");
  if (::ftruncate(file_.number(), static_cast<off_t>(size)) != 0) fail(path_.string(), "resized");
  size_ = size;
}

// ---- going back ---------------------------------------------------------------------------------

void UndoFile::go_back(std::int64_t generation) {
  waiting_.clear();
  const auto logs = generations();
  if (std::find(logs.begin(), logs.end(), generation) == logs.end())
    throw ResultsError(
        fmt::format("{} has no undo log of checkpoint {}", path_.string(), generation));
  // Restoring twice has the same effect as once: logs are removed only when the file is restored. A
  // process killed in between leaves later logs beside a file that is already as short as at this
  // mark.
  const std::uint64_t found = length(file_, path_);
  std::uint64_t marked = found;
  for (auto log = logs.rbegin(); log != logs.rend() && *log >= generation; ++log)
    marked = apply(*log).value_or(marked);
  if (found < marked)
    throw ResultsError(fmt::format("{} is shorter than it was at the checkpoint", path_.string()));
  if (::ftruncate(file_.number(), static_cast<off_t>(marked)) != 0) fail(path_.string(), "resized");
  size_ = marked;
  if (::fsync(file_.number()) != 0) fail(path_.string(), "written");
  for (auto log = logs.rbegin(); log != logs.rend() && *log > generation; ++log)
    fs::remove(log_path(*log));
  mark(generation);
}

std::optional<std::uint64_t> UndoFile::apply(std::int64_t generation) {
  const fs::path path = log_path(generation);
  const Descriptor log = open_file(path, O_RDONLY);
  const std::uint64_t end = length(log, path);
  std::vector<std::byte> head(kHead);
  if (read_fully(log.number(), 0, head, path.string()) < kHead ||
      std::memcmp(head.data(), kMagic, 8) != 0 ||
      crc32c({head.data(), 16}) != get<std::uint32_t>(head.data() + 16)) {
    // A log with an incomplete head was just being made: nothing was written after its mark.
    const bool newest = generations().back() == generation;
    if (newest && end < kHead) return std::nullopt;
    throw ResultsError(fmt::format("{} is damaged", path.string()));
  }
  const auto marked = get<std::uint64_t>(head.data() + 8);
  std::vector<std::byte> page, start(kRecordHead);
  std::set<std::uint64_t> done;  // the first record of a page is that of the mark
  for (std::uint64_t at = kHead; at + kRecordHead <= end;) {
    read_fully(log.number(), at, start, path.string());
    const auto offset = get<std::uint64_t>(start.data());
    const auto bytes = get<std::uint32_t>(start.data() + 8);
    if (bytes > kPage || offset % kPage != 0 || at + kRecordHead + bytes > end) break;
    page.resize(bytes);
    read_fully(log.number(), at + kRecordHead, page, path.string());
    if (crc32c(page, crc32c({start.data(), 12})) != get<std::uint32_t>(start.data() + 12)) break;
    if (done.insert(offset).second) write_fully(file_.number(), offset, page, path_.string());
    at += kRecordHead + bytes;
  }
  return marked;
}

}  // namespace vphi::io
