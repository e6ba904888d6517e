// What marches of one step and of several have in common: a plane in local memory, how it is copied
// there, and what its rows give to the sums of a stencil.
//
// Per plane the sums over sites of equal weight are formed once: columns first (over y, for all x
// of a thread's vector and its reach on both sides), then classes of columns, then the share of the
// plane in each sum that it takes part in. Sums are carried along the march until their last plane.
#pragma once

#include <functional>
#include <string>

#include "compiler/emit/walks/march_plan.hpp"

namespace vphi::emit {

/// Where a thread finds the values beside its vector: in the staged row (`below_1`, `above_1` are
/// places in it), or in the lane beside it, and the first and last lane of a warp in the row, at
/// one place for either of them (`beyond_1`) or at one for each.
enum class Beside { Row, LaneOrPlace, LaneOrPlaces };

class PlaneText {
 public:
  /// What stands for a staged value: of a row of the thread ("j + 1"), and beyond which end of it
  /// ("below_outside_1"; empty: within).
  using Bound = std::function<Code(const Code& value, const Code& row, const Code& beyond)>;

  PlaneText(const Job& job, const MarchPlan& plan, const MarchShape& shape)
      : job_(job), plan_(plan), shape_(shape) {}

  int rows_read() const { return shape_.rows_per_thread + 2 * plan_.reach_y; }
  int edge_rows() const { return shape_.tile_y() + 2 * plan_.edge_y; }

  /// Copies of the rows of the tile and of its edges in x to local memory; `also`: a further
  /// condition, or empty.
  Code copy_halo(const Code& also) const;
  Code copy_edges() const;
  /// Declares NAME_rows, of the array whose vectors begin at `first`, and NAME_here where a column
  /// reaches beyond a vector.
  Code rows(const Staged& staged, int first) const;
  Code here(const Staged& staged, int first) const;
  /// Declares NAME_columnI.
  Code column(const Staged& staged, std::size_t index, Beside beside, const Bound& bound) const;
  /// Completes the sum of plane k - depth and carries on those of later planes in
  /// MEMBER_share`suffix`.
  Code sum(const Staged& staged, const PlaneSum& plane_sum, const Code& suffix) const;
  /// Declares these shares.
  Code shares(const PlaneSum& plane_sum, const Code& suffix) const;

 private:
  Code name(const Staged& staged) const { return job_.body.array_names[staged.array]; }
  Code real() const { return type_name(job_.body.real); }
  Code weighted(std::int64_t weight, const Code& value) const;

  const Job& job_;
  const MarchPlan& plan_;
  const MarchShape& shape_;
};

}  // namespace vphi::emit
