// Messages about conservation laws: recovery (E0790 to E0795), schemes (E0785 to E0789, E0796).
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/physics/fluids/conservation_errors.hpp"
#include "compiler/physics/physics_errors.hpp"
#include "dsl/messages/error.hpp"
#include "dsl/messages/suggest.hpp"

namespace vphi::physics::errors {

using dsl::error;

Diagnostic step_beyond_signals(Span span, double ratio, double limit, double speed, double told) {
  const bool beyond = speed > 1.01 * told;
  return error(
      "E0312", span,
      fmt::format("dt = {:.4g}*dx is above the limit {:.4g}*dx of this scheme", ratio,
                  limit / speed),
      "",
      fmt::format("the scheme's text names speed*dt/dx < {:.4g}, and signals of this model "
                  "are as fast as {:.4g}",
                  limit, speed),
      beyond
          ? fmt::format("the scheme's `speed` says {:.4g} at most: look at the signs of the laws "
                        "and at what carries the variables that relax, or give it the speed that "
                        "is meant; a smaller dt where that is right",
                        told)
          : "take a smaller dt");
}

Diagnostic speed_below_signals(Span span, double signal, double told) {
  Diagnostic d = error(
      "W0312", span,
      fmt::format("the scheme's `speed` is {:.4g} where signals of the start have the speed {:.4g}",
                  told, signal),
      "",
      "a flux scheme spreads jumps by its `speed`, a bound of all signals along an axis; waves "
      "that "
      "are faster may grow",
      "give it the bound that is meant, such as abs(v[k]) + c with c the speed of sound");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic no_laws(Span span) {
  return error("E0785", span, "`evolve scheme` without a conservation law", "",
               "a flux scheme moves the quantities of `conserve` lines",
               "add lines `conserve U = density: div(flux)`, or name an integrator");
}

Diagnostic no_scheme(Span span) {
  return error("E0785", span, "the model has conservation laws and no flux scheme", "",
               "`scheme NAME` says how fluxes become a step",
               "add a line such as `scheme shasta` or `scheme kt, speed = speed`");
}

Diagnostic scheme_form(Span span, const std::string& scheme, bool step) {
  return error("E0786", span,
               step ? fmt::format("scheme `{}` is a step, not a right side", scheme)
                    : fmt::format("scheme `{}` is a right side, not a step", scheme),
               "",
               "a text that ends in `U = ...` is a step; one that ends in `U' = ...` needs an "
               "integrator",
               step ? "write `evolve scheme, dt = ...`" : "write `evolve heun, dt = ...`");
}

Diagnostic scheme_head(Span span) {
  return error("E0787", span, "the head of this scheme cannot be read", "",
               "a head is `U' = -d(U*v, k) - d(f, k)` or `U' = -d(F(U), k)`, then options",
               "compare models/std/schemes.vphi");
}

Diagnostic scheme_line(Span span) {
  return error("E0788", span, "this is not a line of a scheme", "",
               "lines are `name = expression` of the head's names, numbers, dt, dx and `@k`; the "
               "last one is `U = ...` or `U' = ...` with a value for each quantity",
               "compare models/std/schemes.vphi");
}

Diagnostic scheme_no_end(Span span, const std::string& state) {
  return error("E0788", span, fmt::format("this scheme never sets `{}`", state), "",
               "a scheme ends in `U = ...`, a step, or `U' = ...`, a right side",
               "add the last line");
}

Diagnostic scheme_shift(Span span, const std::string& axis) {
  return error("E0788", span, "a scheme looks along its own axis only", "",
               "the text is read once for each axis",
               fmt::format("write `@{}` or `@-{}`, twice for two sites", axis, axis));
}

Diagnostic scheme_name(Span span, const std::string& name, const std::vector<std::string>& known) {
  const auto near = dsl::suggest(name, known);
  return error("E0788", span, fmt::format("a scheme knows no `{}` here", name),
               near ? fmt::format("did you mean `{}`?", *near) : std::string(),
               "a body sees its head, its own lines, dt and dx",
               fmt::format("known are: {}", fmt::join(known, ", ")));
}

Diagnostic scheme_state(Span span, const std::string& name) {
  return error("E0788", span, fmt::format("`{}` is a function of a state", name), "",
               "a state has a value for each quantity", "give it U or what is made of U");
}

Diagnostic scheme_option_missing(Span span, const std::string& scheme, const std::string& option) {
  return error("E0789", span, fmt::format("scheme `{}` needs `{}`", scheme, option), "",
               "an option without a value in the head must be given",
               fmt::format("write `scheme {}, {} = ...`", scheme, option));
}

Diagnostic no_recovery(Span span) {
  return error("E0790", span, "nothing says how primitive variables are recovered", "",
               "`recover` has one fact for each primitive variable", "add `recover { ... }`");
}

Diagnostic not_recovered(Span span, const std::string& name) {
  return error("E0790", span, fmt::format("`recover` says nothing of `{}`", name), "",
               "every primitive variable follows from conserved quantities",
               fmt::format("add a line `{} = ...` to the body of `recover`", name));
}

Diagnostic two_facts(Span span, const std::string& name) {
  return error("E0791", span, fmt::format("`{}` has two facts in `recover`", name), "",
               "the lines of `recover` are facts, in any order, one for each name",
               "remove one of them");
}

Diagnostic recovery_circle(Span span, const std::string& name) {
  return error(
      "E0791", span, fmt::format("`{}` needs itself to be recovered", name), "",
      "each cycle of facts must pass through a name that is solved for",
      fmt::format("add `solve {} by fixed_point, tol = 1e-10, max = 40, start = 0`", name));
}

Diagnostic solve_without_fact(Span span, const std::string& name) {
  return error("E0791", span, fmt::format("`solve {}` has no fact `{} = ...`", name, name), "",
               "what is solved is the equation of that line",
               fmt::format("add the line `{} = ...`", name));
}

Diagnostic solve_bounds(Span span) {
  return error("E0792", span, "`solve` needs tol > 0 and max from 1 to 1000", "",
               "tol is the largest error of the solution, and max bounds the number of iterations "
               "that are taken to reach it",
               "write tol = 1e-10, max = 40");
}

Diagnostic no_contraction(Span span, const std::string& name, double factor,
                          const std::string& state) {
  return error(
      "E0793", span, fmt::format("the iteration for `{}` does not converge", name),
      fmt::format("an iteration multiplies the error by {:.3g}", factor),
      fmt::format("an iteration must reduce the error of `{}` everywhere; here it does not "
                  "at {}",
                  name, state),
      "solve for a velocity, or write the equation the other way round");
}

Diagnostic solve_stops_early(Span span, const std::string& name, double factor, double wanted,
                             std::int64_t most, double reached) {
  Diagnostic d =
      error("W0797", span,
            fmt::format("`{}` is within {:.1g} after max = {} iterations, not within tol", name,
                        reached, most),
            fmt::format("{} iterations would be needed", wanted),
            fmt::format("an iteration multiplies the error by {:.3g} where it is slowest", factor),
            "raise max, or tol");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic solve_range(Span span, const std::string& name) {
  return error("E0792", span, fmt::format("the bounds of `{}` are not given", name), "",
               "`bisection` halves the range from `from` to `to`, from the lower to the higher",
               fmt::format("write `solve {} by bisection, from = 0, to = 1, tol = 1e-10`", name));
}

Diagnostic iterations_diverge(Span span, const std::string& name, std::int64_t most,
                              double error_left, const std::string& state) {
  return error("E0793", span,
               fmt::format("`{}` is still {:.3g} away from its solution after max = {} iterations",
                           name, error_left, most),
               "",
               fmt::format("every iteration of Newton's method must reduce the error; here it does "
                           "not at {}",
                           state),
               "bound it with from and to, start nearer to the solution, or take bisection");
}

Diagnostic no_sign_change(Span span, const std::string& name, double low, double high,
                          const std::string& state) {
  return error(
      "E0793", span,
      fmt::format("no solution for `{}` between {:g} and {:g} is enclosed", name, low, high), "",
      fmt::format("`{}` minus its equation has one sign at `from` and the other at `to`, "
                  "for all states; not at {}",
                  name, state),
      "write other bounds, or the equation the other way round");
}

Diagnostic stored_finer(Span span, const std::string& name) {
  Diagnostic d = error("W0798", span, fmt::format("`{}` is kept in f64 and computed in f32", name),
                       "", "arithmetic is `real`; what it loses, memory does not bring back",
                       "write real = f64 and give f32 to what may be kept in it");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic solve_stops_short(Span span, const std::string& name, std::int64_t most,
                             double reached) {
  Diagnostic d =
      error("W0797", span,
            fmt::format("`{}` is within {:.1g} after max = {} iterations, not within tol", name,
                        reached, most),
            "", "the iterations are unrolled, so their number is fixed", "raise max, or tol");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic scheme_kinds(Span span) {
  return error("E0788", span, "conserved quantities and primitive variables in one expression", "",
               "a line of a scheme has a value for each quantity or for each primitive variable",
               "make quantities of primitive variables with `conserved(P)`, or the other way round "
               "with `primitives(U)`");
}

Diagnostic no_finite_state(Span span) {
  return error("E0794", span, "no random state has finite conserved values", "",
               "the forward maps of `conserve` are tried on random primitive variables",
               "check densities that divide by a difference, or take roots");
}

Diagnostic no_inverse(Span span, const std::string& name, const std::string& state, double expected,
                      double found) {
  return error("E0794", span,
               fmt::format("`recover` does not undo `conserve`: {} = {:.6g} comes back as {:.6g}",
                           name, expected, found),
               "", fmt::format("tried with {}", state),
               "compare the densities of `conserve` with the facts of `recover`");
}

Diagnostic no_vector_found(Span span, const std::string& name, int rounds,
                           const std::string& state) {
  return error("E0793", span,
               fmt::format("the iteration of the vector `{}` finds no solution", name),
               fmt::format("not in {} iterations at {}", rounds, state),
               "all components are iterated at once, v = g(v), and the error must fall at each "
               "random state; what relaxes is there up to a quarter of the largest density",
               "write the line so that it contracts, as v = M/(E + p) does");
}

Diagnostic no_joint_solution(Span span, const std::string& names, int rounds,
                             const std::string& state) {
  return error("E0793", span, fmt::format("the iteration of {} together finds no solution", names),
               fmt::format("not in {} iterations at {}", rounds, state),
               "names whose lines need each other take a step of their methods in turn, and the "
               "error must fall at each random state",
               "start nearer to the solution, keep numbers between `from` and `to`, or write a "
               "line so that it needs less of the others");
}

Diagnostic bisected_together(Span span, const std::string& name, const std::string& other) {
  return error("E0793", span,
               fmt::format("`{}` and `{}` need each other: no bisection", name, other), "",
               "names whose lines need each other take a step in turn; an interval that is halved "
               "does not follow what another name moves",
               fmt::format("solve `{}` by newton or fixed_point", name));
}

Diagnostic solved_twice(Span span, Span first, const std::string& name) {
  return with_label(error("E0791", span, fmt::format("`{}` is solved for twice", name), "",
                          "a name has one equation and one method", "leave one of the lines out"),
                    first, "first here");
}

Diagnostic vector_by(Span span, const std::string& name) {
  return error("E0793", span, fmt::format("`{}` is a vector", name), "",
               "a vector is solved for by fixed_point; newton and bisection are for a number",
               "write `by fixed_point`");
}

Diagnostic start_is_open(Span span, const std::string& name) {
  return error(
      "E0793", span, fmt::format("the start of `{}` needs what is still to be found", name), "",
      "an iteration starts from a number, or from densities, what relaxes and names that are "
      "found before",
      "write a formula of the densities, or a number");
}

Diagnostic recovers_from_all_sites(Span span) {
  return error("E0791", span, "a formula of `recover` takes a value of all sites", "",
               "a site recovers its state from its own densities",
               "write it without mean, total, var, min and max of fields");
}

Diagnostic start_of_other_sites(Span span, const std::string& name) {
  return error("E0793", span, fmt::format("the start of `{}` reads other sites", name), "",
               "a site recovers its state from its own densities",
               "write a formula of the densities at the site, or a number");
}

Diagnostic bound_of_fixed_point(Span span, const std::string& option) {
  return error("E0793", span, fmt::format("`fixed_point` takes no `{}`", option), "",
               "`from` and `to` enclose a root for newton and bisection; u = g(u) is iterated from "
               "`start`",
               fmt::format("leave `{}` out, or solve for a number by newton", option));
}

Diagnostic relaxes_twice(Span span, const std::string& name) {
  return error("E0834", span, fmt::format("`{}` relaxes twice", name), "",
               "a variable has one target and one time", "add the targets in one line");
}

Diagnostic recovers_what_relaxes(Span span, const std::string& name) {
  return error("E0834", span, fmt::format("`{}` relaxes and needs no line here", name), "",
               "what relaxes is stored as it is", "leave the line out");
}

Diagnostic relaxes_in_step(Span scheme, Span law, const std::string& name) {
  return with_label(
      error("E0834", scheme, fmt::format("scheme `{}` takes no relaxation", name), "",
            "what relaxes, and derivatives in time of primitive variables in sources, need rates, "
            "and a text that ends in `U = ...` makes steps",
            "take a scheme that is a right side, such as `kt` or `kt_primitive`, with `evolve "
            "heun`"),
      law, "relaxes, or has a source with a derivative in time");
}

Diagnostic derivative_in_step(Span scheme, Span law, const std::string& name) {
  return with_label(
      error("E0839", scheme, fmt::format("scheme `{}` takes no derivatives in fluxes", name), "",
            "viscosity and conduction are fluxes through faces beside those of a right side, and a "
            "text that ends in `U = ...` makes steps",
            "take a scheme that is a right side, such as `kt` or `hlle`, with `evolve heun`"),
      law, "its flux holds a derivative");
}

Diagnostic flux_of_neighbours(Span law, const std::string& name) {
  return error("E0839", law,
               fmt::format("the flux of `{}` reads neighbours otherwise than by `d`", name), "",
               "at a face a flux has the values of both cells and first derivatives, d(u, x) and "
               "grad(u), of the state and of names made of it; averages are not taken there",
               "write first derivatives of the state, and what is more as a source: - D*lap(u)");
}

Diagnostic derivative_at_face(Span span, const std::string& field, Span declared) {
  return with_label(
      error(
          "E0835", span, fmt::format("a function of the state holds a derivative of `{}`", field),
          "",
          "a scheme takes the values of fields to the faces of cells, where densities, fluxes and "
          "`recover` are evaluated, and no derivatives in space; sources may hold any",
          fmt::format(
              "give the derivative an equation as a field of its own, or put the exchange with "
              "the field into sources: with a force -f on `{0}`, energy gains `{0}'*f` "
              "and momentum loses `f*grad({0})`",
              field)),
      declared, "declared here");
}

Diagnostic field_beside_step(Span scheme, Span field, const std::string& name,
                             const std::string& scheme_name) {
  return with_label(
      error(
          "E0835", scheme, fmt::format("scheme `{}` takes no fields beside it", scheme_name), "",
          "fields and laws are advanced together by an integrator of their rates, and a text that "
          "ends in `U = ...` makes steps",
          "take a scheme that is a right side, such as `kt` or `kt_primitive`, with `evolve "
          "ssp_rk3`"),
      field, fmt::format("`{}` has an equation of its own", name));
}

Diagnostic relaxes_in_turning_frame(Span span, Span metric, const std::string& name) {
  return with_label(
      error("E0834", span, fmt::format("the components of `{}` would turn with the frame", name),
            "",
            "each component that relaxes is a number that is carried along; where scale factors "
            "depend on positions the axes turn from site to site",
            "declare the components as numbers and write what turns them into their targets"),
      metric, "depends on positions");
}

Diagnostic relaxation_not_resolved(Span dt, Span law, const std::string& name, double steps,
                                   double step) {
  return with_label(
      error("E0834", dt,
            fmt::format("dt is {:.3g} times the relaxation time of `{}` at the start", steps, name),
            "",
            "q' = (target - q)/time is stable in steps below 2 times the time, and resolved in "
            "steps below it",
            fmt::format("take dt below {:.3g}, or a longer time", step / steps)),
      law, "relaxes in that time");
}

Diagnostic relaxation_not_positive(Span law, const std::string& name, double time,
                                   const std::string& state) {
  const bool none = std::isnan(time);
  return error("E0834", law,
               none ? fmt::format("the relaxation time of `{}` is not a number at the start", name)
                    : fmt::format("the relaxation time of `{}` is {:.3g} at the start", name, time),
               fmt::format("at {}", state),
               none ? "q' = (target - q)/time needs a time in every state; 0/0 and roots of "
                      "numbers below 0 have no value"
                    : "q' = (target - q)/time leads to the target where the time is above 0, and "
                      "away from it below",
               none
                   ? "keep what divides away from 0, max(x, 1e-12), and what is under a root above "
                     "it"
                   : "write a time that is positive in every state; the sign of the target is "
                     "its own");
}

Diagnostic signals_beyond_speed(Span law, const std::string& name, double signal, double without,
                                double speed, int axes, const std::string& state) {
  const std::string summed =
      axes > 1 ? fmt::format(", both summed over the {} axes,", axes) : std::string();
  return error(
      "E0834", law,
      fmt::format("signals of speed {:.4g} where the scheme's `speed`{} is {:.4g}", signal, summed,
                  speed),
      fmt::format("{:.4g} if `{}` stood still, at {}, with 0 for what relaxes", without, name,
                  state),
      "what relaxes carries signals, the faster the larger its target is for its time; `speed` of "
      "the scheme bounds them",
      "take a longer time, let the target fall with the state (0.1*h in place of 0.1), or give the "
      "scheme the speed that is meant");
}

Diagnostic rate_of_neighbour(Span span, const std::string& name) {
  return error("E0834", span,
               fmt::format("the source of `{}` reads a derivative in time at a neighbour", name),
               "",
               "derivatives in time of primitive variables are those of a linear system of each "
               "site",
               "write derivatives in space of the variables, not of their derivatives in time");
}

Diagnostic rates_not_linear(Span span, const std::string& name) {
  return error("E0834", span,
               fmt::format("the source of `{}` is not linear in derivatives in time", name), "",
               "derivatives in time of primitive variables are solved for by a linear system",
               "write the source without products and functions of such derivatives");
}

Diagnostic rates_not_determined(Span span, std::size_t unknowns, std::size_t equations) {
  return error("E0834", span, "the laws do not determine the derivatives in time of the variables",
               unknowns == equations ? std::string()
                                     : fmt::format("{} numbers are primitive, and {} are stored",
                                                   unknowns, equations),
               "dU/dp - dS/dp' of the densities U, the sources S and the primitive variables p is "
               "a square matrix with an inverse",
               "give each primitive variable a law or a `relax` line");
}

Diagnostic limit_of_primitive(Span span, const std::string& name) {
  return error("E0795", span, fmt::format("this limit reads `{}`", name), "",
               "a limit of a conserved quantity acts before primitive variables are recovered; "
               "limits of variables that relax may read those of their own site",
               "write it with conserved quantities");
}

Diagnostic limit_acts_again(Span span, const std::string& name, double part) {
  Diagnostic d = error(
      "W0795", span, fmt::format("this limit changes again what it has limited of `{}`", name),
      fmt::format("a second time by up to {:.2g} of it", part),
      "a limit acts after each update, so one that changes its own result does the more the "
      "smaller dt is",
      "write a bound that leaves what obeys it, such as min(1, most/size) in place of "
      "tanh(size/most)*most/size, or give the damping a rate: a source in the laws");
  d.severity = dsl::Severity::Warning;
  return d;
}

Diagnostic limit_of_recovered(Span span, const std::string& name) {
  return error("E0795", span, fmt::format("`{}` is made of the densities after each update", name),
               "",
               "a limit acts on what is stored: densities, fields and variables that relax; "
               "primitive variables are recovered from them",
               fmt::format("write the bound where `{0}` is recovered, `{0} = max(..., least)` in "
                           "`recover`, or limit the densities that it follows from",
                           name));
}

Diagnostic no_common_velocity(Span span, Span scheme, const std::string& name, Span other) {
  Diagnostic d =
      error("E0796", span, fmt::format("`{}` is not carried with the velocity of the others", name),
            "", "this scheme takes fluxes U*v + f with one v for all quantities",
            "write the flux as U*v + rest, or take a scheme of the whole flux (kt)");
  d.labels.push_back({other, "another velocity here"});
  d.labels.push_back({scheme, "the scheme"});
  return d;
}

Diagnostic nothing_carried(Span span, const std::string& scheme) {
  return error("E0796", span,
               fmt::format("no flux has the form U*v that scheme `{}` takes", scheme), "",
               "v is the factor of the quantity itself in its flux",
               "write `div(U*v)` with the conserved name, or take a scheme of the whole flux (kt)");
}

Diagnostic flux_left_over(Span span, Span scheme, const std::string& name) {
  Diagnostic d = error("E0796", span, fmt::format("the flux of `{}` is more than U*v", name), "",
                       "the head of this scheme has no place for the rest of a flux",
                       "take a scheme with `- d(f, k)` in its head");
  d.labels.push_back({scheme, "the scheme"});
  return d;
}

Diagnostic beyond_no_axis(Span span, const std::string& axis, int dims) {
  return error(
      "E0836", span, fmt::format("the lattice has no axis `{}`", axis), "",
      fmt::format("the lattice has {} ax{}, in the order x, y, z", dims, dims == 1 ? "is" : "es"),
      "write `beyond low(x): ...`, `beyond high(x): ...` or `beyond x: ...` for both ends");
}

Diagnostic beyond_no_end(Span span, const std::string& axis, Span lattice) {
  return with_label(
      error("E0836", span, fmt::format("the box has no end along `{}`", axis), "",
            "a periodic axis goes on at its other side",
            fmt::format("write `boundary({0}) = outflow` on the `lattice` line; with "
                        "`boundary({0}) = neumann` an end without `beyond` is a mirror",
                        axis)),
      lattice, "says what the boundaries are");
}

Diagnostic beyond_twice(Span span, const std::string& name, const std::string& axis, bool high) {
  return error("E0836", span,
               fmt::format("`{}` is given twice beyond {}({})", name, high ? "high" : "low", axis),
               "", "a cell beyond an end has one state",
               "leave one of them out; a choice is written `a if y < 0 else b`");
}

Diagnostic beyond_reads_others(Span span, const std::string& name) {
  return error("E0836", span,
               fmt::format("`{}` beyond an end reads other cells, rates or averages", name), "",
               "the state beyond an end is a formula of positions, t, parameters and the primitive "
               "variables that the cell would have without it",
               "write it without derivatives, `'`, `@` and averages");
}

}  // namespace vphi::physics::errors
