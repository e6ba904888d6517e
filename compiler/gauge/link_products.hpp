// Products of two links that are computed once and stored, for sums that contain them often.
//
// Loops longer than a plaquette contain the same two steps at many sites: of the rectangles, 24
// staples at each site contain U_mu(x) U_mu(x+mu). Such a product is an element of the group, so it
// takes the memory of one link, and every word with it is one letter shorter. The products are
// chosen from the words alone: as in Re-Pair (Larsson and Moffat, 1999) the pair of letters that
// saves most products of matrices becomes a letter of its own; this is repeated until the best
// remaining pair costs more to write and read than it saves. A pair and its reverse are one.
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
  int before = 0;  ///< products of matrices of all sums at a site as they were
  int after = 0;   ///< and with these, the ones that make them included
};

/// Whether a product is worth its memory: writing or reading a number takes as long as this many
/// operations, on GPUs and processors alike. On an H200 memory and arithmetic at their peaks
/// are 62 apart in f32 and 63 in f64; kernels that multiply links reach half of the latter.
inline constexpr double kOperationsOfANumber = 32;

/// For sums that are all computed at each site. U(1) has none, because its angles are added.
LinkProducts find_link_products(const std::vector<std::vector<WeightedLinks>>& sums,
                                const LinkType& type);

/// The same sum with the products. Products in it are read through LinkOf by their axes.
std::vector<WeightedLinks> with_products(std::vector<WeightedLinks> sum,
                                         const LinkProducts& link_products);

}  // namespace vphi::gauge
