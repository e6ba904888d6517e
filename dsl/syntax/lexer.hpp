// The lexer: makes tokens from bytes.
//
// White space and ends of line are not tokens: a token knows whether it is the first of its
// physical line, and dsl/syntax/parse_lines.cpp decides where a logical line begins (docs/rules.md
// rule 1). Comments are stored separately, in text order, for the formatter and for `##`
// documentation. Can fail: bytes that are not text, unknown characters, unterminated strings,
// numbers such as `1.`. Each gives a diagnostic, and reading continues after it.
#pragma once

#include <vector>

#include "dsl/messages/diagnostic.hpp"
#include "dsl/syntax/text.hpp"

namespace vphi::dsl {

struct Token {
  enum class Kind {
    Word,
    Number,
    String,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    Equal,
    Tilde,
    Comma,
    Colon,
    Arrow,
    DotDot,
    At,
    Prime,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Bad,  ///< reported by the lexer; the parser skips its line without another message
    End,
  };
  Kind kind = Kind::End;
  Span span;
  int line = 0;            ///< physical line, from 1
  bool first = false;      ///< first token of its physical line
  bool imaginary = false;  ///< a Number that ends in `i`
};

struct Comment {
  Span span;
  int line = 0;
  bool beside = false;         ///< it follows a token on the same physical line
  bool documentation = false;  ///< `##`
};

struct Tokens {
  std::vector<Token> tokens;  ///< ends with one End
  std::vector<Comment> comments;
  /// False: the bytes are not text; this was reported and the other members are not used.
  bool text = true;
};

Tokens tokenize(const Source& source, Diagnostics& diagnostics);

}  // namespace vphi::dsl
