// Values of an expression at an arbitrary state, for identities that hold at every state.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compiler/physics/stages/declared.hpp"

namespace vphi::physics {

/// Every array has a number in (-1, 1) at every site, links of SU(n) an element of the group, and
/// every scalar a number in (1, 2); the same wherever it occurs, and others for another seed.
class ArbitraryValues {
 public:
  ArbitraryValues(const Declared& d, std::uint64_t seed) : d_(d), seed_(seed) {}
  double operator()(Expr e);

 private:
  double leaf(const algebra::Node& node);
  const std::vector<double>& link(const StateField& field, int axis, const algebra::Offset& at);

  const Declared& d_;
  std::uint64_t seed_;
  std::map<std::pair<std::uint64_t, int>, std::vector<double>> links_;
};

}  // namespace vphi::physics
