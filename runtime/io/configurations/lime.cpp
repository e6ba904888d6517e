#include "runtime/io/configurations/lime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/io/configurations/configuration.hpp"
#include "runtime/io/files/real_bytes.hpp"

namespace vphi::io {

using Problem = ConfigurationError::Problem;

namespace {

constexpr std::uint32_t kMagic = 0x456789ab;
constexpr std::size_t kHeader = 144, kName = 128;
constexpr std::uint16_t kBegins = 0x8000, kEnds = 0x4000;
constexpr std::uint64_t kMostText = 1 << 20;
constexpr auto kOrder = std::endian::big;

std::uint64_t padding(std::uint64_t bytes) { return (8 - bytes % 8) % 8; }

}  // namespace

bool looks_like_lime(const ByteStream& stream) {
  std::array<std::byte, 4> start{};
  return stream.peek(start) == 4 && word_at<std::uint32_t>(start.data(), kOrder) == kMagic;
}

std::optional<LimeRecord> LimeReader::next() {
  stream_.skip(left_);
  stream_.skip(padding_);  // some programs leave it out at the end of the file
  left_ = padding_ = 0;
  if (stream_.left() == 0) return std::nullopt;
  std::array<std::byte, kHeader> header{};
  const std::uint64_t place = stream_.position();
  if (stream_.read(header) < kHeader)
    throw ConfigurationError(
        Problem::Truncated,
        fmt::format("{} ends within the header of the LIME record at byte {}: it is cut off, copy "
                    "it again",
                    stream_.name(), place));
  if (word_at<std::uint32_t>(header.data(), kOrder) != kMagic)
    throw ConfigurationError(
        Problem::Damaged, fmt::format("{} has no LIME record at byte {}, where one has to begin: "
                                      "it is damaged, copy it again",
                                      stream_.name(), place));
  const auto flags = word_at<std::uint16_t>(&header[6], kOrder);
  const auto* name = reinterpret_cast<const char*>(&header[16]);
  record_ = {.type = std::string(name, strnlen(name, kName)),
             .bytes = word_at<std::uint64_t>(&header[8], kOrder),
             .begins = (flags & kBegins) != 0,
             .ends = (flags & kEnds) != 0};
  const bool printable =
      std::ranges::all_of(record_.type, [](char c) { return c >= ' ' && c <= '~'; });
  if (record_.type.empty() || !printable)
    throw ConfigurationError(Problem::Damaged,
                             fmt::format("{} has a LIME record without a name at byte {}: it is "
                                         "damaged, copy it again",
                                         stream_.name(), place));
  if (record_.bytes > stream_.left())
    throw ConfigurationError(
        Problem::Truncated,
        fmt::format("{} is cut off: its record {} has {} bytes, of which {} are there; copy it "
                    "again",
                    stream_.name(), record_.type, record_.bytes, stream_.left()));
  left_ = record_.bytes;
  padding_ = padding(record_.bytes);
  return record_;
}

void LimeReader::read(std::span<std::byte> to) {
  if (to.size() > left_ || stream_.read(to) < to.size())
    throw ConfigurationError(Problem::Truncated,
                             fmt::format("{} is cut off within its record {}; copy it again",
                                         stream_.name(), record_.type));
  left_ -= to.size();
}

std::string LimeReader::text() {
  if (left_ > kMostText)
    throw ConfigurationError(
        Problem::Damaged, fmt::format("{} has a record {} of {} bytes, where a short text has to "
                                      "be: it is damaged, copy it again",
                                      stream_.name(), record_.type, left_));
  std::string text(left_, '\0');
  read(std::as_writable_bytes(std::span(text)));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

void LimeWriter::pad() {
  constexpr std::array<std::byte, 8> kZeros{};
  file_.write(std::span(kZeros).first(padding(file_.size())));  // a header is a multiple of eight
}

void LimeWriter::begin(const LimeRecord& record) {
  pad();
  std::array<std::byte, kHeader> header{};
  put_word(header.data(), kMagic, kOrder);
  put_word<std::uint16_t>(&header[4], 1, kOrder);
  const auto flags = (record.begins ? kBegins : 0) | (record.ends ? kEnds : 0);
  put_word(&header[6], static_cast<std::uint16_t>(flags), kOrder);
  put_word(&header[8], record.bytes, kOrder);
  std::memcpy(&header[16], record.type.data(), std::min(record.type.size(), kName - 1));
  file_.write(header);
}

void LimeWriter::write(std::span<const std::byte> bytes) { file_.write(bytes); }

void LimeWriter::text(const std::string& type, const std::string& text, bool begins, bool ends) {
  begin({.type = type, .bytes = text.size() + 1, .begins = begins, .ends = ends});
  write(std::as_bytes(std::span(text.c_str(), text.size() + 1)));  // c-lime's texts end with a zero
}

void LimeWriter::finish() {
  pad();
  file_.finish();
}

}  // namespace vphi::io
