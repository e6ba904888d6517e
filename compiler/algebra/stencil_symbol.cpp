// The operator in Fourier space: moments, symbol, largest eigenvalue.
//
// L e^(ikx) = dx^p/denominator * sum_i w_i e^(i k o_i dx) e^(ikx). For a Laplacian minus this is
// k_eff^2; its Taylor coefficients are the moments sum_i w_i prod_a o_i[a]^n_a.
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>

#include "compiler/algebra/rational.hpp"
#include "compiler/algebra/stencil.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {
namespace {

using Powers = std::array<int, 4>;
using Wave = std::array<double, 4>;

std::int64_t integer_power(std::int64_t x, int n) {
  std::int64_t result = 1;
  for (int i = 0; i < n; ++i) result *= x;
  return result;
}

/// All powers of `dims` components that add up to `degree`.
std::vector<Powers> powers_of_degree(int dims, int degree) {
  std::vector<Powers> result;
  Powers p{};
  const auto fill = [&](const auto& self, int axis, int left) -> void {
    if (axis == dims - 1) {
      p[static_cast<std::size_t>(axis)] = left;
      result.push_back(p);
      return;
    }
    for (int n = 0; n <= left; ++n) {
      p[static_cast<std::size_t>(axis)] = n;
      self(self, axis + 1, left - n);
    }
  };
  fill(fill, 0, degree);
  return result;
}

double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

/// Moments of the leading error belong to |k|^degree: all powers even, and in the ratios of
/// |k|^(2m) = sum m!/(n1! n2! ..) k1^(2 n1) ..  against  sum (2m)!/((2 n1)! ..) M k1^(2 n1) ..
bool isotropic_at(const StencilData& s, int degree) {
  std::optional<double> ratio;
  for (const Powers& p : powers_of_degree(s.dims, degree)) {
    const Rational m = moment(s, p);
    const double value = static_cast<double>(m.num) / static_cast<double>(m.den);
    bool even = true;
    double shape = 1;
    for (const int n : p) {
      even = even && n % 2 == 0;
      shape *= factorial(n) / factorial(n / 2);
    }
    if (!even) {
      if (m.num != 0) return false;
      continue;
    }
    const double r = value / shape;
    if (ratio && std::fabs(r - *ratio) > 1e-12 * std::fabs(*ratio)) return false;
    ratio = r;
  }
  return true;
}

/// -sum_i w_i cos(k o_i)/denominator
double minus_symbol(const StencilData& s, const Wave& k) {
  double sum = 0;
  if (s.spectral) {
    for (const double angle : k) {
      const double folded = std::remainder(angle, 2 * std::numbers::pi);
      sum += folded * folded;
    }
    return sum;
  }
  for (std::size_t i = 0; i < s.offsets.size(); ++i) {
    double phase = 0;
    for (std::size_t a = 0; a < 4; ++a) phase += k[a] * s.offsets[i].d[a];
    sum += static_cast<double>(s.weights[i]) * std::cos(phase);
  }
  return -sum / static_cast<double>(s.denominator);
}

/// Climbs from `k` with shrinking steps along the axes.
void refine(const StencilData& s, Wave& k, double& value, double step) {
  while (step > 1e-9) {
    bool moved = false;
    for (std::size_t a = 0; a < static_cast<std::size_t>(s.dims); ++a) {
      for (const double sign : {-1.0, 1.0}) {
        Wave next = k;
        next[a] += sign * step;
        const double v = minus_symbol(s, next);
        if (v > value) {
          value = v;
          k = next;
          moved = true;
        }
      }
    }
    if (!moved) step /= 2;
  }
}

/// Exact value at a corner of the zone, where every cosine is 1 or -1.
Number at_corner(const StencilData& s, unsigned corner) {
  Number sum = exact(0);
  for (std::size_t i = 0; i < s.offsets.size(); ++i) {
    int flips = 0;
    for (unsigned a = 0; a < 4; ++a) {
      if (corner >> a & 1U) flips += s.offsets[i].d[a];
    }
    sum = add(sum, exact(flips % 2 == 0 ? -s.weights[i] : s.weights[i]));
  }
  return multiply(sum, exact(1, s.denominator));
}

}  // namespace

Rational moment(const StencilData& s, const Powers& power) {
  Number sum = exact(0);
  for (std::size_t i = 0; i < s.offsets.size(); ++i) {
    Number term = exact(s.weights[i]);
    for (std::size_t a = 0; a < 4; ++a) {
      term = multiply(term, exact(integer_power(s.offsets[i].d[a], power[a])));
    }
    sum = add(sum, term);
  }
  return multiply(sum, exact(1, s.denominator)).rational;
}

Consistency consistency(const StencilData& s) {
  Consistency result;
  const auto is = [&](const Powers& p, std::int64_t value) {
    return moment(s, p) == Rational{value, 1};
  };
  if (s.dx_power != -2) {
    result.error = "it scales with dx^" + std::to_string(s.dx_power) + ", a Laplacian with dx^-2";
    return result;
  }
  for (int degree = 0; degree <= 2; ++degree) {
    for (const Powers& p : powers_of_degree(s.dims, degree)) {
      const bool pure = std::ranges::max(p) == 2;
      if (is(p, pure ? 2 : 0)) continue;
      if (degree == 0) result.error = "its weights do not add up to 0";
      if (degree == 1) result.error = "it has a first derivative in it";
      if (degree == 2) {
        result.error = pure ? "its second moments are not 2" : "it has a mixed derivative in it";
      }
      return result;
    }
  }
  result.laplacian = true;
  for (int degree = 3; degree <= 14; ++degree) {
    const auto vanishes = [&](const Powers& p) { return is(p, 0); };
    if (std::ranges::all_of(powers_of_degree(s.dims, degree), vanishes)) continue;
    result.order = degree - 2;
    result.isotropic = isotropic_at(s, degree);
    break;
  }
  return result;
}

