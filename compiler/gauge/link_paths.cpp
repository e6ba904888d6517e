#include "compiler/gauge/link_paths.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <memory>
#include <set>

#include "compiler/gauge/products.hpp"

namespace vphi::gauge {

namespace {

using Letter = std::array<int, 6>;  ///< axis, adjoint, offset

Letter letter(const LinkAt& l) {
  return {l.axis, l.adjoint, l.at.d[0], l.at.d[1], l.at.d[2], l.at.d[3]};
}
Offset offset_of(const Letter& l) {
  Offset o;
  for (int i = 0; i < 4; ++i)
    o.d[i] = static_cast<std::int16_t>(l[static_cast<std::size_t>(i) + 2]);
  return o;
}

struct Term {
  Complex weight;
  std::vector<Letter> letters;
};

bool is_one(const Complex& a) { return a.re.is_one() && a.im.is_zero(); }

/// Without a source of links products are only counted: then every matrix is one empty number.
class Factoring {
 public:
  Factoring(const LinkOf& link, LinkPathPlan& plan) : link_(link), plan_(plan) {}

  /// `before` and the terms, each last product added onto what is there; `before` may be empty.
  Matrix sum(std::vector<Term> terms, Matrix before = {}) {
    const Complex common = terms[0].weight;
    const bool equal =
        std::ranges::all_of(terms, [&](const Term& t) { return same_number(t.weight, common); });
    if (equal && !is_one(common)) {
      const Expr one = number(common.re, 1), none = number(common.re, 0);
      for (Term& t : terms) t.weight = {one, none};
      const Matrix inner = sum(std::move(terms));
      if (!link_) return counted();
      const Matrix scaled = times(common, inner);
      return before.parts.empty() ? scaled : plus(before, scaled);
    }
    const auto [end, count] = best_end(terms);
    if (count < 2 || are_phases(terms)) {
      for (const Term& t : terms) before = single(t, before);
      return before;
    }
    std::vector<Term> inside, rest;
    for (Term& t : terms) {
      if (!has(t, end)) {
        rest.push_back(std::move(t));
        continue;
      }
      t.letters.erase(end.first ? t.letters.begin() : t.letters.end() - 1);
      inside.push_back(std::move(t));
    }
    const Matrix inner = sum(std::move(inside)), factor = matrix(end.letter);  // read when wanted
    ++plan_.products;
    const Matrix total = onto(before, end.first ? factor : inner, end.first ? inner : factor);
    return rest.empty() ? total : sum(std::move(rest), total);
  }

  Matrix matrix(const Letter& l) {
    if (seen_.insert({l[0], l[2], l[3], l[4], l[5]}).second) ++plan_.links;
    if (!link_) return counted();
    const Matrix u = link_(l[0], offset_of(l));
    return l[1] != 0 ? adjoint(u) : u;
  }

 private:
  struct End {
    Letter letter{};
    bool first = true;  ///< of the words, or their last one
  };

  /// Words of one letter are not taken apart: nothing would be left inside.
  static bool has(const Term& t, const End& end) {
    return t.letters.size() > 1 && (end.first ? t.letters.front() : t.letters.back()) == end.letter;
  }

  static std::pair<End, int> best_end(const std::vector<Term>& terms) {
    std::map<std::pair<Letter, bool>, int> counts;
    std::pair<End, int> best{{}, 0};
    for (const Term& t : terms) {
      if (t.letters.size() < 2) continue;
      for (const bool first : {true, false}) {
        const Letter l = first ? t.letters.front() : t.letters.back();
        const int count = ++counts[{l, first}];
        if (count > best.second) best = {{l, first}, count};
      }
    }
    return best;
  }

  /// Each word is then one phase, and a sum of words inside would be none.
  bool are_phases(const std::vector<Term>& terms) {
    if (!link_) return false;
    const Matrix link = matrix(terms[0].letters[0]);
    return link.rows == 1 && phase_of(link.at(0, 0));
  }

  static Matrix counted() { return {1, 1, {Complex{}}}; }

  Matrix onto(const Matrix& before, const Matrix& a, const Matrix& b) const {
    if (!link_) return counted();
    return before.parts.empty() ? times(a, b) : plus_product(before, a, b);
  }

