// Random states on which the recovery of conservation laws is tested: primitive variables, and the
// conserved values that belong to them.
//
// Every subexpression of the densities must be finite for such a state, not only the densities:
// (eps + p)*W^2 is finite for v > 1, but W = 1/sqrt(1 - v^2) is not. Written as 1/(1 - v^2), W^2 is
// finite there too, but on another branch beyond a pole, which a run does not reach. A state is
// therefore accepted if no denominator and no argument of a root or logarithm in the densities
// changes its sign on the way to it from a reference state. The reference has the values that
// `init` gives as numbers; otherwise vectors are 0 and numbers 1, or 0 where 1 is a pole.
#pragma once

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "compiler/algebra/evaluation.hpp"
#include "compiler/physics/fluids/conservation.hpp"

namespace vphi::physics {

using Numbers = std::map<int, double>;  ///< array -> value

/// The value of an expression of arrays. The symbol `open` has `value`; any other symbol (time, a
/// swept name) is 1.
double evaluated(Expr e, const Numbers& numbers, Expr open = {}, double value = 0);
/// The same of several expressions.
std::vector<double> evaluated(const algebra::Evaluation& of, const Numbers& numbers);

/// Arrays of fields that have equations of their own, and of their velocities.
std::vector<int> arrays_beside_laws(const Declared& d);

/// Subexpressions of the densities that must be finite: named formulas, calls of functions, roots
/// and logarithms.
std::vector<Expr> made_of(const Space& d, Lowerer& lower);

struct TrialState {
  Numbers primitives;
  Numbers quantities;  ///< conserved values, and what earlier `solve`s have found of them
  double u = 0;        ///< solution of the `solve` that is being read, where it is of one number
};

class TrialStates {
 public:
  /// Variables of `relax` lines, which no density determines, are up to this part of the largest
  /// density of the state without them, and change no density by more than that. They obey their
  /// `limit` lines.
  static constexpr double kRelaxedPart = 0.25;

  TrialStates(const Space& d, Lowerer& lower, const std::vector<Law>& laws);

  /// Up to `count` random states, the same at every call, and behind them the one that `init` gives
  /// as numbers: densities over six decades, vectors of
  /// any direction and of length up to about 1 - 1e-3. Where most of these are beyond a pole, they
  /// are moved towards the reference until they are before it.
  std::vector<TrialState> drawn(int count) const;
  /// The same states with vectors of a length close to 1, and with numbers that are close to each
  /// other, as the energy density of cold matter is to its rest-mass density. Near a kink or a pole
  /// iterations converge slowest for these.
  std::vector<TrialState> hard(const std::vector<TrialState>& states) const;
  /// Computes the conserved values from the primitive ones; false where the state is not
  /// admissible.
  bool complete(TrialState& state) const;
  /// Whether all subexpressions of the densities are finite, and the state is on the same side of
  /// all poles as the reference.
  bool admits(const Numbers& primitives) const;
  bool is_vector(const StateField& field) const;
  /// The state from which all others are reached; of fields beside the laws, what `init` gives as a
  /// number, or 0.
  const Numbers& reference() const { return reference_; }

 private:
  bool relax(TrialState& state, std::mt19937_64& random) const;
  void read_limits(Lowerer& lower);
  void limit(TrialState& state) const;
  void find_guards();
  void find_reference();
  bool read_start(Numbers& reference) const;
  int signs_without(const Numbers& reference) const;
  Numbers between(const Numbers& primitives, double share) const;
  double reach(const Numbers& primitives) const;

  const Space& d_;
  const std::vector<Law>& laws_;
  std::vector<Expr> parts_;
  std::vector<int> fields_;  ///< arrays_beside_laws
  /// What a `limit` line makes of a variable that relaxes, by array; line by line.
  std::vector<std::vector<std::pair<int, Expr>>> limits_;
  std::vector<Expr> guards_;   ///< expressions that must not change their sign
  std::vector<double> signs_;  ///< their signs at the reference; 0: no sign there, not checked
  Numbers reference_;
  bool starts_there_ = false;  ///< `init` gives a number of it
};

}  // namespace vphi::physics
