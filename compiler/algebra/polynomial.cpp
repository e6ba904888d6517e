// Products of sums multiplied out, and expressions read as polynomials.
#include <algorithm>
#include <cstdlib>

#include "compiler/algebra/rational.hpp"
#include "compiler/algebra/simplify.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {
namespace {

/// A product with more terms than this when multiplied out is left as it is: (x1 + ... + x9)^12.
constexpr std::size_t kMostTerms = 20000;

std::vector<Expr> terms_of(Expr e) {
  if (is_sum(e)) return {e.args().begin(), e.args().end()};
  return {e};
}

/// Product of two expanded expressions, expanded; nothing where it would be too long.
std::optional<Expr> multiplied_out(Expr a, Expr b) {
  const std::vector<Expr> left = terms_of(a), right = terms_of(b);
  if (left.size() * right.size() > kMostTerms) return std::nullopt;
  std::vector<Expr> terms;
  terms.reserve(left.size() * right.size());
  for (Expr x : left) {
    for (Expr y : right) terms.push_back(x * y);
  }
  return a->arena->make(Op::Add, std::move(terms), a->span);
}

/// n where the exponent is an integer of at least 2, else 0.
std::int64_t repeat_count(Expr power) {
  const Expr n = power.arg(1);
  if (!n.is_number() || !is_integer(n->number)) return 0;
  return n->number.rational.num >= 2 ? n->number.rational.num : 0;
}

Expr expand_product(Expr node) {
  if (std::ranges::none_of(node.args(), is_sum)) return node;
  Expr result = node->arena->integer(1);
  for (Expr factor : node.args()) {
    const auto next = multiplied_out(result, factor);
    if (!next) return node;
    result = *next;
  }
  return result;
}

Expr expand_power(Expr node) {
  const std::int64_t n = repeat_count(node);
  if (n == 0 || n > 64 || !is_sum(node.arg(0))) return node;
  Expr result = node.arg(0);
  for (std::int64_t i = 1; i < n; ++i) {
    const auto next = multiplied_out(result, node.arg(0));
    if (!next) return node;
    result = *next;
  }
  return result;
}

using Coefficients = std::vector<Expr>;

Coefficients convolve(const Coefficients& a, const Coefficients& b) {
  Arena& arena = *a[0]->arena;
  Coefficients result(a.size() + b.size() - 1, arena.integer(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) result[i + j] = result[i + j] + a[i] * b[j];
  }
  return result;
}

}  // namespace

Expr expand(Expr expr) {
  return rewrite(expr, [](Expr node) {
    if (node->fixed_order) return node;
    if (node.is(Op::Pow)) return expand_power(node);
    if (node.is(Op::Mul)) return expand_product(node);
    return node;
  });
}

std::optional<std::vector<Expr>> polynomial(Expr expr, Expr x, int max_degree) {
  Arena& arena = *expr->arena;
  const std::size_t most = static_cast<std::size_t>(max_degree) + 1;
  std::unordered_map<const Node*, std::optional<Coefficients>> known;
  visit(expr, [&](Expr node) {
    auto& result = known[node.get()];
    if (node == x) {
      result = Coefficients{arena.integer(0), arena.integer(1)};
      return;
    }
    const auto below = [&](Expr arg) -> const std::optional<Coefficients>& {
      return known.at(arg.get());
    };
    if (std::ranges::all_of(node.args(),
                            [&](Expr a) { return below(a) && below(a)->size() == 1; })) {
      result = Coefficients{node};
      return;
    }
    if (!std::ranges::all_of(node.args(), [&](Expr a) { return below(a).has_value(); })) return;
    if (node.is(Op::Add)) {
      result = Coefficients{arena.integer(0)};
      for (Expr arg : node.args()) {
        const Coefficients& part = *below(arg);
        result->resize(std::max(result->size(), part.size()), arena.integer(0));
        for (std::size_t i = 0; i < part.size(); ++i) (*result)[i] = (*result)[i] + part[i];
      }
    } else if (node.is(Op::Mul)) {
      result = Coefficients{arena.integer(1)};
      for (Expr arg : node.args()) result = convolve(*result, *below(arg));
    } else if (node.is(Op::Pow) && repeat_count(node) > 0) {
      const Coefficients& base = *below(node.arg(0));
      const auto n = static_cast<std::size_t>(repeat_count(node));
      if ((base.size() - 1) * n >= most) return;
      result = base;
      for (std::size_t i = 1; i < n; ++i) result = convolve(*result, base);
    }
    while (result && result->size() > 1 && result->back().is_zero()) result->pop_back();
    if (result && result->size() > most) result.reset();
  });
  auto result = known.at(expr.get());
  return result;
}

}  // namespace vphi::algebra
