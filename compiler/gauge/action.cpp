#include "compiler/gauge/action.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace vphi::gauge {

namespace {

/// The first link that the loop passes a second time in this box.
std::optional<LinkAt> passed_twice(const Word& loop, const Box& box) {
  std::set<std::array<int, 5>> seen;
  for (const LinkAt& link : links(loop)) {
    const Offset at = wrapped(link.at, box);
    if (!seen.insert({link.axis, at.d[0], at.d[1], at.d[2], at.d[3]}).second) return link;
  }
  return std::nullopt;
}

}  // namespace

LoopAction collected(const LoopAction& action) {
  LoopAction result;
  std::map<std::pair<Word, bool>, std::size_t> known;
  for (const LoopTerm& term : action) {
    bool reversed = false;
    const Word loop = canonical_loop(term.loop, &reversed);
    // Im tr of the way back is -Im tr
    const Expr c = reversed && term.imaginary ? negative(term.coefficient) : term.coefficient;
    const auto [place, fresh] = known.try_emplace({loop, term.imaginary}, result.size());
    if (fresh) {
      result.push_back({c, loop, term.imaginary, term.move});
    } else {
      LoopTerm& sum = result[place->second];
      sum.coefficient = sum.coefficient + c;
      if (term.move) sum.move = term.move;
    }
  }
  std::erase_if(result, [](const LoopTerm& t) { return t.coefficient.is_zero(); });
  return result;
}

std::vector<Word> loops(const LoopAction& action) {
  std::vector<Word> result;
  for (const LoopTerm& term : action) result.push_back(term.loop);
  return result;
}

std::optional<Twice> twice(const LoopAction& action, const Box& box) {
  for (const LoopTerm& term : action)
    if (const auto link = passed_twice(term.loop, box)) return Twice{term.loop, *link};
  return std::nullopt;
}

std::vector<WeightedLinkPath> staple_paths(const LoopAction& action, int axis) {
  std::vector<WeightedLinkPath> paths;
  const Offset next = one_step({axis, false});
  for (const LoopTerm& term : action) {
    const Expr none = number(term.coefficient, 0);
    std::vector<LinkAt> letters = links(term.loop);
    std::erase_if(letters, [&](const LinkAt& l) { return l.axis != axis; });
    const std::vector<Rest> all = rests(term.loop, axis);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Rest& rest = all[i];
      const Expr c = term.at(Offset{} - letters[i].at);
      // Im z = Re(-i z), and of the way back Re(i z)
      const Complex weight = !term.imaginary ? Complex{c, none}
                             : rest.reversed ? Complex{none, c}
                                             : Complex{none, negative(c)};
      paths.push_back({weight, rest.path, next});
    }
  }
  return paths;
}

Matrix staple_sum(const LoopAction& action, int axis, const LinkOf& link, LinkPathPlan* plan) {
  return sum_of_paths(staple_paths(action, axis), link, plan);
}

std::vector<WeightedLinks> inserted_staples(const std::vector<InsertedWord>& words, int axis) {
  std::vector<WeightedLinks> result;
  for (const InsertedWord& word : words) {
    for (std::size_t k = 0; k < word.links.size(); ++k) {
      if (word.links[k].axis != axis) continue;
      const Offset site = Offset{} - word.links[k].at;  // from where this letter is the link here
      WeightedLinks staple{word.weight, {}};
      const auto put = [&](LinkAt link) {
        link.at = link.at + site;
        staple.links.push_back(link);
      };
      for (std::size_t i = k + 1; i < word.links.size(); ++i) put(word.links[i]);
      put({kInserted + word.inserted, {}, false});
      for (std::size_t i = 0; i < k; ++i) put(word.links[i]);
      if (word.links[k].adjoint) {
        std::ranges::reverse(staple.links);
        for (LinkAt& link : staple.links) link.adjoint = !link.adjoint;
        staple.weight = conjugate(staple.weight);
      }
      result.push_back(std::move(staple));
    }
  }
  return result;
}

std::vector<InsertedWord> inserted_words(const std::vector<LoopAction>& actions) {
  std::vector<InsertedWord> words;
  for (std::size_t mu = 0; mu < actions.size(); ++mu) {
    const int along = static_cast<int>(mu);
    for (const WeightedLinkPath& path : staple_paths(actions[mu], along)) {
      // Re tr(Z U_mu path): the loop from this site, Z before its first letter
      InsertedWord& word =
          words.emplace_back(InsertedWord{along, path.weight, {{along, {}, false}}});
      const std::vector<LinkAt> rest = links(path.path, path.from);
      word.links.insert(word.links.end(), rest.begin(), rest.end());
    }
  }
  return words;
}

std::vector<Expr> force(const Group& group, const LoopAction& action, int axis,
                        const LinkOf& link) {
  return projection(group, times(link(axis, {}), staple_sum(action, axis, link)));
}

namespace {

Expr part(const Complex& z, bool imaginary) { return imaginary ? z.im : z.re; }

Expr sum_or(Expr sum, Expr term) { return sum ? plus(sum, term) : term; }

}  // namespace

Expr density(const LoopAction& action, const LinkOf& link) {
  // loops of one coefficient are added first
  std::vector<std::pair<Expr, Expr>> sums;
  for (const LoopTerm& term : action) {
    const Expr value = part(trace_along(term.loop, {}, link), term.imaginary);
    const auto found = std::ranges::find(sums, term.coefficient, &std::pair<Expr, Expr>::first);
    if (found == sums.end()) {
      sums.emplace_back(term.coefficient, value);
    } else {
      found->second = plus(found->second, value);
    }
  }
  Expr total;
  for (const auto& [coefficient, sum] : sums) total = sum_or(total, times(coefficient, sum));
  return total;
}

Expr increase(const LoopAction& action, int axis, const Matrix& changed, const LinkOf& link,
              const Box& box) {
  LoopAction once, more;
  for (const LoopTerm& term : action) (passed_twice(term.loop, box) ? more : once).push_back(term);
  Expr total = number(changed.at(0, 0).re, 0);
  if (const auto paths = staple_paths(once, axis); !paths.empty())
    total = trace_of_product(minus(changed, link(axis, {})), sum_of_paths(paths, link)).re;
  if (more.empty()) return total;
  const LinkOf with_change = remembered([&](int mu, Offset at) {
    return mu == axis && wrapped(at, box).zero() ? changed : link(mu, at);
  });
  for (const LoopTerm& term : more) {
    // each copy of the loop that holds the link once, however often it does
    std::set<std::array<int, 4>> copies;
    for (const LinkAt& l : links(term.loop)) {
      if (l.axis != axis) continue;
      const Offset from = Offset{} - l.at, cell = wrapped(from, box);
      if (!copies.insert({cell.d[0], cell.d[1], cell.d[2], cell.d[3]}).second) continue;
      const Expr now = part(trace_along(term.loop, from, link), term.imaginary),
                 then = part(trace_along(term.loop, from, with_change), term.imaginary);
      total = plus(total, times(term.at(from), minus(then, now)));
    }
  }
  return total;
}

}  // namespace vphi::gauge
