// From bytes to tokens.
//
// White space and ends of line are not tokens: a token knows whether it is the first of its
// physical line, and dsl/syntax/parse_lines.cpp decides where a logical line begins (docs/rules.md
// rule 1). Comments are kept apart, in text order, for the formatter and for `##` documentation.
// Can fail: bytes that are not text, unknown characters, open strings, numbers such as `1.`; each
// is a diagnostic, and reading continues after it.
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
    Bad,  ///< reported by the lexer; the line that holds one is skipped in silence
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
  bool beside = false;         ///< behind a token on the same physical line
  bool documentation = false;  ///< `##`
};

struct Tokens {
  std::vector<Token> tokens;  ///< ends with one End
  std::vector<Comment> comments;
  bool text = true;  ///< false: the bytes are not text, which was reported; the rest is not used
};

Tokens tokenize(const Source& source, Diagnostics& diagnostics);

}  // namespace vphi::dsl
