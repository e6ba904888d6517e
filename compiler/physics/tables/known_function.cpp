#include "compiler/physics/tables/known_function.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace vphi::physics {

namespace {

constexpr std::size_t kFewestPieces = 16;
constexpr int kScan = 1024;           ///< steps in which a function is looked at for turns
constexpr double kSlopesOver = 100;   ///< tolerance of slopes over that of values
constexpr double kLeastShare = 1e-4;  ///< of the largest value, below which errors are not relative
constexpr double kMonotone = 3;       ///< of slopes over rise (Fritsch and Carlson 1980)
constexpr double kJumpBack = 1e-6;    ///< of a value, by which a formula may fall where it changes
/// Where the errors of Hermite's cubics are largest: of the slope, the value, the slope.
constexpr double kWorst[] = {0.2113248654051871, 0.5, 0.7886751345948129};

bool finite(const Sampled& s) { return std::isfinite(s.value) && std::isfinite(s.slope); }

/// Largest sizes of values and slopes in a table.
struct Sizes {
  double value = 0, slope = 0;
};

Sizes sizes(const Section& p) {
  Sizes most;
  for (std::size_t i = 0; i < p.at.size(); ++i) {
    most.value = std::max(most.value, std::fabs(p.values[i]));
    most.slope = std::max(most.slope, std::fabs(p.slopes[i]));
  }
  return most;
}

/// The cubic of piece i at the share s of its width.
Sampled cubic_at(const Section& p, std::size_t i, double s) {
  const double h = p.at[i + 1] - p.at[i], rise = p.values[i + 1] - p.values[i];
  const double a = h * p.slopes[i], b = h * p.slopes[i + 1];
  const double c2 = 3 * rise - 2 * a - b, c3 = a + b - 2 * rise;
  return {p.values[i] + s * (a + s * (c2 + s * c3)), (a + s * (2 * c2 + s * 3 * c3)) / h};
}

/// The function of what a table has equal steps in.
struct Stepped {
  const KnownFunction& f;
  bool logarithmic = false;

