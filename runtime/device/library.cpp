#include "runtime/device/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <utility>

namespace vphi::runtime {

std::optional<Library> Library::open(std::initializer_list<std::string> names, Close close,
                                     std::string* why) {
  for (const std::string& name : names) {
    const int flags = RTLD_NOW | RTLD_LOCAL | (close == Close::Never ? RTLD_NODELETE : 0);
    if (void* handle = dlopen(name.c_str(), flags)) return Library(handle, name, close);
    const char* error = dlerror();
    if (why && error) *why += std::string(why->empty() ? "" : "\n") + error;
  }
  return std::nullopt;
}

Library::Library(Library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      name_(std::move(other.name_)),
      close_(other.close_) {}

Library& Library::operator=(Library&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(name_, other.name_);
  std::swap(close_, other.close_);
  return *this;
}

Library::~Library() {
  if (handle_ && close_ == Close::AtEnd) dlclose(handle_);
}

void* Library::symbol(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

std::string Library::path() const {
  link_map* map = nullptr;
  if (!handle_ || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || !map) return name_;
  return map->l_name;
}

std::string program_folder() {
  // What holds this function: the program, or a library such as that of the Python package, beside
  // which its plug-ins lie.
  Dl_info info{};
  void* extra = nullptr;
  const auto* here = reinterpret_cast<const void*>(&program_folder);
  std::error_code error;
  if (dladdr1(here, &info, &extra, RTLD_DL_LINKMAP) != 0 && extra != nullptr) {
    const char* name = static_cast<const link_map*>(extra)->l_name;
    if (name != nullptr && *name != '\0') {  // a program has no name there
      const auto path = std::filesystem::canonical(name, error);
      if (!error) return path.parent_path().string();
    }
  }
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : path.parent_path().string();
}

}  // namespace vphi::runtime
