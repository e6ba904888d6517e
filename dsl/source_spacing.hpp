// How a text was laid out by its author, for the formatter: where a logical line continues on the
// next physical one, which tokens are aligned in columns, and where the comment beside it begins.
//
// Printed lines have the tokens of the text that they come from, so a token's place in the text is
// found by counting. Where the tokens differ (a doubled bracket that is dropped, a line that was
// made and not read) the layout is not known and the formatter uses its own rules.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "dsl/syntax/ast.hpp"
#include "dsl/syntax/lexer.hpp"

namespace vphi::dsl {

/// A token whose position the author chose.
struct Placed {
  std::size_t at = 0;     ///< byte of the printed text where it begins
  int column = 0;         ///< blanks before it, from the beginning of its physical line
  bool begins = false;    ///< the first of a physical line: the logical one goes on there
  int beyond_margin = 0;  ///< `column` less that of the first token of its physical line
};

/// What is known of one logical line.
struct LineSpacing {
  std::vector<Placed> places;  ///< in the order of the text
  int comment_column = -1;     ///< columns before the comment beside its end; -1: none, or unknown
};

class Written {
 public:
  explicit Written(const ModelText& model);

  /// The layout of the line that begins at `begin` and prints as `text`, brace of a body included.
  LineSpacing layout(Span begin, std::string_view text) const;

 private:
  bool in_column(std::size_t token) const;

  std::shared_ptr<const Source> source_;
  Tokens tokens_;
  std::vector<int> columns_;                 ///< of each token
  std::vector<std::pair<int, int>> starts_;  ///< line and column of every token, ascending
};

}  // namespace vphi::dsl
