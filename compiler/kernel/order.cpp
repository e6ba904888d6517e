// Pass `order`: from canonical sums and products to operations in a fixed order.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compiler/algebra/node_map.hpp"
#include "compiler/algebra/op_cases.hpp"
#include "compiler/algebra/ops.hpp"
#include "compiler/algebra/rational.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/kernel/passes.hpp"

namespace vphi::kernel {
namespace {

using algebra::Arena;
using algebra::Number;
using algebra::Op;
using algebra::Rational;

/// Sines and cosines of whole multiples n*u of one value, four or more in a row: the first of a
/// row is computed, each other one by a rotation from the one before,
///   cos((n+1)u) = cos(nu)cos(u) - sin(nu)sin(u),  sin((n+1)u) = sin(nu)cos(u) + cos(nu)sin(u),
/// whose rounding errors add up to n units at most.
class Multiples {
 public:
  void see(std::span<const Expr> roots) {
    algebra::visit(roots, [&](Expr, Expr node) {
      if (const auto m = multiple(node)) wanted_[m->of.get()].insert(m->times);
    });
  }
  struct Multiple {
    Expr of;
    std::int64_t times = 1;
  };
  static std::optional<Multiple> multiple(Expr node) {
    if (!node.is(Op::Cos) && !node.is(Op::Sin)) return std::nullopt;
    const Expr u = node.arg(0);
    if (!u->per_site) return std::nullopt;
    if (!u.is(Op::Mul) || u->fixed_order || u.args().size() != 2) return Multiple{u, 1};
    const Expr n = u.arg(0).is_number() ? u.arg(0) : u.arg(1);
    const Expr v = u.arg(0).is_number() ? u.arg(1) : u.arg(0);
    const bool whole = n.is_number() && n->number.exact && n->number.rational.den == 1 &&
                       n->number.rational.num > 1 && n->number.rational.num < 4096;
    return whole ? Multiple{v, n->number.rational.num} : Multiple{u, 1};
  }
  /// The first of the row that n stands in; nothing where the row is short or n is its first.
  std::optional<std::int64_t> first_of_row(const Multiple& m) const {
    const auto found = wanted_.find(m.of.get());
    if (found == wanted_.end()) return std::nullopt;
    std::int64_t first = m.times, last = m.times;
    while (found->second.contains(first - 1)) --first;
    while (found->second.contains(last + 1)) ++last;
    if (last - first < 3 || first == m.times) return std::nullopt;
    return first;
  }

 private:
  std::unordered_map<const algebra::Node*, std::set<std::int64_t>> wanted_;
};

/// Sums that occur with both signs: one of the two serves as the base of powers of both.
class Opposites {
 public:
  void see(std::span<const Expr> roots) {
    algebra::visit(roots, [&](Expr, Expr node) {
      if (node.is(Op::Add) && node->per_site && !node->fixed_order) sums_.insert(node.get());
    });
  }
  /// -sum where it occurs and is the one that serves; nothing otherwise.
  Expr instead_of(Expr sum) const {
    if (!sums_.contains(sum.get())) return Expr();
    const Expr opposite = -sum;
    const bool serves = sums_.contains(opposite.get()) && opposite->id < sum->id;
    return serves ? opposite : Expr();
  }

 private:
  std::unordered_set<const algebra::Node*> sums_;
};

class OperationOrder {
 public:
  explicit OperationOrder(Arena& arena) : arena_(arena) {}
  /// With what was made of nodes before, outside of sums over pairs.
  OperationOrder(Arena& arena, algebra::NodeMap& known) : arena_(arena), known_(&known) {}

  /// All values before the first of them is visited: rows of multiples and sums of both signs are
  /// found here.
  void announce(std::span<const Expr> roots) {
    multiples_.see(roots);
    opposites_.see(roots);
  }

  /// From here on Load(array) stands for this value, already in order.
  void share(int array, Expr value) { shared_[array] = value; }

