// Bytes to messages, however they arrive; places in UTF-16.
#include "lsp/message.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "lsp/position.hpp"

namespace vphi::lsp {
namespace {

std::vector<std::string> read(const std::string& bytes, std::size_t piece) {
  MessageReader reader;
  std::vector<std::string> out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(std::string_view(bytes).substr(at, piece));
    while (auto m = reader.next()) out.push_back(m->malformed ? "<malformed>" : m->body);
  }
  return out;
}

TEST(Message, AnyPiecesGiveTheSameMessages) {
  const std::string bytes = framed("{}") + framed("") +
                            "content-length:  3\r\nContent-Type: x; charset=utf-8\r\n\r\nabc" +
                            framed("\r\n\r\n") + framed(std::string(5000, 'x'));
  const std::vector<std::string> expected{"{}", "", "abc", "\r\n\r\n", std::string(5000, 'x')};
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 100u, 100000u})
    EXPECT_EQ(read(bytes, piece), expected) << piece;
}

TEST(Message, BrokenHeadersAreSkippedToTheirEnd) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(read("Content-Length: x\r\n\r\n" + framed("a"), 5), (Strings{"<malformed>", "a"}));
  EXPECT_EQ(read("Content-Length: -4\r\n\r\n" + framed("a"), 5), (Strings{"<malformed>", "a"}));
  EXPECT_EQ(read("Content-Length: 99999999999999999999\r\n\r\n" + framed("a"), 9),
            (Strings{"<malformed>", "a"}));
  EXPECT_EQ(read("no header\r\n\r\n" + framed("a"), 9), (Strings{"<malformed>", "a"}));
  EXPECT_EQ(read("\r\n\r\n" + framed("a"), 9), (Strings{"<malformed>", "a"}));
  // Endless rubbish does not fill the memory.
  EXPECT_FALSE(read(std::string(1 << 20, 'x'), 4096).empty());
}

TEST(Message, ABodyThatIsTooLargeIsNotKept) {
  MessageReader reader;
  const std::size_t size = (std::size_t{64} << 20) + 5;
  reader.feed("Content-Length: " + std::to_string(size) + "\r\n\r\nabc");
  const auto first = reader.next();
  ASSERT_TRUE(first && first->malformed);
  const std::string piece(1 << 20, 'y');
  for (std::size_t sent = 3; sent < size; sent += std::min(piece.size(), size - sent)) {
    reader.feed(std::string_view(piece).substr(0, std::min(piece.size(), size - sent)));
    EXPECT_FALSE(reader.next());
  }
  reader.feed(framed("a"));
  const auto next = reader.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->body, "a");
}

TEST(Position, Utf16BothWays) {
  // phi has 2 bytes and 1 unit, the musical clef 4 bytes and 2 units.
  const std::string text =
      "a\xCF\x86"
      "b\n\xF0\x9D\x84\x9Ex\r\nlast";
  const LineIndex lines(text);
  const struct {
    std::uint32_t offset;
    Place place;
  } rows[] = {{0, {0, 0}}, {1, {0, 1}},  {3, {0, 2}},  {4, {0, 3}}, {5, {1, 0}},
              {9, {1, 2}}, {10, {1, 3}}, {12, {2, 0}}, {16, {2, 4}}};
  for (const auto& row : rows) {
    EXPECT_EQ(lines.place(row.offset), row.place) << row.offset;
    EXPECT_EQ(lines.offset(row.place), row.offset) << row.offset;
  }
  EXPECT_EQ(lines.offset({0, 99}), 4u);  // behind a line's end
  EXPECT_EQ(lines.offset({1, 1}), 5u);   // inside a pair: its beginning
  EXPECT_EQ(lines.offset({9, 0}), 16u);  // behind the text
  EXPECT_EQ(lines.place(99), (Place{2, 4}));
  EXPECT_EQ(LineIndex("").offset({3, 3}), 0u);
}

}  // namespace
}  // namespace vphi::lsp
