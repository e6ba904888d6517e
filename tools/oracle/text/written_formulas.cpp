// inverse, tabulate and integral in the text: a root between brackets, the formula itself, and sums
// of Simpson or of Gauss.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tools/oracle/text/written_scope.hpp"

namespace vphi::tools {

using dsl::ExprKind;

namespace {

using Function = std::function<long double(long double)>;

/// x between a and b with f(x) = y: the secant, and where one end stays its value halved
/// (Dowell and Jarratt, BIT 11 (1971) 168, the Illinois method).
long double root(const Function& f, long double a, long double b, long double y) {
  long double at_a = f(a) - y, at_b = f(b) - y;
  if (at_a == 0 || std::fabs(b - a) == 0) return a;
  for (int round = 0; round < 200 && at_b != 0; ++round) {
    const long double x = (a * at_b - b * at_a) / (at_b - at_a);
    if (x == a || x == b || std::fabs(b - a) <= 1e-18L * std::fabs(x)) return x;
    const long double at_x = f(x) - y;
    if (at_x * at_b < 0) {
      a = b;
      at_a = at_b;
    } else {
      at_a /= 2;
    }
    b = x;
    at_b = at_x;
  }
  return b;
}

/// Simpson's rule, halved until both halves agree with the whole to 1e-14 of what it is made of.
long double simpson(const Function& f, long double a, long double b, long double fa, long double fm,
                    long double fb, long double size, int depth) {
  const long double m = (a + b) / 2, h = b - a;
  const long double low = f((a + m) / 2), high = f((m + b) / 2);
  const long double whole = h / 6 * (fa + 4 * fm + fb);
  const long double both = h / 12 * (fa + 4 * low + 2 * fm + 4 * high + fb);
  size = std::max(size, std::fabs(h) / 6 * (std::fabs(fa) + 4 * std::fabs(fm) + std::fabs(fb)));
  if (depth == 0 || (depth < 36 && std::fabs(both - whole) <= 1e-14L * size))
    return both + (both - whole) / 15;
  return simpson(f, a, m, fa, low, fm, size, depth - 1) +
         simpson(f, m, b, fm, high, fb, size, depth - 1);
}

/// The rule of Gauss with n points; the places are roots of Legendre's polynomial, each alone
/// between two cosines (Bruns, Journal fuer die reine und angewandte Mathematik 90 (1881) 322).
long double gauss(const Function& f, long double a, long double b, unsigned n) {
  const auto p = [n](long double x) { return std::legendre(n, x); };
  long double sum = 0;
  for (unsigned i = 1; i <= n; ++i) {
    long double low = -std::cos(M_PIl * (2 * i - 1) / (2 * n + 1)),
                high = -std::cos(M_PIl * 2 * i / (2 * n + 1));
    for (int round = 0; round < 70; ++round) {
      const long double middle = (low + high) / 2;
      (p(low) * p(middle) > 0 ? low : high) = middle;
    }
    const long double x = (low + high) / 2, before = n * std::legendre(n - 1, x);
    sum += 2 * (1 - x * x) / (before * before) * f((a + b) / 2 + (b - a) / 2 * x);
  }
  return sum * (b - a) / 2;
}

}  // namespace

Numbers Written::of_formula(const dsl::Expr& e, const Scope& scope, const Place* place) {
  const dsl::NamedArgument* bound = nullptr;
  const dsl::Expr* outside = nullptr;
  unsigned points = 0;
  for (const dsl::NamedArgument& option : e.named) {
    const dsl::Expr& value = *option.value;
    if (value.kind == ExprKind::Range) bound = &option;
    if (option.name == "points") points = static_cast<unsigned>(real(value, scope, place));
    if (option.name == "outside" && value.kind != ExprKind::Name) outside = &value;
  }
  if (!bound) throw NotCovered{e.span, "`" + e.text + "`"};
  const Function f = [&](long double x) {
    Scope inner;
    inner.parent = &scope;
    Local local;
    local.fixed = Numbers::of(x);
    inner.names.emplace(bound->name, std::move(local));
    return real(*e.args[0], inner, place);
  };
  const long double a = real(*bound->value->args[0], scope, place),
                    b = real(*bound->value->args[1], scope, place);
  if (e.text == "integral") {
    if (points > 0) return Numbers::of(gauss(f, a, b, points));
    return Numbers::of(simpson(f, a, b, f(a), f((a + b) / 2), f(b), 0, 40));
  }
  const bool turned = e.text == "inverse";
  const long double y = real(*e.args[1], scope, place);
  const long double from = turned ? f(a) : a, to = turned ? f(b) : b;
  const auto [low, high] = std::minmax(from, to);
  if (outside && (y < low || y > high)) return at(*outside, scope, place);
  const long double inside = std::clamp(y, low, high);
  return Numbers::of(turned ? root(f, a, b, inside) : f(inside));
}

}  // namespace vphi::tools
