// Messages of the language server protocol as bytes: a header with a length, then JSON.
//
// `MessageReader` takes bytes in any pieces and returns whole bodies. It does not throw: an invalid
// header is skipped and reported as an empty body with `malformed` set, and reading continues after
// it. A body above 64 MB is refused in the same way. Source: Language Server Protocol 3.17, "Base
// Protocol".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace vphi::lsp {

struct Message {
  std::string body;
  bool malformed = false;
};

class MessageReader {
 public:
  void feed(std::string_view bytes);
  /// The next whole message, or nothing until more bytes come.
  std::optional<Message> next();

 private:
  std::string pending_;
  std::size_t begin_ = 0;    ///< begin of the unused bytes
  std::size_t scanned_ = 0;  ///< no end of a header before this offset
  std::size_t skip_ = 0;     ///< bytes of a refused body that are still to be skipped
};

/// Header and body, ready to be written.
std::string framed(std::string_view body);

}  // namespace vphi::lsp
