// Completions at a place: keywords at the beginning of a line, options and their words in a clause,
// types, units, distributions, and every name in scope. It works on tokens alone, since an
// unfinished line can seldom be parsed.
#include <algorithm>
#include <set>

#include "dsl/name_errors.hpp"
#include "dsl/syntax/spelling.hpp"
#include "dsl/types/type_text.hpp"
#include "dsl/types/units.hpp"
#include "dsl/words/builtins.hpp"
#include "dsl/words/clauses.hpp"
#include "lsp/features.hpp"

namespace vphi::lsp {

namespace {

using dsl::Token;
using Kind = Token::Kind;
using dsl::SymbolKind;

/// Kinds of completion items of the protocol.
enum ItemKind {
  kFunction = 3,
  kFieldItem = 5,
  kVariable = 6,
  kProperty = 10,
  kUnit = 11,
  kKeyword = 14,
  kWord = 20,
  kConstant = 21,
  kType = 22,
  kOperator = 24,
};

bool goes_on(Kind kind) {
  switch (kind) {
    case Kind::Word:
    case Kind::Number:
    case Kind::String:
    case Kind::Prime:
    case Kind::CloseParen:
    case Kind::CloseBracket:
    case Kind::OpenBrace:
    case Kind::CloseBrace:
    case Kind::Bad:
      return false;
    case Kind::Plus:
    case Kind::Minus:
    case Kind::Star:
    case Kind::Slash:
    case Kind::Caret:
    case Kind::Less:
    case Kind::LessEqual:
    case Kind::Greater:
    case Kind::GreaterEqual:
    case Kind::EqualEqual:
    case Kind::NotEqual:
    case Kind::Equal:
    case Kind::Tilde:
    case Kind::Comma:
    case Kind::Colon:
    case Kind::Arrow:
    case Kind::DotDot:
    case Kind::At:
    case Kind::OpenParen:
    case Kind::OpenBracket:
    case Kind::End:
      break;
  }
  return true;
}

class Completion {
 public:
  Completion(const Analysis& analysis, std::uint32_t offset)
      : analysis_(analysis), all_(analysis.tokens.tokens), offset_(offset) {}

  Json run() {
    if (analysis_.in_comment(offset_)) return nullptr;
    find_place();
    if (in_string_) return nullptr;
    choose();
    return {{"isIncomplete", false}, {"items", std::move(items_)}};
  }

 private:
  // ---- where ----------------------------------------------------------------------------------

  void find_place() {
    end_ = 0;
    while (end_ < all_.size() && all_[end_].span.end < offset_ && all_[end_].kind != Kind::End)
      ++end_;
    replaced_ = {offset_, offset_, 0};
    if (end_ < all_.size() && all_[end_].span.begin < offset_) {
      const Token& here = all_[end_];
      const bool closed = here.kind == Kind::String && here.span.end == offset_;
      in_string_ = analysis_.source->at(here.span).starts_with('"') && !closed;
      if (here.kind == Kind::Word) {
        replaced_ = here.span;
      } else if (here.kind != Kind::End) {
        ++end_;  // `=|`: a sign that ends here stands before the place
      }
    }
    std::vector<std::string> bodies;
    begin_ = 0;
    for (std::size_t i = 0; i < end_; ++i) {
      const bool fresh = all_[i].first && all_[i].kind == Kind::Word &&
                         (i == 0 || !goes_on(all_[i - 1].kind)) && open_.empty();
      if (fresh || all_[i].kind == Kind::CloseBrace) begin_ = i, open_.clear();
      if (all_[i].kind == Kind::OpenParen || all_[i].kind == Kind::OpenBracket) open_.push_back(i);
      if (all_[i].kind == Kind::CloseParen || all_[i].kind == Kind::CloseBracket) {
        if (!open_.empty()) open_.pop_back();
      }
      if (all_[i].kind == Kind::OpenBrace) {
        bodies.push_back(word(begin_));
        begin_ = i + 1, open_.clear();
      }
      if (all_[i].kind == Kind::CloseBrace) {
        if (!bodies.empty()) bodies.pop_back();
        begin_ = i + 1;
      }
    }
    // The word at the place may itself be the first of a line.
    const bool fresh = end_ < all_.size() && all_[end_].first && replaced_.begin < replaced_.end &&
                       (end_ == 0 || !goes_on(all_[end_ - 1].kind)) && open_.empty();
    if (fresh || (replaced_.begin == replaced_.end && at_line_start() && open_.empty() &&
                  (end_ == 0 || !goes_on(all_[end_ - 1].kind))))
      begin_ = end_;
    if (!bodies.empty()) body_ = bodies.back();
  }

  bool at_line_start() const {
    const auto text = analysis_.source->text();
    for (std::size_t i = std::min<std::size_t>(offset_, text.size()); i > 0; --i) {
      const char c = text[i - 1];
      if (c == '\n' || c == '\r') return true;
      if (c != ' ' && c != '\t') return false;
    }
    return true;
  }

