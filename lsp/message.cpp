#include "lsp/message.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace vphi::lsp {
namespace {

constexpr std::size_t kLongestHeader = 8192;
constexpr std::size_t kLongestBody = std::size_t{64} << 20;
constexpr std::string_view kEnd = "\r\n\r\n";

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// `Content-Length` of a header without its last empty line.
std::optional<std::size_t> content_length(std::string_view header) {
  std::optional<std::size_t> length;
  while (!header.empty()) {
    const auto end = header.find("\r\n");
    const auto line = header.substr(0, end);
    header = end == std::string_view::npos ? std::string_view{} : header.substr(end + 2);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    if (!same_word(trimmed(line.substr(0, colon)), "content-length")) continue;
    const auto text = trimmed(line.substr(colon + 1));
    std::size_t value = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || at != text.data() + text.size()) return std::nullopt;
    length = value;
  }
  return length;
}

}  // namespace

void MessageReader::feed(std::string_view bytes) {
  const std::size_t skipped = std::min(skip_, bytes.size());
  skip_ -= skipped;
  bytes.remove_prefix(skipped);
  if (begin_ > 0) {
    pending_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  pending_ += bytes;
}

std::optional<Message> MessageReader::next() {
  const std::string_view all(pending_);
  const auto end = all.find(kEnd, std::max(begin_, scanned_));
  if (end == std::string_view::npos) {
    // A header that is too long is not a header, and the bytes are dropped.
    if (all.size() - begin_ > kLongestHeader) {
      begin_ = scanned_ = all.size();
      return Message{{}, true};
    }
    scanned_ = std::max(begin_, all.size() < 3 ? 0 : all.size() - 3);
    return std::nullopt;
  }
  scanned_ = end;  // found again at once while the body is not whole
  const auto length = content_length(all.substr(begin_, end - begin_));
  const std::size_t body = end + kEnd.size();
  if (!length) {
    begin_ = scanned_ = body;
    return Message{{}, true};
  }
  if (*length > kLongestBody) {
    const std::size_t here = std::min(*length, all.size() - body);
    skip_ = *length - here;
    begin_ = scanned_ = body + here;
    return Message{{}, true};
  }
  if (all.size() - body < *length) return std::nullopt;
  Message message{std::string(all.substr(body, *length)), false};
  begin_ = scanned_ = body + *length;
  return message;
}

std::string framed(std::string_view body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace vphi::lsp
