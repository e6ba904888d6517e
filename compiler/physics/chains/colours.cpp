#include "compiler/physics/chains/colours.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/algebra/axis_names.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

gauge::Colouring colouring_of(const Motion& d, const std::vector<algebra::Offset>& conflicts,
                              const Coloured& what) {
  const gauge::Box box{d.grid.dims, d.grid.extent, d.grid.shift};
  const gauge::ColouringFound found = gauge::find_colouring(conflicts, box);
  if (!found.colouring)
    d.fail(
        errors::colouring_misfit(d.grid.span, *found.misfit, what.members, what.shared, what.of));
  if (gauge::prove(*found.colouring, conflicts, box))
    d.fail(errors::not_yet(d.grid.span, "a colouring of this lattice"));
  return *found.colouring;
}

std::string colours_text(const gauge::Colouring& colouring, int dims) {
  std::vector<std::string> terms;
  for (int k = 0; k < dims; ++k) {
    const int a = colouring.a[static_cast<std::size_t>(k)];
    if (a == 0) continue;
    terms.push_back(a == 1 ? std::string(algebra::kAxisNames[k])
                           : fmt::format("{}*{}", a, algebra::kAxisNames[k]));
  }
  return fmt::format("{0} colours, ({1}) mod {0}", colouring.colours, fmt::join(terms, " + "));
}

}  // namespace vphi::physics
