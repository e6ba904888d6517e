#include "compiler/kernel/device.hpp"
#include "compiler/kernel/site_rewriting.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace vphi::kernel {
namespace {

using algebra::Node;
using algebra::Op;

std::optional<std::int64_t> integer_of(Expr expr) {
  if (!expr.is_number() || !expr->number.exact || expr->number.rational.den != 1) return {};
  return expr->number.rational.num;
}

bool is_negative(Expr expr) { return expr.is_number() && expr->number.real < 0; }

// ---- reciprocals --------------------------------------------------------------------------------

constexpr int kMostPower = 30;  // bits of an int

/// base^power, where the text says x^n or a product of powers of x.
struct Power {
  Expr base;
  int power = 1;
};
Power power_of(Expr expr) {
  if (expr.is(Op::Mul)) {
    Power all{{}, 0};
    for (const Expr arg : expr.args()) {
      const Power factor = power_of(arg);
      if (all.base && all.base != factor.base) return {expr, 1};
      all = {factor.base, all.power + factor.power};
    }
    return all.power <= kMostPower ? all : Power{expr, 1};
  }
  if (expr.is(Op::Pow)) {
    const auto n = integer_of(expr.arg(1));
    if (n && *n > 1 && *n <= kMostPower) return {expr.arg(0), static_cast<int>(*n)};
  }
  return {expr, 1};
}

class Reciprocals : public SiteRewriting {
 public:
  explicit Reciprocals(const SiteFunction& function) : SiteRewriting(function) {
    std::unordered_set<const Node*> seen;
    std::vector<Expr> open = function.values();
    while (!open.empty()) {
      const Expr expr = open.back();
      open.pop_back();
      if (at_hand(expr) || !seen.insert(expr.get()).second) continue;
      if (expr.is(Op::Div)) {
        const Power divisor = power_of(expr.arg(1));
        powers_[divisor.base.get()] |= 1 << divisor.power;
      }
      for (const Expr arg : expr.args()) open.push_back(arg);
    }
  }

 private:
  Expr made(Expr expr) override {
    if (!expr.is(Op::Div)) return {};
    algebra::Arena& arena = *expr->arena;
    const Expr above = expr.arg(0), divisor = expr.arg(1);
    const Power below = power_of(divisor);
    const int powers = powers_.at(below.base.get());
    const bool several = (powers & (powers - 1)) != 0;
    Expr factor;
    if (several) {
      factor = arena.raw(Op::Div, {arena.integer(1), visit(below.base)}, expr->span);
    } else if (divisor.is(Op::Sqrt) && uses(divisor) == 1) {
      factor = arena.raw(Op::Pow, {visit(divisor.arg(0)), arena.rational(-1, 2)}, expr->span);
    } else {
      return {};
    }
    std::vector<Expr> factors;
    if (!above.is_one()) factors.push_back(visit(above));
    if (powers >> (kFewFactors + 1) != 0) {
      factors.push_back(raised(factor, below.power));
    } else {
      factors.insert(factors.end(), static_cast<std::size_t>(below.power), factor);
    }
    return factors.size() == 1 ? factors[0] : arena.raw(Op::Mul, std::move(factors), expr->span);
  }

  /// factor^power by squares, which higher powers of the same factor share.
  Expr raised(Expr factor, int power) {
    if (power == 1) return factor;
    Expr& known = raised_[{factor.get(), power}];
    if (!known) {
      const Expr below = raised(factor, power % 2 == 0 ? power / 2 : power - 1);
      known = factor->arena->raw(Op::Mul, {below, power % 2 == 0 ? below : factor}, factor->span);
    }
    return raised_[{factor.get(), power}];
  }

  static constexpr int kFewFactors = 4;          ///< up to here a product of equal factors is kept
  std::unordered_map<const Node*, int> powers_;  ///< as which something divides; bits
  std::map<std::pair<const Node*, int>, Expr> raised_;
};

// ---- sums ---------------------------------------------------------------------------------------

class Sums : public SiteRewriting {
 public:
  using SiteRewriting::SiteRewriting;

