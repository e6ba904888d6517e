// The text of a march of several steps: fills the slots of steps_march_gpu.txt.
#pragma once

#include <string>
#include <vector>

#include "compiler/emit/walks/march_steps.hpp"
#include "compiler/emit/walks/plane_text.hpp"

namespace vphi::emit {

class MarchSteps {
 public:
  MarchSteps(const Job& job, const Bindings& bindings, const StepsShape& shape);
  const MarchPlan& plan() const { return plan_; }

  int stored_vectors() const { return shape_.lanes - 2 * steps_shape_.edge_vectors; }
  int stored_rows() const { return shape_.tile_y() - 2 * steps_shape_.edge_rows; }
  int level_vectors() const { return level_vectors_; }  ///< vectors of one plane of all arrays
  int steps() const { return steps_; }
  /// Planes of the march between the first that is loaded and the first that is stored.
  int first_stored() const { return 2 * steps_ * plan_.depth + steps_ - 1; }

  Code line() const;
  Code places() const;
  Code edge_places() const;
  Code first_planes() const;
  Code copy_halo() const { return planes_.copy_halo(""); }
  Code copy_edges() const { return planes_.copy_edges(); }
  Code copy_centre() const;
  Code clear() const;
  Code carried() const;
  Code local_scalars() const;
  Code scalars_of_steps() const;
  Code levels() const;
  Code finish() const;

 private:
  std::int64_t nx() const { return kernel_.extent[0]; }
  std::int64_t ny() const { return kernel_.extent[1]; }
  std::int64_t nz() const { return kernel_.extent[2]; }
  std::int64_t row_vectors_of_box() const { return nx() / plan_.width; }
  int segment() const { return 32; }
  Code real() const { return type_name(job_.body.real); }
  Code idx(std::int64_t value) const { return index_literal(job_, value); }
  Code name(const Staged& staged) const { return job_.body.array_names[staged.array]; }
  bool last(int level) const { return level == steps_ - 1; }
  bool draws() const { return !job_.body.draws.empty(); }
  /// Whether a site uses its coordinate along this axis of the march.
  bool site_axis(int axis) const;
  bool wants_plane(int level) const { return last(level) || draws(); }
  std::vector<int> used_slots() const;
  Code take_slots(int level, const Code& own, const std::vector<int>& slots) const;
  Code next_scalars(int level) const;

  Code level(int level) const;
  Code rows_of(const Staged& staged, int level) const;
  Code sites(int level) const;
  Code gather(int level) const;
  Code give(int level) const;
  Code shift(int level) const;
  /// The store of an array; -1: the array does not change.
  int store_of(const Staged& staged) const;

  const Job& job_;
  const Bindings& bindings_;
  const kernel::Kernel& kernel_;
  const StepsShape& steps_shape_;
  const MarchShape& shape_;
  const int steps_;
  MarchPlan plan_;
  const PlaneText planes_{job_, plan_, shape_};
  std::vector<int> first_in_level_;  ///< for each of plan_.arrays with neighbours
  int level_vectors_ = 0;
};

}  // namespace vphi::emit
