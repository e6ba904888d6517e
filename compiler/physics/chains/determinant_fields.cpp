#include "compiler/physics/chains/determinant_fields.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/algebra/transform.hpp"
#include "compiler/physics/chains/sampling_errors.hpp"
#include "compiler/physics/lower/lower.hpp"
#include "compiler/physics/physics_errors.hpp"

namespace vphi::physics {

namespace {

/// A whole power of a determinant below the line has no solves in kicks.
void refuse_kick_options(const Motion& d, const dsl::Expr& call) {
  for (const dsl::NamedArgument& option : call.named)
    if (option.name == "force" || option.name == "start")
      d.fail(errors::kicks_without_solves(option.value->span, option.name));
}

/// A power p is as many fields as it has wholes, and one for the rest. Those below the line have
/// their powers without the sign.
void add_fields(const Motion& d, Lowerer& lower, const DeterminantCall& factor,
                std::vector<DeterminantField>& above, std::vector<DeterminantField>& below) {
  constexpr long double kMostFields = 16, kRest = 1e-12L;
  long double power = 1;
  for (const dsl::Expr* exponent : factor.exponents) {
    const auto value = algebra::constant(lower.fixed(*exponent, "a power of a determinant"));
    power *= value ? value->real : 0;
    if (power == 0 || std::abs(power) > kMostFields)
      d.fail(errors::not_yet(exponent->span, "a power of a determinant that is 0 or above 16"));
  }
  std::vector<DeterminantField>& own = factor.divides != (power < 0) ? below : above;
  power = std::abs(power);
  // what stands below the line in this text has no solves in kicks
  if (&own == &below && !factor.named && power > 1 - kRest) refuse_kick_options(d, *factor.call);
  const std::size_t first = own.size();
  for (; power > 1 - kRest; power -= 1) own.push_back({factor.call, 1});
  if (power <= kRest) return;
  for (std::size_t i = first; i < own.size(); ++i) own[i].beside_fraction = true;
  own.push_back({factor.call, power});
}

}  // namespace

std::vector<DeterminantField> determinant_fields(const Motion& d, Lowerer& lower,
                                                 const NamedAction& action) {
  std::vector<DeterminantField> above, below;
  for (const DeterminantCall& factor : action.determinants)
    add_fields(d, lower, factor, above, below);
  const auto whole = [](const DeterminantField& field) { return field.power == 1; };
  auto next = std::ranges::find_if(above, whole);
  const auto end = above.end();
  std::vector<DeterminantField> alone;
  for (DeterminantField& field : below) {
    if (whole(field) && next != end) {
      next->below = field.call;
      next = std::find_if(next + 1, end, whole);
      continue;
    }
    if (whole(field)) refuse_kick_options(d, *field.call);
    field.power = -field.power;
    alone.push_back(field);
  }
  above.insert(above.end(), alone.begin(), alone.end());
  return above;
}

}  // namespace vphi::physics
