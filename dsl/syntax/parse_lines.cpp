// Where a logical line begins and ends: docs/rules.md rule 1.
#include <algorithm>
#include <array>

#include "dsl/syntax/parser.hpp"
#include "dsl/syntax/syntax_errors.hpp"

namespace vphi::dsl {
namespace {

using Kind = Token::Kind;

template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 5> kOperatorWords{"if", "else", "and", "or", "not"};
constexpr std::array<std::string_view, 4> kItemWords{"by", "within", "against", "where"};
constexpr std::array<std::string_view, 10> kCountWords{
    "step",         "steps",  "sweep",   "sweeps",    "trajectory",
    "trajectories", "update", "updates", "iteration", "iterations"};
constexpr std::array<std::string_view, 42> kKeywords{
    "model",     "units",     "param",     "sweep",  "lattice",   "particles",  "field",
    "gauge",     "fermion",   "var",       "metric", "potential", "lagrangian", "action",
    "primitive", "conserve",  "recover",   "limit",  "rescale",   "stencil",    "integrator",
    "scheme",    "split",     "evolve",    "sample", "level",     "solve",      "init",
    "random",    "noise",     "precision", "every",  "at",        "at end",     "plot",
    "expect",    "laplacian", "import",    "solver", "repeat",    "relax",      "beyond"};

bool opens(Kind kind) { return kind == Kind::OpenParen || kind == Kind::OpenBracket; }
bool closes(Kind kind) { return kind == Kind::CloseParen || kind == Kind::CloseBracket; }
std::string_view closer_of(Kind opener) { return opener == Kind::OpenParen ? ")" : "]"; }

class Splitter {
 public:
  Splitter(const std::vector<Token>& tokens, const Source& source, Diagnostics& diagnostics)
      : tokens_(tokens), source_(source), diagnostics_(diagnostics) {}

  std::vector<Segment> run() {
    while (kind(at_) != Kind::End && diagnostics_.errors() < kMaxErrors) {
      if (kind(at_) == Kind::CloseBrace) {
        segments_.push_back({at_, at_ + 1, true, false, false});
        ++at_;
      } else {
        logical_line();
      }
    }
    return std::move(segments_);
  }

 private:
  Kind kind(std::size_t i) const { return tokens_[std::min(i, tokens_.size() - 1)].kind; }
  std::string_view word(std::size_t i) const {
    return kind(i) == Kind::Word ? source_.at(tokens_[i].span) : std::string_view();
  }

  void report(Diagnostic diagnostic) {
    if (!line_.bad) diagnostics_.add(std::move(diagnostic));
    line_.bad = true;
  }

  void logical_line() {
    line_ = {at_, at_, false, false, false};
    open_.clear();
    for (; kind(at_) != Kind::End; ++at_) {
      const Token& token = tokens_[at_];
      if (at_ > line_.begin && token.first && begins_line()) break;
      if (token.kind == Kind::CloseBrace) {
        if (!open_.empty()) report_open({});
        break;
      }
      if (token.kind == Kind::OpenBrace) {
        if (open_.empty() || body_opens()) {
          line_.opens = true;
          break;
        }
        if (!skip_braces()) break;
        continue;
      }
      if (token.kind == Kind::Bad) line_.bad = true;
      if (opens(token.kind)) open_.push_back(at_);
      if (closes(token.kind)) close(token);
    }
    if (!open_.empty() && kind(at_) == Kind::End) report_open({});
    line_.end = at_;
    segments_.push_back(line_);
    if (line_.opens) ++at_;
  }

  void report_open(Span next) {
    const Token& bracket = tokens_[open_.back()];
    report(syntax::open_bracket(bracket.span, closer_of(bracket.kind), next));
  }

  // A `{` inside brackets: the last token of its line opens a body and a bracket is missing.
  bool body_opens() {
    const bool last = kind(at_ + 1) == Kind::End || tokens_[at_ + 1].first;
    if (last) report_open(tokens_[at_].span);
    return last;
  }

  // `{ ... }` as a part of an expression; false where the `}` is not on the same line.
  bool skip_braces() {
    report(syntax::brace_in_brackets(tokens_[at_].span));
    std::size_t i = at_ + 1;
    while (kind(i) != Kind::End && kind(i) != Kind::CloseBrace && !tokens_[i].first) ++i;
    if (kind(i) == Kind::CloseBrace && !tokens_[i].first) {
      at_ = i;
      return true;
    }
    line_.opens = true;
    return false;
  }

  void close(const Token& token) {
    const auto found = source_.at(token.span);
    if (open_.empty()) {
      report(syntax::stray_closer(token.span, found));
      return;
    }
    const Token& opener = tokens_[open_.back()];
    open_.pop_back();
    const auto wanted = closer_of(opener.kind);
    if (found != wanted) report(syntax::wrong_closer(token.span, found, opener.span, wanted));
  }

  // The token at_ is the first of its physical line: does a logical line begin with it?
  bool begins_line() {
    const Token& token = tokens_[at_];
    const Token& last = tokens_[at_ - 1];
    if (token.kind == Kind::CloseBrace) {
      if (!open_.empty()) report_open(token.span);
      return true;
    }
    if (token.kind != Kind::Word) return false;
    if (open_.empty()) {
      if (!continues(at_ - 1)) return true;
      if (!clause_begins()) return false;
      const auto text = source_.at(last.span);
      report(syntax::dangling(last.span, "`" + std::string(text) + "`", token.span));
      return true;
    }
    // Two values side by side mean that the bracket was forgotten on the line before.
    const bool two_values =
        ends_operand(last.kind) && !is_operator_word(word(at_ - 1)) && !is_operator_word(word(at_));
    if (!clause_begins() && !two_values) return false;
    report_open(token.span);
    return true;
  }

  bool clause_begins() const {
    const Kind next = kind(at_ + 1);
    const bool value = next == Kind::Word || next == Kind::Number || next == Kind::String;
    return is_clause_keyword(word(at_)) && value && !tokens_[at_ + 1].first &&
           !is_operator_word(word(at_ + 1)) && !is_item_word(word(at_ + 1));
  }

  // A line whose last token is `i` goes on.
  bool continues(std::size_t i) const {
    const Kind last = kind(i);
    if (last == Kind::Word) {
      const bool joins = is_operator_word(word(i)) || is_item_word(word(i));
      return joins && i > line_.begin && ends_operand(kind(i - 1));
    }
    return last >= Kind::Plus && last <= Kind::At;
  }

  const std::vector<Token>& tokens_;
  const Source& source_;
  Diagnostics& diagnostics_;
  std::vector<Segment> segments_;
  std::vector<std::size_t> open_;
  Segment line_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_operator_word(std::string_view word) { return among(kOperatorWords, word); }
bool is_item_word(std::string_view word) { return among(kItemWords, word); }
bool is_count_word(std::string_view word) { return among(kCountWords, word); }
bool is_clause_keyword(std::string_view word) { return among(kKeywords, word); }

bool ends_operand(Kind kind) {
  return kind == Kind::Word || kind == Kind::Number || kind == Kind::String ||
         kind == Kind::Prime || closes(kind);
}

std::vector<Segment> split_lines(const std::vector<Token>& tokens, const Source& source,
                                 Diagnostics& diagnostics) {
  return Splitter(tokens, source, diagnostics).run();
}

}  // namespace vphi::dsl
