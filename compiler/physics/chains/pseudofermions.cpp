#include "compiler/physics/chains/pseudofermions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "compiler/physics/chains/determinant_fields.hpp"
#include "compiler/physics/chains/pseudofermion_field.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

Pseudofermions read_pseudofermions(const Motion& d, Lowerer& lower, const NamedAction& action,
                                   const TrajectoryLinks& links) {
  const Reading reading = links.reading();
  const std::vector<DeterminantField> fields = determinant_fields(d, lower, action);
  Pseudofermions result;
  DeterminantSlopes slopes(d, links.link(), action.name, action.shown.span);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const DeterminantField& field = fields[i];
    const std::string name = i == 0 ? action.name : fmt::format("{}_{}", action.name, i + 1);
    const long double power = field.power == -1 ? 1 : field.power;
    const DeterminantFactor top =
        lower.determinant_factor(*field.call, reading, power, field.beside_fraction);
    if (std::ranges::all_of(top.form.terms, [](const SpinorTerm& t) {
          return t.path.word.empty() && !holds_fields(t);
        }))
      d.diagnostics.add(errors::determinant_without_links(field.call->span, top.name));
    std::optional<DeterminantFactor> bottom;
    if (field.below) bottom = lower.determinant_factor(*field.below, reading);
    if (bottom && bottom->edges != top.edges)
      d.fail(
          errors::not_yet(field.below->span, "a quotient of fermions with different boundaries"));
    if (bottom && bottom->parts.has_value() != top.parts.has_value())
      d.fail(errors::not_yet(field.below->span,
                             "a quotient of which one determinant alone has `even_odd = on`"));
    PseudofermionField(d, links.link(), name, top, std::move(bottom), field.power, result, slopes)
        .add();
  }
  result.staples = slopes.finish(result.memory, result.for_kicks);
  return result;
}

}  // namespace vphi::physics
