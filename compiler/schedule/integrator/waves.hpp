// Equations of motion on plane waves: the derivative of a rate by the amplitude of exp(i k x) about
// a homogeneous state, with neighbours written out (`u@x`, `d(u, x)`) or in stencils.
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

/// Wave vectors of a lattice: 0 first, then multiples of pi/4 up to pi along each axis, of both
/// signs but for the sign of all. Only 0 without a lattice.
std::vector<Wave> waves_of(int dims);

/// "k = (3.14, 0)/dx"; "k = 0" where it is none.
std::string shown(const Wave& k, int dims);

/// A rate, as a function of one array's wave.
class WaveSlope {
 public:
  /// The state: numbers of loads, symbols and the like; throws std::invalid_argument where there is
  /// none. It is called for reductions too: their value is held fixed, whatever the wave.
  using Leaf = std::function<double(const algebra::Node&)>;

  WaveSlope(algebra::Expr rate, double dx, Leaf leaf)
      : own_(std::make_unique<algebra::Arena>()), rate_(rate), dx_(dx), leaf_(std::move(leaf)) {}

  /// d(rate)/d(array) for a wave of this array alone. Throws as the leaf does.
  std::complex<double> operator()(int array, const Wave& k);

 private:
  using Complex = std::complex<double>;
  double value(algebra::Expr e);
  Complex slope(algebra::Expr e, int array, const Wave& k,
                std::unordered_map<const algebra::Node*, Complex>& known);
  algebra::Expr with_numbers(algebra::Expr e, std::size_t open);
  double partial(algebra::Expr e, std::size_t i);

  std::unique_ptr<algebra::Arena> own_;  ///< nodes made here are not in the model's arena
  algebra::Expr rate_;
  double dx_;
  Leaf leaf_;
  std::unordered_map<const algebra::Node*, double> values_;
  std::unordered_map<const algebra::Node*, std::vector<double>> partials_;
};

}  // namespace vphi::schedule
