// Expressions: docs/rules.md rules 7 and 8, loosest operator first.
#include "dsl/syntax/parser.hpp"
#include "dsl/syntax/spelling.hpp"
#include "dsl/syntax/syntax_errors.hpp"
#include "dsl/words/clauses.hpp"

namespace vphi::dsl {

using Kind = Token::Kind;

// ---- tokens -----------------------------------------------------------------------------------

const Token& LineParser::peek(std::size_t ahead) const {
  // The token at end_ may belong to the next line; the last one of all is End.
  return at_ + ahead < end_ ? tokens_[at_ + ahead] : tokens_.back();
}

bool LineParser::is_word(std::string_view word, std::size_t ahead) const {
  return is(Kind::Word, ahead) && text(peek(ahead)) == word;
}

bool LineParser::take(Kind kind) {
  if (!is(kind)) return false;
  ++at_;
  return true;
}

std::string LineParser::found(std::size_t ahead) const {
  if (at_ + ahead >= end_) return "the end of the line";
  auto written = text(peek(ahead));
  if (is(Kind::String, ahead)) return "a string";
  if (written.size() > 40) return "`" + std::string(written.substr(0, 24)) + "...`";
  return "`" + std::string(written) + "`";
}

Span LineParser::since(std::size_t first) const {
  const std::size_t last = at_ > first ? at_ - 1 : first;
  return cover(tokens_[first].span, tokens_[last].span);
}

bool LineParser::fail(Diagnostic diagnostic) {
  // At the end of the line the place is just after its last token.
  if (diagnostic.span == tokens_.back().span || diagnostic.span.empty()) {
    const Span last = tokens_[end_ > begin_ ? end_ - 1 : begin_].span;
    diagnostic.span = {last.end, last.end, last.file};
  }
  diagnostics_.add(std::move(diagnostic));
  return false;
}

bool LineParser::misplaced(std::string_view wanted) {
  const Token& token = peek();
  const Token* last = at_ > begin_ ? &tokens_[at_ - 1] : nullptr;
  const bool operand = token.kind == Kind::Word || token.kind == Kind::Number ||
                       token.kind == Kind::String || token.kind == Kind::OpenParen;
  if (last && !done() && operand && ends_operand(last->kind)) {
    const auto left = text(*last).substr(0, 40);
    const auto right = text(token).substr(0, 40);
    const Span both = cover(last->span, token.span);
    const bool strings = token.kind == Kind::String || last->kind == Kind::String;
    const bool words = token.kind == Kind::Word && last->kind == Kind::Word;
    if (words && is_option(left)) return fail(syntax::option_without_equals(both, left, right));
    if (words || strings) return fail(syntax::two_words(both, left, right));
    if (token.kind == Kind::OpenParen && last->kind == Kind::Number && at_ >= begin_ + 3 &&
        tokens_[at_ - 2].kind == Kind::Caret && tokens_[at_ - 3].kind == Kind::Word) {
      const Token& function = tokens_[at_ - 3];  // cos^2(x)
      return fail(syntax::power_before_arguments(cover(function.span, token.span),
                                                 text(function).substr(0, 40), left));
    }
    return fail(syntax::juxtaposition(both, left, right));
  }
  if (is(Kind::Equal) || is(Kind::Tilde)) return fail(syntax::equals_in_expression(token.span));
  return fail(syntax::unexpected(token.span, found(), wanted));
}

// ---- nodes ------------------------------------------------------------------------------------

LineParser::Node LineParser::node(ExprKind kind, std::size_t first, std::string text,
                                  std::vector<ExprPtr> args) {
  auto made = std::make_shared<Expr>();
  made->kind = kind;
  made->span = since(first);
  made->text = std::move(text);
  for (const ExprPtr& arg : args) {
    if (arg->depth >= made->depth) made->depth = arg->depth + 1;
  }
  made->args = std::move(args);
  if (made->depth > kMaxDepth) {
    fail(syntax::too_many_terms(made->span, kMaxDepth));
    return nullptr;
  }
  return made;
}

LineParser::Node LineParser::binary(std::size_t first, ExprPtr left, std::size_t op,
                                    ExprPtr right) {
  if (!left || !right) return nullptr;
  std::string sign(text(tokens_[op]));
  if (tokens_[op].kind == Kind::Minus) sign = "-";  // also written with U+2212
  return node(ExprKind::Binary, first, std::move(sign), {std::move(left), std::move(right)});
}

bool LineParser::enter(Span at) {
  if (nesting_ >= kMaxNesting) return fail(syntax::too_deep(at, kMaxNesting));
  ++nesting_;
  return true;
}

// ---- operators --------------------------------------------------------------------------------

ExprPtr LineParser::whole_expression() {
  ExprPtr value = expression();
  if (value && !done()) {
    misplaced("the end");
    return nullptr;
  }
  return value;
}

// value if condition else other
ExprPtr LineParser::expression() {
  const std::size_t first = at_;
  ExprPtr value = disjunction();
  if (!value || !is_word("if")) return value;
  const Span word = peek().span;
  ++at_;
  ExprPtr condition = disjunction();
  if (!condition) return nullptr;
  if (!is_word("else")) {
    if (done() || is(Kind::Comma) || is(Kind::CloseParen)) {
      fail(syntax::select_without_else(word));
    } else {
      misplaced("`else`");
    }
    return nullptr;
  }
  ++at_;
  if (!enter(word)) return nullptr;
  ExprPtr other = expression();
  leave();
  if (!other) return nullptr;
  return node(ExprKind::Select, first, {}, {value, condition, other});
}

ExprPtr LineParser::disjunction() {
  const std::size_t first = at_;
  ExprPtr left = conjunction();
  while (left && is_word("or")) {
    const std::size_t op = at_++;
    ExprPtr right = conjunction();
    left = binary(first, left, op, right);
  }
  return left;
}

ExprPtr LineParser::conjunction() {
  const std::size_t first = at_;
  ExprPtr left = negation();
  while (left && is_word("and")) {
    const std::size_t op = at_++;
    ExprPtr right = negation();
    left = binary(first, left, op, right);
  }
  return left;
}

ExprPtr LineParser::negation() {
  // `not` is a name where no value follows: no word is reserved.
  if (!is_word("not") || !starts_operand(1)) return comparison();
  const std::size_t first = at_++;
  if (!enter(tokens_[first].span)) return nullptr;
  ExprPtr value = negation();
  leave();
  return value ? node(ExprKind::Unary, first, "not", {value}) : nullptr;
}

ExprPtr LineParser::comparison() {
  const auto compares = [this] {
    return peek().kind >= Kind::Less && peek().kind <= Kind::NotEqual;
  };
  const std::size_t first = at_;
  ExprPtr left = range();
  if (!left || !compares()) return left;
  const std::size_t op = at_++;
  ExprPtr right = range();
  if (right && compares()) {
    fail(syntax::chained_comparison(peek().span, tokens_[op].span));
    return nullptr;
  }
  return binary(first, left, op, right);
}

ExprPtr LineParser::range() {
  const std::size_t first = at_;
  ExprPtr left = sum();
  if (!left || !take(Kind::DotDot)) return left;
  ExprPtr right = sum();
  return right ? node(ExprKind::Range, first, {}, {left, right}) : nullptr;
}

ExprPtr LineParser::sum() {
  const std::size_t first = at_;
  ExprPtr left = product();
  while (left && (is(Kind::Plus) || is(Kind::Minus))) {
    const std::size_t op = at_++;
    ExprPtr right = product();
    left = binary(first, left, op, right);
  }
  return left;
}

ExprPtr LineParser::product() {
  const std::size_t first = at_;
  ExprPtr left = unary();
  while (left && (is(Kind::Star) || is(Kind::Slash))) {
    const std::size_t op = at_++;
    ExprPtr right = unary();
    left = binary(first, left, op, right);
  }
  return left;
}

ExprPtr LineParser::unary() {
  if (!is(Kind::Minus)) return power();
  const std::size_t first = at_++;
  if (!enter(tokens_[first].span)) return nullptr;
  ExprPtr value = unary();
  leave();
  return value ? node(ExprKind::Unary, first, "-", {value}) : nullptr;
}

ExprPtr LineParser::power() {
  const std::size_t first = at_;
  ExprPtr base = postfix();
  if (!base || !is(Kind::Caret)) return base;
  const std::size_t op = at_++;
  if (!enter(tokens_[op].span)) return nullptr;
  ExprPtr raised = exponent();
  leave();
  return binary(first, base, op, raised);
}

// `2^-10`: a sign may stand in the exponent.
ExprPtr LineParser::exponent() {
  if (!is(Kind::Minus)) return power();
  const std::size_t first = at_++;
  if (!enter(tokens_[first].span)) return nullptr;
  ExprPtr value = exponent();
  leave();
  return value ? node(ExprKind::Unary, first, "-", {value}) : nullptr;
}

// ---- call, index, prime, shift ----------------------------------------------------------------

ExprPtr LineParser::postfix() {
  const std::size_t first = at_;
  ExprPtr value = primary();
  while (value) {
    if (is(Kind::OpenParen) && value->kind == ExprKind::Name && !value->grouped) {
      value = call(value, first);
    } else if (is(Kind::OpenBracket)) {
      value = index(value, first);
    } else if (is(Kind::Prime)) {
      value = prime(value, first);
    } else if (is(Kind::At)) {
      value = shift(value, first);
    } else {
      break;
    }
  }
  return value;
}

ExprPtr LineParser::call(ExprPtr callee, std::size_t first) {
  if (!enter(peek().span)) return nullptr;
  ++at_;
  Expr read;
  if (!is(Kind::CloseParen)) {
    do {
      if (!call_argument(read)) return nullptr;
    } while (take(Kind::Comma));
  }
  if (!take(Kind::CloseParen)) {
    misplaced("`,` or `)`");
    return nullptr;
  }
  leave();
  auto made = node(ExprKind::Call, first, callee->text, std::move(read.args));
  if (!made) return nullptr;
  made->spelling = callee->spelling;
  for (const NamedArgument& argument : read.named) {
    if (argument.value->depth >= made->depth) made->depth = argument.value->depth + 1;
  }
  made->named = std::move(read.named);
  if (made->depth > kMaxDepth) {
    fail(syntax::too_many_terms(made->span, kMaxDepth));
    return nullptr;
  }
  return made;
}

// Whether `A(x) = b` comes next: the linear system in the head of a solver.
bool LineParser::system_ahead() const {
  return text(tokens_[begin_]) == "solver" && is(Kind::Word) && is(Kind::OpenParen, 1) &&
         is(Kind::Word, 2) && is(Kind::CloseParen, 3) && is(Kind::Equal, 4);
}

// expr, `name = expr`, `x'' = expr`, `A(x) = b`, or the bare + and - of directions(+,-)
bool LineParser::call_argument(Expr& out) {
  const bool sign = is(Kind::Plus) || is(Kind::Minus);
  if (sign && (is(Kind::Comma, 1) || is(Kind::CloseParen, 1))) {
    const std::size_t first = at_++;
    auto made = node(ExprKind::Sign, first, tokens_[first].kind == Kind::Plus ? "+" : "-", {});
    out.args.push_back(made);
    return made != nullptr;
  }
  if (system_ahead()) {
    NamedArgument system;
    const std::size_t first = at_;
    system.name = canonical(text(peek())) + "(" + canonical(text(peek(2))) + ")";
    at_ += 4;
    system.span = since(first);
    ++at_;
    system.value = expression();
    if (!system.value) return false;
    out.named.push_back(std::move(system));
    return true;
  }
  std::size_t primes = 0;
  while (is(Kind::Word) && is(Kind::Prime, primes + 1)) ++primes;
  const bool named = is(Kind::Equal, primes + 1) || is(Kind::Tilde, primes + 1);
  if (is(Kind::Word) && named) {
    NamedArgument argument;
    const std::size_t first = at_;
    const std::string written(text(peek()));
    argument.name = canonical(written);
    if (argument.name != written) argument.spelling = written + std::string(primes, '\'');
    argument.name += std::string(primes, '\'');
    at_ += primes + 1;
    argument.span = since(first);
    argument.drawn = is(Kind::Tilde);
    ++at_;
    argument.value = expression();
    if (!argument.value) return false;
    out.named.push_back(std::move(argument));
    return true;
  }
  ExprPtr value = expression();
  if (!value) return false;
  if (is(Kind::Equal)) {
    return fail(syntax::option_name(value->span, source_.at(value->span).substr(0, 40)));
  }
  out.args.push_back(std::move(value));
  return true;
}

// Values up to `closer`, at least one.
bool LineParser::values(std::vector<ExprPtr>& out, Kind closer, std::string_view what) {
  if (is(closer)) return fail(syntax::empty_brackets(since(at_ - 1), what));
  do {
    ExprPtr value = expression();
    if (!value) return false;
    out.push_back(std::move(value));
  } while (take(Kind::Comma));
  if (!take(closer)) return misplaced(closer == Kind::CloseParen ? "`,` or `)`" : "`,` or `]`");
  return true;
}

ExprPtr LineParser::index(ExprPtr base, std::size_t first) {
  if (!enter(peek().span)) return nullptr;
  ++at_;
  std::vector<ExprPtr> args{std::move(base)};
  if (!values(args, Kind::CloseBracket, "an index")) return nullptr;
  leave();
  return node(ExprKind::Index, first, {}, std::move(args));
}

ExprPtr LineParser::prime(ExprPtr base, std::size_t first) {
  const bool variable = base->kind == ExprKind::Name || base->kind == ExprKind::Index ||
                        base->kind == ExprKind::Shift || base->kind == ExprKind::Call;
  if (!variable) {
    const bool value = base->kind == ExprKind::Number || base->kind == ExprKind::String;
    fail(syntax::prime_of(peek().span, value ? "a literal" : "an expression"));
    return nullptr;
  }
  int primes = 0;
  while (take(Kind::Prime)) ++primes;
  auto made = node(ExprKind::Prime, first, {}, {std::move(base)});
  if (made) made->primes = primes;
  return made;
}

// `@k`, `@-k`, `@(1,0,-1)`
ExprPtr LineParser::shift(ExprPtr base, std::size_t first) {
  const Span sign = peek().span;
  ++at_;
  const std::size_t start = at_;
  ExprPtr shift_by;
  if (is(Kind::Word)) {
    shift_by = name();
  } else if (is(Kind::Minus) && is(Kind::Word, 1)) {
    ++at_;
    ExprPtr axis = name();
    if (axis) shift_by = node(ExprKind::Unary, start, "-", {axis});
  } else if (is(Kind::OpenParen) || is(Kind::OpenBracket)) {
    if (!enter(sign)) return nullptr;
    const Kind closer = is(Kind::OpenParen) ? Kind::CloseParen : Kind::CloseBracket;
    ++at_;
    std::vector<ExprPtr> offsets;
    if (!values(offsets, closer, "a shift")) return nullptr;
    leave();
    shift_by = node(ExprKind::List, start, {}, std::move(offsets));
  } else {
    fail(syntax::shift_operand(done() ? Span{} : peek().span, found()));
  }
  return shift_by ? node(ExprKind::Shift, first, {}, {std::move(base), shift_by}) : nullptr;
}

// ---- values -----------------------------------------------------------------------------------

bool LineParser::starts_operand(std::size_t ahead) const {
  const Kind kind = peek(ahead).kind;
  if (kind == Kind::Word) {
    const auto word = text(peek(ahead));
    return word == "not" || (!is_operator_word(word) && !is_item_word(word));
  }
  return kind == Kind::Number || kind == Kind::String || kind == Kind::OpenParen;
}

ExprPtr LineParser::primary() {
  const Kind kind = peek().kind;
  if (kind == Kind::Number) return number();
  if (kind == Kind::Word) return name();
  if (kind == Kind::OpenParen) return group();
  if (kind == Kind::OpenBracket) return list();
  if (kind == Kind::String) {
    const std::size_t first = at_++;
    const auto quoted = text(tokens_[first]);
    return node(ExprKind::String, first, std::string(quoted.substr(1, quoted.size() - 2)), {});
  }
  std::string after;
  if (at_ > begin_ && !ends_operand(tokens_[at_ - 1].kind)) {
    after = "`" + std::string(text(tokens_[at_ - 1])) + "`";
  }
  fail(syntax::expected_expression(done() ? Span{} : peek().span, found(), after));
  return nullptr;
}

ExprPtr LineParser::name() {
  const std::size_t first = at_++;
  const std::string written(text(tokens_[first]));
  auto made = node(ExprKind::Name, first, canonical(written), {});
  if (made && made->text != written) made->spelling = written;
  return made;
}

ExprPtr LineParser::number() {
  const std::size_t first = at_++;
  const Token& token = tokens_[first];
  auto digits = text(token);
  if (token.imaginary) digits.remove_suffix(1);
  auto made = node(ExprKind::Number, first, std::string(digits), {});
  made->imaginary = token.imaginary;
  if (!is(Kind::OpenBracket)) return made;

  // [unit]: names with powers, * and /
  const std::size_t open = at_++;
  std::string unit;
  bool good = is(Kind::Word) || is(Kind::Number);
  for (; !is(Kind::CloseBracket) && !done(); ++at_) {
    const Kind kind = peek().kind;
    good = good && (kind == Kind::Word || kind == Kind::Number || kind == Kind::Caret ||
                    kind == Kind::Star || kind == Kind::Slash || kind == Kind::Minus);
    unit += kind == Kind::Word ? canonical(text(peek())) : std::string(text(peek()));
  }
  take(Kind::CloseBracket);
  if (!good) {
    const Span at = since(open);
    fail(syntax::not_a_unit(at, source_.at(at).substr(0, 40)));
    return nullptr;
  }
  return node(ExprKind::Unit, first, std::move(unit), {made});
}

ExprPtr LineParser::group() {
  const std::size_t first = at_;
  if (!enter(peek().span)) return nullptr;
  ++at_;
  if (is(Kind::CloseParen)) {
    ++at_;
    fail(syntax::empty_brackets(since(first), "a group"));
    return nullptr;
  }
  ExprPtr inner = expression();
  if (!inner) return nullptr;
  if (!take(Kind::CloseParen)) {
    misplaced("`)`");
    return nullptr;
  }
  leave();
  auto made = std::make_shared<Expr>(*inner);
  made->grouped = true;
  return made;
}

ExprPtr LineParser::list() {
  const std::size_t first = at_;
  if (!enter(peek().span)) return nullptr;
  ++at_;
  std::vector<ExprPtr> items;
  if (!values(items, Kind::CloseBracket, "a list")) return nullptr;
  leave();
  return node(ExprKind::List, first, {}, std::move(items));
}

}  // namespace vphi::dsl
