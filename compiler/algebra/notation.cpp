#include "compiler/algebra/notation.hpp"
#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/pairs.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/rational.hpp"
#include "compiler/algebra/simplify.hpp"

namespace vphi::algebra {
namespace {

constexpr int kDeepest = 100;
constexpr int kLongest = 20000;

/// Numbers, then parameters, fields, functions, sums: m^2 phi cos(x) (a + b).
int rank(Expr factor) {
  if (factor.is(Op::Pow)) {
    const int base = rank(factor.arg(0));
    return factor.arg(1).is_number() || base > 3 ? base : 3;
  }
  switch (factor.op()) {
    case Op::Number:
      return 0;
    case Op::Symbol:
      return 1;
    case Op::Load:
    case Op::Site:
    case Op::Noise:
    case Op::Normal:
    case Op::Uniform:
      return 2;
    case Op::Add:
      return 5;
    case Op::Stencil:
      return 6;
    case Op::Mul:
    case Op::Pow:
    case VPHI_ORDERED_ARITHMETIC:
    case VPHI_DEVICE_FUNCTIONS:
    case VPHI_CONDITIONS:
    case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
    case Op::Atan2:
    case Op::Min:
    case Op::Max:
    case Op::Select:
    case Op::Lookup:
    case Op::PairSum:
    case Op::Count_:
      break;
  }
  return 4;
}

/// p/q pi or p/q sqrt(n) where a floating value is one of these.
struct Known {
  Rational factor;
  int root = 0;  ///< 0: times pi
};
std::optional<Known> known_constant(long double value) {
  const auto fraction = [](long double x) -> std::optional<Rational> {
    for (std::int64_t den = 1; den <= 12; ++den) {
      const long double num = std::round(x * static_cast<long double>(den));
      if (num == 0 || std::fabs(num) > 144) continue;
      if (std::fabs(x * static_cast<long double>(den) - num) < 1e-17L * std::fabs(num)) {
        return exact(static_cast<std::int64_t>(num), den).rational;
      }
    }
    return std::nullopt;
  };
  if (const auto f = fraction(value / std::acos(-1.0L))) return Known{*f, 0};
  for (int n : {2, 3, 5, 6, 7, 10}) {
    if (const auto f = fraction(value / std::sqrt(static_cast<long double>(n)))) {
      return Known{*f, n};
    }
  }
  return std::nullopt;
}

class FormulaText {
 public:
  FormulaText(const Names& names, const Notation& notation) : names_(names), to_(notation) {}

  Piece expression(Expr e) {
    if (++printed_ > kLongest || depth_ > kDeepest) return {to_.ellipsis()};
    ++depth_;
    Piece piece = node(e);
    --depth_;
    return piece;
  }

 private:
  std::string within(Binding least, const Piece& p) const {
    return p.binding < least ? to_.parentheses(p.text) : p.text;
  }
  std::string within(Binding least, Expr e) { return within(least, expression(e)); }

  // ---- numbers ----
  Piece fraction_of(const Rational& r) const {
    const Piece above{to_.digits(std::to_string(r.num))};
    if (r.den == 1) return above;
    return to_.fraction(above, {to_.digits(std::to_string(r.den))});
  }

  /// A number >= 0 as numerator and denominator (empty: 1) of what it multiplies.
  void split_number(const Number& n, std::vector<Piece>& above, std::vector<Piece>& below) const {
    const auto put = [&](const Rational& r) {
      if (r.num != 1) above.push_back({to_.digits(std::to_string(r.num))});
      if (r.den != 1) below.push_back({to_.digits(std::to_string(r.den))});
    };
    if (n.exact && n.rational.den <= 1000 && n.rational.num < 1000000) {
      put(n.rational);
    } else if (n.exact && n.rational.num == 1 && std::has_single_bit(unsigned_of(n.rational.den))) {
      const int bits = std::countr_zero(unsigned_of(n.rational.den));
      above.push_back(to_.power({to_.digits("2")},
                                {to_.minus(to_.digits(std::to_string(bits))), Binding::Minus}));
    } else if (const auto known = n.exact ? std::nullopt : known_constant(n.real)) {
      put(known->factor);
      if (known->root == 0) {
        above.push_back({to_.name("pi")});
      } else {
        above.push_back(to_.root({to_.digits(std::to_string(known->root))}));
      }
    } else {
      above.push_back({to_.digits(n.exact && n.rational.den == 1 ? std::to_string(n.rational.num)
                                                                 : shortest(n.real))});
    }
  }
  static std::uint64_t unsigned_of(std::int64_t n) { return static_cast<std::uint64_t>(n); }

