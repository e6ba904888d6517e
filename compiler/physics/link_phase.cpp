#include "compiler/physics/link_phase.hpp"

#include <cmath>

#include <fmt/format.h>

#include "compiler/algebra/transform.hpp"
#include "dsl/error.hpp"

namespace vphi::physics {

void check_phase(Derivation& d, const StateField& links, const Component& value, dsl::Span span) {
  constexpr long double kRounding = 1e-9L;
  const bool real = !value.im || value.im.is_zero();
  const auto re = algebra::constant(value.re);
  const auto im = algebra::constant(real ? d.arena().integer(0) : value.im);
  if (!real && (!re || !im)) return;
  if (re && std::abs(std::hypot(re->real, im->real) - 1) < kRounding) return;
  d.fail(dsl::error("E0718", span,
                    fmt::format("a link `{}` of U(1) has modulus 1, and this has not", links.name),
                    "", "a link is exp(1i*angle)",
                    fmt::format("write an angle theta as: init {} = exp(1i*theta)", links.name)));
}

}  // namespace vphi::physics
