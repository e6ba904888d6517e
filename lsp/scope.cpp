#include "lsp/scope.hpp"

#include <algorithm>

#include "dsl/syntax/spelling.hpp"
#include "dsl/syntax/walk.hpp"
#include "dsl/types/type_text.hpp"
#include "dsl/words/builtins.hpp"
#include "dsl/words/clauses.hpp"

namespace vphi::lsp {

using dsl::ExprKind;
using dsl::Span;

namespace {

bool holds(Span span, std::uint32_t offset) {
  return span.file == 0 && span.begin <= offset && offset <= span.end && span.begin < span.end;
}

bool find_line(const std::vector<dsl::Line>& lines, std::uint32_t offset, const dsl::Line* outer,
               LineAt& out) {
  for (const dsl::Line& line : lines) {
    if (!holds(line.span, offset)) continue;
    out = {&line, outer};
    if (line.kind == dsl::Line::Kind::Clause) find_line(line.clause.body, offset, &line, out);
    return true;
  }
  return false;
}

/// The word of a head or a call: its span begins with the name.
Span word_of(Span span, const std::string& spelling, const std::string& name) {
  const auto length = static_cast<std::uint32_t>(spelling.empty() ? name.size() : spelling.size());
  return {span.begin, std::min(span.end, span.begin + length), span.file};
}

/// `f(x) = ...` and `w[i] = ...`: the names that belong to the line alone.
const dsl::ExprPtr* local_in(const dsl::Head& head, const std::string& name) {
  for (const auto* names : {&head.args, &head.indices})
    for (const dsl::ExprPtr& arg : *names)
      if (arg && arg->kind == ExprKind::Name && arg->text == name) return &arg;
  return nullptr;
}

/// The lines of the text, with calls of functions of links as they are written.
const std::vector<dsl::Line>& lines_of(const Analysis& analysis) {
  const dsl::Resolved& resolved = analysis.resolved;
  return resolved.as_written.empty() ? resolved.model.lines : resolved.as_written;
}

/// Calls `visit(span, name)` for each word of the line that stands for a value.
template <typename Visit>
void each_name(const dsl::Line& line, const Visit& visit) {
  const auto in_expr = [&](const dsl::ExprPtr& expr) {
    dsl::for_each(expr, [&](const dsl::Expr& e) {
      if (e.kind == ExprKind::Name || e.kind == ExprKind::Call)
        visit(word_of(e.span, e.spelling, e.text), e.text);
      // `f(x, m = 2)` sets a name of the model for the call; options of built-in functions do not.
      if (e.kind == ExprKind::Call && dsl::find_builtin(e.text) == nullptr)
        for (const auto& named : e.named) visit(named.span, named.name);
    });
  };
  const auto in_head = [&](const dsl::Head& head) {
    visit(word_of(head.span, head.spelling, head.name), head.name);
    for (const auto& arg : head.args) in_expr(arg);
    for (const auto& index : head.indices) in_expr(index);
  };
  if (line.kind != dsl::Line::Kind::Clause) {
    in_head(line.definition.head);
    in_expr(line.definition.value);
    return;
  }
  const dsl::ClauseRule* rule = dsl::find_clause(line.clause.keyword);
  const bool options = rule != nullptr && rule->heads == dsl::Heads::Options;
  for (const dsl::Item& item : line.clause.items) {
    // The name of an option is not a name of the model.
    if (item.head && !options) in_head(*item.head);
    in_expr(item.value);
    for (const auto& [word, value] : item.words) in_expr(value);
  }
  in_expr(line.clause.destination);
  for (const auto& fact : line.clause.where) {
    in_head(fact.head);
    in_expr(fact.value);
  }
  for (const dsl::Line& inner : line.clause.body) each_name(inner, visit);
}

/// The head whose parameters are visible at `offset` of this line.
const dsl::Head* head_over(const dsl::Line& line, std::uint32_t offset) {
  if (line.kind != dsl::Line::Kind::Clause) return &line.definition.head;
  const dsl::Head* found = nullptr;
  for (const dsl::Item& item : line.clause.items)
    if (item.head && item.head->span.begin <= offset) found = &*item.head;
  return found;
}

}  // namespace

LineAt line_at(const Analysis& analysis, std::uint32_t offset) {
  LineAt found;
  find_line(lines_of(analysis), offset, nullptr, found);
  return found;
}

Meaning meaning_at(const Analysis& analysis, std::uint32_t offset) {
  Meaning meaning;
  const dsl::Token* token = analysis.token_at(offset);
  if (token == nullptr || token->kind != dsl::Token::Kind::Word || analysis.in_comment(offset))
    return meaning;
  meaning.at = token->span;
  meaning.name = dsl::canonical(analysis.source->at(token->span));
  const LineAt here = line_at(analysis, token->span.begin);
  if (here.line != nullptr && here.line->kind == dsl::Line::Kind::Clause) {
    const dsl::Clause& clause = here.line->clause;
    meaning.clause = &clause;
    if (holds(clause.keyword_span, token->span.begin) &&
        token->span.begin < clause.keyword_span.end) {
      meaning.kind = Meaning::Kind::Keyword;
      meaning.name = clause.keyword;
      meaning.at = clause.keyword_span;
      return meaning;
    }
    const dsl::ClauseRule* rule = dsl::find_clause(clause.keyword);
    for (const dsl::Item& item : clause.items) {
      const bool head = item.head && item.head->span.begin == token->span.begin;
      const bool known =
          rule != nullptr && std::any_of(rule->options.begin(), rule->options.end(),
                                         [&](const auto& o) { return o.name == meaning.name; });
      if (head && (known || (rule != nullptr && rule->heads == dsl::Heads::Options))) {
        meaning.kind = Meaning::Kind::Option;
        return meaning;
      }
    }
  }
  for (const dsl::Line* line : {here.line, here.outer}) {
    if (line == nullptr) continue;
    const dsl::Head* head = head_over(*line, token->span.begin);
    if (head == nullptr) continue;
    if (const auto* local = local_in(*head, meaning.name)) {
      meaning.kind = Meaning::Kind::Local;
      meaning.declared = (*local)->span;
      return meaning;
    }
  }
  if (const dsl::Symbol* symbol = analysis.resolved.find(meaning.name)) {
    meaning.kind = Meaning::Kind::Symbol;
    meaning.symbol = symbol;
  } else if (dsl::find_builtin(meaning.name) != nullptr) {
    meaning.kind = Meaning::Kind::Function;
  } else if (dsl::find_constant(meaning.name) != nullptr) {
    meaning.kind = Meaning::Kind::Constant;
  } else if (here.line == nullptr && dsl::find_clause(meaning.name) != nullptr && token->first) {
    meaning.kind = Meaning::Kind::Keyword;  // of a line that could not be read
  } else {
    for (const std::string& type : dsl::type_names())
      if (type.substr(0, type.find('(')) == meaning.name) meaning.kind = Meaning::Kind::Type;
  }
  return meaning;
}

std::vector<Span> occurrences(const Analysis& analysis, const Meaning& meaning) {
  std::vector<Span> found;
  const bool local = meaning.kind == Meaning::Kind::Local;
  if (!local && meaning.kind != Meaning::Kind::Symbol) return found;
  for (const dsl::Line& line : lines_of(analysis)) {
    if (local && !holds(line.span, meaning.at.begin)) continue;
    each_name(line, [&](Span at, const std::string& name) {
      if (name != meaning.name || at.file != 0) return;
      const Meaning other = meaning_at(analysis, at.begin);
      if (other.kind == meaning.kind && other.declared == meaning.declared) found.push_back(at);
    });
  }
  std::sort(found.begin(), found.end(), [](Span a, Span b) { return a.begin < b.begin; });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string declaration_text(const Analysis& analysis, const dsl::Symbol& symbol) {
  if (symbol.line == nullptr) return {};
  const dsl::Sources sources = analysis.resolved.sources();
  const std::size_t file = symbol.line->span.file;
  if (file >= sources.size() || sources[file] == nullptr) return {};
  std::string text(sources[file]->at(symbol.line->span));
  constexpr int kMostLines = 12;
  std::size_t at = 0;
  for (int line = 0; line < kMostLines && at != std::string::npos; ++line)
    at = text.find('\n', at + (line > 0 ? 1 : 0));
  if (at != std::string::npos) text = text.substr(0, at) + "\n...";
  return text;
}

}  // namespace vphi::lsp
