// Heads, definitions and clauses: docs/rules.md rules 2 to 4.
#include "dsl/syntax/parser.hpp"
#include "dsl/syntax/spelling.hpp"
#include "dsl/syntax/syntax_errors.hpp"

namespace vphi::dsl {

using Kind = Token::Kind;

// ---- heads ------------------------------------------------------------------------------------

// docs/rules.md rule 2: `name`, `name(...)` or `name[...]`, with any primes, before one `=` or `~`.
bool LineParser::head_ahead() const {
  if (!is(Kind::Word)) return false;
  std::size_t i = 1;
  const auto primes = [&] {
    while (is(Kind::Prime, i)) ++i;
  };
  primes();
  while (is(Kind::OpenParen, i) || is(Kind::OpenBracket, i)) {
    int open = 0;
    do {
      const Kind kind = peek(i).kind;
      if (kind == Kind::OpenParen || kind == Kind::OpenBracket) ++open;
      if (kind == Kind::CloseParen || kind == Kind::CloseBracket) --open;
      ++i;
    } while (open > 0 && at_ + i < end_);
  }
  primes();
  return is(Kind::Equal, i) || is(Kind::Tilde, i);
}

bool LineParser::head(Head& out) {
  const std::size_t first = at_++;
  const std::string written(text(tokens_[first]));
  out.name = canonical(written);
  if (out.name != written) out.spelling = written;
  if (written.find('.') != std::string::npos) {
    return fail(syntax::dotted_head(tokens_[first].span, written));
  }
  while (take(Kind::Prime)) ++out.primes;
  if (take(Kind::OpenParen)) {
    out.form = Head::Form::Function;
    if (!values(out.args, Kind::CloseParen, "a left side")) return false;
    for (const ExprPtr& arg : out.args) {
      if (arg->kind != ExprKind::Name) {
        return fail(syntax::head_argument(arg->span, source_.at(arg->span).substr(0, 40)));
      }
    }
    if (take(Kind::OpenBracket)) {
      if (!values(out.indices, Kind::CloseBracket, "an index")) return false;
      for (const ExprPtr& index : out.indices)
        if (index->kind != ExprKind::Name)
          return fail(syntax::head_argument(index->span, source_.at(index->span).substr(0, 40)));
    }
  } else if (take(Kind::OpenBracket)) {
    out.form = Head::Form::Indexed;
    if (!values(out.args, Kind::CloseBracket, "an index")) return false;
  }
  while (take(Kind::Prime)) ++out.primes;
  out.span = since(first);
  return true;
}

bool LineParser::definition(Definition& out) {
  if (!head(out.head)) return false;
  const Span sign = peek().span;
  out.drawn = is(Kind::Tilde);
  ++at_;
  out.value = expression();
  if (!out.value) return false;
  if (is(Kind::Equal) || is(Kind::Tilde)) {
    return fail(syntax::second_equals(peek().span, sign));
  }
  return true;
}

// ---- lines ------------------------------------------------------------------------------------

bool LineParser::line(Line& out, bool has_body) {
  out.span = since(begin_);
  if (end_ > begin_) out.span = cover(tokens_[begin_].span, tokens_[end_ - 1].span);
  if (!is(Kind::Word)) {
    if (end_ == begin_) return fail(syntax::line_begins_badly(tokens_[end_].span, "`{`"));
    return fail(syntax::line_begins_badly(peek().span, found()));
  }
  if (!head_ahead()) {
    out.kind = Line::Kind::Clause;
    return clause(out.clause, has_body);
  }
  if (!definition(out.definition)) return false;
  out.kind = out.definition.head.primes > 0 ? Line::Kind::Equation : Line::Kind::Definition;
  if (is_word("where")) return fail(syntax::where_after_definition(peek().span));
  if (!done()) return misplaced("the end of the line");
  if (has_body) {
    return fail(syntax::body_of_definition(tokens_[end_].span, out.definition.head.name));
  }
  return true;
}

// ---- clauses ----------------------------------------------------------------------------------

bool LineParser::clause(Clause& out, bool has_body) {
  out.keyword = std::string(text(peek()));
  const bool known = is_clause_keyword(out.keyword);
  const std::size_t first = at_++;
  if (out.keyword == "at" && is_word("end")) {
    out.keyword = "at end";
    ++at_;
  }
  out.keyword_span = since(first);
  out.has_body = has_body;
  if (out.keyword == "model") return model_clause(out);

  if (done()) {
    if (has_body) return true;
    if (known) return fail(syntax::empty_clause(out.keyword_span, out.keyword));
    return fail(syntax::not_a_line(out.keyword_span, found()));
  }
  const Kind next = peek().kind;
  const bool item_may_begin = starts_operand(0) || next == Kind::Minus ||
                              next == Kind::OpenBracket || next == Kind::Colon || is(Kind::Word);
  if (!item_may_begin && !known) return fail(syntax::not_a_line(since(first), found()));

  auto leading = take(Kind::Colon) ? Item::Leading::Colon : Item::Leading::Start;
  // `at end, after = c: ...` begins with its options
  if (out.keyword == "at end" && take(Kind::Comma)) leading = Item::Leading::Comma;
  while (true) {
    if (is(Kind::Arrow) && !out.items.empty()) break;
    Item read;
    read.leading = leading;
    if (!item(read)) return false;
    out.items.push_back(std::move(read));
    if (take(Kind::Comma)) {
      leading = Item::Leading::Comma;
    } else if (take(Kind::Colon)) {
      leading = Item::Leading::Colon;
    } else {
      break;
    }
  }
  if (is(Kind::Arrow) && !destination(out)) return false;
  if (facts_ahead() && !where_facts(out.where)) return false;
  if (done()) return true;
  if (is(Kind::Equal) || is(Kind::Tilde))
    return fail(syntax::second_equals(peek().span, out.items.back().span));
  return misplaced(out.destination ? "the end of the line" : "`,`, `:` or the end of the line");
}

// `model NAME "title"`
bool LineParser::model_clause(Clause& out) {
  if (!is(Kind::Word)) return fail(syntax::model_needs_name(out.keyword_span));
  Item name_item;
  name_item.value = name();
  name_item.span = name_item.value->span;
  out.items.push_back(std::move(name_item));
  if (is(Kind::String)) {
    Item title;
    title.value = primary();
    title.span = title.value->span;
    out.items.push_back(std::move(title));
  }
  if (!done() || out.has_body) return fail(syntax::model_needs_name(out.keyword_span));
  return true;
}

// [head =|~] expr, then words
bool LineParser::item(Item& out) {
  const std::size_t first = at_;
  const bool only_words = is(Kind::Word) && is_item_word(text(peek())) && starts_operand(1);
  if (head_ahead()) {
    Definition read;
    if (!definition(read)) return false;
    out.head = std::move(read.head);
    out.relation = read.drawn ? Item::Relation::Drawn : Item::Relation::Equals;
    out.value = std::move(read.value);
  } else if (!only_words) {
    out.value = expression();
    if (!out.value) return false;
    if (is(Kind::Equal)) {
      return fail(syntax::option_name(out.value->span, source_.at(out.value->span).substr(0, 40)));
    }
  }
  if (!item_words(out)) return false;
  out.span = since(first);
  return true;
}

bool LineParser::item_words(Item& out) {
  if (is(Kind::Word) && is_count_word(text(peek())) && out.value) {
    out.count_word = std::string(text(peek()));
    ++at_;
  }
  while (is(Kind::Word) && is_item_word(text(peek())) && !facts_ahead()) {
    std::string word(text(peek()));
    ++at_;
    ExprPtr value = expression();
    if (!value) return false;
    out.words.emplace_back(std::move(word), std::move(value));
  }
  return true;
}

bool LineParser::destination(Clause& out) {
  ++at_;
  if (is(Kind::String) || (is(Kind::Word) && is(Kind::OpenParen, 1))) {
    out.destination = postfix();
    return out.destination != nullptr;
  }
  return fail(syntax::bad_destination(done() ? Span{} : peek().span, found()));
}

// `where` with `name =` behind it: local definitions. Else it is a condition of the item.
bool LineParser::facts_ahead() const {
  if (!is_word("where")) return false;
  LineParser ahead = *this;
  ++ahead.at_;
  return ahead.head_ahead();
}

bool LineParser::where_facts(std::vector<Definition>& out) {
  ++at_;
  do {
    if (!head_ahead()) {
      return fail(syntax::where_fact(done() ? Span{} : peek().span, found()));
    }
    Definition fact;
    if (!definition(fact)) return false;
    out.push_back(std::move(fact));
  } while (take(Kind::Comma));
  return done() || misplaced("`,` or the end of the line");
}

}  // namespace vphi::dsl
