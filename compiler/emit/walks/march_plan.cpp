#include "compiler/emit/walks/march_plan.hpp"

#include <algorithm>

namespace vphi::emit {
namespace {

// Number of the column with these rows, made where it is new.
std::size_t column_of(Staged& staged, const std::vector<int>& dy, int reach) {
  for (std::size_t i = 0; i < staged.columns.size(); ++i) {
    if (staged.columns[i].dy != dy) continue;
    staged.columns[i].reach = std::max(staged.columns[i].reach, reach);
    return i;
  }
  staged.columns.push_back({dy, reach});
  return staged.columns.size() - 1;
}

PlaneSum plane_sum(Staged& staged, std::size_t index, const Read& read) {
  PlaneSum sum;
  sum.read = index;
  algebra::StencilData data;
  data.dims = 3;
  data.offsets = read.offsets;
  data.weights = read.weights;
  sum.plan = algebra::plane_plan(data);
  for (const algebra::PlaneClass& points : sum.plan.classes) {
    std::map<int, std::vector<int>> rows;  // dx -> dy, both in order
    for (const algebra::Offset& point : points.points) rows[point.d[0]].push_back(point.d[1]);
    sum.terms.emplace_back();
    for (auto& [dx, dy] : rows) {
      std::sort(dy.begin(), dy.end());
      sum.terms.back().emplace_back(column_of(staged, dy, std::abs(dx)), dx);
    }
  }
  return sum;
}

}  // namespace

MarchPlan plan_march(const Job& job) {
  MarchPlan plan;
  for (std::size_t array = 0; array < job.kernel.arrays.size(); ++array) {
    Staged staged;
    staged.array = array;
    bool read_at_all = false;
    for (std::size_t i = 0; i < job.body.reads.size(); ++i) {
      const Read& read = job.body.reads[i];
      if (read.array != job.kernel.arrays[array].array) continue;
      read_at_all = true;
      if (read.centre()) {
        staged.centre = true;
        staged.centre_read = i;
      } else {
        staged.halo = true;
        staged.sums.push_back(plane_sum(staged, i, read));
        for (const algebra::Offset& offset : read.offsets) {
          plan.reach_x = std::max<int>(plan.reach_x, std::abs(offset.d[0]));
          plan.reach_y = std::max<int>(plan.reach_y, std::abs(offset.d[1]));
          plan.depth = std::max<int>(plan.depth, std::abs(offset.d[2]));
        }
      }
    }
    for (const Column& column : staged.columns)
      for (int dy : column.dy)
        if (column.reach > 0) plan.edge_y = std::max(plan.edge_y, std::abs(dy));
    if (read_at_all) plan.arrays.push_back(std::move(staged));
  }
  plan.width = 16 / bytes_of(job.body.real);
  while (job.kernel.walked()[0] % plan.width != 0) plan.width /= 2;
  plan.vector_bytes = plan.width * bytes_of(job.body.real);
  return plan;
}

void apply_shape(const Job& job, const MarchShape& shape, MarchPlan& plan) {
  const bool whole_row = shape.lanes * plan.width == job.kernel.extent[0];
  plan.side = plan.reach_x == 0 || whole_row ? 0 : (plan.reach_x + plan.width - 1) / plan.width;
  plan.row_vectors = shape.lanes + 2 * plan.side;
  plan.halo_rows = shape.tile_y() + 2 * plan.reach_y;
  plan.stage_vectors = 0;
  for (Staged& staged : plan.arrays) {
    staged.first_vector = plan.stage_vectors;
    plan.stage_vectors +=
        staged.halo ? plan.halo_rows * plan.row_vectors : shape.tile_y() * shape.lanes;
  }
}

}  // namespace vphi::emit
