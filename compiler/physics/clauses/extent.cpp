// Checks that the box is large enough for the stencils of the equations.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/algebra/transform.hpp"
#include "compiler/physics/clauses/box_errors.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/stages/checks.hpp"

namespace vphi::physics {

namespace {

int reach(const algebra::StencilData& data, int axis) {
  int most = 0;
  for (const algebra::Offset& offset : data.offsets)
    most = std::max(most, std::abs(static_cast<int>(offset.d[axis])));
  return most;
}

/// The place in the model that chooses the Laplacian, or the lattice clause for the default
/// stencil.
dsl::Span place_of(const Setting& d, const algebra::StencilData& data) {
  const NamedFact* chosen = d.facts.find("laplacian");
  return chosen && chosen->value->text == data.name ? chosen->value->span : d.grid.span;
}

}  // namespace

void check_extent(const Program& d, System& system) {
  if (!d.grid.present) return;
  std::map<int, std::set<int>> used;  // stencil -> arrays
  const auto applied_in = [&](Expr value) {
    algebra::visit(value, [&](Expr e) {
      if (e.is(algebra::Op::Stencil))
        used[e->index].insert(e.arg(0).is(algebra::Op::Load) ? e.arg(0)->index : -1);
    });
  };
  for (const Variable& v : system.variables) applied_in(v.rate);
  for (const Derived& limit : system.limits) applied_in(limit.value);
  if (!used.contains(d.laplacian)) system.laplacian = -1;  // not used: it is not shown
  if (system.laplacian >= 0 && !d.facts.find("laplacian")) {
    d.remark(fmt::format("no `laplacian` is named: {} points, two neighbours along each axis",
                         d.arena().stencil_data(d.laplacian).offsets.size()));
  }
  for (const auto& [index, arrays] : used) {
    const algebra::StencilData& data = d.arena().stencil_data(index);
    const std::string name = data.name.empty() ? "lap" : data.name;
    for (int axis = 0; axis < d.grid.dims; ++axis) {
      const int r = reach(data, axis);
      const std::int64_t n = d.grid.extent[axis];
      bool wraps = false;
      for (const int array : arrays) {
        const Boundary boundary = d.walls_of(array).boundary[static_cast<std::size_t>(axis)];
        if (boundary == Boundary::Neumann && n < r)
          d.fail(errors::reach_beyond_mirror(place_of(d, data), name, r, algebra::kAxisNames[axis],
                                             n, d.grid.span));
        wraps = wraps || boundary == Boundary::Periodic || boundary == Boundary::Antiperiodic;
      }
      if (wraps && n > 1 && n < 2 * r + 1) {
        d.diagnostics.add(errors::wider_than_box(place_of(d, data), name, 2 * r + 1,
                                                 algebra::kAxisNames[axis], n, d.grid.span));
        break;  // one warning for each stencil: a cube is equally small along each axis
      }
    }
  }
}

}  // namespace vphi::physics
