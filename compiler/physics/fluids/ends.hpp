// States beyond the ends of axes that the model gives: `beyond low(x): eps = 1, v = [0.9]`.
//
// Cells beyond the end have the primitive variables of the text, at their own positions and at the
// time of the rates, and the densities that `conserve` makes of them. A name in the text is what
// the cell would have without it: the state of the last cell (`outflow`) or of the mirror image
// (`neumann`). What the text does not name keeps that as well. So an inflow, a held wall, a moving
// mirror and a wall without slip are formulas, and no scheme has a part of its own for them.
//
// In the expressions of a scheme and of sources every read of a quantity or primitive variable
// beyond such an end becomes a choice by the number of the cell. The choice moves with the read:
// reads of one cell from different sites are the same expression, shifted.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/equations.hpp"

namespace vphi::physics {

class GivenEnds {
 public:
  /// Reads the clauses `beyond`; fails with E0836 where one cannot be obeyed.
  GivenEnds(const Equations& d, Lowerer& lower);

  /// Puts the choices into the lines, results and faces of a scheme along its axis. `half_step`:
  /// the scheme is a step with values at half of it, and so are the primitive variables here.
  void put_into(AxisScheme& scheme, bool half_step) const;
  /// The laws with choices in their sources, which may read neighbours along any axis.
  std::vector<Law> in_sources(std::vector<Law> laws) const;

 private:
  struct End {
    int axis = 0;
    bool high = false;
    std::map<int, Expr> given;  ///< primitive variable -> its value beyond the end
  };
  /// Axis -> array -> its value in a cell that may lie beyond an end of the axis.
  using Chosen = std::map<int, std::map<int, Expr>>;

  void read(const dsl::Clause& clause, Lowerer& lower);
  std::vector<End*> ends_of(const dsl::Expr& where);
  void give(const dsl::Item& item, Lowerer& lower, const std::vector<End*>& ends);
  void refuse_other_cells(Expr value, const dsl::Item& item) const;
  void choose();
  Expr choice(int array, int axis, Expr low, Expr high) const;
  std::map<int, Expr> halfway(int axis) const;
  static Expr in_value(Expr value, const Chosen& chosen, bool everywhere);

  const Equations& d_;
  std::map<std::pair<int, bool>, End> ends_;
  Chosen chosen_;
};

}  // namespace vphi::physics