double k_eff2(const StencilData& s, const Wave& k_dx) { return minus_symbol(s, k_dx); }

Expr symbol(Arena& arena, const StencilData& s) {
  static constexpr std::array names{"kx", "ky", "kz", "kt"};
  if (s.spectral) {
    Expr sum = arena.integer(0);
    for (std::size_t a = 0; a < static_cast<std::size_t>(s.dims); ++a)
      sum = sum + pow(arena.symbol(names[a]), 2);
    return sum;
  }
  const auto cosine = [&](std::size_t axis, int n) {
    return arena.make(Op::Cos, {arena.integer(n) * arena.symbol(names[axis])});
  };
  const auto mirror_symmetric = [&](std::size_t axis) {
    for (std::size_t i = 0; i < s.offsets.size(); ++i) {
      Offset o = s.offsets[i];
      o.d[axis] = static_cast<std::int16_t>(-o.d[axis]);
      const auto found = std::ranges::find(s.offsets, o);
      if (found == s.offsets.end()) return false;
      if (s.weights[static_cast<std::size_t>(found - s.offsets.begin())] != s.weights[i]) {
        return false;
      }
    }
    return true;
  };
  bool mirrors = true;
  for (std::size_t a = 0; a < static_cast<std::size_t>(s.dims); ++a) {
    mirrors = mirrors && mirror_symmetric(a);
  }

  // Waves of one weight together: w (cos kx + cos ky + cos kz).
  std::map<std::pair<int, std::int64_t>, std::vector<Expr>> waves;
  for (std::size_t i = 0; i < s.offsets.size(); ++i) {
    const Offset& o = s.offsets[i];
    if (!mirrors) {
      std::vector<Expr> phase;
      for (std::size_t a = 0; a < 4; ++a) {
        if (o.d[a]) phase.push_back(arena.integer(o.d[a]) * arena.symbol(names[a]));
      }
      const Expr wave = arena.make(Op::Cos, {arena.make(Op::Add, std::move(phase))});
      waves[{0, s.weights[i]}].push_back(wave);
      continue;
    }
    // the mirror images of an offset add up to 2^n cos cos cos
    if (std::ranges::any_of(o.d, [](int d) { return d < 0; })) continue;
    int images = 1, reach = 0;
    Expr wave = arena.integer(1);
    for (std::size_t a = 0; a < 4; ++a) {
      if (o.d[a] == 0) continue;
      images *= 2;
      reach = std::max<int>(reach, o.d[a]);
      wave = wave * cosine(a, o.d[a]);
    }
    waves[{images * 100 + reach, s.weights[i] * images}].push_back(wave);
  }
  std::vector<Expr> terms;
  for (auto& [key, group] : waves) {
    terms.push_back(arena.rational(-key.second, s.denominator) *
                    arena.make(Op::Add, std::move(group)));
  }
  return arena.make(Op::Add, std::move(terms));
}

LargestEigenvalue largest_eigenvalue(const StencilData& s) {
  LargestEigenvalue best;
  const double pi = std::numbers::pi;
  const auto dims = static_cast<unsigned>(s.dims);
  if (s.spectral) {
    best.value = s.dims * pi * pi;
    for (unsigned a = 0; a < dims; ++a) best.at[a] = pi;
    return best;
  }
  for (unsigned corner = 0; corner < 1U << dims; ++corner) {
    const Number value = at_corner(s, corner);
    if (corner > 0 && static_cast<double>(value.real) <= best.value) continue;
    best.value = static_cast<double>(value.real);
    best.exact = value.exact;
    best.rational = value.rational;
    for (unsigned a = 0; a < dims; ++a) best.at[a] = (corner >> a & 1U) ? pi : 0;
  }

  // The maximum need not lie at a corner: try wave vectors k = pi j/8, climb from the best one.
  constexpr unsigned n = 8, period = 2 * n;
  std::array<double, period> cosine{};
  for (unsigned j = 0; j < period; ++j) cosine[j] = std::cos(j * pi / n);
  Wave top = best.at;
  double value = best.value;
  unsigned count = n + 1;  // k and -k give the same real part
  for (unsigned a = 1; a < dims; ++a) count *= period;
  for (unsigned code = 0; code < count; ++code) {
    std::array<unsigned, 4> j{code % (n + 1)};
    for (unsigned a = 1, rest = code / (n + 1); a < dims; ++a, rest /= period) j[a] = rest % period;
    double sum = 0;
    for (std::size_t i = 0; i < s.offsets.size(); ++i) {
      unsigned phase = 0;  // modulo 16: unsigned arithmetic wraps around
      for (unsigned a = 0; a < dims; ++a) phase += j[a] * static_cast<unsigned>(s.offsets[i].d[a]);
      sum += static_cast<double>(s.weights[i]) * cosine[phase % period];
    }
    const double v = -sum / static_cast<double>(s.denominator);
    if (v > value) {
      value = v;
      for (unsigned a = 0; a < dims; ++a) top[a] = j[a] * pi / n;
    }
  }
  refine(s, top, value, pi / (2 * n));
  if (value > best.value * (1 + 1e-12) + 1e-12) {
    best.value = value;
    best.exact = false;
    best.at = top;
  }
  return best;
}

}  // namespace vphi::algebra
