// The text of one march: what fills the slots of march_gpu.txt.
#pragma once

#include <string>

#include "compiler/emit/walks/march_plan.hpp"

namespace vphi::emit {

// Writes the slots of march_gpu.txt.
class March {
 public:
  March(const Job& job, const MarchShape& shape);
  const MarchPlan& plan() const { return plan_; }
  bool exchanges_lanes() const { return lanes_exchange_; }

  std::string copy_places() const;
  std::string edge_places() const;
  std::string copy_halo() const;
  std::string copy_edges() const;
  std::string copy_centre() const;
  std::string carried() const;
  std::string line() const;
  std::string first_plane() const;
  std::string this_plane() const;
  std::string next_plane() const;
  std::string row_flags() const;
  std::string plane_flags() const;
  std::string owned() const;
  std::string bound_function() const;
  std::string plane_sums() const;
  std::string centres() const;
  std::string parts() const;
  std::string gather() const;
  std::string put() const;
  std::string store() const;
  std::string accumulate_parts() const;
  std::string shift() const;

 private:
  std::string name(const Staged& staged) const { return job_.body.array_names[staged.array]; }
  std::string real() const { return type_name(job_.body.real); }
  std::string idx(std::int64_t value) const { return index_literal(job_, value); }
  std::int64_t nx() const { return kernel_.extent[0]; }
  std::int64_t ny() const { return kernel_.extent[1]; }
  int rows_read() const { return shape_.rows_per_thread + 2 * plan_.reach_y; }
  int edge_rows() const { return shape_.tile_y() + 2 * plan_.edge_y; }
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
  bool bounded() const;  ///< values beyond an end are not those of the image
  bool overhangs() const { return ny() % shape_.tile_y() != 0; }
  /// Values beyond the ends of this axis carry a sign or are fixed.
  bool flagged(int axis) const {
    return reaches(axis) && (boundary(axis) == physics::Boundary::Antiperiodic ||
                             boundary(axis) == physics::Boundary::Fixed);
  }
  /// Lanes whose neighbours come from the staged row rather than another lane may be told by one
  /// place in it; else each side has one of its own.
  bool one_place() const { return (shape_.lanes & (shape_.lanes - 1)) == 0; }
  std::string row_place(const std::string& row) const;
  std::string counted(std::size_t reduction, const std::string& value) const;
  std::string bound(const std::string& value, const std::string& row,
                    const std::string& beyond) const;
  std::string scalars_of(const Staged& staged) const;
  std::string column(const Staged& staged, std::size_t index) const;
  std::string sum(const Staged& staged, const PlaneSum& plane_sum) const;
  std::string pattern(const Staged& staged, const PlaneSum& plane_sum, int offset) const;
  std::string weighted(std::int64_t weight, const std::string& value) const;

  const Job& job_;
  const kernel::Kernel& kernel_;
  const MarchShape& shape_;
  MarchPlan plan_;
  bool lanes_exchange_ = false;
};

}  // namespace vphi::emit
