#include "compiler/physics/noise/noise_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

Diagnostic noise_not_here(Span span, bool in_law) {
  return error(
      "E0115", span, "`noise` has no meaning here",
      "only in equations of motion, and in fluxes and sources of laws",
      "`noise` is white noise along the time of an equation, or of a definition used in one",
      in_law ? "write it behind the colon of a law: conserve n = rho: div(-D*grad(rho) + xi)"
             : "for a random initial value write `~ normal`");
}

Diagnostic noise_not_linear(Span span, const std::string& name) {
  return error("E0760", span, fmt::format("the equation of `{}` is not linear in its noise", name),
               "",
               "white noise has no square and no mean over the lattice: an equation is f + "
               "g*noise, or f and "
               "a linear operator on g*noise such as d(g*noise, x), with f and g free of it",
               "write the noise as one factor of a term of its own");
}

Diagnostic spread_noise_calculus(Span span, const std::string& name) {
  return error(
      "E0812", span,
      fmt::format("in the equation of `{}` the state stands in front of noise of neighbours", name),
      "",
      "the drift between Ito and Stratonovich is not derived across sites: such noise is "
      "taken at the start of a step, which is Ito",
      "write `noise ito`, with the drift of that calculus in the equation");
}

Diagnostic calculus_open(Span span, const std::string& taken) {
  Diagnostic d =
      error("W0761", span,
            fmt::format(
                "the noise is multiplied by the state, and its calculus is not named: {} is taken",
                taken),
            "", "x' = g(x)*noise has two meanings that differ by the drift g*d(g, x)/2",
            "write `noise ito` or `noise stratonovich`");
  d.severity = dsl::Severity::Warning;
  return d;
}

}  // namespace vphi::physics::errors
