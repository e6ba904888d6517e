// A shared library opened at run time, so that the program can be built and started without a
// device's libraries.
//
// A Library owns the handle and closes it; `symbol` returns null where the library lacks a name.
// With `keep` it stays loaded until the process ends: drivers start threads and register exit
// handlers, so they must not be unmapped.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

namespace vphi::runtime {

class Library {
 public:
  enum class Close { AtEnd, Never };

  /// The first of the names that can be opened; nothing, with the reason in `why`, where none can.
  static std::optional<Library> open(std::initializer_list<std::string> names, Close close,
                                     std::string* why = nullptr);

  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;
  ~Library();

  void* symbol(const char* name) const;
  const std::string& name() const { return name_; }
  /// The file it was loaded from.
  std::string path() const;

  /// Fills a function pointer; false where the name is missing.
  template <class Function>
  bool bind(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
    return function != nullptr;
  }

 private:
  Library(void* handle, std::string name, Close close)
      : handle_(handle), name_(std::move(name)), close_(close) {}
  void* handle_ = nullptr;
  std::string name_;
  Close close_ = Close::AtEnd;
};

/// The folder of the program or shared library that contains this code, in which plug-ins are
/// searched.
std::string program_folder();

}  // namespace vphi::runtime