  Expr visit(Expr expr) {
    algebra::NodeMap& done = known_ && !pairs_ ? *known_ : done_;
    if (const Expr found = done.find(expr)) return found;
    const Expr result = make(expr);
    done.add(expr, result);
    return result;
  }

 private:
  Expr make(Expr expr) {
    if (expr.is(Op::Load)) {
      const auto shared = shared_.find(expr->index);
      return shared == shared_.end() ? expr : shared->second;
    }
    if (expr.args().empty() || expr.is(Op::Stencil)) return expr;
    if (expr->fixed_order) {  // its order stays; below it may be shared values, or none yet
      std::vector<Expr> args;
      for (Expr arg : expr.args()) args.push_back(visit(arg));
      return std::ranges::equal(args, expr.args()) ? expr : arena_.raw(expr.op(), args, expr->span);
    }
    span_ = expr->span;
    if (const auto m = Multiples::multiple(expr)) {
      if (const auto first = multiples_.first_of_row(*m)) {
        const CosSin cos_sin = rotated(*m, *first);
        return expr.is(Op::Cos) ? cos_sin.cosine : cos_sin.sine;
      }
    }
    switch (expr.op()) {
      case Op::PairSum: {
        const bool outside = std::exchange(pairs_, true);
        const std::vector<Expr> terms{visit(expr.arg(0))};
        pairs_ = outside;
        return arena_.canonical(Op::PairSum, terms, expr->span, expr->index);
      }
      case Op::Add:
        return sum(expr);
      case Op::Mul:
        return product(expr.args());
      case Op::Pow:
        return product(std::span<const Expr>(&expr, 1));
      case VPHI_DRAWS:
      case VPHI_ORDERED_ARITHMETIC:
      case VPHI_DEVICE_FUNCTIONS:
      case VPHI_CONDITIONS:
      case VPHI_SITE_REDUCTIONS:
#include "compiler/algebra/function_cases.def"
      case Op::Number:
      case Op::Symbol:
      case Op::Load:
      case Op::Site:
      case Op::Atan2:
      case Op::Min:
      case Op::Max:
      case Op::Select:
      case Op::Lookup:
      case Op::Stencil:
      case Op::Count_:
        break;
    }
    std::vector<Expr> args;
    for (Expr arg : expr.args()) args.push_back(visit(arg));
    const Expr folded = constant(expr.op(), args);
    return folded ? folded : arena_.raw(expr.op(), args, expr->span);
  }

  Expr negative_of(Expr a) { return a.is_number() ? -a : arena_.raw(Op::Neg, {a}, span_); }

  /// A function of numbers alone, in the widest precision; a choice that is made already.
  Expr constant(Op op, const std::vector<Expr>& args) {
    if (op == Op::Select && args[0].is_number())
      return args[0]->number.real != 0 ? args[1] : args[2];
    const auto value = algebra::row(op).value_long;
    std::vector<long double> numbers;
    for (Expr arg : args) {
      if (!arg.is_number()) return Expr();
      numbers.push_back(arg->number.real);
    }
    if (value == nullptr || numbers.empty()) return Expr();
    return arena_.real(value(numbers.data(), static_cast<int>(numbers.size())));
  }

  /// Numbers that met only now, as a shared value was put in its place, are folded.
  Expr binary(Op op, Expr a, Expr b) {
    const bool sum = op == Op::Add || op == Op::Sub;
    if (a.is_number() && b.is_number() && (op != Op::Div || !b.is_zero()))
      return op == Op::Add ? a + b : op == Op::Sub ? a - b : op == Op::Mul ? a * b : a / b;
    if (sum && b.is_zero()) return a;
    if (op == Op::Add && a.is_zero()) return b;
    if (b.is_one() && (op == Op::Mul || op == Op::Div)) return a;
    if (op == Op::Mul && a.is_one()) return b;
    if (op == Op::Div && a.is_zero()) return a;
    if (op == Op::Mul && (a.is_zero() || b.is_zero())) return a.is_zero() ? a : b;
    return arena_.raw(op, {a, b}, span_);
  }

