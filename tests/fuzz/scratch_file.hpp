// A temporary file with the given bytes and ending; the destructor removes it.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "target.hpp"

namespace vphi::fuzz {

class ScratchFile {
 public:
  ScratchFile(const std::uint8_t* data, std::size_t size, const std::string& ending)
      : path_((std::filesystem::temp_directory_path() / ("vphi_fuzz_XXXXXX" + ending)).string()) {
    const int file = mkstemps(path_.data(), static_cast<int>(ending.size()));
    must(file >= 0, "a scratch file can be made");
    while (size > 0) {
      const ssize_t written = write(file, data, size);
      must(written > 0, "a scratch file can be written");
      data += written, size -= static_cast<std::size_t>(written);
    }
    close(file);
  }
  ~ScratchFile() { unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace vphi::fuzz
