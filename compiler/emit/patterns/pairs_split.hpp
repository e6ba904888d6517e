// Divides the terms of sums over pairs into values of one site, values of the other site, and the
// function of the pair.
#pragma once

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/emit/emit.hpp"

namespace vphi::emit {

/// Values of one site that the pairs need: pseudo arrays of the pair function.
struct Side {
  std::vector<algebra::Expr> values;  ///< as functions of own Loads
  std::unordered_map<const algebra::Node*, int> place;
  int of(algebra::Expr value) {
    const auto [found, fresh] = place.emplace(value.get(), static_cast<int>(values.size()));
    if (fresh) values.push_back(value);
    return found->second;
  }
};

/// Matrices whose entries occur in the terms, by the number of their array.
struct Matrices {
  std::vector<int> arrays;
  int of(int array) {
    const auto found = std::ranges::find(arrays, array);
    if (found == arrays.end()) arrays.push_back(array);
    return static_cast<int>(std::ranges::find(arrays, array) - arrays.begin());
  }
};

/// The terms f_k with every largest subexpression of one site replaced by a Load of a pseudo array:
/// near values are 0, 1, ..., far ones follow, then entries of matrices.
struct Split {
  Side near, far;
  Matrices matrices;
  std::vector<algebra::Expr> terms;
};

Split split_pairs(const kernel::Kernel& kernel);

/// A kernel whose stores are `values`, for its site function alone; its results go to pseudo
/// arrays.
kernel::Kernel one_side(const kernel::Kernel& kernel, const std::string& name,
                        const std::vector<algebra::Expr>& values, const TargetInfo& target);
/// The computation for a pair, with the values of both sides as reads.
kernel::Kernel pair_function(const kernel::Kernel& kernel, const Split& split,
                             const TargetInfo& target);

}  // namespace vphi::emit