  struct CosSin {
    Expr cosine, sine;
  };

  CosSin rotated(const Multiples::Multiple& m, std::int64_t first) {
    std::map<std::int64_t, CosSin>& row = cosines_sines_[m.of.get()];
    const auto computed = [&](std::int64_t n) {
      const Expr u = visit(n == 1 ? m.of : arena_.integer(n) * m.of);
      return CosSin{arena_.raw(Op::Cos, {u}, m.of->span), arena_.raw(Op::Sin, {u}, m.of->span)};
    };
    if (!row.contains(first)) row[first] = computed(first);
    if (!row.contains(1)) row[1] = computed(1);
    const CosSin one = row[1];
    for (std::int64_t n = first + 1; n <= m.times; ++n) {
      if (row.contains(n)) continue;
      const CosSin last = row[n - 1];
      row[n] = {binary(Op::Sub, binary(Op::Mul, last.cosine, one.cosine),
                       binary(Op::Mul, last.sine, one.sine)),
                binary(Op::Add, binary(Op::Mul, last.sine, one.cosine),
                       binary(Op::Mul, last.cosine, one.sine))};
    }
    return row[m.times];
  }

  // ---- sums -----------------------------------------------------------------------------------

  /// A term without its sign.
  struct Signed {
    Expr term;
    bool negative = false;
  };

  Signed without_sign(Expr term) {
    const auto is_negative = [](Expr e) { return e.is_number() && e->number.real < 0; };
    if (is_negative(term)) return {-term, true};
    if (term.is(Op::Mul) && !term->fixed_order) {
      const auto args = term.args();
      if (std::ranges::any_of(args, is_negative)) return {-term, true};
    }
    return {term, false};
  }

  /// Quotients by one value become one: a/d + b/d + c/d^2 is (a + b + c/d)/d. The divisor of most
  /// terms is taken first, with the exponent nearest to 0 that it has in them.
  Expr with_common_divisors(Expr sum) {
    struct Divisor {
      Expr base;
      Rational nearest;
      std::vector<std::size_t> terms;
    };
    std::map<std::uint32_t, Divisor> divisors;  // by node number: a fixed order
    const std::span<const Expr> terms = sum.args();
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const std::span<const Expr> own(&terms[i], 1);
      const bool product = terms[i].is(Op::Mul) && !terms[i]->fixed_order;
      for (const Expr factor : product ? terms[i].args() : own) {
        if (!divides(factor)) continue;
        const Rational exponent = factor.arg(1)->number.rational;
        Divisor& divisor = divisors[factor.arg(0)->id];
        if (divisor.terms.empty() ||
            divisor.nearest.num * exponent.den < exponent.num * divisor.nearest.den)
          divisor.nearest = exponent;
        divisor.base = factor.arg(0);
        divisor.terms.push_back(i);
      }
    }
    const auto most = std::ranges::max_element(
        divisors, {}, [](const auto& entry) { return entry.second.terms.size(); });
    if (most == divisors.end() || most->second.terms.size() < 2) return sum;
    const auto& [base, nearest, by] = most->second;
    const Expr taken = pow(base, arena_.number(algebra::exact(nearest.num, nearest.den)));
    std::vector<Expr> above, rest;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (std::ranges::find(by, i) != by.end()) {
        above.push_back(terms[i] / taken);
      } else {
        rest.push_back(terms[i]);
      }
    }
    rest.push_back(arena_.make(Op::Add, above, sum->span) * taken);
    return arena_.make(Op::Add, rest, sum->span);
  }
  /// A value of a site to a known power below 0.
  static bool divides(Expr factor) {
    return factor.is(Op::Pow) && !factor->fixed_order && factor.arg(0)->per_site &&
           factor.arg(1).is_number() && factor.arg(1)->number.exact &&
           factor.arg(1)->number.rational.num < 0;
  }

