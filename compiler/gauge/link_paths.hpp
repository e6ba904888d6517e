// Products of links along words, and sums of them with few products.
//
// The staples of an improved action share their ends: of the 24 words of plaquettes and rectangles
// that belong to one link, three begin with the same link and six others too. `sum_of_paths` takes
// common first and last links out of the sum, the most frequent one first, and repeats this inside
// (Horner's scheme for words). This takes 62 products of matrices, compared with 84 word by word.
// Equal products of different sums are one expression, because all are evaluated from left to
// right. Each link is loaded once. Nothing here fails.
#pragma once

#include <functional>
#include <vector>

#include "compiler/gauge/matrix.hpp"
#include "compiler/gauge/word.hpp"

namespace vphi::gauge {

/// The matrix of the link that leaves the site at this offset along the axis.
using LinkOf = std::function<Matrix(int axis, Offset at)>;
/// The links of field k of such a function.
LinkOf links_of_field(LinkOf all, int k);
/// A function that calls `link` once for each link and stores the result.
LinkOf remembered(LinkOf link);

/// Product along the word from a site. A word of no letters needs `n`, the size of the matrices.
Matrix along(const Word& word, Offset from, const LinkOf& link);
/// Trace of the product along a loop.
Complex trace_along(const Word& loop, Offset from, const LinkOf& link);

struct WeightedLinkPath {
  Complex weight;
  Word path;
  Offset from;
};

/// How a sum of paths is computed.
struct LinkPathPlan {
  int products = 0;  ///< of matrices
  int links = 0;     ///< number of distinct links that are read
};

/// The same path as a list of links.
struct WeightedLinks {
  Complex weight;
  std::vector<LinkAt> links;  ///< not empty
};
std::vector<WeightedLinks> as_links(const std::vector<WeightedLinkPath>& paths);

/// sum_k weight_k (product of links_k); `plan`, if given, is added to.
Matrix sum_of_links(const std::vector<WeightedLinks>& terms, const LinkOf& link,
                    LinkPathPlan* plan = nullptr);
/// The plan of sum_of_links, without the computation.
LinkPathPlan plan_of(const std::vector<WeightedLinks>& terms);

/// sum_k weight_k along(path_k, from_k), no path empty; `plan`, if given, is added to.
Matrix sum_of_paths(const std::vector<WeightedLinkPath>& paths, const LinkOf& link,
                    LinkPathPlan* plan = nullptr);

}  // namespace vphi::gauge
