// The solutions of the equations of `solve`, as expressions. Most of what follows is about one
// number, u = g(u); names that need each other are iterated together (JointIteration).
//
// Where g makes the equation quadratic, u is its root. Otherwise u is the result of n iterations:
//   fixed_point  u_(i+1) = g(u_i);
//   newton       u_(i+1) = u_i - (u_i - g(u_i))/(1 - dg/du). With `from` and `to` these enclose the
//                solution ever closer, and their midpoint replaces an iterate outside of them;
//   bisection    the half of the interval between `from` and `to` where u - g(u) changes its sign.
//
// The number n follows from random states. For a fixed point it is the smallest with
// q^n d0 <= tol, where q is the largest |dg/du| at the solutions and d0 the largest distance of the
// first iterate; one that starts from 0 is not iterated beyond the precision of the run. Bisection
// takes log2((to - from)/tol) iterations. For Newton's method, which need not converge, n is `max`,
// or without it the number that the slowest state needs. For the relativistic equations of
// docs/formulas.md 4.3 q is v^2 c_s^2. The states are made from random primitive variables by the
// forward map of `conserve`, and the recovery must reproduce these (docs/rules.md rule 20).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/algebra/evaluation.hpp"
#include "compiler/physics/fluids/conservation.hpp"
#include "compiler/physics/fluids/fluid_states.hpp"

namespace vphi::physics {

/// A name that is solved for together with others: x = g(x, others).
struct Unknown {
  const Solve* solve = nullptr;
  std::vector<Expr> symbols;  ///< a symbol for each component
  std::vector<Expr> g;        ///< by component, of the symbols of all unknowns
};

/// Result for unknowns that are iterated together, in their order.
struct JointSolution {
  struct Name {
    std::vector<Expr> values;  ///< by component, as functions of quantities
    /// The same if the iteration starts from the symbols of all names. Empty where that is not
    /// known to end as well.
    std::vector<Expr> again;
    Expr residual;       ///< largest |x - g(x)| of a component, of the symbols
    double reached = 0;  ///< largest error after the iterations
  };
  std::vector<Name> names;
  std::int64_t iterations = 0;
  /// Whether iterations end as well that start from what a state has with other relaxing variables
  /// alone, and with other densities too, as an earlier stage of a step.
  bool from_others = false, from_stages = false;
  Expr needed = {};  ///< as Solution::needed, of any component
};

/// Unknowns whose lines need each other, or the components of one vector. In an iteration each
/// unknown in turn takes one step of its method, with the newest values of the others; the
/// components of a vector take it at once. The number of iterations is what the slowest of the
/// states takes, `max` at most (the least of the names').
class JointIteration {
 public:
  JointIteration(const Equations& d, std::vector<Unknown> unknowns);

  /// The solutions of a state by 4000 iterations at most, of all components in the order of the
  /// unknowns; NaN where the iteration does not end.
  std::vector<double> solved(const Numbers& quantities) const;
  /// `exact`: what `solved` finds for each of the states. E0793 where one is not found.
  JointSolution solution(const std::vector<TrialState>& states,
                         const std::vector<std::vector<double>>& exact);

 private:
  static constexpr int kMostRounds = 4000;

  Expr slope_of(const Unknown& unknown) const;
  std::vector<double> first(const Numbers& quantities) const;
  std::vector<double> values(const algebra::Evaluation& of, const Numbers& quantities,
                             const std::vector<double>& x) const;
  bool solves(const Numbers& quantities, const std::vector<double>& x) const;
  std::vector<double> next(const Numbers& quantities, std::vector<double> x) const;
  double distance(const std::vector<double>& a, const std::vector<double>& b,
                  std::size_t name) const;
  std::string names() const;
  /// These quantities of a state, multiplied by a number.
  struct Change {
    std::vector<int> arrays;
    double factor = 1;
  };
  /// Whether so many iterations from the solution of a state with each of the changes reach the
  /// solution of the state itself, as exactly as from the start of the text.
  bool starts_from_others(const std::vector<TrialState>& states,
                          const std::vector<std::vector<double>>& exact, const JointSolution& made,
                          const std::vector<Change>& changes) const;
  void try_other_starts(const std::vector<TrialState>& states,
                        const std::vector<std::vector<double>>& exact, JointSolution& made) const;
  std::vector<double> unless_settled(std::vector<double> x, std::vector<double> then,
                                     const std::vector<double>& within) const;
  /// Iterations end where a step moves no number by more than this, by name: the tolerance over a
  /// power of two, the largest with which all states end within the tolerance. Empty: none of them.
  std::vector<double> settled_within(const std::vector<TrialState>& states,
                                     const std::vector<std::vector<double>>& exact,
                                     std::int64_t iterations) const;
  Expr settled(const std::vector<Expr>& x, const std::vector<Expr>& then) const;
  std::vector<Expr> after(std::int64_t rounds, std::vector<Expr> x, Expr* needed = nullptr) const;
  void write(JointSolution& made) const;

  const Equations& d_;
  std::vector<Unknown> unknowns_;
  std::vector<std::size_t> first_;        ///< of each unknown: its first component
  std::vector<Expr> symbols_;             ///< of all components
  std::vector<std::vector<Expr>> steps_;  ///< what an iteration makes of each component
  std::vector<algebra::Evaluation> made_by_steps_, made_by_g_;  ///< of each unknown
  std::vector<double> tolerance_, settled_;  ///< by name; settled_within, of the solution
};

class RecoveryEquation {
 public:
  /// Adds what earlier `solve`s find to states that are drawn anew.
  using Earlier = std::function<void(std::vector<TrialState>&)>;

  /// `solved` is the symbol of u.
  RecoveryEquation(const Equations& d, const Solve& solve, Expr solved, const TrialStates& trials,
                   Earlier earlier)
      : d_(d), solve_(solve), solved_(solved), trials_(trials), earlier_(std::move(earlier)) {}

  /// The states with their u, solved to rounding by the method of the model; NaN where it finds no
  /// solution.
  std::vector<TrialState> solved(std::vector<TrialState> states, Expr g) const;
  Solution solution_of(Expr g, const std::vector<TrialState>& states) const;

 private:
  const Equations& d_;
  const Solve& solve_;
  Expr solved_;
  const TrialStates& trials_;
  Earlier earlier_;
};

/// "rho = 1, v[0] = 0.3": primitive variables in messages.
std::string shown_state(const Declared& d, const TrialState& state);

}  // namespace vphi::physics
