#include "compiler/physics/fields/coordinates_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

namespace {

constexpr const char* kPositions[] = {"x", "y", "z", "t"};

}  // namespace

Diagnostic scale_for_each_axis(Span span, std::size_t given, int axes) {
  return error("E0700", span,
               fmt::format("{} scale factor{} for the {} axes of the lattice", given,
                           given == 1 ? "" : "s", axes),
               "",
               "`scale` has a factor for each axis of the lattice, and after them those of "
               "coordinates on which nothing depends",
               "write 1 for an axis whose coordinate is a length");
}

Diagnostic scale_of_state(Span span) {
  return error("E0700", span, "this scale factor is made of more than positions and t", "",
               "areas and volumes of cells are functions of x, y, z, t and parameters",
               "write it without fields, averages and random numbers");
}

Diagnostic scale_across_the_box(Span span, int axis) {
  const char* x = kPositions[axis];
  return error(
      "E0700", span,
      fmt::format("this scale factor depends on {}, and the box is periodic along {}", x, x), "",
      "the first and the last face of a periodic axis are one face, with one area",
      fmt::format("give `boundary` a list with `neumann` or `outflow` for {}", x));
}

Diagnostic scale_not_positive(Span span, double value, int axis, double position) {
  const char* x = kPositions[axis];
  return error(
      "E0700", span, fmt::format("this scale factor is {:.4g} at {} = {:.4g}", value, x, position),
      "",
      "scale factors are positive in cells and not negative at their faces; the positions "
      "of a box are counted from its centre",
      fmt::format("for a radius that begins at 0 write {} plus half the length of the box", x));
}

Diagnostic scale_zero_at_start(Span span, double value, double time) {
  return error("E0700", span,
               fmt::format("this scale factor is {:.4g} at the start, t = {:.4g}", value, time), "",
               "scale factors are positive; lengths and volumes are divided by them",
               "begin later, `init t = ...` with a time at which it is above 0");
}

Diagnostic energy_not_named(Span metric, const std::string& momentum, bool closes) {
  return error("E0700", metric, "which law is that of the energy?", "",
               closes ? "the energy of what the laws conserve expands the box, and the stress in "
                        "the law of a momentum does work"
                      : fmt::format("scale factors change with t: the stress in the law of `{}` "
                                    "does work, and one law loses it",
                                    momentum),
               "add `, energy = E`, or `, energy = none` where no law is that of an energy");
}

Diagnostic energy_is_no_law(Span metric, const std::string& name) {
  return error("E0700", metric, fmt::format("`energy = {}` is not a law of one number", name), "",
               "`energy` names a `conserve` line", "name the law of the energy, or none");
}

Diagnostic energy_without_momentum(Span metric, const std::string& name, int momenta) {
  return error("E0700", metric,
               momenta == 0 ? fmt::format("`energy = {}` without the law of a momentum", name)
                            : fmt::format("`energy = {}` beside {} momenta", name, momenta),
               "",
               "the work of scale factors that change with t is done by the stress in the law of a "
               "vector with a component for each axis",
               momenta == 0 ? "declare the velocity as `v: vec(1)` on a line, and write the law of "
                              "the momentum with it"
               : momenta == 1 ? "name as many momenta as energies, `energy = [E, F], momentum = "
                                "[M, N]`"
                              : fmt::format("name the momentum whose stress does its work, `energy "
                                            "= {}, momentum = M`; for several fluids `energy = "
                                            "[E, F], momentum = [M, N]`",
                                            name));
}

Diagnostic momentum_is_no_law(Span metric, const std::string& name) {
  return error("E0700", metric, fmt::format("`momentum = {}` is not the law of a momentum", name),
               "",
               "`momentum` names a `conserve` line of a vector with a component for each axis, "
               "whose flux is a stress",
               "name the law of the momentum");
}

Diagnostic energies_and_momenta(Span span, std::size_t energies, std::size_t momenta) {
  return error("E0700", span,
               fmt::format("{} energ{} beside {} moment{}", energies, energies == 1 ? "y" : "ies",
                           momenta, momenta == 1 ? "um" : "a"),
               "", "the first momentum belongs to the first energy, and so on",
               "give both lists as many names");
}

Diagnostic fluid_named_twice(Span span, const std::string& name) {
  return error("E0700", span, fmt::format("`{}` belongs to two fluids of the metric", name), "",
               "each fluid has an energy and a momentum of its own, and is counted once",
               "name another law, or leave this one out");
}

Diagnostic stress_not_known(Span law, Span metric, const std::string& momentum) {
  return with_label(
      error("E0700", law,
            fmt::format("the stress across the lattice is not known in the law of `{}`", momentum),
            "",
            "a scale factor of a coordinate without an axis changes, and the stress along it "
            "is what stands in `grad(...)`",
            "write the pressure as `grad(p)`, or `grad(0*u)` with a variable u where there is "
            "none"),
      metric, "scale factors");
}

Diagnostic scale_in_step(Span scheme, Span metric, const std::string& name) {
  return with_label(
      error("E0700", scheme,
            fmt::format("scheme `{}` is a step, and scale factors depend on positions", name), "",
            "a step takes one axis after the other, and the pressure on faces of different "
            "areas balances only if all axes are taken at once",
            "take a scheme that is a right side, such as kt or hlle, and an integrator"),
      metric, "scale factors");
}

Diagnostic scheme_without_faces(Span scheme, Span metric, const std::string& name) {
  return with_label(
      error("E0700", scheme,
            fmt::format("scheme `{}` is not written as differences between faces", name), "",
            "the flux through a face is multiplied by its area, so the text has to say what "
            "passes each face",
            "end it with `U' = -(Fk - Fk@-k)/dx`"),
      metric, "scale factors");
}

}  // namespace vphi::physics::errors
