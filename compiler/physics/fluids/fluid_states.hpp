// States of conservation laws that a model is tried on: primitive variables for which everything
// that the densities are written with is a number, and the conserved values that belong to them.
// Of (eps + p)*W^2 alone nobody sees that W = 1/sqrt(1 - v^2) has none where v > 1.
#pragma once

#include <map>
#include <vector>

#include "compiler/physics/fluids/conservation.hpp"

namespace vphi::physics {

using Numbers = std::map<int, double>;  ///< array -> value

/// The value of an expression of arrays; `open` has `value`, any other symbol (time, a swept name)
/// is 1.
double evaluated(Expr e, const Numbers& numbers, Expr open = {}, double value = 0);

/// What the densities are made of that has to be a number by itself: names that stand for a
/// formula, calls of functions, roots and logarithms.
std::vector<Expr> made_of(const Space& d, Lowerer& lower);

struct TrialState {
  Numbers primitives, quantities;
  double u = 0;  ///< solution of `solve`, where there is one
};

class TrialStates {
 public:
  TrialStates(const Space& d, Lowerer& lower, const std::vector<Law>& laws)
      : d_(d), laws_(laws), parts_(made_of(d, lower)) {}

  /// Up to `count` random states, the same at every call: densities over six decades, vectors of
  /// any direction and of length up to 1 - 1e-3 or so.
  std::vector<TrialState> drawn(int count) const;
  /// The same with vectors that are almost 1 long, and with numbers that are close to each other,
  /// as the energy of cold matter is to that of its masses: where rounds that are bent by a kink or
  /// a pole are slowest.
  std::vector<TrialState> hard(const std::vector<TrialState>& states) const;
  /// Conserved values of primitive ones; false where there is no such state.
  bool complete(TrialState& state) const;
  bool is_vector(const StateField& field) const;

 private:
  const Space& d_;
  const std::vector<Law>& laws_;
  std::vector<Expr> parts_;
};

}  // namespace vphi::physics