  double argument(double u) const { return logarithmic ? std::exp(u) : u; }
  Sampled operator()(double u) const {
    const double y = argument(u);
    Sampled s = f(y);
    if (logarithmic) s.slope *= y;
    return s;
  }
};

std::variant<Section, Unfit> sampled(const Stepped& f, double first, double last, std::size_t n) {
  Section p;
  p.logarithmic = f.logarithmic;
  for (std::size_t i = 0; i <= n; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(n);
    p.at.push_back(i == n ? last : first + (last - first) * share);
    const Sampled s = f(p.at.back());
    if (!finite(s)) return Unfit{Unfit::Why::NotFinite, f.argument(p.at.back()), 0};
    p.values.push_back(s.value);
    p.slopes.push_back(s.slope);
  }
  return p;
}

/// Whether piece i rises or falls throughout.
bool is_monotone(const Section& p, std::size_t i) {
  const double rise = (p.values[i + 1] - p.values[i]) / (p.at[i + 1] - p.at[i]);
  const double a = p.slopes[i] / rise, b = p.slopes[i + 1] / rise;
  return rise != 0 && a >= 0 && b >= 0 && std::hypot(a, b) <= kMonotone;
}

/// The largest error in units of what is allowed, and where; above 1 the table is too rough.
Unfit worst(const Section& p, const Stepped& f, double tol, bool monotone) {
  Unfit found{Unfit::Why::Rough, f.argument(p.at[0]), 0};
  const Sizes most = sizes(p);
  for (std::size_t i = 0; i + 1 < p.at.size() && found.error <= 1; ++i) {
    const double size =
        std::max({std::fabs(p.values[i]), std::fabs(p.values[i + 1]), kLeastShare * most.value});
    const double steep =
        std::max({std::fabs(p.slopes[i]), std::fabs(p.slopes[i + 1]), kLeastShare * most.slope});
    if (monotone && !is_monotone(p, i)) found = {found.why, f.argument(p.at[i]), 2};
    for (const double s : kWorst) {
      const double u = p.at[i] + s * (p.at[i + 1] - p.at[i]);
      const Sampled exact = f(u), cubic = cubic_at(p, i, s);
      if (!finite(exact)) return {Unfit::Why::NotFinite, f.argument(u), 0};
      const double of_value = size > 0 ? std::fabs(cubic.value - exact.value) / (tol * size) : 0;
      const double of_slope =
          steep > 0 ? std::fabs(cubic.slope - exact.slope) / (kSlopesOver * tol * steep) : 0;
      if (std::max(of_value, of_slope) > found.error)
        found = {found.why, f.argument(u), std::max(of_value, of_slope)};
    }
  }
  return found;
}

/// One table with n pieces: with what is wrong, if anything is.
std::variant<Section, Unfit> with_pieces(const Stepped& f, double first, double last, std::size_t n,
                                         double tol, bool monotone) {
  auto made = sampled(f, first, last, n);
  const auto* section = std::get_if<Section>(&made);
  if (!section) return made;
  const Unfit left = worst(*section, f, tol, monotone);
  if (left.why == Unfit::Why::NotFinite || left.error > 1)
    return Unfit{left.why, left.where, left.error * tol};
  return made;
}

std::variant<Section, Unfit> fewest_pieces(const KnownFunction& f, double first, double last,
                                           double tol, bool monotone) {
  Unfit left;
  for (std::size_t n = kFewestPieces; n <= kMostPieces; n *= 2) {
    for (const bool logarithmic : {false, true}) {
      if (logarithmic && first <= 0) continue;
      const Stepped stepped{f, logarithmic};
      auto made = logarithmic
                      ? with_pieces(stepped, std::log(first), std::log(last), n, tol, monotone)
                      : with_pieces(stepped, first, last, n, tol, monotone);
      if (auto* section = std::get_if<Section>(&made)) {
        section->low = first;
        section->high = last;
        return made;
      }
      left = std::get<Unfit>(made);
      if (left.why == Unfit::Why::NotFinite) return left;
    }
  }
  return left;
}

/// A monotone function with its values at equal steps, so that it can be turned around.
struct Scanned {
  std::vector<double> at, values;
};

std::variant<Scanned, Unfit> scanned(const KnownFunction& f, double first, double last) {
  Scanned scan;
  double sign = 0;
  for (int i = 0; i <= kScan; ++i) {
    const double x = i == kScan ? last : first + (last - first) * i / kScan;
    const Sampled s = f(x);
    if (!finite(s)) return Unfit{Unfit::Why::NotFinite, x, 0};
    if (sign == 0) sign = s.slope > 0 ? 1 : -1;
    if (!(s.slope * sign > 0)) return Unfit{Unfit::Why::Turns, x, 0};
    if (i > 0 && !((s.value - scan.values.back()) * sign > 0))
      return Unfit{Unfit::Why::Turns, x, 0};
    scan.at.push_back(x);
    scan.values.push_back(s.value);
  }
  return scan;
}

/// x with f(x) = y, by Newton's steps that stay in the bracket, else by halving it.
double where_it_is(const KnownFunction& f, const Scanned& scan, double y) {
  const bool rises = scan.values.back() > scan.values.front();
  const auto after = std::partition_point(scan.values.begin(), scan.values.end(),
                                          [&](double v) { return rises ? v <= y : v >= y; });
  const auto last = static_cast<std::ptrdiff_t>(scan.values.size()) - 1;
  const auto i =
      static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(after - scan.values.begin(), 1, last));
  double low = scan.at[i - 1], high = scan.at[i];
  const double share = (y - scan.values[i - 1]) / (scan.values[i] - scan.values[i - 1]);
  double x = low + std::clamp(share, 0.0, 1.0) * (high - low);
  for (int round = 0; round < 100; ++round) {
    const Sampled s = f(x);
    if (s.value == y) return x;
    ((s.value > y) == rises ? high : low) = x;
    double next = x - (s.value - y) / s.slope;
    // at an end of the bracket a root may lie on it to rounding
    if (!(next >= low && next <= high)) next = (low + high) / 2;
    if (std::fabs(next - x) <= 1e-16 * std::fabs(x) || next == x) return next;
    x = next;
  }
  return x;
}

}  // namespace

std::variant<Pieces, Unfit> pieces_of(const KnownFunction& f, const std::vector<Smooth>& parts,
                                      double tol) {
  Pieces all;
  for (const Smooth& part : parts) {
    auto made = fewest_pieces(f, part.first, part.last, tol, false);
    if (const auto* unfit = std::get_if<Unfit>(&made)) return *unfit;
    all.sections.push_back(std::get<Section>(std::move(made)));
  }
  return all;
}

