// Products of two links that are computed once and stored, for sums that contain them often.
//
// Loops longer than a plaquette contain the same two steps at many sites: of the rectangles, 24
// staples at each site contain U_mu(x) U_mu(x+mu). Such a product is an element of the group, so it
// takes the memory of one link, and every word with it is one letter shorter. The products are
// chosen from the words alone: as in Re-Pair (Larsson and Moffat, 1999) the pair of letters that
// saves most products of matrices becomes a letter of its own; this is repeated until the best
// remaining pair costs more to write and read than it saves. A pair and its reverse are the same.
// Nothing here fails.
#pragma once

#include <array>
#include <vector>

#include "compiler/gauge/group.hpp"
#include "compiler/gauge/link_paths.hpp"

namespace vphi::gauge {

/// Axes from here on are products: number kFirstProduct + k is product k.
inline constexpr int kFirstProduct = 8;

struct LinkProducts {
  /// Product k at a site: the first letter times the second, which may be earlier products.
  std::vector<std::array<LinkAt, 2>> products;
  int before = 0;  ///< products of matrices in all sums at a site before the change
  int after = 0;   ///< the same afterwards, including those that compute the stored products
};

/// Cost of writing or reading a number, in operations, for GPUs and processors. On an H200 the
/// ratio of the peak rates of arithmetic and memory is 62 in f32 and 63 in f64; kernels that
/// multiply links reach half of the peak rate of arithmetic.
inline constexpr double kOperationsOfANumber = 32;

/// For sums that are all computed at each site. U(1) has none, because its angles are added.
LinkProducts find_link_products(const std::vector<std::vector<WeightedLinks>>& sums,
                                const LinkType& type);

/// The same sum with the products. Products in it are read through LinkOf by their axes.
std::vector<WeightedLinks> with_products(std::vector<WeightedLinks> sum,
                                         const LinkProducts& link_products);

}  // namespace vphi::gauge
