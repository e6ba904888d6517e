#include "compiler/physics/clauses/ensemble_errors.hpp"

#include "dsl/messages/error.hpp"

namespace vphi::physics::errors {

using dsl::error;

dsl::Diagnostic displacement_of(dsl::Span span) {
  return error("E0752", span, "`displacement` of something that is not a variable", "",
               "a displacement is the change of a variable since the start: its initial value is "
               "stored, and full periods of an angle are counted",
               "write displacement(x) or displacement(x[k]), and functions around it");
}

dsl::Diagnostic no_standard_error(dsl::Span span) {
  return error("E0753", span, "the standard error of this is not known", "",
               "errors are known of means, and of single variances, over axes of the sweep, and of "
               "formulas made of them",
               "average over an ensemble axis: error(mean(x, over = path))");
}

dsl::Diagnostic stop_criterion_alone(dsl::Span span) {
  return error(
      "E0754", span, "a stop criterion on averages without another end", "",
      "a condition on averages may never hold, and kernels stop at conditions on the state "
      "or on t",
      "write an end beside it: until = t > 1000 or error(...) < 1e-3");
}

dsl::Diagnostic stop_criterion_unseen(dsl::Span span) {
  return error("E0754", span,
               "nothing is written during the run, so its stop criterion is never evaluated", "",
               "conditions on averages are judged at outputs",
               "add an output with a cadence: every 1000 steps: ...");
}

}  // namespace vphi::physics::errors
