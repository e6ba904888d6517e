// Fluxes through faces that are stored in lattices whose ends let everything out.
//
// The flux through the face between a cell and the next is stored with the cell, so both cells of a
// face read one value. A line of n cells has n + 1 faces: the one before the first cell has no
// place. There the cells beyond the end have the state of the first cell, with which most of a
// scheme vanishes: slopes are 0 and both sides of the face agree. What is left is written out, and
// chosen by the number of the cell.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "compiler/schedule/steps/flow.hpp"

namespace vphi::schedule {

/// Operations of values, common parts counted once; a special function is four.
int operations_in(std::span<const Expr> values);

class WallFluxes {
 public:
  explicit WallFluxes(const physics::System& system) : system_(system) {}

  /// Whether the fluxes of an axis are cheaper stored than made by both sites of a face: those of
  /// all axes, `all` operations, are so many that a kernel which makes all of them twice has
  /// registers for few threads, and little of them is left at a wall. `fluxes` as in `add`, those
  /// of all quantities.
  bool worthwhile(int axis, std::span<const Expr> fluxes, int all) const;

  /// `stored` loads what `flux` computes at a site, through its face to the next along the axis,
  /// from arrays whose cells beyond the ends have the values of the last.
  void add(int axis, Expr stored, Expr flux);

  /// The expression, with what is read beyond the ends replaced by what it would be there.
  Expr operator()(Expr value) const;

 private:
  struct Flux {
    int axis = 0;
    Expr value;
  };
  Expr beyond(const Flux& flux, algebra::Offset read, int cells) const;

  const physics::System& system_;
  std::map<int, Flux> fluxes_;  ///< by the array that stores them
};

}  // namespace vphi::schedule
