// Equations of motion linearised on plane waves: the derivative of a rate by the amplitude of exp(i
// k x) about a homogeneous state. Neighbours may be read explicitly (`u@x`, `d(u, x)`) or by
// stencils.
#pragma once

#include <array>
#include <complex>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/algebra/expr.hpp"

namespace vphi::schedule {

using Wave = std::array<double, 4>;  ///< k*dx by axis

/// Wave vectors of a lattice: 0 first, then all with components that are multiples of pi/4 up to
/// pi, one of each pair k and -k. Only 0 without a lattice.
std::vector<Wave> waves_of(int dims);

/// "k = (3.14, 0)/dx", or "k = 0".
std::string shown(const Wave& k, int dims);

/// The response of a rate to a wave of one array.
class WaveSlope {
 public:
  /// The values of leaves in the homogeneous state; throws std::invalid_argument for a leaf without
  /// a value. It is called for reductions too, whose values are held fixed.
  using Leaf = std::function<double(const algebra::Node&)>;

  WaveSlope(algebra::Expr rate, double dx, Leaf leaf)
      : own_(std::make_unique<algebra::Arena>()), rate_(rate), dx_(dx), leaf_(std::move(leaf)) {}

  /// d(rate)/d(array) for a wave of this array only. Throws where `leaf` throws.
  std::complex<double> operator()(int array, const Wave& k);

 private:
  using Complex = std::complex<double>;
  double value(algebra::Expr e);
  Complex slope(algebra::Expr e, int array, const Wave& k,
                std::unordered_map<const algebra::Node*, Complex>& known);
  algebra::Expr with_numbers(algebra::Expr e, std::size_t open);
  double partial(algebra::Expr e, std::size_t i);

  std::unique_ptr<algebra::Arena> own_;  ///< arena for nodes that are made here
  algebra::Expr rate_;
  double dx_;
  Leaf leaf_;
  std::unordered_map<const algebra::Node*, double> values_;
  std::unordered_map<const algebra::Node*, std::vector<double>> partials_;
};

}  // namespace vphi::schedule
