#include "compiler/algebra/fourier.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {

namespace {

using Complex = std::complex<long double>;
const long double kTwoPi = 2 * std::acos(-1.0L);

/// g(x, y) of the two sites' values of the one array that the pair reads.
long double value(Expr pair, long double own, long double other) {
  return evaluate_long(pair, [&](const Node& node) -> long double {
    if (node.op != Op::Load) throw std::invalid_argument("a pair function of something else");
    return is_other(node) ? other : own;
  });
}

/// The array that both sides read at the site itself; nothing where there is more than one, or a
/// value that is not a plain Load.
std::optional<int> only_array(Expr pair) {
  std::set<int> arrays;
  bool plain = true;
  visit(pair, [&](Expr node) {
    if (node.is(Op::Load)) arrays.insert(node->index);
    if (node.is(Op::Site) || is_pair_entry(*node)) plain = false;
  });
  if (!plain || arrays.size() != 1) return std::nullopt;
  return *arrays.begin();
}

/// sum_n values[n] exp(-2 pi i k n/M)/M for all k; M a power of two.
void transform(std::vector<Complex>& values) {
  const std::size_t m = values.size();
  for (std::size_t i = 1, j = 0; i < m; ++i) {
    std::size_t bit = m >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t length = 2; length <= m; length *= 2) {
    for (std::size_t k = 0; k < length / 2; ++k) {
      const long double angle =
          -kTwoPi * static_cast<long double>(k) / static_cast<long double>(length);
      const Complex twiddle(std::cos(angle), std::sin(angle));
      for (std::size_t start = k; start < m; start += length) {
        const Complex odd = twiddle * values[start + length / 2];
        values[start + length / 2] = values[start] - odd;
        values[start] += odd;
      }
    }
  }
  for (Complex& v : values) v /= static_cast<long double>(m);
}

struct Spectrum {
  std::vector<long double> cosine, sine;  ///< k = 0, ..., M/2 - 1
  long double largest = 0;                ///< |g| on the points
  /// Sum of the sizes of the coefficients from k = first on.
  long double tail(std::size_t first) const {
    long double sum = 0;
    for (std::size_t k = cosine.size(); k-- > first;) {
      sum += std::fabs(cosine[k]) + std::fabs(sine[k]);
    }
    return sum;
  }
};

/// Nothing where a value is not finite.
std::optional<Spectrum> spectrum(Expr pair, std::size_t points) {
  Spectrum s;
  std::vector<Complex> values(points);
  for (std::size_t n = 0; n < points; ++n) {
    const long double angle =
        kTwoPi * static_cast<long double>(n) / static_cast<long double>(points);
    const long double g = value(pair, angle, 0);
    if (!std::isfinite(g)) return std::nullopt;
    s.largest = std::max(s.largest, std::fabs(g));
    values[n] = g;
  }
  transform(values);
  for (std::size_t k = 0; k < points / 2; ++k) {
    const long double twice = k == 0 ? 1 : 2;
    s.cosine.push_back(twice * values[k].real());
    s.sine.push_back(-twice * values[k].imag());
  }
  return s;
}

/// What keeps g from being a function of the difference with period 2 pi.
std::optional<NoSeries::Why> objection(Expr pair) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> draw(-3, 3);
  long double size = 0, deviation = 0, shifted = 0;
  for (int i = 0; i < 64; ++i) {
    const long double x = draw(engine), y = draw(engine);
    const long double g = value(pair, x, y);
    if (!std::isfinite(g)) return NoSeries::Why::Singular;
    size = std::max(size, std::fabs(g));
    deviation = std::max(deviation, std::fabs(g - value(pair, x - y, 0)));
    shifted = std::max(shifted, std::fabs(g - value(pair, x + kTwoPi, y)));
  }
  if (!(deviation <= 1e-13L * size)) return NoSeries::Why::NotADifference;
  if (!(shifted <= 1e-13L * size)) return NoSeries::Why::NotPeriodic;
  return std::nullopt;
}

}  // namespace

std::variant<Series, NoSeries> fourier_series(Expr pair, double tolerance, int most) {
  std::string symbol;
  visit(pair, [&](Expr node) {
    if (node.is(Op::Symbol) && symbol.empty()) symbol = node->name;
  });
  if (!symbol.empty()) return NoSeries{NoSeries::Why::Open, 0, symbol};
  const auto array = only_array(pair);
  if (!array) return NoSeries{};
  if (const auto why = objection(pair)) return NoSeries{*why, 0, {}};
  // a function that needs `most` modes shows it on eight times as many points
  for (std::size_t points = 64; points <= 8 * static_cast<std::size_t>(most); points *= 2) {
    const auto s = spectrum(pair, points);
    if (!s) return NoSeries{NoSeries::Why::Singular, 0, {}};
    const long double wanted = static_cast<long double>(tolerance) * s->largest;
    // what lies above M/2 is folded back below it: as large as the upper half at most
    const long double folded = s->tail(points / 4);
    if (folded > wanted / 8) continue;
    std::size_t modes = points / 4;
    while (modes > 0 && s->tail(modes) + folded <= 0.99L * wanted) --modes;
    if (modes > static_cast<std::size_t>(most)) {
      return NoSeries{NoSeries::Why::Rough, static_cast<int>(modes), {}};
    }
    Series series{*array, {}, {}, s->tail(modes + 1) + folded};
    const long double least = wanted / (1000 * (static_cast<long double>(modes) + 1));
    const auto kept = [&](long double c) {
      if (std::fabs(c) > least) return c;
      series.bound += std::fabs(c);
      return 0.0L;
    };
    for (std::size_t k = 0; k <= modes; ++k) {
      series.cosine.push_back(kept(s->cosine[k]));
      series.sine.push_back(kept(s->sine[k]));
    }
    series.bound = s->largest > 0 ? series.bound / s->largest : 0;
    return series;
  }
  return NoSeries{NoSeries::Why::Rough, 0, {}};
}

PairFactors pair_factors(Expr pair) {
  Arena& arena = *pair->arena;
  PairFactors f{arena.integer(1), arena.integer(1), arena.integer(1)};
  const auto put = [&](Expr factor) {
    Expr& to = !reads_other(factor) ? f.own : reads_own(factor) ? f.between : f.other;
    to = to * factor;
  };
  if (pair.is(Op::Mul) && !pair->fixed_order) {
    for (Expr factor : pair.args()) put(factor);
  } else {
    put(pair);
  }
  return f;
}

}  // namespace vphi::algebra