  /// The increments first, among themselves; a bare value that they are added to comes last, so
  /// that it is rounded once.
  Expr sum(Expr expr) {
    const Expr merged = with_common_divisors(expr);
    if (!(merged == expr)) return visit(merged);
    const dsl::Span span = expr->span;
    std::vector<Signed> terms;
    for (Expr arg : expr.args()) terms.push_back(without_sign(arg));
    std::ranges::stable_sort(terms, {}, [](const Signed& s) {
      const bool leaf = s.term.is(Op::Load) || s.term.is_number() || s.term.is(Op::Symbol);
      return 2 * leaf + s.negative;
    });
    std::vector<std::pair<Expr, bool>> parts;
    for (const Signed& s : terms) parts.emplace_back(visit(s.term), s.negative);
    span_ = span;
    Expr total = parts[0].second ? negative_of(parts[0].first) : parts[0].first;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const auto& [term, negative] = parts[i];
      total = negative ? binary(Op::Sub, total, term) : binary(Op::Add, total, term);
    }
    return total;
  }

  // ---- products and powers --------------------------------------------------------------------

  Expr product(std::span<const Expr> factors) {
    const dsl::Span span = span_;
    std::vector<Expr> above, below;
    bool negative = false;
    for (Expr factor : factors) {
      if (factor.is_number() && factor->number.real == -1) {
        negative = !negative;
      } else if (factor.is(Op::Pow) && !factor->fixed_order) {
        power(with_common_sign(factor, negative), above, below);
      } else {
        above.push_back(visit(factor));
      }
    }
    span_ = span;
    // An exact fraction 1/n times something is a division by n only where n is not a power of two.
    Expr value = times(above);
    if (!below.empty()) {
      const Expr divisor = times(below);
      value = binary(Op::Div, value ? value : arena_.integer(1), divisor);
    }
    if (!value) value = arena_.integer(1);
    return negative ? negative_of(value) : value;
  }

  /// Numbers, then slots, then values per site, from left to right.
  Expr times(std::vector<Expr>& factors) {
    if (factors.empty()) return Expr();
    std::ranges::stable_sort(factors, {}, [](Expr e) {
      if (e.is_number()) return 0;
      return e->per_site ? 2 : 1;
    });
    Expr value = factors[0];
    for (std::size_t i = 1; i < factors.size(); ++i) value = binary(Op::Mul, value, factors[i]);
    return value;
  }

  /// (a - b)^n with a whole n as (b - a)^n, where b - a occurs too.
  Expr with_common_sign(Expr power, bool& negative) {
    const Expr exponent = power.arg(1);
    const bool whole =
        exponent.is_number() && exponent->number.exact && exponent->number.rational.den == 1;
    const Expr opposite = whole ? opposites_.instead_of(power.arg(0)) : Expr();
    if (!opposite) return power;
    negative = negative != (exponent->number.rational.num % 2 != 0);
    return pow(opposite, exponent);
  }

  void power(Expr expr, std::vector<Expr>& above, std::vector<Expr>& below) {
    const Expr base = visit(expr.arg(0));
    span_ = expr->span;
    const Expr exponent = expr.arg(1);
    if (exponent.is_number() && exponent->number.exact) {
      const Rational r = exponent->number.rational;
      const std::int64_t size = std::abs(r.num);
      if ((r.den == 1 || r.den == 2 || r.den == 4) && size <= 64 * r.den) {
        if (pairs_ && r.num < 0 && r.den == 2) {
          // a reciprocal root is one operation of a GPU; a root and a quotient are many
          const Expr root = arena_.raw(Op::Pow, {base, arena_.rational(-1, 2)}, span_);
          above.push_back(integer_power(root, size));
          return;
        }
        roots(base, {size, r.den}, r.num < 0 ? below : above);
        return;
      }
    }
    if (exponent.is_number() && whole_apart(base, exponent->number, above, below)) return;
    above.push_back(arena_.raw(Op::Pow, {base, visit(exponent)}, span_));
  }

  /// x^(n/d) with d = 1, 2 or 4 by square roots, which cost less than a power.
  void roots(Expr base, const Rational& exponent, std::vector<Expr>& side) {
    const std::int64_t n = exponent.num, d = exponent.den;
    if (n / d > 0) side.push_back(integer_power(base, n / d));
    const std::int64_t quarters = n % d * (4 / d);
    if (quarters == 0) return;
    const auto root = [&](Expr of) {
      const Expr known = constant(Op::Sqrt, {of});
      return known ? known : arena_.raw(Op::Sqrt, {of}, span_);
    };
    const Expr half = root(base);
    if (quarters >= 2) side.push_back(half);
    if (quarters % 2 != 0) side.push_back(root(half));
  }

  /// x^e with a whole number in front: x^5.3 is x^5*x^0.3. Formulas and their derivatives, which
  /// hold x^4.3 and x^3.3, so share one power. Both factors have the same sign in the exponent,
  /// so a base of 0 or infinity gives what x^e gives.
  bool whole_apart(Expr base, const Number& exponent, std::vector<Expr>& above,
                   std::vector<Expr>& below) {
    constexpr long double kMost = 16;
    const long double size = std::fabs(exponent.real), whole = std::floor(size);
    if (!(whole >= 1 && size < kMost)) return false;
    std::vector<Expr>& side = exponent.real < 0 ? below : above;
    side.push_back(integer_power(base, static_cast<std::int64_t>(whole)));
    const Expr rest =
        exponent.exact ? arena_.number(algebra::add(
                             algebra::exact(std::abs(exponent.rational.num), exponent.rational.den),
                             algebra::exact(-static_cast<std::int64_t>(whole))))
                       : arena_.real(rounded(size - whole));
    if (!rest.is_zero()) side.push_back(arena_.raw(Op::Pow, {base, rest}, span_));
    return true;
  }
  /// Without the rounding of exponents that differ by whole numbers.
  static long double rounded(long double x) { return std::round(x * 1e15L) / 1e15L; }

  /// x^n from x^(n/2): the squares are shared between powers of one base.
  Expr integer_power(Expr base, std::int64_t n) {
    if (n == 1) return base;
    const Expr half = integer_power(base, n / 2);
    const Expr square = binary(Op::Mul, half, half);
    return n % 2 == 0 ? square : binary(Op::Mul, square, base);
  }

  Arena& arena_;
  bool pairs_ = false;  ///< inside a sum over pairs
  Multiples multiples_;
  Opposites opposites_;
  std::unordered_map<const algebra::Node*, std::map<std::int64_t, CosSin>> cosines_sines_;
  dsl::Span span_;
  std::unordered_map<int, Expr> shared_;
  algebra::NodeMap* known_ = nullptr;
  algebra::NodeMap done_;
};

}  // namespace

Expr with_fixed_order(Expr expr) {
  Arena& arena = *expr->arena;
  return OperationOrder(arena, arena.in_fixed_order()).visit(expr);
}

SiteLoop order(SiteLoop loop, const FreshName&) {
  const auto arena = [](Expr expr) -> Arena& { return *expr->arena; };
  std::optional<OperationOrder> orderer;
  const auto put = [&](Expr& value) {
    if (!orderer) orderer.emplace(arena(value));
    value = orderer->visit(value);
  };
  std::vector<Expr> values = loop.kernel.values();
  for (const Store& value : loop.shared) values.push_back(value.value);
  if (!values.empty()) {
    orderer.emplace(arena(values.front()));
    orderer->announce(values);
  }
  for (Store& value : loop.shared) {
    put(value.value);
    orderer->share(value.array, value.value);
  }
  loop.shared.clear();
  for (Store& store : loop.kernel.stores) put(store.value);
  for (Reduction& reduction : loop.kernel.reductions) put(reduction.value);
  for (ScalarAssign& assign : loop.kernel.epilogue) put(assign.value);
  for (ScalarAssign& assign : loop.before) put(assign.value);
  return loop;
}

}  // namespace vphi::kernel
