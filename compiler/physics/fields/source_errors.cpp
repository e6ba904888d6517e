#include "compiler/physics/fields/source_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

Diagnostic velocity_in_source(Span span, const std::string& source, const std::string& field) {
  return error("E0390", span,
               fmt::format("{} depends on the time derivative of `{}`", source, field), "",
               "a potential and an action are functions of the fields alone; the kinetic energy "
               "beside them is given",
               fmt::format("write the term into the equation, `{}'' = derived + ...`, or the whole "
                           "model as `H = total(...)` of fields and momenta",
                           field));
}

Diagnostic velocity_in_action(Span span, const std::string& action) {
  return error("E0390", span,
               action.empty() ? std::string("the action holds a time derivative")
                              : fmt::format("the action `{}` holds a time derivative", action),
               "", "a chain draws fields with the weight exp(-S): they have no time",
               "on a lattice in Euclidean time write the difference along that axis, "
               "((q@t - q)/dx)^2/2; the momenta of `hmc` are its own");
}

Diagnostic extremum_in_source(Span span) {
  return error("E0761", span, "no force follows from the largest or smallest value over all sites",
               "", "it changes with the field at one site alone, and jumps from site to site",
               "write a smooth function: mean(u^8)^(1/8) is close to max(abs(u))");
}

Diagnostic source_of_itself(Span span, const std::string& name) {
  return error("E0762", span, fmt::format("`{}` holds the potential that is being read", name), "",
               "rho, p and w are made of the potentials, so no potential is made of them",
               "write the term into the equation of motion, phi'' = derived - ...; a mean of "
               "fields, mean(phi^2), may stand in a potential");
}

Diagnostic angle_cut(Span span, const std::string& variable, const std::string& angle,
                     const std::string& period, Span declared) {
  return with_label(
      error("E0769", span,
            fmt::format("the equation of `{}` is not periodic in `{}`", variable, angle),
            fmt::format("after {} the angle is the same, and this is not", period),
            "an angle is kept between 0 and its period: what depends on it repeats itself there",
            fmt::format("take sin, cos or `wrap(..., {})` of it, or declare it `real`", period)),
      declared, "declared here");
}

}  // namespace vphi::physics::errors
