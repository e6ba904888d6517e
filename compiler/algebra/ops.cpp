#include "compiler/algebra/ops.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "compiler/algebra/pairs.hpp"
#include "dsl/functions.hpp"

namespace vphi::algebra {
namespace {

using Slopes = std::vector<Expr>;
constexpr std::size_t kCount = static_cast<std::size_t>(Op::Count_);

/// A row whose value is given as one generic function of (arguments, their number).
template <class Value>
Row with_value(OpInfo info, Parity parity, Value value,
               Expr (*derivative)(Expr, const Slopes&) = nullptr, std::string_view latex = {},
               std::string_view mathml = {}) {
  return {info, parity, value, value, derivative, latex, mathml};
}

/// The same, called by a name in C.
Row called(std::string_view c_name, Row row) {
  row.c_name = c_name;
  return row;
}

/// A row of dsl/functions.def.
template <class Value>
Row of_one_argument(OpInfo info, Parity parity, Op undoes, std::string_view c_name, Value value,
                    Expr (*derivative)(Expr, const Slopes&), std::string_view latex,
                    std::string_view mathml) {
  return {info, parity, value, value, derivative, latex, mathml, undoes, c_name};
}

Row structural(OpInfo info, Expr (*derivative)(Expr, const Slopes&) = nullptr,
               std::string_view latex = {}, std::string_view mathml = {}) {
  return {info, Parity::None, nullptr, nullptr, derivative, latex, mathml};
}

Expr number(Expr node, std::int64_t num, std::int64_t den = 1) {
  return node->arena->rational(num, den);
}
Expr square(Expr x) { return pow(x, 2); }

/// x^n by repeated multiplication for small integers and square roots, as kernels do it.
template <class Real>
Real power_value(Real x, Real n) {
  if (n == Real(0.5)) return std::sqrt(x);
  if (n == Real(-0.5)) return 1 / std::sqrt(x);
  if (n != std::floor(n) || std::fabs(n) > 16) return std::pow(x, n);
  Real result = 1;
  for (int i = 0; i < std::fabs(n); ++i) result *= x;
  return n < 0 ? 1 / result : result;
}

/// 0 or 1 in the type of `like`.
template <class Real>
Real truth(Real /*like*/, bool value) {
  return value ? 1 : 0;
}

Expr slope_of_power(Expr node, const Slopes& d) {
  const Expr x = node.arg(0), n = node.arg(1);
  // d(x^n) = n x^(n-1) dx + log(x) x^n dn
  Expr result = n * pow(x, n - number(node, 1)) * d[0];
  if (!d[1].is_zero()) result = result + node->arena->make(Op::Log, {x}) * node * d[1];
  return result;
}

Expr slope_of_product(Expr node, const Slopes& d) {
  std::vector<Expr> terms;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (d[i].is_zero()) continue;
    std::vector<Expr> factors(node.args().begin(), node.args().end());
    factors[i] = d[i];
    terms.push_back(node->arena->make(Op::Mul, std::move(factors), node->span));
  }
  return node->arena->make(Op::Add, std::move(terms), node->span);
}

Expr slope_of_sum(Expr node, const Slopes& d) {
  return node->arena->make(Op::Add, Slopes(d), node->span);
}

/// Same operation applied to the derivative: stencils and averages are linear.
Expr slope_of_linear(Expr node, const Slopes& d) {
  if (node.is(Op::Stencil)) return node->arena->stencil(node->index, d[0], node->span);
  if (node.is(Op::PairSum)) return pair_sum(d[0], node->index != 0);
  return node->arena->make(node.op(), {d[0]}, node->span);
}

Expr choose(Expr node, Expr condition, Expr a, Expr b) {
  return node->arena->make(Op::Select, {condition, a, b}, node->span);
}
Expr apply(Expr node, Op op, Expr x) { return node->arena->make(op, {x}, node->span); }

/// 1/sqrt(x)
Expr inverse_root(Expr x) { return pow(x, number(x, -1, 2)); }

template <class Real>
Real minmod_value(Real a, Real b, Real c) {
  return std::fmax(std::fmin(Real(0), std::fmax(b, c)),
                   std::fmin(a, std::fmax(Real(0), std::fmin(b, c))));
}

/// That of the argument that it is.
Expr slope_of_minmod(Expr f, const Slopes& d) {
  Expr slope = number(f, 0);
  for (int i = 3; i-- > 0;)
    slope =
        choose(f, f->arena->make(Op::Equal, {f, f.arg(i)}), d[static_cast<std::size_t>(i)], slope);
  return slope;
}

Expr one(Expr node) { return number(node, 1); }
Expr zero(Expr node) { return number(node, 0); }
Expr two_over_root_pi(Expr node) { return node->arena->real(2 / std::sqrt(std::acos(-1.0L))); }

std::array<Row, kCount> table() {
  using enum Op;
  using enum Parity;
  return {{
      structural({Number, "number", 0, false, 0, 0}),
      structural({Symbol, "symbol", 0, false, 0, 0}),
      structural({Load, "load", 0, false, 0, 0}),
      structural({Site, "site", 0, false, 0, 0}),
      structural({Noise, "noise", 0, false, 0, 0}),
      // Box-Muller on Philox words: half of log, sqrt, sin and cos; integer work counts as flops
      structural({Normal, "normal", 0, true, 24, 2}),
      structural({Uniform, "uniform", 0, false, 20, 0}),
      with_value(
          {Add, "add", -1, false, 1, 0}, None,
          [](const auto* x, int n) {
            auto sum = n > 0 ? x[0] : 0;
            for (int i = 1; i < n; ++i) sum += x[i];
            return sum;
          },
          slope_of_sum),
      with_value(
          {Mul, "mul", -1, false, 1, 0}, None,
          [](const auto* x, int n) {
            auto product = n > 0 ? x[0] : 1;
            for (int i = 1; i < n; ++i) product *= x[i];
            return product;
          },
          slope_of_product),
      called("pow",
             with_value(
                 {Pow, "pow", 2, true, 0, 1}, None,
                 [](const auto* x, int) { return power_value(x[0], x[1]); }, slope_of_power)),
      with_value(
          {Neg, "neg", 1, false, 1, 0}, None, [](const auto* x, int) { return -x[0]; },
          [](Expr, const Slopes& d) { return -d[0]; }),
      with_value(
          {Sub, "sub", 2, false, 1, 0}, None, [](const auto* x, int) { return x[0] - x[1]; },
          [](Expr, const Slopes& d) { return d[0] - d[1]; }),
      with_value(
          {Div, "div", 2, false, 0, 1}, None, [](const auto* x, int) { return x[0] / x[1]; },
          [](Expr f, const Slopes& d) { return (d[0] - f.arg(0) / f.arg(1) * d[1]) / f.arg(1); }),
      called("sqrt", with_value(
                         {Sqrt, "sqrt", 1, false, 0, 1}, None,
                         [](const auto* x, int) { return std::sqrt(x[0]); },
                         [](Expr f, const Slopes& d) {
                           return d[0] * number(f, 1, 2) * inverse_root(f.arg(0));
                         })),
      called("fma",
             with_value(
                 {Fma, "fma", 3, false, 2, 0}, None,
                 [](const auto* x, int) { return std::fma(x[0], x[1], x[2]); },
                 [](Expr f, const Slopes& d) { return d[0] * f.arg(1) + f.arg(0) * d[1] + d[2]; })),

      with_value(
          {Minmod, "minmod", 3, false, 6, 0}, None,
          [](const auto* x, int) { return minmod_value(x[0], x[1], x[2]); }, slope_of_minmod,
          "\\operatorname{minmod}", "minmod"),
      with_value(
          {TableIndex, "table_index", 3, false, 3, 0}, None,
          [](const auto* x, int) { return std::fmin(std::fmax(std::floor(x[0]), x[1]), x[2]); },
          [](Expr f, const Slopes&) { return zero(f); }, "\\operatorname{index}", "index"),

#define VPHI_FUNCTION(op, name, value, c_name, rule, parity, undoes, flops, slope, latex, mathml, \
                      doc)                                                                        \
  of_one_argument(                                                                                \
      {op, name, 1, flops == 0, flops, flops == 0}, parity, undoes, c_name,                       \
      [](const auto* x, int) { return value(x[0]); },                                             \
      [](Expr f, const Slopes& d) {                                                               \
        [[maybe_unused]] const Expr x = f.arg(0);                                                 \
        return (slope)*d[0];                                                                      \
      },                                                                                          \
      latex, mathml),
#include "dsl/functions.def"
      called("atan2", with_value(
                          {Atan2, "atan2", 2, true, 0, 1}, None,
                          [](const auto* x, int) { return std::atan2(x[0], x[1]); },
                          [](Expr f, const Slopes& d) {
                            // d atan2(y, x) = (x dy - y dx)/(x^2 + y^2)
                            const Expr y = f.arg(0), x = f.arg(1);
                            return (x * d[0] - y * d[1]) / (square(x) + square(y));
                          },
                          "\\operatorname{atan2}", "atan2")),
      with_value(
          {Min, "min", 2, false, 1, 0}, None,
          [](const auto* x, int) { return std::fmin(x[0], x[1]); },
          [](Expr f, const Slopes& d) {
            return choose(f, f->arena->make(Less, {f.arg(0), f.arg(1)}), d[0], d[1]);
          },
          "\\min", "min"),
      with_value(
          {Max, "max", 2, false, 1, 0}, None,
          [](const auto* x, int) { return std::fmax(x[0], x[1]); },
          [](Expr f, const Slopes& d) {
            return choose(f, f->arena->make(Less, {f.arg(1), f.arg(0)}), d[0], d[1]);
          },
          "\\max", "max"),
      with_value({Less, "less", 2, false, 1, 0}, None,
                 [](const auto* x, int) { return truth(*x, x[0] < x[1]); }),
      with_value({LessEqual, "less_equal", 2, false, 1, 0}, None,
                 [](const auto* x, int) { return truth(*x, x[0] <= x[1]); }),
      with_value({Equal, "equal", 2, false, 1, 0}, None,
                 [](const auto* x, int) { return truth(*x, x[0] == x[1]); }),
      with_value({And, "and", 2, false, 0, 0}, None,
                 [](const auto* x, int) { return truth(*x, x[0] != 0 && x[1] != 0); }),
      with_value({Or, "or", 2, false, 0, 0}, None,
                 [](const auto* x, int) { return truth(*x, x[0] != 0 || x[1] != 0); }),
      with_value({Not, "not", 1, false, 0, 0}, None,
                 [](const auto* x, int) { return truth(*x, x[0] == 0); }),
      with_value(
          {Select, "select", 3, false, 0, 0}, None,
          [](const auto* x, int) { return x[0] != 0 ? x[1] : x[2]; },
          [](Expr f, const Slopes& d) { return choose(f, f.arg(0), d[1], d[2]); }),

      structural({Lookup, "lookup", 2, false, 1, 0}),
      structural({Stencil, "stencil", 1, false, 0, 0}, slope_of_linear),
      structural({PairSum, "pair_sum", 1, false, 0, 0}, slope_of_linear),
      structural({Mean, "mean", 1, false, 1, 0}, slope_of_linear),
      structural({Total, "total", 1, false, 1, 0}, slope_of_linear),
      structural({Minimum, "minimum", 1, false, 1, 0}),
      structural({Maximum, "maximum", 1, false, 1, 0}),
  }};
}

}  // namespace

const Row& row(Op op) {
  static const std::array<Row, kCount> rows = table();
  return rows[static_cast<std::size_t>(op)];
}

const OpInfo& info(Op op) { return row(op).info; }

bool is_condition(Op op) { return op >= Op::Less && op <= Op::Not; }

bool is_ordered(Op op) { return op >= Op::Neg && op <= Op::TableIndex; }

bool reduces_sites(Op op) { return op >= Op::Mean && op <= Op::Maximum; }

Op op_named(std::string_view name) {
  const auto in_language = [](Op op) {
    return (op >= Op::Exp && op <= Op::Max) || op == Op::Sqrt || op == Op::Mean || op == Op::Total;
  };
  for (std::size_t i = 0; i < kCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (in_language(op) && info(op).name == name) return op;
  }
  return Op::Count_;
}

}  // namespace vphi::algebra
