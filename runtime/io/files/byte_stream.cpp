#include "runtime/io/files/byte_stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "runtime/io/results.hpp"

namespace vphi::io {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw ResultsError(fmt::format("{} cannot be {}: {}", path.string(), what,
                                 std::error_code(errno, std::generic_category()).message()));
}

}  // namespace

ByteStream::ByteStream(const fs::path& path) : name_(path.string()) {
  file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_) fail(path, "opened");
  struct stat about {};
  if (::fstat(file_.number(), &about) != 0) fail(path, "read");
  if (!S_ISREG(about.st_mode))
    throw ResultsError(fmt::format("{} cannot be read: it is not a file", path.string()));
  size_ = static_cast<std::uint64_t>(about.st_size);
}

ByteStream::ByteStream(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), bytes_(bytes), size_(bytes.size()) {}

std::size_t ByteStream::peek(std::span<std::byte> to) const {
  if (file_) return read_fully(file_.number(), position_, to, name_);
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), left()));
  if (count > 0) std::memcpy(to.data(), bytes_.data() + position_, count);
  return count;
}

std::size_t ByteStream::read(std::span<std::byte> to) {
  const std::size_t count = peek(to);
  position_ += count;
  return count;
}

void ByteStream::skip(std::uint64_t bytes) { position_ += std::min(bytes, left()); }

void refuse_special(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::is_directory(there))
    throw ResultsError(fmt::format("{} cannot be written: it is a folder", path.string()));
  if (fs::exists(there) && !fs::is_regular_file(there))
    throw ResultsError(
        fmt::format("{} cannot be written: it is a device or a pipe, not a file", path.string()));
}

NewFile::NewFile(fs::path path) : path_(std::move(path)), beside_(path_.string() + ".writing") {
  refuse_special(path_);
  file_ = Descriptor(::open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file_) fail(beside_, "made");
}

NewFile::~NewFile() {
  if (done_) return;
  std::error_code ignored;  // the incomplete file is useless and may have filled the disk
  fs::remove(beside_, ignored);
}

void NewFile::write(std::span<const std::byte> bytes) {
  write_fully(file_.number(), size_, bytes, beside_.string());
  size_ += bytes.size();
}

void NewFile::finish() {
  if (::fsync(file_.number()) != 0) fail(beside_, "written");
  std::error_code error;
  fs::rename(beside_, path_, error);
  if (error)
    throw ResultsError(fmt::format("{} cannot be made: {}", path_.string(), error.message()));
  done_ = true;
  const fs::path folder = path_.parent_path();
  sync_folder(folder.empty() ? fs::path(".") : folder);
}

}  // namespace vphi::io
