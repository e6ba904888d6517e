#include "compiler/gauge/link_products.hpp"

#include <map>
#include <utility>

namespace vphi::gauge {

namespace {

using Pair = std::array<LinkAt, 2>;

LinkAt reversed(LinkAt l) { return {l.axis, l.at, !l.adjoint}; }

/// A pair as it stands, or its way back, moved so that its first letter lies at the site.
struct FoundPair {
  Pair pair;
  Offset at;
  bool adjoint = false;
};

using Order = std::array<int, 8>;

Order order_of(const Pair& p) {
  const auto& d = p[1].at.d;
  return {p[0].axis, p[0].adjoint, p[1].axis, p[1].adjoint, d[0], d[1], d[2], d[3]};
}

FoundPair found(const LinkAt& a, const LinkAt& b) {
  const FoundPair there{
      {LinkAt{a.axis, {}, a.adjoint}, {b.axis, b.at - a.at, b.adjoint}}, a.at, false};
  const LinkAt c = reversed(b), d = reversed(a);
  const FoundPair back{
      {LinkAt{c.axis, {}, c.adjoint}, {d.axis, d.at - c.at, d.adjoint}}, c.at, true};
  return order_of(back.pair) < order_of(there.pair) ? back : there;
}

void replace(std::vector<LinkAt>& links, const Pair& pair, int axis) {
  std::vector<LinkAt> result;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (i + 1 < links.size()) {
      const FoundPair here = found(links[i], links[i + 1]);
      if (here.pair == pair) {
        result.push_back({axis, here.at, here.adjoint});
        ++i;
        continue;
      }
    }
    result.push_back(links[i]);
  }
  links = std::move(result);
}

using Sums = std::vector<std::vector<WeightedLinks>>;

void replace(Sums& sums, const Pair& pair, int axis) {
  for (auto& sum : sums)
    for (WeightedLinks& term : sum) replace(term.links, pair, axis);
}

int products_of(const Sums& sums) {
  int count = 0;
  for (const auto& sum : sums)
    if (!sum.empty()) count += plan_of(sum).products;
  return count;
}

/// Pairs with the number of places where they stand, those of the same letters in one order.
std::vector<std::pair<Pair, int>> pairs_in(const Sums& sums) {
  std::vector<std::pair<Pair, int>> pairs;
  std::map<Order, std::size_t> known;
  for (const auto& sum : sums) {
    for (const WeightedLinks& term : sum) {
      for (std::size_t i = 0; i + 1 < term.links.size(); ++i) {
        const Pair pair = found(term.links[i], term.links[i + 1]).pair;
        const auto [place, fresh] = known.try_emplace(order_of(pair), pairs.size());
        if (fresh) pairs.emplace_back(pair, 0);
        ++pairs[place->second].second;
      }
    }
  }
  return pairs;
}

/// Operations of a product of two matrices of the group.
double product_operations(const Group& group) {
  const double n = group.n;
  return n == 2 ? 32 : 8 * n * n * n;
}

}  // namespace

LinkProducts find_link_products(const Sums& given, const LinkType& type) {
  LinkProducts result;
  Sums sums = given;
  result.before = result.after = products_of(sums);
  if (type.group.kind == Kind::U1) return result;
  // written once, read once at least, and what it is made of read for that
  const double cost = 3 * type.reals() * kOperationsOfANumber;
  const int least = 1 + static_cast<int>(cost / product_operations(type.group));
  while (true) {
    const int axis = kFirstProduct + static_cast<int>(result.products.size());
    int most = least;
    std::pair<Pair, Sums> best;
    for (const auto& [pair, places] : pairs_in(sums)) {
      if (places < least) continue;
      Sums with = sums;
      replace(with, pair, axis);
      const int own = static_cast<int>(result.products.size()) + 1;
      const int spared = result.after - products_of(with) - own;
      if (spared < most) continue;
      if (spared == most && !best.second.empty()) continue;
      most = spared;
      best = {pair, std::move(with)};
    }
    if (best.second.empty()) return result;
    result.products.push_back(best.first);
    result.after -= most;
    sums = std::move(best.second);
  }
}

std::vector<WeightedLinks> with_products(std::vector<WeightedLinks> sum,
                                         const LinkProducts& link_products) {
  int axis = kFirstProduct;
  for (const Pair& pair : link_products.products) {
    for (WeightedLinks& term : sum) replace(term.links, pair, axis);
    ++axis;
  }
  return sum;
}

}  // namespace vphi::gauge
