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

Diagnostic lagrangian_beside(Span span, bool hamiltonian, Span other) {
  return with_label(
      error("E0872", span,
            fmt::format("both a Lagrangian and a {} give equations of motion",
                        hamiltonian ? "Hamiltonian" : "potential"),
            "", "a Lagrangian is the whole of what moves the fields",
            hamiltonian ? "keep one of the two" : "subtract the potential in the Lagrangian"),
      other, hamiltonian ? "the Hamiltonian" : "the potential");
}

Diagnostic no_acceleration(Span span, const std::string& field) {
  return error(
      "E0873", span, fmt::format("the Lagrangian gives no `{}''`", field), "",
      "it makes an equation of second order for each field: the matrix of its second "
      "derivatives by the velocities has an inverse",
      fmt::format("add a kinetic term such as {0}'^2/2, or write {0}' = ... in a line of its "
                  "own",
                  field));
}

Diagnostic velocity_elsewhere(Span span, const std::string& field) {
  return error("E0874", span, fmt::format("the Lagrangian reads `{}'` at other sites", field), "",
               "accelerations are found at each site by itself: velocities stand at the site, not "
               "under derivatives and not in means",
               fmt::format("write {}' without neighbours; fields themselves may have them", field));
}

Diagnostic curvature_not_linear(Span span) {
  return error("E0875", span, "the curvature does not stand as f*R with f a function of fields", "",
               "a Lagrangian is linear in R = 6*(H' + 2*H^2), with a factor of fields at the site "
               "alone: no velocities, neighbours, averages, a, t or H",
               "write -xi*phi^2*R/2, or the model in the frame of the constant Planck mass");
}

Diagnostic momentum_in_lagrangian(Span span, const std::string& momentum,
                                  const std::string& field) {
  return error("E0878", span,
               fmt::format("the Lagrangian holds `{}`, the momentum of `{}`", momentum, field), "",
               "a Lagrangian is a function of fields, links and their velocities; momenta are its "
               "derivatives by these",
               fmt::format("the velocity of a link is {0}[i]': write {0}[i]'*adj({0}[i])/(1i*g*dx) "
                           "for an electric field",
                           field));
}

Diagnostic extremum_in_source(Span span) {
  return error("E0761", span, "no force follows from the largest or smallest value over all sites",
               "", "it changes with the field at one site alone, and jumps from site to site",
               "write a smooth function: mean(u^8)^(1/8) is close to max(abs(u))");
}

Diagnostic derivative_by_parameter(Span span, const std::string& name) {
  return error(
      "E0711", span, fmt::format("what this has of the parameter `{}` is not clear", name),
      fmt::format("it does not follow from the text and the arguments of this call how it "
                  "varies with `{}`",
                  name),
      "a derivative by a parameter is of a text that holds the parameter and nothing else "
      "that varies with its argument, or of an argument that is a function of the variable "
      "given for it",
      "write the derivative where the names are defined, and hand it to the function");
}

Diagnostic derivative_by_definition(Span span, const std::string& name) {
  return error("E0711", span, fmt::format("this does not hold `{}`", name),
               fmt::format("it is made of what `{}` is made of, without the name", name),
               "a derivative by a name is of what holds the name, and 0 of all else",
               fmt::format("write it with `{0}`, or divide two derivatives by a variable that both "
                           "are made of: d(f, u)/d({0}, u)",
                           name));
}

Diagnostic source_of_itself(Span span, const std::string& name, const std::string& source) {
  return error("E0762", span, fmt::format("`{}` holds the {} that is being read", name, source), "",
               fmt::format("rho, p and w are made of it, so no {} is made of them", source),
               source == "conservation law"
                   ? "write out the energy that is meant, such as phi'^2/2 + V"
                   : "write the term into the equation of motion, phi'' = derived - ...; a mean of "
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
