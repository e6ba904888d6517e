#include "compiler/gauge/chart.hpp"

#include <cmath>
#include <map>
#include <numbers>

#include "compiler/algebra/transform.hpp"

namespace vphi::gauge {
namespace {

/// i[T_u, T_v] = sum of value T_result.
struct Constant {
  std::size_t u, v, result;
  long double value;
};

std::vector<Constant> constants_of(const Group& group) {
  Arena arena;
  const auto count = static_cast<std::size_t>(group.generators());
  std::vector<Matrix> generators;
  for (std::size_t a = 0; a < count; ++a) {
    std::vector<Expr> unit(count, arena.integer(0));
    unit[a] = arena.integer(1);
    generators.push_back(hermitian(group, unit));
  }
  std::vector<Constant> result;
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      const Matrix commutator =
          minus(times(generators[a], generators[b]), times(generators[b], generators[a]));
      for (std::size_t c = 0; c < count; ++c) {
        const Expr trace = trace_of_product(commutator, generators[c]).im;
        const double value = -2 * algebra::evaluate(trace, {});  // 2 tr(i[T_a, T_b] T_c)
        if (std::abs(value) > 1e-12) result.push_back({a, b, c, value});
      }
    }
  }
  return result;
}

std::vector<Expr> bracket_by(const std::vector<Constant>& constants, std::span<const Expr> u,
                             std::span<const Expr> v) {
  Arena& arena = *u[0]->arena;
  std::vector<Expr> result(u.size(), arena.integer(0));
  for (const Constant& f : constants) {
    const long double size = std::abs(f.value);
    Expr term = times(u[f.u], v[f.v]);
    if (std::abs(size - 1) > 1e-12) term = times(arena.real(size), term);
    Expr& sum = result[f.result];
    sum = f.value > 0 ? plus(sum, term) : minus(sum, term);
  }
  return result;
}

/// B_n/n! for n up to `last`.
std::vector<long double> bernoulli_over_factorial(int last) {
  std::vector<long double> beta{1};
  for (int n = 1; n <= last; ++n) {
    long double sum = 0, factorial = 1;  // (n + 1 - k)!
    for (int k = n - 1; k >= 0; --k) {
      factorial *= n + 1 - k;
      sum += beta[static_cast<std::size_t>(k)] / factorial;
    }
    beta.push_back(-sum);
  }
  return beta;
}

}  // namespace

int chart_powers(double unit) {
  constexpr double kReach = 0.5;
  int n = 0;
  while (2 * std::pow(kReach / (2 * std::numbers::pi), n + 2) > unit) n += 2;
  return n;
}

std::vector<Expr> bracket(const Group& group, std::span<const Expr> u, std::span<const Expr> v) {
  return bracket_by(constants_of(group), u, v);
}

std::vector<Expr> turn_rate(const Group& group, std::span<const Expr> theta,
                            std::span<const Expr> velocity, int powers) {
  Arena& arena = *theta[0]->arena;
  const std::vector<Constant> constants = constants_of(group);
  const std::vector<long double> beta = bernoulli_over_factorial(powers);
  std::vector<Expr> power(velocity.begin(), velocity.end()), result = power;
  for (int k = 1; k <= powers; ++k) {
    power = bracket_by(constants, theta, power);
    const long double weight = beta[static_cast<std::size_t>(k)];
    if (k > 1 && k % 2 == 1) continue;  // B_3, B_5, ... are 0
    for (std::size_t a = 0; a < power.size(); ++a)
      result[a] = plus(result[a], times(arena.real(weight), power[a]));
  }
  return result;
}

std::vector<Expr> middle_momentum(const Group& group, std::span<const Expr> theta,
                                  std::span<const Expr> momentum, std::span<const Expr> change,
                                  int powers) {
  Arena& arena = *theta[0]->arena;
  const std::vector<Constant> constants = constants_of(group);
  const std::vector<long double> beta = bernoulli_over_factorial(powers + 2);
  std::vector<Expr> turned(momentum.begin(), momentum.end());
  std::vector<Expr> power(change.begin(), change.end());
  for (int k = 1; k <= powers; ++k) {  // tanh(x/2) = sum_k 2 (2^2k - 1) B_2k x^(2k - 1)/(2k)!
    power = bracket_by(constants, theta, power);
    if (k % 2 == 0) continue;
    const long double weight =
        2 * (std::pow(2.0L, k + 1) - 1) * beta[static_cast<std::size_t>(k + 1)];
    for (std::size_t a = 0; a < power.size(); ++a)
      turned[a] = minus(turned[a], times(arena.real(weight), power[a]));
  }
  std::vector<Expr> result = turned;
  long double factorial = 1;  // (k + 1)!
  for (int k = 1; k <= powers; ++k) {
    turned = bracket_by(constants, theta, turned);
    factorial *= k + 1;
    if (k % 2 == 1) continue;
    for (std::size_t a = 0; a < turned.size(); ++a)
      result[a] = plus(result[a], times(arena.real(1 / factorial), turned[a]));
  }
  return result;
}

}  // namespace vphi::gauge