  std::string word(std::size_t i) const {
    if (i >= all_.size() || all_[i].kind != Kind::Word) return {};
    return std::string(analysis_.source->at(all_[i].span));
  }
  Kind before(std::size_t back = 1) const {
    return end_ >= begin_ + back ? all_[end_ - back].kind : Kind::End;
  }

  /// The clause's keyword; nothing for a definition.
  const dsl::ClauseRule* clause() const {
    if (begin_ >= end_) return nullptr;
    const Kind next = begin_ + 1 < end_ ? all_[begin_ + 1].kind : Kind::End;
    const bool definition = next == Kind::Equal || next == Kind::Tilde || next == Kind::OpenParen ||
                            next == Kind::OpenBracket || next == Kind::Prime;
    if (definition) return nullptr;
    const std::string keyword = word(begin_);
    if (keyword == "at" && word(begin_ + 1) == "end") return dsl::find_clause("at end");
    return dsl::find_clause(keyword);
  }

  // ---- what -----------------------------------------------------------------------------------

  void choose() {
    if (begin_ >= end_) return line_start();
    if (before() == Kind::Number || before() == Kind::Arrow || before() == Kind::String) {
      if (before() == Kind::Number && word(begin_) == "every")
        add("steps", kWord, "number of steps");
      return;
    }
    if (before() == Kind::OpenBracket && before(2) == Kind::Number) return units();
    const dsl::ClauseRule* rule = clause();
    if (rule == nullptr) {
      if (word(begin_) == "laplacian" && before() == Kind::Equal)
        return symbols({SymbolKind::Stencil});
      if (drawn()) distributions();
      return expression();
    }
    if (!open_.empty()) return in_brackets(*rule);
    if (rule->heads == dsl::Heads::Declares && before() != Kind::Equal && before() != Kind::Tilde &&
        !goes_on(before()))
      return;  // a new name
    if (before() == Kind::Equal) {
      for (const dsl::OptionRule& option : rule->options) {
        if (option.name != word(end_ - 2)) continue;
        for (const std::string& w : dsl::split_words(option.words)) add(w, kWord, "");
        if (option.name == "scheme") symbols({SymbolKind::Integrator});
        if (option.takes == dsl::Takes::Laws) return symbols({SymbolKind::Conserved});
        if (option.takes == dsl::Takes::Word) return;
      }
      return expression();
    }
    if (before() == Kind::Tilde) return distributions(), expression();
    const bool begins = end_ == begin_ + 1 || (rule->keyword == "at end" && end_ == begin_ + 2);
    const bool separated = before() == Kind::Comma || before() == Kind::Colon;
    if (begins || separated) return item(*rule, begins);
    expression();
  }

  bool drawn() const {
    for (std::size_t i = begin_; i < end_; ++i)
      if (all_[i].kind == Kind::Tilde) return true;
    return false;
  }

  void line_start() {
    for (const dsl::ClauseRule& rule : dsl::clause_rules()) {
      if (rule.inside != body_) continue;
      if (rule.once && analysis_.resolved.clause(std::string(rule.keyword)) != nullptr) continue;
      add(std::string(rule.keyword), kKeyword, std::string(rule.usage),
          std::string(dsl::clause_doc(rule.keyword)));
    }
    symbols({SymbolKind::Field, SymbolKind::Variable, SymbolKind::Gauge, SymbolKind::Fermion});
    if (body_.empty()) add("laplacian", kOperator, "laplacian = STENCIL: what lap means");
  }

  /// Behind the keyword, a comma or a colon.
  void item(const dsl::ClauseRule& rule, bool begins) {
    const std::string_view keyword = rule.keyword;
    const bool typed = keyword == "field" || keyword == "var" || keyword == "gauge" ||
                       keyword == "fermion" || keyword == "primitive";
    if (typed && before() == Kind::Colon) {
      for (const std::string& type : dsl::type_names()) add(type, kType, "");
      return;
    }
    if (begins && keyword == "units") {
      for (const std::string& system : dsl::system_names()) add(system, kUnit, "");
      return;
    }
    if (begins && keyword == "metric") {
      add("frw(a)", kFunction, "expands with the box");
      return add("scale(1, 1, t)", kFunction, "a scale factor for each coordinate");
    }
    if (begins && (keyword == "evolve" || keyword == "integrator"))
      symbols({SymbolKind::Integrator, SymbolKind::Scheme});
    if (begins && keyword == "scheme") symbols({SymbolKind::Scheme});
    if (begins && keyword == "solver") symbols({SymbolKind::Solver});
    if (begins && keyword == "stencil") symbols({SymbolKind::Stencil});
    if (begins && keyword == "random") add("philox", kWord, "counter-based generator");
    if (keyword == "init" || keyword == "limit")
      symbols({SymbolKind::Field, SymbolKind::Variable, SymbolKind::Gauge, SymbolKind::Fermion,
               SymbolKind::Primitive});
    if (keyword == "beyond") {
      if (begins) return add("low(x)", kFunction, "the end of the axis at its first cell");
      symbols({SymbolKind::Primitive});
    }
    if (keyword == "level") symbols({SymbolKind::Action});
    if (!begins || rule.least == 0) options(rule);
    const bool values =
        keyword == "every" || keyword == "at end" || keyword == "expect" || keyword == "plot";
    if (!values) return;
    for (const dsl::Builtin& b : dsl::builtins()) {
      const bool fits =
          keyword == "expect" ? b.rule == dsl::Rule::Promise : b.rule == dsl::Rule::Output;
      if (fits) add(std::string(b.name), kFunction, std::string(b.doc));
    }
    expression();
  }

