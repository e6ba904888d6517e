// States of conservation laws that a model is tried on: primitive variables for which everything
// that the densities are written with is a number, and the conserved values that belong to them.
// Of (eps + p)*W^2 alone nobody sees that W = 1/sqrt(1 - v^2) has none where v > 1. Written as
// 1/(1 - v^2), W^2 has a value there, but of another branch: behind a pole lie no states that a run
// gets to. So a state counts if, on the way to it from a reference (what `init` gives as plain
// numbers, otherwise vectors 0 and numbers 1, or 0 where 1 is a pole itself), no denominator and no
// argument of a root or logarithm of the densities changes its sign.
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
  TrialStates(const Space& d, Lowerer& lower, const std::vector<Law>& laws);

  /// Up to `count` random states, the same at every call: densities over six decades, vectors of
  /// any direction and of length up to 1 - 1e-3 or so. Where most of these are behind a pole, they
  /// are moved towards the reference, to this side of it.
  std::vector<TrialState> drawn(int count) const;
  /// The same with vectors that are almost 1 long, and with numbers that are close to each other,
  /// as the energy of cold matter is to that of its masses: where rounds that are bent by a kink or
  /// a pole are slowest.
  std::vector<TrialState> hard(const std::vector<TrialState>& states) const;
  /// Conserved values of primitive ones; false where there is no such state.
  bool complete(TrialState& state) const;
  /// Whether primitive variables are finite in all that the densities are made of, and on the same
  /// side of all poles as the reference.
  bool admits(const Numbers& primitives) const;
  bool is_vector(const StateField& field) const;

 private:
  void find_guards();
  void find_reference();
  bool read_start(Numbers& reference) const;
  int signs_without(const Numbers& reference) const;
  Numbers between(const Numbers& primitives, double share) const;
  double reach(const Numbers& primitives) const;

  const Space& d_;
  const std::vector<Law>& laws_;
  std::vector<Expr> parts_;
  std::vector<Expr> guards_;   ///< must not change their sign
  std::vector<double> signs_;  ///< theirs at the reference; 0: has none there, and guards nothing
  Numbers reference_;
};

}  // namespace vphi::physics
