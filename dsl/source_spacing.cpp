// Layout by counting tokens: the n-th token of a printed line is the n-th of the line it was.
#include "dsl/source_spacing.hpp"

#include <algorithm>

namespace vphi::dsl {

Written::Written(const ModelText& model) : source_(model.source) {
  if (!source_) return;
  Diagnostics ignored;  // reported when the text was read
  tokens_ = tokenize(*source_, ignored);
  // from token to token, since a line may hold all of a large file
  std::size_t at = 0;
  int column = 0;
  for (const Token& token : tokens_.tokens) {
    const std::string_view text = source_->text();
    for (; at < token.span.begin; ++at) {
      if (text[at] == '\n') {
        column = 0;
      } else if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) {
        ++column;  // a character's first byte
      }
    }
    columns_.push_back(column);
    starts_.emplace_back(token.line, column);
  }
}

// Two blanks or more before a token that stands below or above the beginning of another.
bool Written::in_column(std::size_t token) const {
  const Token& here = tokens_.tokens[token];
  if (here.first) return false;
  const Span gap{tokens_.tokens[token - 1].span.end, here.span.begin, here.span.file};
  if (gap.end < gap.begin + 2) return false;
  if (source_->at(gap).find_first_not_of(' ') != std::string_view::npos) return false;
  const int own = columns_[token];
  return std::ranges::binary_search(starts_, std::pair(here.line - 1, own)) ||
         std::ranges::binary_search(starts_, std::pair(here.line + 1, own));
}

LineSpacing Written::layout(Span begin, std::string_view text) const {
  LineSpacing out;
  const auto& all = tokens_.tokens;
  const auto first = std::ranges::lower_bound(all, begin.begin, {},
                                              [](const Token& token) { return token.span.begin; });
  if (first == all.end() || first->span.begin != begin.begin) return out;
  const auto from = static_cast<std::size_t>(first - all.begin());
  Diagnostics ignored;
  const Source printed("", std::string(text));
  const auto own = tokenize(printed, ignored).tokens;
  const std::size_t n = own.size() - 1;  // without the End
  if (n == 0 || all.size() - from <= n) return out;
  for (std::size_t i = 0; i < n; ++i) {
    if (own[i].kind != all[from + i].kind) return out;
  }
  int margin = columns_[from];
  for (std::size_t i = 1; i < n; ++i) {
    const Token& token = all[from + i];
    const int here = columns_[from + i];
    if (token.first) margin = here;
    if (token.first || in_column(from + i)) {
      out.places.push_back({own[i].span.begin, here, token.first, here - margin});
    }
  }
  const int last = all[from + n - 1].line;
  const auto comment = std::ranges::lower_bound(tokens_.comments, last, {}, &Comment::line);
  if (comment != tokens_.comments.end() && comment->line == last) {
    out.comment_column = source_->position(comment->span.begin).column - 1;
  }
  return out;
}

}  // namespace vphi::dsl
