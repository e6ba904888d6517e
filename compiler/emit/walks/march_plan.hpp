// The plan of a march: the arrays that it stages and the sums that it forms.
#pragma once

#include <map>
#include <vector>

#include "compiler/algebra/stencil.hpp"
#include "compiler/emit/walks/march.hpp"

namespace vphi::emit {

/// A sum of rows of one plane, for every x: the rows of a class with the same points along x.
struct Column {
  std::vector<int> dy;
  int reach = 0;  ///< largest |dx| used
};

/// One stencil sum.
struct PlaneSum {
  std::size_t read = 0;  ///< in Body::reads
  algebra::PlanePlan plan;
  /// For each class the terms: column of the array and displacement along x.
  std::vector<std::vector<std::pair<std::size_t, int>>> terms;
};

/// An array that is staged.
struct Staged {
  std::size_t array = 0;  ///< in kernel.arrays
  bool halo = false;
  bool centre = false;  ///< the value at the site itself is read
  std::size_t centre_read = 0;
  std::vector<Column> columns;
  std::vector<PlaneSum> sums;
  int first_vector = 0;  ///< within a stage
};

struct MarchPlan {
  std::vector<Staged> arrays;
  int reach_x = 0, reach_y = 0, depth = 0;
  int edge_y = 0;  ///< rows beyond the tile whose halo in x is used
  // with a shape
  int width = 4;  ///< values in a vector: 16 bytes, or fewer where rows are not a multiple of that
  int vector_bytes = 16;
  int side = 0;  ///< halo vectors on each side; 0 also where the tile is a whole row
  int row_vectors = 0, halo_rows = 0, stage_vectors = 0;
};

/// The plan without the part that depends on the shape. Precondition: three dimensions.
MarchPlan plan_march(const Job& job);
void apply_shape(const Job& job, const MarchShape& shape, MarchPlan& plan);

}  // namespace vphi::emit