  Matrix single(const Term& t, const Matrix& before) {
    Matrix product = matrix(t.letters[0]);
    const bool weigh = link_ && !is_one(t.weight), last_of_all = weigh && product.rows == 1;
    if (weigh && !last_of_all) product = times(t.weight, product);
    for (std::size_t i = 1; i < t.letters.size(); ++i) {
      const bool last = i + 1 == t.letters.size() && !last_of_all;
      product = onto(last ? before : Matrix{}, product, matrix(t.letters[i]));
      ++plan_.products;
    }
    if (last_of_all) product = times(t.weight, product);  // a phase times a phase is a phase
    const bool added = t.letters.size() > 1 && !last_of_all;
    if (added || before.parts.empty() || !link_) return product;
    return plus(before, product);
  }

  const LinkOf& link_;
  LinkPathPlan& plan_;
  std::set<std::array<int, 5>> seen_;
};

}  // namespace

LinkOf links_of_field(LinkOf all, int k) {
  if (k == 0) return all;
  return [all = std::move(all), k](int axis, Offset at) { return all(axis + kOtherLinks * k, at); };
}

LinkOf remembered(LinkOf link) {
  const auto known = std::make_shared<std::map<Letter, Matrix>>();
  return [link = std::move(link), known](int axis, Offset at) {
    const Letter key = letter({axis, at, false});
    const auto found = known->find(key);
    if (found != known->end()) return found->second;
    return known->emplace(key, link(axis, at)).first->second;
  };
}

Matrix along(const Word& word, Offset from, const LinkOf& link) {
  assert(!word.empty());
  Matrix product;
  for (const LinkAt& l : links(word, from)) {
    const Matrix u = link(l.axis, l.at);
    const Matrix next = l.adjoint ? adjoint(u) : u;
    product = product.parts.empty() ? next : times(product, next);
  }
  return product;
}

Complex trace_along(const Word& loop, Offset from, const LinkOf& link) {
  if (loop.size() == 1) return trace(along(loop, from, link));
  // two halves, so that both are short and the last product is of their diagonals alone
  const auto middle = loop.begin() + static_cast<std::ptrdiff_t>(loop.size() / 2);
  const Word there(loop.begin(), middle), back(middle, loop.end());
  return trace_of_product(along(there, from, link), along(back, from + displacement(there), link));
}

std::vector<WeightedLinks> as_links(const std::vector<WeightedLinkPath>& paths) {
  std::vector<WeightedLinks> result;
  for (const WeightedLinkPath& p : paths) result.push_back({p.weight, links(p.path, p.from)});
  return result;
}

LinkPathPlan plan_of(const std::vector<WeightedLinks>& terms) {
  LinkPathPlan plan;
  sum_of_links(terms, {}, &plan);
  return plan;
}

Matrix sum_of_paths(const std::vector<WeightedLinkPath>& paths, const LinkOf& link,
                    LinkPathPlan* plan) {
  return sum_of_links(as_links(paths), link, plan);
}

Matrix sum_of_links(const std::vector<WeightedLinks>& paths, const LinkOf& link,
                    LinkPathPlan* plan) {
  std::vector<Term> terms;
  for (const WeightedLinks& p : paths) {
    assert(!p.links.empty());
    Term term{p.weight, {}};
    for (const LinkAt& l : p.links) term.letters.push_back(letter(l));
    const auto equal = std::ranges::find(terms, term.letters, &Term::letters);
    if (equal == terms.end()) {
      terms.push_back(std::move(term));
    } else {
      equal->weight = plus(equal->weight, term.weight);
    }
  }
  // The weight of most words is taken out in front where all are numbers: it costs them nothing.
  const auto count = [&](const Term& t) {
    return std::ranges::count_if(terms,
                                 [&](const Term& u) { return same_number(u.weight, t.weight); });
  };
  const Complex most = std::ranges::max_element(terms, {}, count)->weight;
  const bool numbers = std::ranges::all_of(
      terms, [](const Term& t) { return t.weight.re.is_number() && t.weight.im.is_zero(); });
  const bool divide = numbers && !most.re.is_zero();
  if (divide)
    for (Term& t : terms) t.weight.re = over(t.weight.re, most.re);
  LinkPathPlan own;
  const Matrix sum = Factoring(link, plan != nullptr ? *plan : own).sum(std::move(terms));
  return divide && link ? times(most, sum) : sum;
}

}  // namespace vphi::gauge
