// Internals of the parser: logical lines, and the parser of one line.
//
// parse_lines.cpp divides the tokens into logical lines (docs/rules.md rule 1) and checks that
// brackets are balanced, so brackets in a line are always closed. parse_expression.cpp and
// parse_clause.cpp contain the grammar; parser.cpp combines lines, bodies and comments. A
// LineParser stops at its first error, so there is one message a line.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/syntax/ast.hpp"
#include "dsl/syntax/lexer.hpp"

namespace vphi::dsl {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr int kMaxNesting = 200;  ///< brackets, signs, exponents, bodies
constexpr int kMaxDepth = 1000;   ///< of an expression's tree; every later stage may recurse
constexpr int kMaxErrors = 1000;  ///< reading stops there

/// Tokens [begin, end) of one logical line, or a lone `}`.
struct Segment {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool closes = false;  ///< `}`
  bool opens = false;   ///< the token at `end` is a `{`
  bool bad = false;     ///< reported already: skip
};

std::vector<Segment> split_lines(const std::vector<Token>& tokens, const Source& source,
                                 Diagnostics& diagnostics);

/// Words that join values inside an expression: if else and or not.
bool is_operator_word(std::string_view word);
/// Words that end an item: by within against where.
bool is_item_word(std::string_view word);
/// step, steps, sweep, ... behind a number in an item.
bool is_count_word(std::string_view word);
/// Whether the word is the keyword of a clause. For messages only: no keyword is reserved.
bool is_clause_keyword(std::string_view word);
bool ends_operand(Token::Kind kind);

class LineParser {
 public:
  LineParser(const Source& source, const std::vector<Token>& tokens, std::size_t begin,
             std::size_t end, Diagnostics& diagnostics)
      : source_(source),
        tokens_(tokens),
        at_(begin),
        begin_(begin),
        end_(end),
        diagnostics_(diagnostics) {}

  /// Definition, equation or clause without its body; false after a diagnostic.
  bool line(Line& out, bool has_body);
  /// `where a = 1, b = 2` behind the body of a clause.
  bool where_facts(std::vector<Definition>& out);
  /// One expression that extends to the end.
  ExprPtr whole_expression();

 private:
  using Node = std::shared_ptr<Expr>;

  // tokens
  const Token& peek(std::size_t ahead = 0) const;
  bool is(Token::Kind kind, std::size_t ahead = 0) const { return peek(ahead).kind == kind; }
  bool is_word(std::string_view word, std::size_t ahead = 0) const;
  bool done() const { return at_ >= end_; }
  bool take(Token::Kind kind);
  std::string_view text(const Token& token) const { return source_.at(token.span); }
  std::string found(std::size_t ahead = 0) const;  ///< the token, quoted for a message
  Span since(std::size_t first) const;             ///< from token `first` to the last one read
  bool fail(Diagnostic diagnostic);
  /// Reports a token that cannot follow a complete value.
  bool misplaced(std::string_view wanted);

  // nodes
  Node node(ExprKind kind, std::size_t first, std::string text, std::vector<ExprPtr> args);
  Node binary(std::size_t first, ExprPtr left, std::size_t op, ExprPtr right);
  bool enter(Span at);  ///< one level deeper; leave() after true
  void leave() { --nesting_; }

  // expressions, loosest first; null after a diagnostic
  ExprPtr expression();
  ExprPtr disjunction();
  ExprPtr conjunction();
  ExprPtr negation();
  ExprPtr comparison();
  ExprPtr range();
  ExprPtr sum();
  ExprPtr product();
  ExprPtr unary();
  ExprPtr power();
  ExprPtr exponent();
  ExprPtr postfix();
  ExprPtr primary();
  ExprPtr name();
  ExprPtr number();
  ExprPtr group();
  ExprPtr list();
  ExprPtr call(ExprPtr callee, std::size_t first);
  ExprPtr index(ExprPtr base, std::size_t first);
  ExprPtr shift(ExprPtr base, std::size_t first);
  ExprPtr prime(ExprPtr base, std::size_t first);
  bool values(std::vector<ExprPtr>& out, Token::Kind closer, std::string_view what);
  bool call_argument(Expr& out);
  bool system_ahead() const;
  bool starts_operand(std::size_t ahead) const;

  // heads, definitions, clauses
  bool head_ahead() const;  ///< `name...` before one `=` or `~`
  bool head(Head& out);
  bool definition(Definition& out);
  bool clause(Clause& out, bool has_body);
  bool model_clause(Clause& out);
  bool item(Item& out);
  bool item_words(Item& out);
  bool destination(Clause& out);
  bool facts_ahead() const;

  const Source& source_;
  const std::vector<Token>& tokens_;
  std::size_t at_;
  std::size_t begin_;
  std::size_t end_;
  Diagnostics& diagnostics_;
  int nesting_ = 0;
};

}  // namespace vphi::dsl
