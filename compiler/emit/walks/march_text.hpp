// The text of a march: fills the slots of march_gpu.txt.
#pragma once

#include <string>

#include "compiler/emit/walks/march_plan.hpp"
#include "compiler/emit/walks/plane_text.hpp"

namespace vphi::emit {

// Writes the slots of march_gpu.txt.
class March {
 public:
  March(const Job& job, const MarchShape& shape);
  const MarchPlan& plan() const { return plan_; }
  bool exchanges_lanes() const { return lanes_exchange_; }

  Code copy_places() const;
  Code edge_places() const;
  Code copy_halo() const;
  Code copy_edges() const;
  Code copy_centre() const;
  Code carried() const;
  Code line() const;
  Code first_plane() const;
  Code this_plane() const;
  Code next_plane() const;
  Code row_flags() const;
  Code plane_flags() const;
  Code owned() const;
  Code bound_function() const;
  Code plane_sums() const;
  Code centres() const;
  Code parts() const;
  Code gather() const;
  Code put() const;
  Code store() const;
  Code accumulate_parts() const;
  Code shift() const;

 private:
  Code name(const Staged& staged) const { return job_.body.array_names[staged.array]; }
  Code real() const { return type_name(job_.body.real); }
  Code idx(std::int64_t value) const { return index_literal(job_, value); }
  std::int64_t nx() const { return kernel_.extent[0]; }
  std::int64_t ny() const { return kernel_.extent[1]; }
  /// The row behind the last one that is computed.
  std::int64_t end_y() const {
    const bool beside = kernel_.planes && kernel_.planes->second;
    return (beside ? kernel_.planes->second->first : 0) + kernel_.walked()[1];
  }
  bool has_halo() const;
  physics::Boundary boundary(int axis) const {
    return kernel_.boundary[static_cast<std::size_t>(axis)];
  }
  bool wraps(int axis) const {
    return boundary(axis) == physics::Boundary::Periodic ||
           boundary(axis) == physics::Boundary::Antiperiodic;
  }
  bool reaches(int axis) const {
    return (axis == 0 ? plan_.reach_x : axis == 1 ? plan_.reach_y : plan_.depth) > 0;
  }
  bool bounded() const;  ///< values beyond an end differ from those of the image
  bool overhangs() const { return kernel_.walked()[1] % shape_.tile_y() != 0; }
  /// Whether values beyond the ends of this axis have a sign or are fixed.
  bool flagged(int axis) const {
    return reaches(axis) && (boundary(axis) == physics::Boundary::Antiperiodic ||
                             boundary(axis) == physics::Boundary::Fixed);
  }
  /// Whether lanes whose neighbours come from the staged row, not from another lane, need one index
  /// into it; otherwise each side has an index of its own.
  bool one_place() const { return (shape_.lanes & (shape_.lanes - 1)) == 0; }
  Code row_place(const Code& row) const;
  Code counted(std::size_t reduction, const Code& value) const;
  Code bound(const Code& value, const Code& row, const Code& beyond) const;
  Code scalars_of(const Staged& staged) const;

  const Job& job_;
  const kernel::Kernel& kernel_;
  const MarchShape& shape_;
  MarchPlan plan_;
  const PlaneText planes_{job_, plan_, shape_};
  bool lanes_exchange_ = false;
};

}  // namespace vphi::emit