namespace {

std::variant<Section, Unfit> inverse_section(const KnownFunction& f, const Smooth& part,
                                             double tol) {
  const auto scan = scanned(f, part.first, part.last);
  if (const auto* unfit = std::get_if<Unfit>(&scan)) return *unfit;
  const Scanned& values = std::get<Scanned>(scan);
  const auto [low, high] = std::minmax(values.values.front(), values.values.back());
  const KnownFunction inverse = [&](double y) {
    const double x = where_it_is(f, values, y);
    return Sampled{x, 1 / f(x).slope};
  };
  auto made = fewest_pieces(inverse, low, high, tol, true);
  // what is told of a place is told of x
  if (auto* unfit = std::get_if<Unfit>(&made)) unfit->where = inverse(unfit->where).value;
  return made;
}

bool rises(const Section& s) { return s.values.back() > s.values.front(); }

/// Whether arguments of `next` follow those of `before`, to rounding of the formula's constants.
bool follows(const Section& before, const Section& next) {
  const double size = std::max(std::fabs(before.high), std::fabs(next.low));
  return rises(before) == rises(next) && next.low >= before.high - kJumpBack * size;
}

}  // namespace

std::variant<Pieces, Unfit> pieces_of_inverse(const KnownFunction& f,
                                              const std::vector<Smooth>& parts, double tol) {
  Pieces all;
  for (const Smooth& part : parts) {
    auto made = inverse_section(f, part, tol);
    if (const auto* unfit = std::get_if<Unfit>(&made)) return *unfit;
    all.sections.push_back(std::get<Section>(std::move(made)));
  }
  if (!rises(all.sections.front())) std::ranges::reverse(all.sections);
  for (std::size_t i = 0; i + 1 < all.sections.size(); ++i)
    if (!follows(all.sections[i], all.sections[i + 1]))
      return Unfit{Unfit::Why::Turns, all.sections[i].values.back(), 0};
  return all;
}

GaussRule gauss_rule(int points) {
  GaussRule rule;
  for (int i = 0; i < points; ++i) {
    long double x = std::cos(std::numbers::pi_v<long double> * (i + 0.75L) / (points + 0.5L));
    long double slope = 1;
    for (int round = 0; round < 100; ++round) {
      // P_n and P_(n-1) by their recurrence
      long double p = x, before = 1;
      for (int n = 2; n <= points; ++n) {
        const long double next = ((2 * n - 1) * x * p - (n - 1) * before) / n;
        before = p;
        p = next;
      }
      slope = points == 1 ? 1 : points * (x * p - before) / (x * x - 1);
      const long double step = p / slope;
      x -= step;
      if (std::fabs(step) < 1e-18L) break;
    }
    rule.at.push_back((1 - x) / 2);
    rule.weight.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

namespace {

/// The rule on one stretch: of f and of |f|; nothing finite where f is not.
struct Stretch {
  double from = 0, to = 0;
  long double sum = 0, size = 0;
};

Stretch stretch(const std::function<double(double)>& f, const GaussRule& rule, double from,
                double to) {
  Stretch s{from, to, 0, 0};
  for (std::size_t i = 0; i < rule.at.size(); ++i) {
    const long double value =
        f(static_cast<double>(from + (static_cast<long double>(to) - from) * rule.at[i]));
    s.sum += rule.weight[i] * value * (static_cast<long double>(to) - from);
    s.size += rule.weight[i] * std::fabs(value) * std::fabs(static_cast<long double>(to) - from);
  }
  return s;
}

}  // namespace

std::variant<double, Unfit> integral_of(const std::function<double(double)>& f, double first,
                                        double last) {
  constexpr double kAgree = 1e-13, kAgreeAtLast = 1e-11, kShortest = 0x1p-48;
  constexpr std::size_t kMostStretches = 1 << 16;
  const GaussRule rule = gauss_rule(16);
  const Stretch whole = stretch(f, rule, first, last);
  long double sum = 0, size = whole.size;
  std::vector<Stretch> open{whole};
  std::size_t made = 0;
  while (!open.empty()) {
    const Stretch s = open.back();
    open.pop_back();
    const double middle = s.from + (s.to - s.from) / 2;
    if (!std::isfinite(static_cast<double>(s.sum))) return Unfit{Unfit::Why::NotFinite, middle, 0};
    const Stretch low = stretch(f, rule, s.from, middle), high = stretch(f, rule, middle, s.to);
    const long double both = low.sum + high.sum, off = std::fabs(both - s.sum);
    size = std::max(size, low.size + high.size);
    const bool shortest = std::fabs(s.to - s.from) <= kShortest * std::fabs(last - first);
    if (off <= kAgree * size || (shortest && off <= kAgreeAtLast * size)) {
      sum += both;
      continue;
    }
    if (shortest || ++made > kMostStretches)
      return Unfit{Unfit::Why::Rough, middle, static_cast<double>(off / size)};
    open.push_back(low);
    open.push_back(high);
  }
  return static_cast<double>(sum);
}

}  // namespace vphi::physics
