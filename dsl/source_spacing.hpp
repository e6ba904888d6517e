// The layout of a text by its author, for the formatter: where a logical line continues on the next
// physical line, which tokens are aligned in columns, and where the comment at its end begins.
//
// A printed line has the same tokens as the text that it comes from, so a token's place in the text
// is found by counting. Where the tokens differ (redundant brackets are removed, or a line does not
// come from a text) the layout is not known, and the formatter uses its own rules.
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
  bool begins = false;    ///< the first token of a further physical line of the logical line
  int beyond_margin = 0;  ///< `column` minus that of the first token of its physical line
};

/// The layout of one logical line.
struct LineSpacing {
  std::vector<Placed> places;  ///< in the order of the text
  int comment_column = -1;     ///< column of the comment at its end; -1: none, or unknown
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
