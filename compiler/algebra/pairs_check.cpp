// Functions of pairs and their sums at random points: symmetry, and the digits that are lost.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>

#include "compiler/algebra/pairs.hpp"
#include "compiler/algebra/transform.hpp"

namespace vphi::algebra {

namespace {

/// Values for the two sites' Loads and for all symbols, reproducible.
class RandomPoint {
 public:
  RandomPoint(unsigned seed, double centre, double spread)
      : engine_(seed), centre_(centre), spread_(spread) {}

  /// From now on the other site lies within `distance` of the own one.
  void close(double distance) { distance_ = distance; }

  long double of(const Node& node) { return at(node, is_other(node)); }
  /// Both sites are the own one.
  long double of_itself(const Node& node) { return at(node, false); }
  /// The same point, with own Loads standing for the other site.
  long double of_other(const Node& node) {
    if (node.op == Op::Load) return value({node.index, 1, ""}, centre_, spread_);
    if (node.op == Op::Site) return value({-2 - node.index, 1, ""}, 8, 4);
    return of(node);
  }

 private:
  struct Key {
    int index, site;
    std::string name;
    auto operator<=>(const Key&) const = default;
  };
  /// `far`: the leaf is one of the other site.
  long double at(const Node& node, bool far) {
    if (is_pair_entry(node)) return value({node.index, is_transposed(node) ? 4 : 3, ""}, 0, 1);
    if (far && node.op == Op::Load && distance_ > 0) {
      return value({node.index, 0, ""}, centre_, spread_) +
             value({node.index, 2, ""}, 0, distance_);
    }
    if (node.op == Op::Load) {
      return value({node.index, far ? 1 : 0, ""}, centre_, spread_);
    }
    if (node.op == Op::Symbol) return value({-1, 0, node.name}, 1, 0.5);
    if (node.op == Op::Site) return value({-2 - node.index, far ? 1 : 0, ""}, 8, 4);
    throw std::invalid_argument("pairs: no value for a leaf");
  }
  long double value(const Key& key, double centre, double spread) {
    const auto [found, fresh] = values_.try_emplace(key, 0);
    if (fresh) found->second = centre + spread * std::uniform_real_distribution<>(-1, 1)(engine_);
    return found->second;
  }

  std::mt19937 engine_;
  double centre_, spread_, distance_ = 0;
  std::map<Key, long double> values_;
};

constexpr unsigned kPoints = 64;

struct Sample {
  long double pair = 0, sum = 0, size = 0;
};

Sample sample(Expr pair, const std::vector<SeparatedTerm>& terms, unsigned seed, double centre,
              double spread) {
  RandomPoint point(seed, centre, spread);
  Sample s;
  s.pair = evaluate_long(pair, [&](const Node& node) { return point.of(node); });
  for (const SeparatedTerm& term : terms) {
    const long double product =
        evaluate_long(term.own, [&](const Node& node) { return point.of(node); }) *
        evaluate_long(term.other, [&](const Node& node) { return point.of_other(node); });
    s.sum += product;
    s.size += std::fabs(product);
  }
  return s;
}

}  // namespace

bool symmetric(Expr pair) {
  const Expr other_way = exchanged(pair);
  if (other_way == pair || expand(other_way - pair).is_zero()) return true;
  if (!contains(pair, [](Expr e) { return e.is(Op::Floor); })) return false;
  for (double spread = 1e-3; spread < 2e6; spread *= 10) {
    for (unsigned i = 0; i < kPoints; ++i) {
      RandomPoint point(i, 0,
                        spread);  // one point for both: a name gets its value at its first use
      const auto at = [&](Expr e) {
        return evaluate_long(e, [&](const Node& node) { return point.of(node); });
      };
      const long double here = at(pair), there = at(other_way);
      if (std::isnan(here) && std::isnan(there)) continue;
      if (std::fabs(here - there) > 1e-9L * (std::fabs(here) + std::fabs(there))) return false;
    }
  }
  return true;
}

bool finite_with_itself(Expr pair) {
  constexpr unsigned kFew = 4;
  for (unsigned i = 0; i < kFew; ++i) {
    RandomPoint point(i, 0, 1);
    try {
      if (!std::isfinite(
              evaluate_long(pair, [&](const Node& node) { return point.of_itself(node); })))
        return false;
    } catch (const std::invalid_argument&) {
      return true;
    }
  }
  return true;
}

long double disagreement(Expr pair, const std::vector<SeparatedTerm>& terms) {
  long double error = 0, size = 0;
  for (unsigned i = 0; i < kPoints; ++i) {
    const Sample s = sample(pair, terms, i, 0, 3);
    error = std::max(error, std::fabs(s.pair - s.sum));
    size = std::max(size, std::fabs(s.pair));
  }
  return size > 0 ? error / size : error;
}

namespace {

/// The pair function with everything of one site alone as a number rounded to f32.
long double rounded_value(Expr pair, RandomPoint& point) {
  std::unordered_map<const Node*, Expr> numbers;
  const std::function<void(Expr)> see = [&](Expr e) {
    if (!e->per_site || numbers.contains(e.get())) return;
    if (reads_own(e) && reads_other(e)) {
      for (Expr arg : e.args()) see(arg);
      return;
    }
    const long double value = evaluate_long(e, [&](const Node& node) { return point.of(node); });
    numbers.emplace(e.get(), e->arena->real(static_cast<float>(value)));
  };
  see(pair);
  return evaluate_long(substitute(pair, numbers), [&](const Node& node) { return point.of(node); });
}

}  // namespace

double rounding_error(Expr pair) {
  long double error = 0, square = 0;
  for (unsigned i = 0; i < kPoints; ++i) {
    // every other pair is close: by 10^-1, 10^-2, 10^-3
    RandomPoint point(i, 0, 3);
    if (i % 2 == 1) point.close(std::pow(0.1, 1 + i / 2 % 3));
    const long double exact = evaluate_long(pair, [&](const Node& node) { return point.of(node); });
    error = std::max(error, std::fabs(rounded_value(pair, point) - exact));
    square += exact * exact / kPoints;
  }
  return square > 0 ? static_cast<double>(error / std::sqrt(square)) : 0;
}

double cancellation(Expr pair, const std::vector<SeparatedTerm>& terms, double centre,
                    double spread) {
  long double largest = 0, square = 0;
  for (unsigned i = 0; i < kPoints; ++i) {
    const Sample s = sample(pair, terms, i, centre, spread);
    largest = std::max(largest, s.size);
    square += s.pair * s.pair / kPoints;
  }
  return square > 0 ? static_cast<double>(largest / std::sqrt(square)) : 1;
}

}  // namespace vphi::algebra
