#include "dsl/syntax/lexer.hpp"

#include <array>
#include <string>
#include <string_view>

#include "dsl/syntax/syntax_errors.hpp"
#include "dsl/syntax/unicode.hpp"

namespace vphi::dsl {
namespace {

using Kind = Token::Kind;

// The number of errors after which reading stops.
constexpr int kEnough = 1000;

struct Sign {
  std::string_view text;
  Kind kind;
};

// Longer signs first.
constexpr std::array<Sign, 27> kSigns{{
    {"->", Kind::Arrow},
    {"..", Kind::DotDot},
    {"<=", Kind::LessEqual},
    {">=", Kind::GreaterEqual},
    {"==", Kind::EqualEqual},
    {"!=", Kind::NotEqual},
    {"+", Kind::Plus},
    {"-", Kind::Minus},
    {"*", Kind::Star},
    {"/", Kind::Slash},
    {"^", Kind::Caret},
    {"<", Kind::Less},
    {">", Kind::Greater},
    {"=", Kind::Equal},
    {"~", Kind::Tilde},
    {",", Kind::Comma},
    {":", Kind::Colon},
    {"@", Kind::At},
    {"'", Kind::Prime},
    {"(", Kind::OpenParen},
    {")", Kind::CloseParen},
    {"[", Kind::OpenBracket},
    {"]", Kind::CloseBracket},
    {"{", Kind::OpenBrace},
    {"}", Kind::CloseBrace},
    {"\xE2\x88\x92", Kind::Minus},  // U+2212 minus sign
    {"\xE2\x80\xB2", Kind::Prime},  // U+2032 prime
}};

// Notation of other languages.
struct Foreign {
  std::string_view text, ours;
};
constexpr std::array<Foreign, 14> kForeign{{
    {"**", "^"},
    {"&&", "and"},
    {"||", "or"},
    {"+=", "="},
    {"-=", "="},
    {":=", "="},
    {"=>", ">="},
    {"=<", "<="},
    {"!", "not"},
    {"\xE2\x89\xA4", "<="},
    {"\xE2\x89\xA5", ">="},
    {"\xE2\x89\xA0", "!="},
    {"\xC2\xB7", "*"},
    {"\xC3\x97", "*"},
}};

class Lexer {
 public:
  Lexer(const Source& source, Diagnostics& diagnostics)
      : source_(source), text_(source.text()), diagnostics_(diagnostics) {}

