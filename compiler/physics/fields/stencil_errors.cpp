#include "compiler/physics/fields/stencil_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"
#include "dsl/messages/suggest.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

Diagnostic stencil_constant(Span span, const std::string& name, const std::string& sum) {
  return error("E0305", span, fmt::format("the weights of `{}` add up to {}, not to 0", name, sum),
               "", "the Laplacian of a constant is 0", "change the weight of the site itself");
}

Diagnostic stencil_moment(Span span, const std::string& name, const std::string& found) {
  return error("E0306", span, fmt::format("`{}` is not a Laplacian: {}", name, found), "",
               "the second moments of a Laplacian's weights are 2 along each axis, 0 across",
               "check the weights and the common denominator");
}

Diagnostic stencil_not_linear(Span span, const std::string& name) {
  return error("E0307", span, fmt::format("`{}` is not linear in its argument", name), "",
               "a stencil is a sum of neighbours times fixed numbers",
               "write nonlinear terms in the equation of motion");
}

Diagnostic stencil_weights(Span span, const std::string& name) {
  return error("E0308", span,
               fmt::format("the weights of `{}` are not fractions times a power of dx", name), "",
               "weights are whole numbers over one common denominator, so that averages stay exact",
               "write them as quotients of integers");
}

Diagnostic stencil_dimensions(Span span, const std::string& name, int needs, int has) {
  return error("E0309", span,
               fmt::format("`{}` needs {} dimensions, the lattice has {}", name, needs, has), "",
               "a stencil reaches only along axes that the lattice has",
               "remove the clause: the default is two neighbours along each axis");
}

Diagnostic unknown_stencil(Span span, const std::string& name,
                           const std::vector<std::string>& known) {
  const auto near = dsl::suggest(name, known);
  return error("E0310", span, fmt::format("there is no stencil `{}`", name),
               near ? fmt::format("did you mean `{}`?", *near) : std::string(),
               "`laplacian =` names a stencil of the model or the library",
               "define it: stencil mine(u) = (...)/dx^2");
}

Diagnostic not_spectral(Span span, const std::string& why, Span place) {
  Diagnostic d = error("E0324", span, "the spectral Laplacian has no place here: " + why, "",
                       "it multiplies each wave of a periodic box by -k^2",
                       "take a stencil: remove the clause, or write laplacian = axis8");
  return place.empty() ? d : with_label(std::move(d), place, "here");
}

}  // namespace vphi::physics::errors
