// Emitted text, together with the names that it uses and defines.
//
// A Code has the names that its text uses, and its items: the functions and types that it defines,
// with the names that each of them uses. Emitted text is therefore never searched. Functions that
// are not called are left out of a kernel (`finished`), and an item that several kernels of a
// launch contain is emitted once, by its name.
//
// The names come from the formats and templates of the text (`code`, text/fill.hpp), and from the
// Code that is inserted into them. A std::string is treated as a name or a number that uses
// nothing.
#pragma once

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace vphi::emit {

/// Whether a name may contain the character.
inline bool word_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

using Names = std::set<std::string, std::less<>>;

class Code {
 public:
  /// A function or a type at file scope, with the comment above it.
  struct Item {
    std::string name;
    std::size_t begin = 0, end = 0;  ///< range in the text
    Names uses;
    bool kept = false;  ///< kept even if it is not used
  };

  /// An item, or the text between two items.
  struct Part {
    std::string text;
    const Item* item = nullptr;
  };

  Code() = default;
  Code(const char* literal);  // NOLINT: the names in it are used
  Code(std::string text) : text_(std::move(text)) {}
  Code(std::string text, Names uses) : text_(std::move(text)), uses_(std::move(uses)) {}
  /// One function or type; `text` includes the end of its last line.
  static Code item(std::string name, Code text, bool kept = false);

  const std::string& str() const { return text_; }
  /// Names used outside the items.
  const Names& uses() const { return uses_; }
  const std::vector<Item>& items() const { return items_; }
  /// The whole text in order.
  std::vector<Part> parts() const;
  bool empty() const { return text_.empty(); }
  std::size_t size() const { return text_.size(); }
  char back() const { return text_.back(); }

  Code& operator+=(const Code& other);
  friend Code operator+(Code a, const Code& b) { return std::move(a += b); }
  friend bool operator==(const Code& a, const Code& b) { return a.text_ == b.text_; }
  friend bool operator<(const Code& a, const Code& b) { return a.text_ < b.text_; }
  /// Adds used names.
  void use(const Names& names) { uses_.insert(names.begin(), names.end()); }
  void use(std::string name) { uses_.insert(std::move(name)); }
  /// Names used inside and outside the items.
  Names all_uses() const;

 private:
  friend class Filling;
  std::string text_;
  Names uses_;
  std::vector<Item> items_;
};

namespace detail {

/// The names in a format with its arguments inserted: words followed by a call, and words with the
/// prefix of the emitter's own functions.
void add_names(std::string_view format, fmt::format_args args, Names& names);

template <class T>
const auto& plain(const T& value) {
  if constexpr (std::is_same_v<T, Code>) {
    return value.str();
  } else {
    return value;
  }
}
template <class T>
using Plain = std::remove_cvref_t<decltype(plain(std::declval<const T&>()))>;

template <class T>
void use_of(Code& out, const T& value) {
  if constexpr (std::is_same_v<T, Code>) out.use(value.all_uses());
}

}  // namespace detail

/// fmt::format of text and Code.
template <class... Args>
Code code(fmt::format_string<const detail::Plain<Args>&...> format, const Args&... args) {
  Code out(fmt::format(format, detail::plain(args)...));
  Names names;
  const fmt::string_view view = format;
  detail::add_names({view.data(), view.size()}, fmt::make_format_args(detail::plain(args)...),
                    names);
  out.use(names);
  (detail::use_of(out, args), ...);
  return out;
}

/// `text` with `spaces` blanks before each line that is not empty; it has no items.
Code indent(const Code& text, int spaces);

/// The text without unused functions.
std::string finished(const Code& source);

}  // namespace vphi::emit
