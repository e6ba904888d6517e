#include "compiler/gauge/insertions.hpp"

#include <algorithm>

namespace vphi::gauge {

namespace {

/// Links, a matrix, links; terms with the same links are one.
struct Inserted {
  std::vector<LinkAt> left;
  Matrix middle;
  std::vector<LinkAt> right;
};

std::vector<LinkAt> reversed_links(std::vector<LinkAt> walk) {
  std::ranges::reverse(walk);
  for (LinkAt& link : walk) link.adjoint = !link.adjoint;
  return walk;
}

Matrix product_of(const std::vector<LinkAt>& walk, const LinkOf& link) {
  Matrix product;
  for (const LinkAt& l : walk) {
    const Matrix u = link(l.axis, l.at), part = l.adjoint ? adjoint(u) : u;
    product = product.parts.empty() ? part : times(product, part);
  }
  return product;
}

void insert(std::vector<Inserted>& all, Inserted term) {
  for (Inserted& other : all) {
    if (other.left != term.left || other.right != term.right) continue;
    other.middle = plus(other.middle, term.middle);
    return;
  }
  all.push_back(std::move(term));
}

}  // namespace

Matrix insertion_staple(const std::vector<WordTerm>& terms, int axis, const LinkOf& link,
                        const MiddleAt& middle) {
  std::vector<Inserted> all;
  for (const WordTerm& term : terms) {
    const std::vector<LinkAt> walk = links(term.word, term.from);
    for (std::size_t k = 0; k < walk.size(); ++k) {
      if (walk[k].axis != axis) continue;
      // the term of the site from which this letter is the link here
      const Offset site = Offset{} - walk[k].at;
      std::vector<LinkAt> moved = walk;
      for (LinkAt& l : moved) l.at = l.at + site;
      const auto letter = moved.begin() + static_cast<std::ptrdiff_t>(k);
      const Matrix m = middle(term, site);
      Inserted part{{letter + 1, moved.end()}, m, {moved.begin(), letter}};
      if (walk[k].adjoint)
        part = {reversed_links(part.right), adjoint(m), reversed_links(part.left)};
      insert(all, std::move(part));
    }
  }
  Matrix total;
  for (const Inserted& part : all) {
    Matrix value = part.middle;
    if (const Matrix left = product_of(part.left, link); !left.parts.empty())
      value = times(left, value);
    if (const Matrix right = product_of(part.right, link); !right.parts.empty())
      value = times(value, right);
    total = total.parts.empty() ? value : plus(total, value);
  }
  return total;
}

}  // namespace vphi::gauge