  Tokens run() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // byte order mark
    while (at_ < text_.size() && diagnostics_.errors() < kEnough) next();
    push(Kind::End, at_, at_);
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  Span span(std::size_t begin, std::size_t end) const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), source_.file()};
  }
  void push(Kind kind, std::size_t begin, std::size_t end) {
    Token token;
    token.kind = kind;
    token.span = span(begin, end);
    token.line = line_;
    token.first = first_;
    first_ = false;
    out_.tokens.push_back(token);
  }

  void next() {
    const char c = peek();
    if (c == '\n' || c == '\r') {
      if (c == '\r' && peek(1) == '\n') ++at_;
      ++at_, ++line_, first_ = true;
    } else if (c == ' ' || c == '\t') {
      ++at_;
    } else if (c == '#') {
      comment();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
    } else if (c == '"') {
      string();
    } else if (is_name_start(decode(text_, at_).value)) {
      word();
    } else {
      sign();
    }
  }

  void comment() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && peek() != '\n' && peek() != '\r') {
      if (!printable()) return;
    }
    Comment found;
    found.span = span(begin, at_);
    found.line = line_;
    found.beside = !first_;
    found.documentation = text_.substr(begin).starts_with("##");
    out_.comments.push_back(found);
  }

  // Steps over one character of a comment or a string; false at bytes that are not text.
  bool printable() {
    const auto [c, bytes] = decode(text_, at_);
    const bool control = (c < 0x20 && c != '\t') || c == 0x7F || (c >= 0x80 && c < 0xA0);
    if (c == kMalformed || control) {
      not_text(bytes);
      return false;
    }
    at_ += static_cast<std::size_t>(bytes);
    return true;
  }

  // digits [. digits] [e [sign] digits] [i]; the `..` of a range is not a decimal point.
  void number() {
    const std::size_t begin = at_;
    const auto digits = [this] {
      while (is_digit(peek())) ++at_;
    };
    digits();
    bool bare = at_ == begin;
    if (peek() == '.' && peek(1) != '.') {
      ++at_;
      bare = bare || !is_digit(peek());
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      const bool sign = peek(1) == '+' || peek(1) == '-';
      if (is_digit(peek(sign ? 2 : 1))) {
        at_ += sign ? 2 : 1;
        digits();
      }
    }
    const std::size_t end = at_;
    bool imaginary = false;
    if (peek() == 'i' && (at_ + 1 >= text_.size() || !is_name_part(decode(text_, at_ + 1).value))) {
      imaginary = true;
      ++at_;
    }
    if (bare) {
      const std::string written(text_.substr(begin, end - begin));
      std::string fix;
      for (std::size_t k = 0; k < written.size(); ++k) {
        const bool point = written[k] == '.';
        if (point && k == 0) fix.push_back('0');
        fix.push_back(written[k]);
        if (point && (k + 1 == written.size() || !is_digit(written[k + 1]))) fix.push_back('0');
      }
      diagnostics_.add(syntax::bare_decimal_point(span(begin, end), written, fix));
      push(Kind::Bad, begin, at_);
      return;
    }
    push(Kind::Number, begin, at_);
    out_.tokens.back().imaginary = imaginary;
  }

  void string() {
    const std::size_t begin = at_++;
    while (peek() != '"') {
      if (at_ >= text_.size() || peek() == '\n' || peek() == '\r') {
        diagnostics_.add(syntax::open_string(span(begin, begin + 1)));
        push(Kind::Bad, begin, at_);
        return;
      }
      const auto [c, bytes] = decode(text_, at_);
      if (c == 0 || c == kMalformed) {
        not_text(bytes);
        return;
      }
      if (c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0)) {
        diagnostics_.add(
            syntax::control_in_string(span(at_, at_ + static_cast<std::size_t>(bytes))));
        while (at_ < text_.size() && peek() != '"' && peek() != '\n' && peek() != '\r') ++at_;
        if (peek() == '"') ++at_;
        push(Kind::Bad, begin, at_);
        return;
      }
      at_ += static_cast<std::size_t>(bytes);
    }
    ++at_;
    push(Kind::String, begin, at_);
  }

  void word() {
    const std::size_t begin = at_;
    letters();
    // `frw.H`: a name of a construct, said in full
    if (peek() == '.' && at_ + 1 < text_.size() && is_name_start(decode(text_, at_ + 1).value)) {
      ++at_;
      letters();
    }
    push(Kind::Word, begin, at_);
  }

  void letters() {
    while (at_ < text_.size()) {
      const auto [c, bytes] = decode(text_, at_);
      if (!is_name_part(c)) break;
      at_ += static_cast<std::size_t>(bytes);
    }
  }

  void sign() {
    const auto rest = text_.substr(at_);
    for (const Foreign& foreign : kForeign) {
      if (!rest.starts_with(foreign.text) || rest.starts_with("!=")) continue;
      // `-=` inside `x-=y` only; `a =-b` never comes here with `-` first.
      const std::size_t end = at_ + foreign.text.size();
      diagnostics_.add(syntax::foreign_operator(span(at_, end), foreign.text, foreign.ours));
      push(Kind::Bad, at_, end);
      at_ = end;
      return;
    }
    for (const Sign& sign : kSigns) {
      if (!rest.starts_with(sign.text)) continue;
      push(sign.kind, at_, at_ + sign.text.size());
      at_ += sign.text.size();
      return;
    }
    unknown();
  }

  // One message for a file that is not text; the rest of it is not read.
  void not_text(int bytes) {
    diagnostics_.add(syntax::not_text(span(at_, at_ + static_cast<std::size_t>(bytes))));
    out_.text = false;
    at_ = text_.size();
  }

  void unknown() {
    const auto [c, bytes] = decode(text_, at_);
    const std::size_t end = at_ + static_cast<std::size_t>(bytes);
    if (c == kMalformed || c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0)) {
      not_text(bytes);
      return;
    }
    if (c == ';') {
      diagnostics_.add(syntax::semicolon(span(at_, end)));
    } else {
      diagnostics_.add(syntax::unknown_character(span(at_, end), text_.substr(at_, end - at_)));
    }
    push(Kind::Bad, at_, end);
    at_ = end;
  }

  const Source& source_;
  std::string_view text_;
  Diagnostics& diagnostics_;
  Tokens out_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool first_ = true;
};

}  // namespace

Tokens tokenize(const Source& source, Diagnostics& diagnostics) {
  return Lexer(source, diagnostics).run();
}

}  // namespace vphi::dsl