  Piece number(const Number& n) const {
    if (std::signbit(n.real)) {
      const Piece positive = number(negate(n));
      return {to_.minus(within(Binding::Product, positive)), Binding::Minus};
    }
    std::vector<Piece> above, below;
    split_number(n, above, below);
    return quotient(above, below);
  }

  // ---- products and quotients ----
  Piece joined(const std::vector<Piece>& factors) const {
    if (factors.empty()) return {to_.digits("1")};
    if (factors.size() == 1) return factors[0];
    std::vector<std::string> texts;
    for (const Piece& p : factors) texts.push_back(within(Binding::Product, p));
    return {to_.product(texts), Binding::Product};
  }

  Piece quotient(const std::vector<Piece>& above, const std::vector<Piece>& below) const {
    if (below.empty()) return joined(above);
    return to_.fraction(joined(above), joined(below));
  }

  Piece product(Expr e) {
    std::vector<Expr> factors(e.args().begin(), e.args().end());
    if (!e.is(Op::Mul)) factors = {e};
    Number coefficient = exact(1);
    if (factors[0].is_number()) {
      coefficient = factors[0]->number;
      factors.erase(factors.begin());
    }
    if (!e->fixed_order) std::ranges::stable_sort(factors, {}, rank);
    const bool minus = std::signbit(coefficient.real);
    if (minus) coefficient = negate(coefficient);

    std::vector<Piece> above, below, behind;
    split_number(coefficient, above, below);
    // 1/2 (a + b): a bare number stands before a sum, not above it
    const bool only_number = std::ranges::none_of(factors, is_below);
    const bool before = to_.stacked() && only_number && !below.empty() &&
                        std::ranges::any_of(factors, [](Expr f) { return rank(f) >= 5; });
    for (Expr f : factors) {
      if (is_below(f)) {
        below.push_back(expression(pow(f.arg(0), -f.arg(1))));
      } else {
        (before ? behind : above).push_back(expression(f));
      }
    }
    Piece result = quotient(above, below);
    if (before) {
      behind.insert(behind.begin(), result);
      result = joined(behind);
    }
    if (minus) return {to_.minus(within(Binding::Product, result)), Binding::Minus};
    return result;
  }

  /// x^(-n) belongs below the line.
  static bool is_below(Expr f) {
    return f.is(Op::Pow) && !f->fixed_order && f.arg(1).is_number() && f.arg(1)->number.real < 0;
  }

  // ---- sums ----
  static bool starts_with_minus(Expr term) {
    if (term.is_number()) return term->number.real < 0;
    return (term.is(Op::Mul) && term.arg(0).is_number() && term.arg(0)->number.real < 0) ||
           term.is(Op::Neg);
  }

  Piece sum(Expr e) {
    std::vector<Expr> terms(e.args().begin(), e.args().end());
    if (!e->fixed_order) {
      // x - 1, not -1 + x: a negative term in front gives way to a positive one
      const auto positive = [](Expr t) { return !starts_with_minus(t); };
      if (!terms.empty() && starts_with_minus(terms[0])) {
        const auto first = std::ranges::find_if(terms, positive);
        if (terms[0].is_number()) {
          std::rotate(terms.begin(), terms.begin() + 1, terms.end());
        }
        if (first != terms.end() && starts_with_minus(terms[0])) {
          const auto front = std::ranges::find_if(terms, positive);
          std::rotate(terms.begin(), front, front + 1);
        }
      }
    }
    std::vector<std::string> texts;
    std::vector<bool> minus;
    for (Expr term : terms) {
      minus.push_back(starts_with_minus(term));
      if (!minus.back()) {
        texts.push_back(within(Binding::Sum, term));
      } else if (term.is(Op::Neg)) {
        texts.push_back(within(Binding::Product, term.arg(0)));
      } else {
        texts.push_back(within(Binding::Product, -term));
      }
    }
    return {to_.sum(texts, minus), Binding::Sum};
  }