 private:
  /// A term of a sum; `product`: a product that is used once.
  struct Term {
    Expr value;
    bool minus = false, product = false;
  };

  void add_terms(Expr expr, bool minus, std::vector<Term>& terms) {
    const bool chain = expr.is(Op::Add) || expr.is(Op::Sub) || expr.is(Op::Neg);
    if (!open(expr) || !chain) {
      terms.push_back({expr, minus, open(expr) && expr.is(Op::Mul)});
      return;
    }
    for (std::size_t i = 0; i < expr.args().size(); ++i)
      add_terms(expr.arg(i), minus != (expr.is(Op::Neg) || (expr.is(Op::Sub) && i > 0)), terms);
  }

  Expr made(Expr expr) override {
    if (!expr.is(Op::Add) && !expr.is(Op::Sub)) return {};
    std::vector<Term> terms;
    for (std::size_t i = 0; i < expr.args().size(); ++i)
      add_terms(expr.arg(i), expr.is(Op::Sub) && i > 0, terms);
    const auto plain = std::ranges::find_if(
        terms, [](const Term& t) { return !t.product && !t.minus && !is_negative(t.value); });
    if (!terms[0].product || plain == terms.end()) return {};
    std::rotate(terms.begin(), plain, plain + 1);
    std::vector<Expr> sum;
    for (const Term& term : terms) sum.push_back(signed_value(term));
    return expr->arena->raw(Op::Add, std::move(sum), expr->span);
  }

  /// The sign of a term and that of a leading number are one.
  Expr signed_value(const Term& term) {
    algebra::Arena& arena = *term.value->arena;
    Expr value = visit(term.value);
    const bool flips = term.product && value.is(Op::Mul) && is_negative(value.arg(0));
    if (flips) {
      std::vector<Expr> factors(value.args().begin(), value.args().end());
      factors[0] = -factors[0];
      if (factors[0].is_one()) factors.erase(factors.begin());
      value =
          factors.size() == 1 ? factors[0] : arena.raw(Op::Mul, std::move(factors), value->span);
    }
    return term.minus != flips ? arena.raw(Op::Neg, {value}, value->span) : value;
  }
};

std::size_t reads(const SiteFunction& function) {
  std::unordered_set<const Node*> seen;
  std::size_t count = 0;
  std::vector<Expr> open = function.values();
  while (!open.empty()) {
    const Expr expr = open.back();
    open.pop_back();
    if (!seen.insert(expr.get()).second) continue;
    const bool read = expr.is(Op::Load) || expr.is(Op::Stencil);
    count += read;
    if (!read) open.insert(open.end(), expr.args().begin(), expr.args().end());
  }
  return count;
}

}  // namespace

std::vector<Expr> SiteFunction::values() const {
  std::vector<Expr> list = kernel.values();
  for (const ScalarAssign& value : held) list.push_back(value.value);
  return list;
}

SiteFunction reciprocals(SiteFunction function) {
  const bool wanted = function.walked() || function.of_pair;
  return wanted && function.kernel.fast ? Reciprocals(function)(std::move(function)) : function;
}

SiteFunction sums(SiteFunction function) {
  const bool wanted = !function.walked() && reads(function) < kManyReads;
  return wanted && function.kernel.fast ? Sums(function)(std::move(function)) : function;
}

const std::vector<DevicePass>& device_passes() {
  static const std::vector<DevicePass> kPasses = {
      {"reciprocals", reciprocals},
      {"sums", sums},
      {"minmods", minmods},
      {"paired_angles", paired_angles},
      {"table_indices", table_indices},
  };
  return kPasses;
}

SiteFunction for_device(SiteFunction function, const std::string& last) {
  for (const DevicePass& pass : device_passes()) {
    function = pass.run(std::move(function));
    if (last == pass.name) break;
  }
  return function;
}

}  // namespace vphi::kernel
