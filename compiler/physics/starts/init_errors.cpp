#include "compiler/physics/starts/init_errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;
using dsl::with_label;

Diagnostic init_not_state(Span span, const std::string& name) {
  return error("E0724", span, fmt::format("`{}` is not state: it takes no initial value", name), "",
               "fields, their velocities, var and t have initial values", "remove it from `init`");
}

Diagnostic only_real_part(Span span, const std::string& name) {
  Diagnostic d = error(
      "W0765", span, fmt::format("only the real part of `{}` is drawn", name),
      "the imaginary part is 0",
      "a distribution gives real numbers; `vacuum` draws both parts of a complex field",
      "add 1i times a second draw, as in `normal + 1i*normal`, or 0i where the real part is meant");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic init_twice(Span span, const std::string& name, Span first) {
  return with_label(error("E0725", span, fmt::format("`{}` has two initial values", name), "",
                          "one initial value for each variable", "remove one of them"),
                    first, "the first one");
}

Diagnostic start_given_twice(Span span, const std::string& quantity, const std::string& primitive,
                             Span other) {
  return with_label(error("E0725", span,
                          fmt::format("`{}` has two initial values: its own and that of `{}`",
                                      quantity, primitive),
                          "",
                          "a fluid begins with its primitive variables or with its conserved "
                          "quantities; the others "
                          "follow from them",
                          "give all of one kind, and none of the other"),
                    other, "the primitive variable");
}

Diagnostic gauss_not_obeyed(Span span, const std::string& why, const std::string& fix) {
  return error(
      "E0895", span, fmt::format("Gauss's law cannot be solved for here: {}", why), "",
      "`gauss = 0` changes the momenta of links and charged fields by a solve, in a periodic "
      "box, in which links may end",
      fix);
}

Diagnostic init_circle(Span span, const std::string& name) {
  return error("E0726", span, fmt::format("the initial value of `{}` needs itself", name), "",
               "initial values may name each other, but not in a cycle", "break the cycle");
}

Diagnostic vacuum_not_homogeneous(Span span, const std::string& name) {
  return error("E0727", span,
               fmt::format("`vacuum` of `{}` needs homogeneous initial values", name), "",
               "the mass in the spectrum is V'' at the homogeneous values of all fields",
               "remove the dependence on x, y, z");
}

Diagnostic vacuum_at_singularity(Span span, const std::string& scale, double time) {
  return error(
      "E0735", span,
      fmt::format("there is no vacuum where `{}` is 0, at the start, t = {:.6g}", scale, time), "",
      "the modes of the vacuum have the frequencies sqrt(k^2/a^2 + m^2), with a > 0",
      "begin at another time: init t = 1, say");
}

Diagnostic spectrum_not_positive(Span span, double k, double value) {
  return error("E0870", span, fmt::format("this power is {:.6g} at k = {:.6g}", value, k), "",
               "the power of waves is a finite number, not below 0, at every wave number of the "
               "box but 0",
               "change the formula there, for instance by a factor (k < K) that ends it");
}

namespace {

std::string shown_place(const std::array<double, 3>& at, int components) {
  if (components == 0) return fmt::format("r = {:.6g}", at[0]);
  return fmt::format("({:.6g})", fmt::join(at.begin(), at.begin() + components, ", "));
}

}  // namespace

Diagnostic no_density(Span span, const std::array<double, 3>& at, int components, double value) {
  return error("E0876", span,
               fmt::format("this density is {:.6g} at {}", value, shown_place(at, components)), "",
               "a density of points is a finite number, not below 0, at every distance r up to "
               "`reach`",
               "change the formula there, for instance by a factor (r < R) that ends it");
}

Diagnostic density_without_bound(Span span, const std::array<double, 3>& at, int components) {
  return error(
      "E0876", span,
      fmt::format("no bound of this density was found near {}", shown_place(at, components)), "",
      "points of a density that is not one of r alone are drawn under a bound of it, which "
      "is made of bounds of its terms",
      "leave out the place where it grows without end, or write it with fewer terms that "
      "cancel");
}

Diagnostic density_not_of_place(Span span) {
  return error(
      "E0876", span, "a density is not a formula of the place of a point", "",
      "it holds the distance r, coordinates of the point, swept values, params and numbers",
      "what else differs goes into formulas of the points that are drawn");
}

Diagnostic density_is_zero(Span span, double reach) {
  return error("E0876", span, fmt::format("this density is 0 at all distances up to {:.6g}", reach),
               "", "points lie where their density is above 0",
               "check the units of the formula and of `reach`");
}

Diagnostic density_of_no_points(Span span, const std::string& name) {
  return error(
      "E0876", span, fmt::format("`{}` is no point", name), "",
      "density(f, reach = R) draws the places of bodies: a number, vec(2) or vec(3) of each",
      "declare `particles NAME: n` and `var x[k]: vec(3)`, and write init x ~ "
      "density(...); for a field write a formula of x, y and z");
}

Diagnostic no_room_for_points(Span span, int points, double apart, double reach) {
  return error(
      "E0877", span,
      fmt::format("{} points at distances of {:.6g} have no room within {:.6g} of the origin",
                  points, apart, reach),
      "", "points of a species are at least `apart` from each other, and none lies beyond `reach`",
      "a smaller `apart`, or a larger `reach`");
}

Diagnostic spectrum_beyond_file(Span span, const std::string& file, double first, double last,
                                double least, double largest) {
  return error("E0871", span,
               fmt::format("{} has powers from k = {:.6g} to {:.6g}, the box has waves from "
                           "{:.6g} to {:.6g}",
                           file, first, last, least, largest),
               "", "a file gives the power of every wave of the box; it is not continued",
               fmt::format("say what lies outside: spectrum(table(\"{}\", k, outside = 0)), or "
                           "`outside = clamp`",
                           file));
}

Diagnostic kept_start_not_drawn(Span span) {
  return error("E0879", span, "the start is the same in every draw: nothing of it is random", "",
               "`keep` draws a start again, with new random numbers of `init`, until its condition "
               "holds",
               "draw what it depends on, init X ~ ..., or leave out `keep`");
}

Diagnostic random_not_here(Span span, const std::string& name) {
  return error("E0728", span,
               fmt::format("`{}` stands for random numbers, which only `init` draws", name), "",
               "random initial values follow `~`", "move it to `init`");
}

}  // namespace vphi::physics::errors