  /// Inside of a call: its options, then any name.
  void in_brackets(const dsl::ClauseRule& rule) {
    if (rule.keyword == "metric") return;
    call_options();
    expression();
  }

  void call_options() {
    if (open_.empty() || open_.back() == 0 || all_[open_.back()].kind != Kind::OpenParen) return;
    if (before() != Kind::Comma) return;
    const dsl::Builtin* builtin = dsl::find_builtin(word(open_.back() - 1));
    if (builtin == nullptr) return;
    for (const std::string& option : dsl::split_words(std::string(builtin->options)))
      add(option, kProperty, option + " = ...");
  }

  void options(const dsl::ClauseRule& rule) {
    std::set<std::string> used;
    for (std::size_t i = begin_; i + 1 < all_.size() && !all_[i + 1].first; ++i)
      if (all_[i + 1].kind == Kind::Equal && word(i) != current()) used.insert(word(i));
    for (const dsl::OptionRule& option : rule.options)
      if (used.count(std::string(option.name)) == 0)
        add(std::string(option.name), kProperty, std::string(option.doc));
  }

  std::string current() const { return std::string(analysis_.source->at(replaced_)); }

  void units() {
    for (const std::string& unit : dsl::unit_names()) add(unit, kUnit, "");
  }

  void distributions() {
    for (const dsl::Builtin& b : dsl::builtins())
      if (b.rule == dsl::Rule::Distribution)
        add(std::string(b.name), kFunction, std::string(b.doc));
  }

  void symbols(std::initializer_list<SymbolKind> kinds) {
    for (const auto& [name, symbol] : analysis_.resolved.symbols) {
      if (std::find(kinds.begin(), kinds.end(), symbol.kind) == kinds.end()) continue;
      add(name, symbol.origin.empty() ? kFieldItem : kOperator, detail(symbol), doc(symbol));
    }
  }

  static std::string detail(const dsl::Symbol& symbol) {
    return dsl::errors::kind_name(symbol) + (symbol.origin.empty() ? "" : ", " + symbol.origin);
  }
  static std::string doc(const dsl::Symbol& symbol) {
    return symbol.line != nullptr ? symbol.line->documentation : std::string();
  }

  void expression() {
    if (!open_.empty()) call_options();
    for (const auto& [name, symbol] : analysis_.resolved.symbols) {
      const bool library = symbol.kind == SymbolKind::Integrator ||
                           symbol.kind == SymbolKind::Scheme || symbol.kind == SymbolKind::Solver ||
                           name.find('.') != std::string::npos;
      if (library) continue;
      const bool constant = symbol.kind == SymbolKind::Parameter;
      add(name, constant ? kConstant : kVariable, detail(symbol), doc(symbol));
    }
    for (const dsl::Builtin& b : dsl::builtins()) {
      const bool alone = b.rule == dsl::Rule::Output || b.rule == dsl::Rule::Promise ||
                         b.rule == dsl::Rule::Distribution;
      if (!alone) add(std::string(b.name), kFunction, std::string(b.doc));
    }
    for (const dsl::BuiltinConstant& c : dsl::constants())
      add(std::string(c.name), kConstant, std::string(c.doc));
  }

  void add(const std::string& label, ItemKind kind, const std::string& detail,
           const std::string& doc = {}) {
    if (!seen_.insert(label).second) return;
    Json one = {{"label", label}, {"kind", static_cast<int>(kind)}};
    if (!detail.empty()) one["detail"] = detail;
    if (!doc.empty()) one["documentation"] = doc;
    one["textEdit"] = {{"range", range(analysis_.lines, replaced_)}, {"newText", label}};
    items_.push_back(std::move(one));
  }

  const Analysis& analysis_;
  const std::vector<Token>& all_;
  std::uint32_t offset_;
  std::size_t begin_ = 0, end_ = 0;  ///< tokens of the logical line before the place
  std::vector<std::size_t> open_;    ///< brackets that are open there
  std::string body_;                 ///< keyword of the clause whose body this is
  dsl::Span replaced_;
  bool in_string_ = false;
  std::set<std::string> seen_;
  Json items_ = Json::array();
};

}  // namespace

Json completion(const Analysis& analysis, std::uint32_t offset) {
  return Completion(analysis, offset).run();
}

}  // namespace vphi::lsp
