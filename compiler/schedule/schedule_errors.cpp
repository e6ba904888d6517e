#include "compiler/schedule/schedule_errors.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/physics/physics_errors.hpp"
#include "dsl/messages/error_parts.hpp"
#include "dsl/messages/suggest.hpp"

namespace vphi::schedule::errors {

using dsl::errors::make;

Diagnostic not_yet(Span at, const std::string& what) {
  Diagnostic d = make("E0901", at, what + " is not yet in this version");
  d.hint = "`vphi check` accepts the model; running it needs a later version";
  return d;
}

Diagnostic no_integrator(Span at) {
  Diagnostic d = make("E0741", at, "the model evolves without an integrator");
  d.rule = "`evolve` names the integrator first.";
  d.hint = "write `evolve leapfrog, dt = ...`";
  return d;
}

Diagnostic unknown_name(Span at, const std::string& name, const std::string& integrator,
                        const std::vector<std::string>& known) {
  Diagnostic d =
      make("E0746", at, fmt::format("unknown name `{}` in integrator `{}`", name, integrator));
  if (const auto near = dsl::suggest(name, known))
    d.under = fmt::format("did you mean `{}`?", *near);
  d.rule = "A body sees its head, names it set before, `dt`, `dx`, `t` and functions.";
  d.hint = "known here are " + dsl::enumerate(known);
  return d;
}

Diagnostic not_together(Span at, int steps, const std::string& why) {
  Diagnostic d =
      make("E0323", at, fmt::format("one pass over memory cannot make {} steps: {}", steps, why));
  d.rule =
      "steps are made together where a step is one sweep over a periodic box without sums, and "
      "where the device holds what lies between them";
  d.hint = "leave `together` out: the compiler then makes as many steps together as pay";
  return d;
}

Diagnostic not_in_one_go(Span at, int columns, const std::string& why) {
  Diagnostic d =
      make("E0822", at, fmt::format("{} right sides cannot be solved in one go: {}", columns, why));
  d.rule =
      "right sides of one operator and one solver that the same outputs or the fields of one "
      "action need are solved `together` at a time, a number that divides theirs";
  d.hint = "leave `together` out, or take `together = 1`";
  return d;
}

Diagnostic not_cut(Span at, int ranks, const std::string& why, const std::string& way) {
  Diagnostic d =
      make("E0862", at, fmt::format("the lattice cannot be cut for {} ranks: {}", ranks, why));
  d.rule = "Ranks have some planes of the lattice each, and copies of a few beside them.";
  d.hint = way;
  return d;
}

Diagnostic wrong_arguments(Span at, const std::string& hole, const std::string& why) {
  Diagnostic d =
      make("E0748", at, fmt::format("`{}` is not called as the head declares it: {}", hole, why));
  d.rule = "A pattern takes the same arguments in the body as in the head, in the same order.";
  d.hint = fmt::format("give `{}` one argument for each in the head", hole);
  return d;
}

namespace {

/// Terms as a message shows them: the beginning of long ones, and of many the first.
std::vector<std::string> abbreviated(std::vector<std::string> terms) {
  constexpr std::size_t kLongest = 160, kMost = 4;
  if (terms.size() > kMost) {
    terms[kMost - 1] = fmt::format("... {} more", terms.size() - kMost + 1);
    terms.resize(kMost);
  }
  for (std::string& term : terms) {
    if (term.size() <= kLongest) continue;
    std::size_t end = kLongest - 4;
    while ((static_cast<unsigned char>(term[end]) & 0xC0) == 0x80) --end;  // within a character
    term = term.substr(0, end) + " ...";
  }
  return terms;
}

}  // namespace

Diagnostic unmatched(Span at, const std::string& integrator, const std::string& variable,
                     const std::vector<std::string>& terms,
                     const std::vector<std::string>& fitting) {
  Diagnostic d = make("E0749", at,
                      fmt::format("integrator `{}` has no place for {} in the equation of `{}`",
                                  integrator, dsl::enumerate(abbreviated(terms)), variable));
  d.rule = "every term of the equations must fit a part of the integrator's head";
  d.hint = fitting.empty() ? "write an integrator whose head has such a term"
                           : "integrators that fit: " + fmt::format("{}", fmt::join(fitting, ", "));
  return d;
}

Diagnostic links_without_flows(Span at, const std::string& integrator, const std::string& variable,
                               const std::vector<std::string>& fitting) {
  Diagnostic d = make("E0894", at,
                      fmt::format("integrator `{}` adds rates to `{}`, a number of a link of SU(n)",
                                  integrator, variable));
  d.rule =
      "links move along their group: by kicks and drifts, x + h*V(v), or by a text for x' = f(x, "
      "t)";
  d.hint = fitting.empty() ? "write an integrator of kicks and drifts, or for x' = f(x, t)"
                           : fmt::format("integrators that fit: {}", fmt::join(fitting, ", "));
  return d;
}

Diagnostic circular_group(Span at, const std::string& integrator,
                          const std::vector<std::string>& variables) {
  Diagnostic d =
      make("E0750", at,
           fmt::format("integrator `{}` cannot order the updates of {}: each needs the other",
                       integrator, dsl::enumerate(variables)));
  d.rule = "Variables that are stepped together may depend on each other in one direction only.";
  d.hint = "use a Runge-Kutta integrator, `evolve rk4, ...`";
  return d;
}

Diagnostic noise_backwards(Span at, const std::string& integrator) {
  Diagnostic d =
      make("E0763", at,
           fmt::format("`{}` has negative weights, which noise does not allow", integrator));
  d.rule =
      "A part of a step with a negative weight goes backwards in time, and noise cannot be "
      "reversed.";
  d.hint = "take an integrator without negative weights, such as `baoab` or `srk2`";
  return d;
}

Diagnostic noise_general(Span at, const std::string& integrator) {
  Diagnostic d = make("W0764", at, "the noises of this model do not commute");
  d.severity = dsl::Severity::Warning;
  d.rule = fmt::format(
      "With noises whose order matters a scheme without their iterated integrals, such as `{}`, "
      "converges to each path with the root of dt only.",
      integrator);
  d.hint =
      "averages are of the scheme's weak order; for paths halve dt and compare "
      "(`vphi run --error-check`)";
  return d;
}

Diagnostic noise_calculus_unknown(Span at, const std::string& integrator) {
  Diagnostic d = make("E0765", at,
                      fmt::format("it is not known to which calculus `{}` converges", integrator));
  d.rule =
      "The text of an integrator is run on x' = x*noise: the mean of x grows by 0 a unit of "
      "time in the Ito and by 1/2 in the Stratonovich calculus. Neither was found.";
  d.hint = "take an integrator of the library, such as `srk2` or `milstein`";
  return d;
}

Diagnostic noise_bias(Span at, const std::string& integrator, const std::string& what,
                      double relative, const std::string& where,
                      const std::vector<std::string>& better) {
  Diagnostic d = make(
      "W0762", at,
      std::isfinite(relative)
          ? fmt::format("at this dt `{}` is biased: {} is off by {:.2g} %", integrator, what,
                        100 * relative)
          : fmt::format("at this dt `{}` has no stationary state: {} grows", integrator, what));
  d.severity = dsl::Severity::Warning;
  d.under = where;
  d.rule =
      "The stationary state of a scheme on the linearised equation differs from the exact one "
      "by a power of dt.";
  d.hint = better.empty() ? "take a smaller dt"
                          : fmt::format("take a smaller dt, or {}", dsl::enumerate(better));
  return d;
}

Diagnostic step_grows(Span at, const std::string& integrator, double growth, double rate,
                      const std::string& wave, double dt, double fits) {
  Diagnostic d = make("W0316", at,
                      fmt::format("dt is too large for `{}`: small perturbations grow {:.3g}-fold "
                                  "a step, and those of the equations do not grow",
                                  integrator, growth));
  d.severity = dsl::Severity::Warning;
  d.rule = fmt::format(
      "linearised about the start, the equations have the rate {:.4g}{}; times dt that is {:.3g}, "
      "beyond the integrator's limit of stability",
      rate, wave.empty() ? "" : " at " + wave, rate * dt);
  d.hint = fmt::format("take dt = {:.3g} or less, or an integrator with a larger limit", fits);
  return d;
}

Diagnostic damped_beyond_step(Span at, const std::string& laws, double dt, double rate,
                              const std::string& integrator, double limit) {
  Diagnostic d = make("E0301", at,
                      fmt::format("dt = {:.4g} is above the limit {:.4g} of diffusion in {}", dt,
                                  limit / rate, laws));
  d.rule = fmt::format(
      "derivatives in its terms damp the fastest wave of the lattice with the rate {:.5g}, "
      "proportional to 1/dx^2, and `{}` is stable for rate*dt < {:.5g}",
      rate, integrator, limit);
  d.hint =
      fmt::format("take dt = {} or less; dt = min({:.4g}, {}/max(diffusion)) follows the state",
                  physics::errors::below(limit / rate), dt, physics::errors::below(limit));
  return d;
}

Diagnostic rounded_number(Span at, long double value, long double after, bool single) {
  const char* precision = single ? "f32" : "f64";
  Diagnostic d = make("W0615", at,
                      fmt::format("{} rounds the number {:.16g} to {:.9g}", precision,
                                  static_cast<double>(value), static_cast<double>(after)));
  d.severity = dsl::Severity::Warning;
  d.rule = fmt::format(
      "the arithmetic of the sites is {}, where numbers next to {:.9g} differ from it by {:.1e} "
      "and "
      "more: a bound that keeps a value off it does not",
      precision, static_cast<double>(after),
      static_cast<double>(std::fabs(after)) * (single ? 0x1p-24 : 0x1p-53));
  d.hint = single ? "write `precision real = f64`, or a number that differs by more"
                  : "write a number that differs by more";
  return d;
}

Diagnostic no_fourier_space(Span at, const std::string& integrator, const std::string& why) {
  Diagnostic d =
      make("E0325", at, fmt::format("`{}` has no Fourier space to work in: {}", integrator, why));
  d.rule =
      "Functions of a linear part, and the spectral Laplacian, act on the waves of a periodic box.";
  d.hint = "write `boundary = periodic`, or take another integrator, such as rk4, and a stencil";
  return d;
}

Diagnostic spectral_elsewhere(Span at, const std::string& where) {
  Diagnostic d = make("E0324", at,
                      fmt::format("the spectral Laplacian has no place in {}: no transform is made "
                                  "there",
                                  where));
  d.rule =
      "It acts in equations of motion, in outputs and in `expect`; not in starts, limits, `until`, "
      "and formulas that hold another one.";
  d.hint = "write neighbours there, such as (u@x - 2*u + u@-x)/dx^2, or take a stencil";
  return d;
}

Diagnostic option_not_used(Span at, const std::string& integrator, const std::string& option) {
  Diagnostic d =
      make("E0751", at, fmt::format("integrator `{}` has no option `{}`", integrator, option));
  d.rule = "Options are the `name = value` of the integrator's head.";
  d.hint = "remove the option";
  return d;
}

Diagnostic broken_kernel(const std::string& after, const std::vector<std::string>& findings) {
  Diagnostic d = make("E0759", {},
                      fmt::format("internal: a kernel is unsound after `{}`: {}", after,
                                  fmt::join(findings, "; ")));
  d.rule = "This is a defect of the compiler, not of the model.";
  d.hint = "please report the model with this message";
  return d;
}

}  // namespace vphi::schedule::errors
