#include "compiler/physics/particles/particle_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

dsl::Diagnostic pair_with_itself(dsl::Span span, const std::string& function) {
  return dsl::error(
      "E0880", span, "a body is paired with itself here, where the sum is not finite",
      fmt::format("{} at k = l", function),
      "a sum over `k, l` takes all ordered pairs, k = l included, and so do equations and forces "
      "that follow from it",
      "write `k < l` for each pair once or `k != l` for both orders; in an equation of x[i] `j != "
      "i`");
}

dsl::Diagnostic bodies_without_state(dsl::Span span, const std::string& variable) {
  return dsl::error(
      "E0799", span, "nothing makes use of `particles`", "",
      "a variable with an index is one for each body; without an index it is one number or vector, "
      "whose indices are its components",
      fmt::format("write `var {}[k]: ...` for a value of each body", variable));
}

}  // namespace vphi::physics::errors
