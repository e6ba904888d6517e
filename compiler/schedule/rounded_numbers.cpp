#include "compiler/schedule/rounded_numbers.hpp"

#include <cmath>
#include <set>

#include "compiler/algebra/transform.hpp"
#include "compiler/schedule/schedule_errors.hpp"

namespace vphi::schedule {
namespace {

using algebra::Expr;
using program::Precision;

/// A number that was computed here has an error below this, relative; a rational has none.
constexpr long double kComputed = 1e-15L;

long double rounded(long double value, Precision precision) {
  return precision == Precision::F32 ? static_cast<long double>(static_cast<float>(value))
                                     : static_cast<long double>(static_cast<double>(value));
}

/// At most 8 binary digits from the first to the last that is 1.
bool is_short(long double value) {
  int exponent = 0;
  const long double digits = std::ldexp(std::frexp(value, &exponent), 8);
  return digits == std::floor(digits);
}

bool becomes_short(const algebra::Number& number, Precision precision) {
  const long double value = number.real;
  const long double after = rounded(value, precision);
  if (after == 0 || !std::isfinite(after) || after == value) return false;
  const long double error = number.exact ? 0 : kComputed;
  return is_short(after) && std::fabs(value - after) > error * std::fabs(after);
}

}  // namespace

void warn_of_rounded_numbers(const Plan& plan, dsl::Diagnostics& diagnostics) {
  std::set<long double> seen;
  for (const kernel::Kernel& kernel : plan.kernels) {
    algebra::visit(kernel.values(), [&](Expr root, Expr node) {
      for (const Expr arg : node.args()) {
        if (!arg.is_number()) continue;
        const long double value = arg->number.real;
        if (!becomes_short(arg->number, kernel.compute) || !seen.insert(value).second) continue;
        const dsl::Span span = node->span.empty() ? root->span : node->span;
        diagnostics.add(errors::rounded_number(span, value, rounded(value, kernel.compute),
                                               kernel.compute == Precision::F32));
      }
    });
  }
}

}  // namespace vphi::schedule
