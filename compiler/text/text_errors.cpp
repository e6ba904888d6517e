#include "compiler/text/text_errors.hpp"

#include <fmt/format.h>

#include "dsl/messages/error_parts.hpp"
#include "dsl/messages/suggest.hpp"

namespace vphi::text::errors {

using dsl::errors::make;

Diagnostic unknown_integrator(Span at, const std::string& name,
                              const std::vector<std::string>& known) {
  Diagnostic d = make("E0740", at, fmt::format("there is no integrator `{}`", name));
  if (const auto near = dsl::suggest(name, known))
    d.under = fmt::format("did you mean `{}`?", *near);
  d.rule =
      "An integrator is text in the library or in the model: `integrator NAME(HEAD) { BODY }`.";
  d.hint = "known are " + dsl::enumerate(known);
  return d;
}

Diagnostic unreadable_head(Span at, const std::string& integrator, const std::string& why) {
  Diagnostic d = make(
      "E0742", at, fmt::format("the head of integrator `{}` cannot be read: {}", integrator, why));
  d.rule = "A head lists equations of first order (`x' = V(v)`) and options (`theta = 1`).";
  d.hint = fmt::format("write `integrator {}(x' = V(v), v' = F(x)) {{ ... }}`", integrator);
  return d;
}

Diagnostic composed_of_itself(Span at, const std::string& integrator) {
  Diagnostic d =
      make("E0743", at, fmt::format("integrator `{}` is composed of itself", integrator));
  d.rule = "`compose(I, w, ...)` runs another integrator I with w*dt in turn.";
  d.hint = "name an integrator that has a body of its own";
  return d;
}

Diagnostic weight_not_number(Span at, const std::string& integrator) {
  Diagnostic d = make("E0744", at,
                      fmt::format("a weight of the composition `{}` is not a number", integrator));
  d.rule = "Weights of `compose` are fixed numbers; names stand in its `where`.";
  d.hint = "write the weight as a number, or define it after `where`";
  return d;
}

Diagnostic weights_sum(Span at, const std::string& integrator, double sum) {
  Diagnostic d = make("E0745", at,
                      fmt::format("the weights of `{}` sum to {:.12g}, not to 1", integrator, sum));
  d.rule = "The parts of a composition add up to one step.";
  d.hint = "set the middle weight to 1 minus the others";
  return d;
}

Diagnostic cannot_evaluate(Span at, const std::string& integrator, const std::string& why) {
  Diagnostic d = make("E0747", at, fmt::format("integrator `{}`: {}", integrator, why));
  d.rule = "A body is arithmetic on variables of the head, registers and numbers.";
  d.hint = "split the line into simpler ones";
  return d;
}

Diagnostic solver_text(Span at, const std::string& solver, const std::string& why, Span used) {
  Diagnostic d = make("E0756", at, fmt::format("solver `{}`: {}", solver, why));
  d.labels.push_back({used, "solved here"});
  d.rule =
      "a solver is lines `name = value` and one `repeat until = condition { ... }`: arithmetic on "
      "fields and numbers, A(p), adj(A, p), total, dot, norm2, re, im, conj";
  d.hint = "compare models/std/solvers.vphi";
  return d;
}

}  // namespace vphi::text::errors