  // ---- powers ----
  Piece power(Expr e) {
    const Expr base = e.arg(0), n = e.arg(1);
    if (is_below(e)) return product(e);
    if (n.is_number() && n->number.real == 0.5L) return to_.root(expression(base));
    return to_.power(expression(base), expression(n));
  }

  // ---- leaves ----
  std::string leaf_name(Expr e) const {
    std::string given = names_.leaf ? names_.leaf(*e) : "";
    if (given.empty() && e.is(Op::Symbol)) given = e->name;
    if (given.empty() && e.is(Op::Load)) given = "u" + std::to_string(e->index);
    if (given.empty()) given = std::string("i") + "xyzt"[e->index & 3];
    return to_.name(given);
  }

  Piece node(Expr e) {
    switch (e.op()) {
      case Op::Number:
        return number(e->number);
      case Op::Symbol:
      case Op::Site:
        return {leaf_name(e)};
      case Op::Load:
        if (e->offset.zero()) return {leaf_name(e)};
        if (is_other(*e)) return {to_.name(leaf_name(e) + "_j")};
        return {to_.neighbour(leaf_name(e), e->offset)};
      case Op::Noise:
      case Op::Normal:
      case Op::Uniform: {
        const std::string drawn =
            std::string(info(e.op()).name) + "_" + std::to_string(e->index + 1);
        return {e->offset.zero() ? to_.name(drawn) : to_.neighbour(drawn, e->offset)};
      }
      case Op::Add:
        return sum(e);
      case Op::Mul:
        return product(e);
      case Op::Pow:
        return power(e);
      case Op::Neg:
        return {to_.minus(within(Binding::Product, e.arg(0))), Binding::Minus};
      case Op::Sub: {
        const std::string a = within(Binding::Sum, e.arg(0));
        return {to_.sum({a, within(Binding::Product, e.arg(1))}, {false, true}), Binding::Sum};
      }
      case Op::Div:
        return to_.fraction(expression(e.arg(0)), expression(e.arg(1)));
      case Op::Sqrt:
        return to_.root(expression(e.arg(0)));
      case Op::Less:
      case Op::LessEqual:
      case Op::Equal: {
        const std::string a = within(Binding::Sum, e.arg(0));
        return {to_.compare(e.op(), a, within(Binding::Sum, e.arg(1))), Binding::Compare};
      }
      case Op::And:
      case Op::Or: {
        const Binding own = e.is(Op::And) ? Binding::And : Binding::Or;
        const std::string a = within(own, e.arg(0));
        return {to_.compare(e.op(), a, within(own, e.arg(1))), own};
      }
      case Op::Not:
        return {to_.compare(Op::Not, "", within(Binding::Compare, e.arg(0))), Binding::Not};
      case Op::Select: {
        const Piece condition = expression(e.arg(0)), value = expression(e.arg(1));
        return to_.select(condition, value, expression(e.arg(2)));
      }
      case Op::Stencil:
        return to_.stencil(e->arena->stencil_data(e->index), expression(e.arg(0)));
      case VPHI_DEVICE_FUNCTIONS:
      case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
      case Op::Fma:
      case Op::Atan2:
      case Op::Min:
      case Op::Max:
      case Op::Lookup:
      case Op::PairSum:
      case Op::Count_:
        break;
    }
    std::vector<std::string> args;
    for (Expr arg : e.args()) args.push_back(expression(arg).text);
    return to_.call(e.op(), args);
  }

  const Names& names_;
  const Notation& to_;
  int depth_ = 0;
  int printed_ = 0;
};

}  // namespace

Piece lay_out(Expr expr, const Names& names, const Notation& notation) {
  return FormulaText(names, notation).expression(expr);
}

std::string direction(const Offset& o) {
  int axis = -1, steps = 0;
  for (int i = 0; i < 4; ++i) {
    if (o.d[i] == 0) continue;
    axis = i;
    steps += o.d[i] < 0 ? -o.d[i] : o.d[i];
  }
  if (steps == 1) return std::string(o.d[axis] < 0 ? "-" : "") + "xyzt"[axis];
  std::string text = "(";
  for (int i = 0; i < (o.d[3] != 0 ? 4 : 3); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(o.d[i]);
  }
  return text + ")";
}

std::string shortest(long double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<double>(value)).ptr;
  return {buffer, end};
}

}  // namespace vphi::algebra
